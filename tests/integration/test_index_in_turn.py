"""An index that another process writes: who waits for it, how long, and who does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from crawling import crawl

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.follower import beside_a_crawl, by_itself
from gossamer.agent.index_status import IndexStatus, write_status
from gossamer.errors import IndexInUseError
from gossamer.index import IndexWriter
from gossamer.testing.tinyweb import TinyWeb

HOME = "http://a.test/"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with TinyWeb() as web:
        web.add_page(HOME)
        crawl(tmp_path / "c", [HOME], web.connect)
    return tmp_path / "c"


@pytest.fixture
def other(home: Path) -> Iterator[IndexWriter]:
    """Whoever writes it; tells no more than a process would that has a number."""
    writer = IndexWriter(home / "index", 15_000_000)
    write_status(home / "index", IndexStatus(pid=4711))
    yield writer
    writer.close()


def nothing(_: object) -> None:
    """Nobody looks at how far it is."""


def never() -> bool:
    return False


def test_one_that_a_killed_crawl_left_is_waited_for(home: Path, other: IndexWriter) -> None:
    told: list[str] = []

    def notice(text: str) -> None:
        told.append(text)
        other.close()  # it ends while it is waited for

    follower = by_itself(home, notice, nothing, never)
    assert follower.catch_up().pages == 1
    follower.close()
    assert told == ["index: another process (pid 4711) writes it and no crawl runs; waits up to 30 s for it"]


@pytest.mark.usefixtures("other")
def test_but_not_for_ever(home: Path) -> None:
    told: list[str] = []
    seconds = count(0, 16)
    with pytest.raises(IndexInUseError, match="another process"):
        by_itself(home, told.append, nothing, never, lambda: next(seconds))
    assert len(told) == 1
    assert next(seconds) == 48  # asked at 0, then at 16, then at 32, which is too late


@pytest.mark.usefixtures("other")
def test_nor_where_a_crawl_runs_that_has_it_for_long(home: Path) -> None:
    directory = CrawlDir(home)
    directory.take()
    try:
        with pytest.raises(IndexInUseError):
            by_itself(home, pytest.fail, nothing, never)
    finally:
        directory.release()


@pytest.mark.usefixtures("other")
def test_nor_by_somebody_who_was_told_to_stop(home: Path) -> None:
    with pytest.raises(IndexInUseError):
        by_itself(home, pytest.fail, nothing, lambda: True)


def test_the_process_beside_a_crawl_waits_as_long_as_the_crawl_goes_on(home: Path, other: IndexWriter) -> None:
    looks = count(1)

    def ended(_: float) -> bool:
        if next(looks) == 5:
            other.close()
        return False

    follower = beside_a_crawl(home, pytest.fail, nothing, never, ended, pytest.fail)
    assert follower.catch_up().pages == 1
    follower.close()
    assert next(looks) == 6


@pytest.mark.usefixtures("other")
def test_and_a_while_longer(home: Path) -> None:
    looks, seconds = count(1), count(0, 16)
    with pytest.raises(IndexInUseError):
        beside_a_crawl(home, pytest.fail, nothing, never, lambda _: next(looks) > 5, lambda: next(seconds))
    assert next(looks) == 8  # twice since the crawl has ended
