"""`gossamer rank`: links brought up to date, ranks computed, and the result put in the place of the last one."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.follower import swap
from gossamer.agent.graph_reader import Gathered, gather_links
from gossamer.agent.parts import readable_parts
from gossamer.errors import CrawlDirError, DamagedError, DiskFullError
from gossamer.graph.log import Held, frames_of
from gossamer.graph.ranks import DOMAINS, HOSTS, PAGES, GraphRanks, How
from gossamer.graph.scores import SCORES
from gossamer.lock import taken
from gossamer.report.engine import Engine, files_of, lines_of
from gossamer.report.fact import Column

FORMAT: Final = 1
RESULT: Final = "rank.json"
_MEMORY: Final = "512MB"  # of DuckDB, beside the numbers of pages
_PAGE_COLUMNS: Final = (
    Column("url", "VARCHAR", "as the crawl spells it"),
    Column("host", "VARCHAR", "its host"),
    Column("domain", "VARCHAR", "its registered domain"),
    Column("score", "DOUBLE", "PageRank: the scores of all pages together are 1"),
    Column("links", "UINTEGER", "pages that link to it, itself left out"),
    Column("stored", "BOOLEAN", "whether it is stored; otherwise it is only linked to"),
)
_NAME_COLUMNS: Final = (
    Column("name", "VARCHAR", "the host, with the port where it is not the usual one; or the registered domain"),
    Column("score", "DOUBLE", "PageRank: the scores of all together are 1"),
    Column("links", "UINTEGER", "other hosts, or domains, that link to it"),
    Column("pages", "UBIGINT", "stored ones"),
)
POSITION: Final = Column("position", "UBIGINT", "1 for the highest score")
COLUMNS: Final = {
    PAGES: (POSITION, *_PAGE_COLUMNS),
    HOSTS: (POSITION, *_NAME_COLUMNS),
    DOMAINS: (POSITION, *_NAME_COLUMNS),
}

_encode = msgspec.json.Encoder().encode_lines


class LevelResult(msgspec.Struct):
    """Of pages, hosts or domains: how many there are, links between them, rounds, and what the last of them changed."""

    nodes: int
    links: int
    rounds: int
    change: float


class RankResult(msgspec.Struct):
    """What DIR/rank/rank.json says of the files beside it."""

    made_at: float
    seconds: float
    how: How
    stored: int  # pages
    levels: dict[str, LevelResult]
    behind: int = 0  # bytes of CDXJ whose links are not in it
    format: int = FORMAT


class Steps(Protocol):
    """Who looks on: captures that are read, then steps of the computing."""

    def gathered(self, gathered: Gathered) -> None: ...

    def step(self, what: str, done: int, total: int) -> None: ...


class _Nobody:
    def gathered(self, gathered: Gathered) -> None:
        pass

    def step(self, what: str, done: int, total: int) -> None:
        pass


def make_ranks(
    home: Path, how: How | None = None, steps: Steps | None = None, clock: Callable[[], float] = time.time
) -> RankResult:
    """Whole or not at all: until it is done, the last result stays."""
    how, steps = how or How(), steps or _Nobody()
    began = clock()
    directories = readable_parts(home)
    whole = CrawlDir(home)
    behind = sum(gather_links(part.home, steps.gathered).behind for part in directories)
    with _workplace(whole) as folder:
        try:
            result = rank_frames(_frames(directories), folder, how, steps)
        except DamagedError:
            # Another process may have merged frames in between.
            result = rank_frames(_frames(directories), folder, how, steps)
        result.behind, result.made_at, result.seconds = behind, began, clock() - began
        _write(folder / RESULT, msgspec.json.encode(result))
        shutil.rmtree(folder / "scratch")
        swap(folder, whole.rank)
    return result


def _frames(directories: Sequence[CrawlDir]) -> list[Held]:
    return [held for part in directories for held in frames_of(part.graph)]


@contextmanager
def _workplace(directory: CrawlDir) -> Iterator[Path]:
    """A folder beside the last result, for one process at a time. What another one left there is removed."""
    try:
        directory.graph.mkdir(parents=True, exist_ok=True)
        lock = taken(directory.graph / "ranking")
    except OSError as error:
        raise CrawlDirError(f"{directory.home} cannot be written: {error.strerror}. Change its owner.") from error
    if lock is None:
        raise CrawlDirError(f"Another gossamer rank is at work in {directory.home}. Wait for it.")
    folder = directory.rank.with_name("rank.new")
    try:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "scratch").mkdir(parents=True)
        yield folder
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(
                f"The disk that holds {directory.home} is full: ranks take some 30 bytes a link while they are made. "
                "Free some room, then run the same command again."
            ) from error
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def rank_frames(frames: list[Held], folder: Path, how: How, steps: Steps) -> RankResult:
    """All files of a result, in a folder that has one for what is needed meanwhile."""
    scratch = folder / "scratch"
    ranks = GraphRanks(frames, scratch, how, steps.step)
    ranks.write_scores(folder / SCORES)
    with Engine(scratch, _MEMORY) as engine:
        tables: dict[str, tuple[tuple[Column, ...], Iterable[list[Any]]]] = {
            PAGES: (_PAGE_COLUMNS, ranks.pages()),
            HOSTS: (_NAME_COLUMNS, [ranks.hosts()]),
            DOMAINS: (_NAME_COLUMNS, [ranks.domain_ranks()]),
        }
        for number, (name, (columns, rows)) in enumerate(tables.items()):
            steps.step("writing", number, len(tables))
            _write_table(engine, folder / f"{name}.parquet", scratch / "lines", columns, rows)
    levels = {
        name: LevelResult(level.nodes, level.links, level.ranked.rounds, level.ranked.change)
        for name, level in ranks.levels.items()
    }
    return RankResult(0.0, 0.0, how, int(ranks.numbering.stored.sum()), levels)


def _write_table(
    engine: Engine, out: Path, lines: Path, columns: tuple[Column, ...], rows: Iterable[list[Any]]
) -> None:
    with open(lines, "wb") as file:
        for some in rows:
            file.write(_encode(some))
    place = f'row_number() OVER (ORDER BY score DESC, "{columns[0].name}") AS position'
    engine.copy(f"SELECT {place}, * FROM {lines_of(lines, columns)} ORDER BY position", out)
    lines.unlink()


def _write(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read_result(home: Path) -> RankResult | None:
    """What is known of the ranks of a crawl; None where it has none that this version can read."""
    try:
        found = msgspec.json.decode((home / "rank" / RESULT).read_bytes(), type=RankResult)
    except (OSError, msgspec.MsgspecError):
        return None
    return found if found.format == FORMAT else None


def top(engine: Engine, home: Path, name: str, most: int) -> list[tuple[Any, ...]]:
    """The first rows of a table, as COLUMNS has them."""
    path = home / "rank" / f"{name}.parquet"
    return engine.rows(f"SELECT * FROM {files_of([path])} WHERE position <= {most:d} ORDER BY position")
