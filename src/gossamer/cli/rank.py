"""`gossamer rank`: which pages, hosts and domains matter, by the links between them."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.cli import StrictCommand
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.cli.bar import Bar
    from gossamer.report.rank import RankResult

_TOP = 10


@click.command(cls=StrictCommand)
@click.argument("place", type=Path, metavar="[DIR]", required=False)
@click.option("--dir", "directory", type=Path, metavar="DIR", help="The crawl's directory; the same as DIR alone.")
@click.option(
    "--damping",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.85,
    metavar="D",
    help="How often somebody who is at a page follows a link of it, rather than beginning anew anywhere.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1, min_open=True),
    default=1e-6,
    metavar="T",
    help="End when a round changes all scores together by less.",
)
@click.option("--max-iterations", type=click.IntRange(1, 10_000), default=100, metavar="N", help="Rounds at most.")
@click.option("-n", "most", type=click.IntRange(1, 1000), default=_TOP, metavar="N", help="Of each kind, to show.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def rank(
    place: Path | None,
    directory: Path | None,
    damping: float,
    tolerance: float,
    max_iterations: int,
    most: int,
    as_json: bool,
) -> int:
    """Rank pages, hosts and domains by their links (PageRank).

    Works while the crawl runs. Reads the links of pages that the index process has not kept, on all cores, then
    computes on disk. The result is in DIR/rank: pages.parquet, hosts.parquet, domains.parquet. docs/ranking.md
    describes them.
    """
    if (place is None) == (directory is None):
        raise ConfigError("rank: say which crawl is meant, once: gossamer rank --dir DIR")
    if math.isnan(damping) or math.isnan(tolerance):  # of which no range says that it is out of it
        raise ConfigError("rank: --damping and --tolerance are numbers, such as 0.85 and 0.000001")
    home = place or directory
    assert home is not None
    from gossamer.graph.ranks import How
    from gossamer.report.engine import Engine
    from gossamer.report.rank import COLUMNS, make_ranks, top

    steps = _Shown()
    try:
        result = make_ranks(home, How(damping, tolerance, max_iterations), steps)
    finally:
        steps.close()
    with Engine() as engine:
        tables = {name: top(engine, home, name, most) for name in COLUMNS}
    if as_json:
        _print_json(home, result, tables)
    else:
        _print_text(home, result, tables)
    return 0


class _Shown:
    """A bar for each step. Work that is done within a second shows none."""

    def __init__(self) -> None:
        self._what = ""
        self._bar: Bar | None = None

    def gathered(self, gathered: Any) -> None:
        self._of("reading pages").update(gathered.captures, gathered.done, gathered.total)

    def step(self, what: str, done: int, total: int) -> None:
        self._of(what).update(done, done, total)

    def _of(self, what: str) -> Bar:
        from gossamer.cli.bar import Bar

        if self._bar is None or what != self._what:
            self.close()
            self._what, self._bar = what, Bar(what)
        return self._bar

    def close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__()
            self._bar = None


def _print_json(home: Path, result: RankResult, tables: dict[str, list[tuple[Any, ...]]]) -> None:
    import msgspec

    from gossamer.report.rank import COLUMNS

    found = {
        "dir": str(home),
        **msgspec.to_builtins(result),
        "top": {
            name: [dict(zip([column.name for column in COLUMNS[name]], row, strict=True)) for row in rows]
            for name, rows in tables.items()
        },
    }
    sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
    sys.stdout.flush()


def _print_text(home: Path, result: RankResult, tables: dict[str, list[tuple[Any, ...]]]) -> None:
    from gossamer.cli.numbers import count, span, times
    from gossamer.report.writing import harmless

    for name, rows in tables.items():
        level = result.levels[name]
        print(f"{name.capitalize()}: {count(level.nodes)}, {count(level.links)} links between them")
        for position, text, *rest in rows:
            score = rest[2] if name == "pages" else rest[0]
            print(f"{position:>6}  {times(score * level.nodes):>9}  {harmless(str(text))}")
        print()
    pages = result.levels["pages"]
    rounds = f"{pages.rounds} {'round' if pages.rounds == 1 else 'rounds'}"
    print(f"Scores are times the mean. {rounds}, {span(result.seconds)}. All of them: {home / 'rank'}")
    if any(level.change >= result.how.tolerance for level in result.levels.values()):
        print("The scores have not settled: give --max-iterations more.")
    if result.behind:
        print("Pages that were stored in the last moments are not in it; the index process is reading them.")
    print(f"Search counts them when the index is brought up to date: gossamer index --dir {home}")
