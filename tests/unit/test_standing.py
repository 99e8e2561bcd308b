"""Standing queries find among fresh pages what a search finds among all."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gossamer.errors import QueryError
from gossamer.index import Entry, IndexWriter, Search
from gossamer.index.snapshot import Shard
from gossamer.index.standing import FreshPages, StandingQuery
from gossamer.index.writer import ready

WORDS = "silk spider webs weaving weaver harbour ships shipping garden gardens night nights city".split()
QUERIES = [
    "silk",
    "weave",
    "silk spider",
    "silk,spider",
    '"silk spider"',
    "silk OR harbour",
    "garden -silk",
    "silk site:h1.test",
    "lang:de ships",
    "domain:test night -spider",
    "(silk OR night) (garden OR harbour)",
    "title:harbour",
    "url:p3",
    "文字コード",
    "日本語入力",
    "site:h2.test",
]


def pages(count: int) -> list[Entry]:
    chance = random.Random(7)
    found = [
        Entry(
            f"http://h{number % 4}.test/p{number}",
            1_700_000_000.0 + number,
            title=" ".join(chance.choices(WORDS, k=3)),
            body=" ".join(chance.choices(WORDS, k=8)),
            anchors=chance.choices(WORDS, k=1),
            language=chance.choice(["en", "de", ""]),
        )
        for number in range(count)
    ]
    found.append(Entry("http://h0.test/ja", 1_700_000_000.0, body="文字を表すコード と 日本語の入力", language="ja"))
    return found


def searched(search: Search, query: str) -> set[str]:
    found: set[str] = set()
    cursor = ""
    for _ in range(100):
        answer = search.answer(query, limit=100, cursor=cursor)
        found |= {hit.url for hit in answer.results}
        cursor = answer.next
        if not cursor:
            break
    return found


@pytest.mark.parametrize("query", QUERIES)
def test_what_a_search_finds_and_nothing_else(tmp_path: Path, query: str) -> None:
    entries = pages(120)
    writer = IndexWriter(tmp_path / "index", 15_000_000)
    writer.upsert(entries)
    writer.commit(b"")
    writer.close()
    search = Search([tmp_path / "index"])
    expected = searched(search, query)
    search.close()
    standing = StandingQuery(query)
    fresh = FreshPages()
    for entry in entries:
        fresh.put(ready(entry))
    found = {
        standing.hit(snapshot, page.address).url
        for _, snapshot, several in fresh.matches([standing])
        for page in several
    }
    assert found == expected
    whole = Shard(tmp_path / "index").snapshot()
    assert whole is not None
    assert {standing.hit(whole, page.address).url for page in standing.found_in(whole)} == expected
    assert expected, "a query that finds nothing proves nothing"


def test_a_page_has_one_key_wherever_it_is(tmp_path: Path) -> None:
    entry = Entry("http://a.test/", 1.7e9, body="silk")
    again = Entry("http://a.test/", 1.8e9, body="silk once more", inlinks=500)
    standing = StandingQuery("silk")
    keys = []
    for one in (entry, again):
        fresh = FreshPages()
        fresh.put(ready(one))
        keys += [page.key for _, _, found in fresh.matches([standing]) for page in found]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_what_was_written_twice_counts_as_it_is_now() -> None:
    fresh = FreshPages()
    fresh.put(ready(Entry("http://a.test/", 1.7e9, body="silk")))
    fresh.put(ready(Entry("http://a.test/", 1.7e9, body="wool")))
    fresh.put(ready(Entry("http://b.test/", 1.7e9, body="wool")))
    fresh.drop("http://b.test/")
    queries = [StandingQuery("silk"), StandingQuery("wool")]
    assert [(number, len(found)) for number, _, found in fresh.matches(queries)] == [(1, 1)]
    fresh.clear()
    assert list(fresh.matches(queries)) == []


def test_the_snippet_marks_what_was_sought() -> None:
    standing = StandingQuery("silk")
    fresh = FreshPages()
    fresh.put(ready(Entry("http://a.test/", 1.7e9, title="<b>", body="Fine <script> silk here")))
    [(_, snapshot, [page])] = fresh.matches([standing])
    assert standing.hit(snapshot, page.address).snippet == "Fine &lt;script&gt; <mark>silk</mark> here"


def test_a_query_that_is_not_understood_is_refused() -> None:
    with pytest.raises(QueryError):
        StandingQuery("silk OR")
