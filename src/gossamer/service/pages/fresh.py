"""The part of the dashboard that says how fresh the copies are, where pages are visited again."""

from __future__ import annotations

from typing import Final

from gossamer.agent import numbers
from gossamer.agent.history import Sample
from gossamer.service.pages import charts, words
from gossamer.service.pages.charts import Window
from gossamer.service.picture import Picture

FOUND: Final = ("new", "changed", "gone")  # from the ground up
_TOP: Final = 1.0  # of a share
_HOUR: Final = 3600.0


def fresh_board(picture: Picture, over: Window) -> dict[str, str]:
    """Its texts, and its curves over a stretch of time."""
    progress = picture.progress
    samples = picture.samples if progress.keep_fresh else []  # nobody sees it otherwise
    found = {
        "fresh@hidden": "" if progress.keep_fresh else "hidden",
        "fresh": words.percent(progress.freshness, 1),
        "fresh.more": f"mean age {numbers.span(progress.age)}" if progress.age else "none out of date",
        "revisits": numbers.count(progress.revisits),
        "revisits.more": f"{numbers.count(progress.revisits_unmodified)} unmodified (304)",
        "changed": numbers.count(progress.revisits_changed),
        "changed.more": f"{words.percent(progress.revisits_changed, progress.revisits)} of these visits",
        "due": numbers.count(progress.due),
        "due.more": f"{numbers.count(progress.gone)} found gone",
    }
    shares = charts.levels(samples, "freshness", over)
    found["fresh.chart@viewBox"] = f"0 0 {over.buckets} {charts.HEIGHT}"
    found["fresh.curve@d"] = charts.area(shares, _TOP)
    found["fresh.chart@aria-label"] = f"Estimated share of fresh copies: {found['fresh']} now"
    changes = _changes(samples, over)
    top = charts.nice(max(map(sum, zip(*changes, strict=True))))
    for name, values, path in zip(FOUND, changes, charts.stacked(changes, top), strict=True):
        found[f"found.{name}@d"] = path
        found[f"found.{name}"] = f"{numbers.count(round(values[-1] * progress.running))}/h"
    found["found.top"], found["found.half"] = f"{top:,g}/h", f"{top / 2:,g}"
    found["found@aria-label"] = f"Changes found an hour: at most {top:,g}"
    return found


def _changes(samples: list[Sample], over: Window) -> list[list[float]]:
    """New, changed and gone pages an hour. New is what came with 2xx and was no visit to a known page."""
    rates = {name: charts.rates(samples, name, over) for name in ("ok", "revisits", "unmodified", "gone", "changed")}
    again = zip(rates["revisits"], rates["unmodified"], rates["gone"], strict=True)
    new = [max(0.0, ok - (all_ - same - gone)) for ok, (all_, same, gone) in zip(rates["ok"], again, strict=True)]
    return [[value * _HOUR for value in values] for values in (new, rates["changed"], rates["gone"])]
