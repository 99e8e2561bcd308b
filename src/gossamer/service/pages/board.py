"""All that moves on the dashboard, as one flat table of names and texts.

The page is rendered from it, and a stream sends what has changed in it: so there is one rendering, here, and the script
in the browser only puts texts where they belong. `name` is a text, `name@d` an attribute of the element of that name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from gossamer.agent import numbers
from gossamer.agent.history import Sample
from gossamer.agent.progress import Progress
from gossamer.service.host_tables import ROWS, said, why_slow
from gossamer.service.pages import charts, words
from gossamer.service.pages.charts import OUTCOMES, Window
from gossamer.service.pages.choice import RANGES, Choice, Range
from gossamer.service.pages.fresh import fresh_board
from gossamer.service.pages.sentence import sentence
from gossamer.service.picture import Picture

Board = dict[str, str]
Row = dict[str, str]

STAGES: Final = ("fetch", "parse", "store", "frontier", "commit")
REASONS: Final = 6  # of faults that are listed
AGENTS: Final = 12  # rows: ten agents, the index, the service
DOMAINS: Final = 5  # that are listed
_SPARK: Final = 60  # buckets of a sparkline
_SPARK_HEIGHT: Final = 40
_SPANS: Final = {"15min": 900.0, "6h": 6 * 3600.0}  # seconds
_MINUTE: Final = 60.0
_UNKNOWN: Final = ("core", "memory", "partitions", "lag")
_LATELY: Final = 10.0  # seconds over which what happens now is counted


def board(picture: Picture, choice: Choice) -> Board:
    """Made once for all who have chosen the same."""
    found = picture.boards.get(choice)
    if found is None:
        found = picture.boards[choice] = _made(picture, choice)
    return found


def _made(picture: Picture, choice: Choice) -> Board:
    found: Board = {"sentence": sentence(picture), "asof": _as_of(picture)}
    shown = choice.range or _usual_range(picture)
    for name in RANGES:
        found[f"range.{name}@aria-current"] = "true" if name == shown else "false"
    _figures(found, picture)
    _chart(found, picture, shown)
    found |= fresh_board(picture, _window(picture, shown))
    _hosts(found, picture, choice)
    _agents(found, picture, choice.agents)
    _stages(found, picture.progress)
    _facts(found, picture)
    return found


def changes(before: Board, after: Board) -> Board:
    return {name: text for name, text in after.items() if before.get(name) != text}


# -- the parts ---------------------------------------------------------------------------------------------------------


def _as_of(picture: Picture) -> str:
    progress = picture.progress
    if not progress.updated_at:
        return ""
    pages = f"{numbers.count(progress.pages)} pages"
    if progress.max_pages:
        pages = f"{numbers.count(progress.pages)} of {numbers.count(progress.max_pages)} pages"
    ran = "running for" if progress.running else "the last run took"
    when = "as of" if progress.running or not progress.reason else "ended"
    without = f" · without {', '.join(picture.missing)}" if picture.missing else ""
    return f"{pages} · {ran} {numbers.span(progress.seconds)} · {when} {words.moment(progress.updated_at)}{without}"


def _figures(found: Board, picture: Picture) -> None:
    """What happens now, or, of a crawl that does not run, how the last run was."""
    progress, samples, running = picture.progress, picture.samples, picture.progress.running
    over = _window(picture, _usual_range(picture), _SPARK)
    pages = [sum(each) for each in zip(*(charts.rates(samples, name, over) for name in OUTCOMES[:4]), strict=True)]
    faults = [value * _MINUTE for value in charts.rates(samples, "faults", over)]
    failed = sum(progress.reasons.values())
    mean, peak = numbers.rate(progress.mean_pages_per_s), numbers.rate(progress.peak_pages_per_s)
    if running:
        found["pages"], found["pages.more"] = numbers.rate(progress.pages_per_s), f"mean {mean}, peak {peak}"
        found["bytes"] = f"{numbers.size(progress.bytes_per_s)}/s"
        lately = _added(samples, "faults", _now(picture), _MINUTE)
        found["faults"] = f"{numbers.count(round(lately))}/min"
    else:
        found["pages"], found["pages.more"] = mean, f"mean of the run, peak {peak}"
        received = _added(samples, "bytes", _now(picture), progress.seconds) if progress.seconds else 0.0
        found["bytes"] = f"{numbers.size(received / max(progress.seconds, charts.LEAST))}/s"
        found["faults"] = numbers.count(failed)
    found["bytes.more"] = f"{'' if running else 'mean of the run, '}{numbers.size(progress.bytes)} received"
    found["urls"] = numbers.count(progress.urls)
    found["urls.more"] = f"{numbers.count(progress.queued)} queued"
    found["faults.more"] = f"{words.percent(failed, progress.pages + failed)} of all tries"
    curves = {
        "pages": pages,
        "bytes": charts.rates(samples, "bytes", over),
        "urls": charts.levels(samples, "urls", over),
        "faults": faults,
    }
    for name, values in curves.items():
        found["spark@viewBox"] = f"0 0 {over.buckets} {_SPARK_HEIGHT}"
        found[f"spark.{name}@d"] = charts.area(values, max(*values, 1e-9), _SPARK_HEIGHT)


def _chart(found: Board, picture: Picture, shown: Range) -> None:
    """Below it each outcome, as it is now; of a crawl that does not run, how many there were in the time shown."""
    samples, running = picture.samples, picture.progress.running
    over = _window(picture, shown)
    series = [charts.rates(samples, name, over) for name in OUTCOMES]
    highest = max(map(sum, zip(*series, strict=True)))
    top = charts.nice(highest)
    for name, values, path in zip(OUTCOMES, series, charts.stacked(series, top), strict=True):
        found[f"chart.{name}@d"] = path
        lately = _added(samples, name, _now(picture), _LATELY) / _LATELY
        found[f"now.{name}"] = numbers.rate(lately) if running else numbers.count(round(sum(values) * over.step))
    found["chart@viewBox"] = f"0 0 {over.buckets} {charts.HEIGHT}"
    found["chart.top"], found["chart.half"] = f"{top:,g}/s", f"{top / 2:,g}"
    found |= dict(zip(("chart.x0", "chart.x1", "chart.x2"), _times(over, running), strict=True))
    found["chart@aria-label"] = f"Pages a second by outcome, {RANGES[shown]}: at most {numbers.rate(highest)}"


def _hosts(found: Board, picture: Picture, choice: Choice) -> None:
    tables = picture.tables
    now = picture.at if picture.progress.running else None
    busy = [
        {"host": host.name, "pages": numbers.count(host.pages), "queued": numbers.count(host.queued),
         "next": _next(host.due, now) if host.queued else ""}
        for host in tables.busy.get(choice.busy, [])
    ]  # fmt: skip
    slow = [
        {"host": host.name, "why": why_slow(host), "failures": numbers.count(host.failures),
         "queued": numbers.count(host.queued), "next": _next(host.due, now)}
        for host in tables.slow.get(choice.slow, [])
    ]  # fmt: skip
    domains = [
        {"name": domain.name, "hosts": numbers.count(domain.hosts), "pages": numbers.count(domain.pages),
         "queued": numbers.count(domain.queued)}
        for domain in tables.domains[:DOMAINS]
    ]  # fmt: skip
    _rows(found, "busy", busy, ("host", "pages", "queued", "next"))
    _rows(found, "slow", slow, ("host", "why", "failures", "queued", "next"))
    _rows(found, "domain", domains, ("name", "hosts", "pages", "queued"), DOMAINS)
    for table, rows in (("busy", busy), ("slow", slow)):
        for number in range(ROWS):
            host = rows[number]["host"] if number < len(rows) else ""
            found[f"{table}.{number}.host@href"] = f"/hosts/{quote(host, safe='')}"


def _agents(found: Board, picture: Picture, order: str) -> None:
    """The processes of the crawl, most of what they are ordered by first."""
    progress, index, running = picture.progress, picture.index, picture.progress.running
    rows: list[tuple[float, int, Row]] = []

    def add(name: str, core: float, memory: int, state: str, partitions: str = "", lag: str = "") -> None:
        said = {"core": _core(core), "memory": numbers.size(memory) if memory else "none"}
        rows.append((core, memory, {"name": name, "state": state, **said, "partitions": partitions, "lag": lag}))

    for name, each in list((picture.agents or {"agent": progress}).items())[:ROWS]:
        at_work = each.running
        state = "not running" if not at_work else "paused" if each.paused else f"crawling, process {each.pid}"
        if picture.agents and at_work and not each.paused:
            state = f"crawling {numbers.rate(each.pages_per_s)}"
        lag = words.took(each.lag) if at_work and each.lag else "none"
        add(name, each.core * at_work, each.memory * at_work, state, numbers.count(each.partitions), lag)
    unheard = {**dict.fromkeys(picture.missing, "does not answer"), **dict.fromkeys(picture.ended, "has ended")}
    for name, state in list(unheard.items())[: ROWS - len(rows)]:
        rows.append((0.0, 0, {"name": name, "state": state, **dict.fromkeys(_UNKNOWN, "?")}))
    if index is not None:
        behind = max(0, index.total - index.done)
        lag = f"{words.percent(behind, index.total)} to do" if behind else "none"
        state = (progress.beside.get("index", "") if running else "") or (
            "running" if picture.index_taken.memory else "not running"
        )
        add("index", picture.index_taken.core, picture.index_taken.memory, state, lag=lag)
    state = progress.beside.get("service", "") if running else ""
    add("service", picture.service_taken.core, picture.service_taken.memory, state or "running")
    for name, app in progress.apps.items():
        if app.state or app.pages or app.records:
            state = f"{app.state or 'not running'}, {numbers.count(app.started)} visits"
            add(f"app {name}", 0.0, 0, f"{state}, {numbers.count(app.records)} records")
    if order != "process":
        rows.sort(key=lambda row: row[1] if order == "memory" else row[0], reverse=True)
    _rows(found, "agent", [row for *_, row in rows], ("name", "state", "core", "memory", "partitions", "lag"), AGENTS)
    for number in range(AGENTS):  # what does not fit into a column is shown on hover
        found[f"agent.{number}.state@title"] = found[f"agent.{number}.state"]


def _stages(found: Board, progress: Progress) -> None:
    micros = [progress.stages.get(name, 0.0) for name in STAGES]
    total = sum(micros)
    left = 0.0
    for name, spent in zip(STAGES, micros, strict=True):
        width = 1000 * spent / total if total else 0.0
        found[f"stage.{name}@x"], found[f"stage.{name}@width"] = f"{left:.0f}", f"{width:.0f}"
        found[f"stage.{name}"] = f"{spent:,.0f} µs"
        left += width
    found["stage.total"] = f"{total:,.0f} µs"
    found["stage@aria-label"] = ", ".join(f"{name} {spent:,.0f} µs" for name, spent in zip(STAGES, micros, strict=True))


def _facts(found: Board, picture: Picture) -> None:
    progress = picture.progress
    found["hosts.ready"] = numbers.count(progress.hosts_ready)
    found["hosts.waiting"] = numbers.count(progress.hosts_waiting)
    found["hosts.held"] = numbers.count(progress.hosts_held)
    found["hosts.down"] = numbers.count(progress.hosts_down)
    found["hosts.known"] = numbers.count(progress.hosts)
    found["flight"] = f"{numbers.count(progress.in_flight * progress.running)} of {numbers.count(progress.connections)}"
    found["latency"] = _seconds(progress.latency) if progress.latency else "none yet"
    found["latency.95"] = _seconds(progress.latency_95) if progress.latency_95 else "none yet"
    found["queued"], found["excluded"] = numbers.count(progress.queued), numbers.count(progress.excluded)
    found["aside"], found["dead"] = numbers.count(progress.aside), numbers.count(progress.faults)
    found["duplicates"] = numbers.count(progress.duplicates)
    known = progress.requests - progress.dns_asked
    found["dns"] = words.percent(known, progress.requests) if progress.dns_asked else "none asked"
    found["robots"] = words.percent(progress.requests - progress.robots_asked, progress.requests)
    for name in ("pages", "frontier", "index"):
        found[f"size.{name}"] = numbers.size(picture.sizes.get(name, 0))
    found["size.free"] = numbers.size(picture.disk_free)
    for name in ("2xx", "3xx", "4xx", "5xx"):
        found[f"status.{name}"] = numbers.count(progress.statuses.get(name, 0))
    most = sorted(progress.reasons.items(), key=lambda each: (-each[1], each[0]))[:REASONS]
    failed = [{"name": said(name), "count": numbers.count(number)} for name, number in most]
    _rows(found, "reason", failed, ("name", "count"), REASONS)


# -- how things are said -----------------------------------------------------------------------------------------------


def _rows(
    found: Board, table: str, rows: Sequence[Mapping[str, str]], columns: Sequence[str], most: int = ROWS
) -> None:
    """A table has as many rows as it may have; those without anything are hidden."""
    for number in range(most):
        row = rows[number] if number < len(rows) else None
        found[f"{table}.{number}@hidden"] = "" if row else "hidden"
        for column in columns:
            found[f"{table}.{number}.{column}"] = row[column] if row else ""
    if table != "agent":  # of which there is always one
        found[f"{table}.none@hidden"] = "hidden" if rows else ""


def _now(picture: Picture) -> float:
    """Where curves end: with the last sample, since nothing is known of what came after it."""
    return picture.samples[-1].at if picture.samples else picture.progress.updated_at


def _usual_range(picture: Picture) -> Range:
    """The whole run while it is young and after it has ended, or else its last minutes."""
    progress = picture.progress
    return "run" if not progress.running or progress.seconds < _SPANS["15min"] else "15min"


def _window(picture: Picture, shown: Range, most: int = charts.BUCKETS) -> Window:
    samples, now = picture.samples, _now(picture)
    if shown == "run":
        return charts.between(now - picture.progress.seconds, now, most)
    if shown == "all":
        return charts.between(samples[0].at if samples else now, now, most)
    seconds = _SPANS[shown]
    return charts.window(now, seconds, min(most, round(seconds / charts.LEAST)))


def _added(samples: Sequence[Sample], field: str, now: float, seconds: float) -> float:
    """What came in the last so many seconds."""
    rates = charts.rates(samples, field, Window(now - seconds, seconds, 1))
    return rates[0] * seconds


def _times(over: Window, running: bool) -> tuple[str, str, str]:
    """What is written below a chart: how long ago while it moves on, when it was afterwards."""
    seconds = over.end - over.start
    if running:
        return f"{numbers.span(round(seconds))} ago", f"{numbers.span(round(seconds / 2))} ago", "now"
    first, last = (words.moment(at).removesuffix(" UTC") for at in (over.start, over.end))
    date = len("2026-01-31 ")
    if first[:date] == last[:date]:
        return first, numbers.span(round(seconds)), last[date:]
    return first[:-3], numbers.span(round(seconds)), last[:-3]  # over days the seconds are of no interest


def _next(due: float, now: float | None) -> str:
    """Nobody is visited while nothing runs."""
    if now is None:
        return ""
    return f"in {words.ago(now, due).removesuffix(' ago')}" if due - now >= 1 else "now"


def _core(share: float) -> str:
    return f"{100 * share:.0f} %"  # of one: an agent has one, others may have more


def _seconds(seconds: float) -> str:
    return words.took(seconds) if seconds else "0 s"
