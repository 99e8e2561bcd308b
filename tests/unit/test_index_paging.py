"""Results counted, and given page by page, from one index and from several."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from searched import DAY, NOW, Finder, all_pages, names, page

from gossamer.errors import QueryError
from gossamer.index import Entry, IndexWriter, Search


def test_counts_and_facets_are_exact(indexed: Finder) -> None:
    ages = [0.5, 3, 20, 200, 900, 901]
    entries = [
        Entry(f"https://h{n % 2}.test/{n}", NOW - age * DAY, body="silk", language="en" if n else "ja")
        for n, age in enumerate(ages)
    ]
    answer = indexed(entries).answer("silk", limit=2)
    assert answer.total == 6
    assert answer.facets == {
        "site": [("h0.test", 3), ("h1.test", 3)],
        "language": [("en", 5), ("ja", 1)],
        "date": [("day", 1), ("week", 2), ("month", 3), ("year", 4), ("older", 2)],
    }
    assert answer.query == "silk"
    assert answer.seconds > 0


@pytest.mark.parametrize("query", ["silk", "site:a.test", "silk -nothing", "silk OR lang:en", "京"])
def test_pages_have_every_result_once_and_in_one_order(indexed: Finder, query: str) -> None:
    entries = [
        page(f"p{n}", "silk 京 " + "and more " * (n % 5), inlinks=n % 3, title="silk" if n % 7 == 0 else "")
        for n in range(150)
    ]
    search = indexed(entries)
    whole = all_pages(search, query, 100)
    assert sorted(whole) == sorted(entry.url for entry in entries)
    for limit in (1, 7, 40):
        assert all_pages(search, query, limit) == whole


def test_the_order_does_not_depend_on_how_the_index_was_written(tmp_path: Path) -> None:
    entries = [page(f"p{n}", "silk") for n in range(60)]
    orders = []
    for name, step in (("one", 60), ("many", 3)):
        writer = IndexWriter(tmp_path / name, 15_000_000)
        for at in range(0, 60, step):
            writer.upsert(entries[at : at + step] if step == 60 else entries[at : at + step][::-1])
            writer.commit(b"")
        writer.close()
        orders.append(all_pages(Search([tmp_path / name]), "silk", 9))
    assert orders[0] == orders[1]


def test_what_a_score_is_made_of_adds_up(indexed: Finder) -> None:
    search = indexed([
        page("a", "silk thread and looms", title="Silk threads", anchors=["silk", "thread"], inlinks=30),
        page("silk/b", "a thread of silk", title="Nothing", inlinks=2),
        page("c", "other words"),
    ])  # fmt: skip
    for query in ("silk", "silk thread", "threads loom OR silk", '"silk thread"', "silk -nowhere site:a.test"):
        for hit in search.answer(query).results:
            parts = dict(hit.why)
            factor = parts.pop("times, for links and place", 1.0)
            assert sum(parts.values()) * factor == pytest.approx(hit.score, rel=0.02), (query, hit.why)


def test_equal_results_beyond_what_is_ordered_at_once_are_neither_lost_nor_doubled(
    indexed: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.index.ranking._MOST_EQUAL", 40)
    search = indexed([page(f"p{n}", "silk") for n in range(150)])
    whole = all_pages(search, "silk", 100)
    assert len(set(whole)) == len(whole) == 150
    for limit in (3, 39, 41):
        assert all_pages(search, "silk", limit) == whole


def test_a_cursor_is_for_its_query_only(indexed: Finder) -> None:
    search = indexed([page(f"p{n}", "silk web") for n in range(30)])
    cursor = search.answer("silk").next
    assert search.answer("  silk,", cursor=cursor).results
    with pytest.raises(QueryError, match="another query"):
        search.answer("web", cursor=cursor)
    for wrong in ("x", cursor[:-2], "é", "A" * 5000, cursor + "!", "kw"):
        with pytest.raises(QueryError, match="not one that a search gave"):
            search.answer("silk", cursor=wrong)


def test_the_same_payload_is_shown_once(indexed: Finder) -> None:
    copies = [page(f"copy{n}", "silk thread", digest=b"same", inlinks=9 if n == 4 else 0) for n in range(8)]
    others = [page(f"other{n}", "silk " + "thread " * n, digest=bytes([n])) for n in range(8)]
    search = indexed(copies + others)
    answer = search.answer("silk", limit=50)
    assert answer.total == 9
    assert answer.facets["site"] == [("a.test", 9)]
    assert {hit.url: hit.same for hit in answer.results if "copy" in hit.url} == {"https://a.test/copy4": 7}
    assert len(answer.results) == 9
    for limit in (1, 2, 5):
        assert all_pages(search, "silk", limit) == [hit.url for hit in answer.results]
    # One that does not match does not stand for one that does.
    assert names(search.answer("url:copy5 silk")) == ["copy5"]


@pytest.mark.parametrize("indexes", [1, 2, 3])
def test_counts_are_those_of_the_results_that_paging_gives(indexed: Finder, indexes: int) -> None:
    chance = random.Random(indexes)

    def one(number: int) -> Entry:
        return Entry(
            f"https://h{number % 5}.test/p{number}", NOW - chance.choice([0.1, 5, 25, 300, 999]) * DAY,
            title=f"title {number}", body=chance.choice(["silk", "silk web", "web", "loom"]),
            inlinks=chance.choice([0, 3, 90]), language=chance.choice(["en", "de", ""]),
            digest=chance.choice([b"", b"1", b"2", b"3"]),
        )  # fmt: skip

    # Every index has some of the same URLs, at other times and with other texts.
    search = indexed(*[[one(number) for number in range(start, start + 80)] for start in range(0, 40 * indexes, 40)])
    for query in ("silk", "silk OR web", "site:h1.test", "web -silk", "lang:de loom", "title", "nowhere"):
        hits, cursor = [], ""
        while True:
            answer = search.answer(query, limit=7, cursor=cursor)
            hits += answer.results
            cursor = answer.next
            if not cursor:
                break
        assert len({hit.url for hit in hits}) == len(hits) == answer.total, query
        assert dict(answer.facets["site"]) == Counter(hit.host for hit in hits), query
        assert dict(answer.facets["language"]) == Counter(hit.language for hit in hits if hit.language), query
        assert sum(count for span, count in answer.facets["date"] if span in ("year", "older")) == len(hits), query
        for hit in hits:  # no other index has a newer one
            newest = search.page(hit.url)
            assert newest is not None
            assert hit.fetched_at == newest.fetched_at


def test_very_many_results_are_counted_with_their_copies(indexed: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [page(f"p{n}", "silk", digest=b"same" if n < 5 else b"") for n in range(12)]
    assert indexed(entries).answer("silk").total == 8
    monkeypatch.setattr("gossamer.index.asked.MOST_COUNTED", 11)
    assert indexed(entries).answer("silk").total == 12


@pytest.mark.parametrize("known", [True, False])
def test_the_same_url_in_two_indexes_is_shown_once(
    indexed: Finder, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    if not known:  # too many to know beforehand which are outdated
        monkeypatch.setattr("gossamer.index.hidden._MOST_SHARED", 1)
    for digest in (b"same", b""):
        first = [Entry(f"https://a.test/{n}", 1.0, "old", body="silk", inlinks=9 - n, digest=digest) for n in range(4)]
        second = [Entry(f"https://a.test/{n}", 2.0, "new", body="silk", inlinks=n, digest=digest) for n in range(4)]
        for search in (indexed(first, second), indexed(second, first)):
            for query in ("silk", "site:a.test"):
                answer = search.answer(query)
                assert [hit.title for hit in answer.results] == ["new"] * (1 if digest else 4)
                if known:
                    assert answer.total == len(answer.results)
                    assert answer.results[0].same == (3 if digest else 0)


def test_several_indexes_are_one(indexed: Finder, tmp_path: Path) -> None:
    first = [page(f"p{n}", "silk " + "more " * (n % 4)) for n in range(0, 60, 2)]
    second = [page(f"p{n}", "silk " + "more " * (n % 4)) for n in range(1, 60, 2)]
    search = indexed(first, second)
    whole = all_pages(search, "silk", 100)
    assert sorted(whole) == sorted(entry.url for entry in first + second)
    for query in ("silk", "site:a.test"):
        assert sorted(all_pages(search, query, 7)) == sorted(whole)
    assert all_pages(search, "silk", 7) == whole
    assert search.answer("silk").total == 60
    assert search.size().pages == 60
    assert search.size().hosts == 1
    assert search.domains() == indexed(first + second).domains()


def test_of_two_versions_the_newest_is_shown(indexed: Finder) -> None:
    old = Entry("https://a.test/p", 1.0, "old", body="silk")
    new = Entry("https://a.test/p", 2.0, "new", body="web")
    for search in (indexed([old], [new]), indexed([new], [old])):
        assert search.answer("silk").results == []
        assert [hit.title for hit in search.answer("web").results] == ["new"]
        found = search.page("https://a.test/p")
        assert found is not None
        assert found.title == "new"


def test_an_index_that_is_not_there_is_empty(tmp_path: Path) -> None:
    search = Search([tmp_path / "none", tmp_path])
    answer = search.answer("silk")
    assert (answer.total, answer.results, answer.next) == (0, [], "")
    assert search.size().pages == 0
    assert search.domains() == []
    assert search.terms(5) == []
    assert search.page("https://a.test/") is None
    IndexWriter(tmp_path / "none", 15_000_000).close()
    assert search.answer("silk").total == 0
    assert search.size().newest == 0.0
