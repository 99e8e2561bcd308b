"""Who links to a page, and with which words: the same whatever the order, and after any crash."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import DamagedError
from gossamer.index.backlinks import BLOCKED, INDEXED, KNOWN, Backlinks, Kept, Linked
from gossamer.index.sources import SourceSketch, rounded
from gossamer.model import Locator

PAGE = "http://a.test/page"
KEPT = Kept(Locator(1, 2, 3), Locator(4, 5, 6), b"d" * 20)


@pytest.fixture
def links(tmp_path: Path) -> Iterator[Backlinks]:
    links = Backlinks(tmp_path / "links.db")
    yield links
    links.close()


def linked(links: Backlinks, url: str = PAGE) -> Linked:
    return links.linked([url])[url]


def test_pages_that_link_are_counted_once_each(links: Backlinks) -> None:
    for _ in range(3):
        for number in range(3):
            links.add(f"http://b.test/{number}", [(PAGE, True, f"words {number % 2}"), (PAGE, True, "")])
        links.flush(0.0)
    assert linked(links).count == 3
    assert set(linked(links).anchors) == {"words 0", "words 1"}
    assert linked(links, "http://a.test/other") == Linked()


def test_words_of_other_hosts_come_first_and_are_at_most_ten(links: Backlinks) -> None:
    links.add("http://a.test/", [(PAGE, False, f"own {number}") for number in range(20)])
    links.flush(0.0)
    links.add("http://b.test/", [(PAGE, True, "from outside"), (PAGE, True, "own 7")])
    links.flush(0.0)
    anchors = linked(links).anchors
    assert len(anchors) == 10
    assert set(anchors[:2]) == {"from outside", "own 7"}


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans(), st.sampled_from("abcdefghijklmnopqr")), max_size=80))
def test_order_and_repetition_do_not_matter(found: list[tuple[int, bool, str]]) -> None:
    def known(rows: list[tuple[int, bool, str]], at_once: int) -> Linked:
        links = Backlinks(Path(":memory:"))
        for number, (source, elsewhere, words) in enumerate(rows):
            links.add(f"http://x.test/{source}", [(PAGE, elsewhere, words)])
            if number % at_once == 0:
                links.flush(0.0)
        links.flush(0.0)
        result = linked(links)
        links.close()
        return result

    assert known(found, 1) == known(found[::-1] + found, 7)


@given(st.sets(st.integers(0, 2**32 - 1), max_size=400))
def test_the_estimate_is_exact_up_to_23_and_near_beyond(numbers: set[int]) -> None:
    sketch = SourceSketch()
    for number in numbers:
        sketch = sketch.with_more([number])
    assert SourceSketch(sketch.pack()).count() == sketch.count()
    assert sketch.with_more(numbers) is sketch
    if len(numbers) < 24:
        assert sketch.count() == len(numbers)
    else:
        assert sketch.count() >= 24


def test_an_even_spread_is_estimated_well() -> None:
    for true in (100, 1000, 50_000):
        sketch = SourceSketch().with_more([(2**32 // true) * number for number in range(true)])
        assert 0.9 < sketch.count() / true < 1.1


def test_numbers_are_rounded_down() -> None:
    assert [rounded(count) for count in (0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 23, 24, 1000)] == [
        0, 1, 2, 3, 4, 4, 6, 6, 8, 8, 12, 16, 16, 24, 768,
    ]  # fmt: skip


def test_a_page_is_stale_when_it_was_written_with_other_links(links: Backlinks) -> None:
    links.stand(PAGE, INDEXED, KEPT, linked(links))
    assert links.stale(1e9, 10) == []
    links.add("http://b.test/", [(PAGE, True, "words"), ("http://a.test/unknown", True, "words")])
    links.flush(1000.0)
    assert links.stale(1000.0, 10) == []  # it has a rest first
    assert links.stale(1015.0, 10) == [PAGE]
    links.rewritten(PAGE, linked(links))
    assert links.stale(1e9, 10) == []
    links.commit()
    links.committed(1020.0)
    assert links.stale(1e9, 10) == []
    links.add("http://c.test/", [(PAGE, True, "words")])
    links.flush(2000.0)
    assert links.stale(2059.0, 10) == []  # the second rest is longer
    assert links.stale(2060.0, 10) == [PAGE]


def test_links_that_come_while_a_page_is_written_again_are_not_lost(links: Backlinks) -> None:
    links.stand(PAGE, INDEXED, KEPT, linked(links))
    links.add("http://b.test/", [(PAGE, True, "one")])
    links.flush(0.0)
    links.rewritten(PAGE, linked(links))
    links.add("http://c.test/", [(PAGE, True, "two")])
    links.flush(0.0)
    links.commit()
    links.committed(100.0)
    assert links.stale(1e9, 10) == [PAGE]


def test_a_page_stays_stale_until_the_index_has_committed(tmp_path: Path) -> None:
    links = Backlinks(tmp_path / "links.db")
    links.stand(PAGE, INDEXED, KEPT, linked(links))
    links.add("http://b.test/", [(PAGE, True, "words")])
    links.flush(0.0)
    links.rewritten(PAGE, linked(links))
    links.commit()
    links.close()  # killed here: the index never heard of it
    links = Backlinks(tmp_path / "links.db")
    assert links.stale(1e9, 10) == [PAGE]
    links.close()


def test_what_was_not_committed_is_gone(tmp_path: Path) -> None:
    links = Backlinks(tmp_path / "links.db")
    links.stand(PAGE, INDEXED, KEPT, Linked(2, ("x",)))
    links.set_note("name", b"value")
    links.commit()
    links.stand("http://a.test/later", INDEXED, KEPT, Linked())
    links.forget(PAGE)
    links.close()
    links = Backlinks(tmp_path / "links.db")
    assert links.indexed == 1
    assert links.kept(PAGE) == KEPT
    assert links.kept("http://a.test/later") is None
    assert (links.note("name"), links.note("other")) == (b"value", None)
    links.close()


def test_pages_in_the_index_are_counted(links: Backlinks) -> None:
    links.stand(PAGE, INDEXED, KEPT, Linked())
    links.stand(PAGE, INDEXED, KEPT, Linked(1))
    links.stand("http://a.test/2", BLOCKED, KEPT)
    links.stand("http://a.test/3", KNOWN, KEPT)
    assert links.indexed == 1
    assert sorted(links.pages((INDEXED, BLOCKED))) == [("http://a.test/2", BLOCKED), (PAGE, INDEXED)]
    links.forget(PAGE)
    links.forget("http://a.test/never")
    assert links.indexed == 0
    assert links.kept(PAGE) is None


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "links.db").write_bytes(b"something else" * 1000)
    with pytest.raises(DamagedError, match=r"links\.db cannot be read: .* gossamer index --rebuild"):
        Backlinks(tmp_path / "links.db")
    assert sqlite3.connect(":memory:").close() is None
