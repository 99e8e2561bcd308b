"""What several agents say of themselves as one: sums, means weighted by what they are means of, and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from operator import mul
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.limiting import what_limits
from gossamer.agent.progress import AppFigures, Progress, Summary

_NAME: Final = "progress"
_SUMS: Final = (
    *("pages", "ok", "faults", "excluded", "urls", "hosts", "bytes", "cpu_seconds", "searchable", "index_cpu_seconds"),
    *(
        "run_pages",
        "pages_per_s",
        "bytes_per_s",
        "queued",
        "aside",
        "duplicates",
        "in_flight",
        "connections",
        "target_rate",
    ),
    *(
        "hosts_ready",
        "hosts_waiting",
        "hosts_held",
        "hosts_down",
        "requests",
        "robots_asked",
        "dns_asked",
        "core",
        "memory",
    ),
    *("partitions", "seeds_read", "revisits", "revisits_changed", "revisits_unmodified", "gone", "due"),
)
_MOST: Final = ("seconds", "max_pages", "time_limit", "lag", "latency_95", "updated_at")
_TOTALS: Final = ("findings", "statuses", "reasons", "waits")  # numbers by name
_ADDED: Final = (*_TOTALS, "hosts_left", "given_up")
_APP_SUMS: Final = ("started", "fetched", "failed", "requests", "new", "left_out", "pages", "records")
_MACHINE: Final = "this machine"
_COUNTED: Final = frozenset({"politeness", "connections", "the servers", _MACHINE})  # limits that are said with figures
# What an agent that is not at work has done stays done; what it had is with others now.
_DONE: Final = (
    *("pages", "ok", "faults", "bytes", "duplicates", "revisits", "revisits_changed", "revisits_unmodified", "gone"),
    *_TOTALS,
)


def merge(agents: Sequence[Progress]) -> Progress:
    """Of a crawl with these agents. It runs while one of them does."""
    whole = Progress()
    for name in _SUMS:
        setattr(whole, name, sum(getattr(each, name) for each in agents))
    for name in _MOST:
        setattr(whole, name, max((getattr(each, name) for each in agents), default=0))
    for name in _ADDED:
        setattr(whole, name, _added(getattr(each, name) for each in agents))
    for stage in dict.fromkeys(stage for each in agents for stage in each.stages):
        whole.stages[stage] = _mean(agents, [each.stages.get(stage, 0.0) for each in agents], "run_pages")
    whole.latency = _mean(agents, [each.latency for each in agents], "pages_per_s")
    whole.freshness = _mean(agents, [each.freshness for each in agents], "ok", 1.0)
    whole.age = _mean(agents, [each.age for each in agents], "ok")
    whole.mean_pages_per_s = whole.run_pages / whole.seconds if whole.seconds > 0 else 0.0
    # Peaks of different moments are no peak of all together; that it was at least this fast is certain.
    whole.peak_pages_per_s = max([whole.pages_per_s, *(each.peak_pages_per_s for each in agents)])
    whole.seeds_share = min((each.seeds_share for each in agents), default=1.0)
    whole.keep_fresh = any(each.keep_fresh for each in agents)
    whole.paused = bool(agents) and all(each.paused for each in agents)
    whole.running = any(each.running for each in agents)
    whole.reason = "" if whole.running else _reason(each.reason for each in agents)
    whole.limit = _limit(agents, whole)
    whole.adjusted = next((each.adjusted for each in agents if each.adjusted), "")
    whole.strategy = agents[0].strategy if agents else whole.strategy
    whole.strategy_error = next((each.strategy_error for each in agents if each.strategy_error), "")
    whole.strategy_figures = _figures(agents)
    for each in agents:  # all say the same of the others
        whole.lost |= each.lost
    whole.apps = merge_apps([each.apps for each in agents])
    return whole


def merge_apps(agents: Sequence[Mapping[str, AppFigures]]) -> dict[str, AppFigures]:
    """Who shares the speed of a crawl, of what each agent says of them: figures are sums, states those of all."""
    found: dict[str, AppFigures] = {}
    for name in dict.fromkeys(name for apps in agents for name in apps):
        each = [apps[name] for apps in agents if name in apps]
        sums = {figure: sum(getattr(one, figure) for one in each) for figure in _APP_SUMS}
        found[name] = AppFigures(share=each[0].share, state=_states([one.state for one in each]), **sums)
    return found


def left(agent: Progress) -> Progress:
    """Of an agent that takes no part any more."""
    apps = {name: msgspec.structs.replace(app, state="") for name, app in agent.apps.items()}
    return Progress(running=False, reason=agent.reason, apps=apps, **{name: getattr(agent, name) for name in _DONE})


def summary_of(whole: Progress) -> Summary:
    return Summary(**{name: getattr(whole, name) for name in Summary.__struct_fields__})


def write_progress(home: Path, progress: Progress) -> None:
    """For who watches the agent with that directory: whole or not at all."""
    with suppress(OSError):  # a full disk is met by others, who say so
        fresh = home / "logs" / f"{_NAME}.new"
        fresh.write_bytes(msgspec.msgpack.encode(progress))
        fresh.replace(home / "logs" / _NAME)


def read_written(home: Path) -> Progress | None:
    """What the agent with that directory wrote last."""
    try:
        return msgspec.msgpack.decode((home / "logs" / _NAME).read_bytes(), type=Progress)
    except (OSError, msgspec.MsgspecError):
        return None


def forget_written(home: Path) -> None:
    """What it wrote in an earlier run is not said of this one."""
    with suppress(OSError):
        (home / "logs" / _NAME).unlink(missing_ok=True)


def _added(tables: Iterable[dict[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for table in tables:
        for name, number in table.items():
            found[name] = found.get(name, 0) + number
    return found


def _states(states: Sequence[str]) -> str:
    """As one says it if all say the same; or else how many say what. Of one that has no process nothing is said."""
    said = [state for state in states if state]
    counted = {state: said.count(state) for state in said}
    return said[0] if len(counted) == 1 else "; ".join(f"{state} ({count})" for state, count in counted.items())


def _figures(agents: Sequence[Progress]) -> dict[str, float]:
    """Numbers of things are added; shares are means, weighted by pages."""
    found: dict[str, float] = {}
    for name in dict.fromkeys(name for each in agents for name in each.strategy_figures):
        having = [each for each in agents if name in each.strategy_figures]
        values = [each.strategy_figures[name] for each in having]
        whole = all(isinstance(value, int) for value in values)
        found[name] = sum(values) if whole else _mean(having, values, "pages")
    return found


def _mean(agents: Sequence[Progress], values: Sequence[float], weight: str, otherwise: float = 0.0) -> float:
    """Weighted by another figure of theirs; `otherwise` where that is nothing."""
    weights = [getattr(each, weight) for each in agents]
    total: float = sum(weights)
    return sum(map(mul, values, weights)) / total if total > 0 else otherwise


def _reason(reasons: Iterable[str]) -> str:
    """They end together, for one reason; an agent that was told to leave before has its own."""
    found = [reason for reason in reasons if reason]
    return next((reason for reason in found if reason != "stopped"), found[0] if found else "")


def _limit(agents: Sequence[Progress], whole: Progress) -> str:
    """What limits most of them, each counted by what it has in flight and one more, with the figures of all."""
    votes: dict[str, int] = {}
    for each in agents:
        if each.running and each.limit:
            kind = each.limit.partition(":")[0]
            votes[kind] = votes.get(kind, 0) + 1 + each.in_flight
    if not votes:
        return ""
    kind = max(votes, key=votes.__getitem__)
    said = next(each.limit for each in agents if each.running and each.limit.partition(":")[0] == kind)
    return what_limits(whole, "" if kind in _COUNTED else said, kind == _MACHINE) or said
