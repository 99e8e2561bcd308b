"""The tables that need more than facts: states and reasons from the frontier, what was found to repeat itself, time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import floor
from typing import Any, Final

from gossamer.agent.findings import KeptFinding, sentence
from gossamer.agent.progress import Progress
from gossamer.agent.statistics import Statistics
from gossamer.model import State
from gossamer.report.engine import Engine
from gossamer.report.page_tables import MOST
from gossamer.report.table import Field, Table

Outcomes = Counter[tuple[State, int, int, str]]

_MOST_STEPS: Final = 120  # points of the speed over time
_STEPS: Final = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800,
)  # fmt: skip
_AGES: Final = (
    (3600, "under 1 h"),
    (6 * 3600, "1 h to 6 h"),
    (86400, "6 h to 1 d"),
    (7 * 86400, "1 d to 7 d"),
    (30 * 86400, "7 d to 30 d"),
    (365 * 86400, "30 d to 1 year"),
    (float("inf"), "over 1 year"),
)


def states(outcomes: Outcomes) -> Table:
    counts: Counter[State] = Counter()
    for (state, *_), count in outcomes.items():
        counts[state] += count
    rows = [(state.name.lower(), counts[state]) for state in State]
    fields = (Field("state", "State", "text"), Field("urls", "URLs"))
    return Table("states", "Known URLs", "What became of every URL that was met.", fields, rows, "bars", "urls")


def url_depths(outcomes: Outcomes) -> Table:
    counts: dict[int, Counter[State]] = {}
    for (state, depth, *_), count in outcomes.items():
        counts.setdefault(depth, Counter())[state] += count
    rows = [(depth, found.total(), *(found[state] for state in State)) for depth, found in sorted(counts.items())]
    fields = (Field("depth", "Depth", "number"), Field("urls", "URLs"), *(_state_field(state) for state in State))
    about = "Links from a seed; the depth that a URL was first met at."
    return Table("url_depths", "Known URLs by depth", about, fields, rows, "bars", "urls")


def _state_field(state: State) -> Field:
    return Field(state.name.lower(), state.name.capitalize())


def faults(outcomes: Outcomes, statistics: Statistics) -> Table:
    dead, waits, tries = _by_reason(outcomes, State.DEAD), _by_reason(outcomes, State.QUEUED), statistics.reasons
    del waits["(none)"]
    found = [(reason, dead[reason], waits[reason], tries.get(reason, 0)) for reason in {*dead, *waits, *tries}]
    rows = sorted(found, key=lambda row: (-row[3], -row[2], -row[1], row[0]))
    fields = (
        Field("reason", "Reason", "text"),
        Field("urls", "URLs given up"),
        Field("waiting", "URLs that wait"),
        Field("tries", "Failed tries"),
    )
    about = (
        "Visits that brought no page, those to robots.txt included. URLs are given up when every try failed, and wait"
        " where their host does not answer for now. Tries that were repeated with success are counted as tries only."
    )
    return Table("faults", "Faults", about, fields, rows, "bars", "tries")


def exclusions(outcomes: Outcomes) -> Table:
    rows = sorted(_by_reason(outcomes, State.EXCLUDED).items(), key=lambda item: (-item[1], item[0]))
    fields = (Field("reason", "Reason", "text"), Field("urls", "URLs"))
    about = "URLs that were met and will not be fetched."
    return Table("exclusions", "Excluded URLs", about, fields, list(rows), "bars", "urls")


def _by_reason(outcomes: Outcomes, wanted: State) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (state, _, _, reason), count in outcomes.items():
        if state is wanted:
            counts[reason or "(none)"] += count
    return counts


def findings(found: Iterable[KeptFinding]) -> Table:
    ordered = sorted(found, key=lambda one: (one.kind, -one.pages, one.what))[:MOST]
    rows = [(one.kind, one.what, one.like, one.pages, one.found_at, sentence(one)) for one in ordered]
    fields = (
        Field("kind", "Kind", "text"),
        Field("what", "Place", "text"),
        Field("like", "Repeats", "text"),
        Field("pages", "Pages"),
        Field("found_at", "Found", "moment"),
        Field("sentence", "What it means", "text"),
    )
    about = "Mirrors of hosts, places that bring nothing new, domains whose hosts have no end."
    return Table("findings", "Mirrors and traps", about, fields, rows)


def speed(engine: Engine) -> Table:
    """Pages and bytes a second over the time of the crawl, gaps included."""
    first, last = engine.row("SELECT min(fetched_at), max(fetched_at) FROM facts WHERE kind IN ('page', 'same')")
    fields = (
        Field("at", "From", "moment"),
        Field("seconds", "For", "seconds"),
        Field("pages", "Pages"),
        Field("pages_per_s", "Pages/s", "rate"),
        Field("bytes", "Bytes", "size"),
        Field("bytes_per_s", "Bytes/s", "size"),
    )
    about = "Every response to a visit, also those that were fetched again since; bytes of bodies as sent."
    table = Table("speed", "Speed over time", about, fields, [], "series", "pages_per_s")
    if first is None:
        return table
    step = next((step for step in _STEPS if (last - first) / step < _MOST_STEPS), 0)
    step = step or 604800 * (floor((last - first) / 604800 / _MOST_STEPS) + 1)
    found = {
        int(slot): (pages, size)
        for slot, pages, size in engine.rows(
            "SELECT floor(fetched_at / ?)::BIGINT, count(*), sum(encoded_size)::UBIGINT FROM facts"
            " WHERE kind IN ('page', 'same') GROUP BY 1",
            (step,),
        )
    }
    for slot in range(floor(first / step), floor(last / step) + 1):
        pages, size = found.get(slot, (0, 0))
        # The first and the last step are not whole: what came in them came in less time.
        seconds = min(last, (slot + 1) * step) - max(first, slot * step)
        seconds = max(seconds, min(1.0, step))
        table.rows.append((float(slot * step), seconds, pages, pages / seconds, size, size / seconds))
    return table


def freshness(engine: Engine, now: float) -> Table:
    copies = _ages(engine, "? - greatest(fetched_at, coalesce(checked_at, 0))", "true", (now,))
    changed = _ages(engine, "fetched_at - last_modified", "last_modified IS NOT NULL", ())
    rows = [(name, copies[name], changed[name]) for _, name in _AGES]
    fields = (Field("age", "Age", "text"), Field("pages", "Copies so old"), Field("unchanged", "Unchanged for so long"))
    about = (
        "How long ago pages were fetched, or found unchanged; and how long they had not changed when they were fetched,"
        " where Last-Modified says so."
    )
    return Table("freshness", "Freshness", about, fields, rows, "bars", "pages")


def _ages(engine: Engine, age: str, where: str, parameters: tuple[Any, ...]) -> Counter[str]:
    cases = " ".join(f"WHEN age < {limit} THEN '{name}'" for limit, name in _AGES if limit != float("inf"))
    query = (
        f"SELECT CASE {cases} ELSE '{_AGES[-1][1]}' END, count(*) FROM"
        f" (SELECT {age} AS age FROM pages LEFT JOIN checked ON checked.page = hash(url) WHERE {where}) GROUP BY 1"
    )
    return Counter(dict(engine.rows(query, parameters)))


def totals(engine: Engine, outcomes: Outcomes, statistics: Statistics, hosts: int) -> dict[str, Any]:
    """Names are stable: docs/report.md lists them."""
    known: Counter[State] = Counter()
    for (state, *_), count in outcomes.items():
        known[state] += count
    names = (
        "pages", "ok", "hosts_with_pages", "domains", "suffixes", "addresses", "body_bytes", "encoded_bytes", "links",
        "mean_size", "median_size", "mean_links", "median_links", "first_fetched_at", "last_fetched_at", "html_pages",
    )  # fmt: skip
    found = engine.row(
        "SELECT count(*), count(*) FILTER (status BETWEEN 200 AND 299), count(DISTINCT host), count(DISTINCT domain),"
        " count(DISTINCT suffix), count(DISTINCT address) FILTER (address <> ''), coalesce(sum(size), 0)::UBIGINT,"
        " coalesce(sum(encoded_size), 0)::UBIGINT, coalesce(sum(links), 0)::UBIGINT, avg(size), approx_quantile(size,"
        " 0.5), avg(links), approx_quantile(links, 0.5), min(fetched_at), max(fetched_at), count(links) FROM pages"
    )
    captures, robots_captures, same_captures, last = engine.row(
        "SELECT count(*), count(*) FILTER (kind = 'robots'), count(*) FILTER (kind = 'same'),"
        " max(fetched_at) FILTER (kind IN ('page', 'same')) FROM facts"
    )
    repeated, groups = engine.row(
        "SELECT coalesce(sum(pages - 1), 0)::UBIGINT, count(*) FROM (SELECT count(*) AS pages FROM pages"
        " WHERE status BETWEEN 200 AND 299 AND size > 0 GROUP BY digest HAVING count(*) > 1)"
    )
    return {
        **dict(zip(names, found, strict=True)),
        "last_fetched_at": last,
        "captures": captures,
        "robots_captures": robots_captures,
        "same_captures": same_captures,
        "duplicate_pages": repeated,
        "duplicate_groups": groups,
        "urls": known.total(),
        "queued": known[State.QUEUED],
        "fetched": known[State.FETCHED],
        "dead": known[State.DEAD],
        "excluded": known[State.EXCLUDED],
        "hosts": hosts,
        "received_bytes": statistics.bytes,
        "failed_tries": statistics.failures,
        "robots_requests": statistics.robots,
        "robots_excluded": _by_reason(outcomes, State.EXCLUDED)["robots"],
        "sources": statistics.sources,
        "repeated_contents": statistics.duplicates,
        "findings": sum(statistics.findings.values()),
    }


def strategy(progress: Progress) -> Table:
    """What the strategy says of itself; nothing where the crawl is breadth-first."""
    rows: list[tuple[str, str, float | None]] = [
        (progress.strategy, name, value) for name, value in progress.strategy_figures.items()
    ]
    if progress.strategy_error:
        rows.append((progress.strategy, f"stopped: {progress.strategy_error}", None))
    fields = (
        Field("strategy", "Strategy", "text"),
        Field("figure", "Figure", "text"),
        Field("value", "Value", "figure"),
    )
    about = (
        "In what order URLs are visited, and what the strategy says of itself. Harvest: relevant pages of those judged."
    )
    return Table("strategy", "Strategy", about, fields, rows)
