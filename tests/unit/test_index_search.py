"""What is found, in which order, how it is shown, and page by page."""

from __future__ import annotations

import random
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import QueryError
from gossamer.index import Answer, Entry, IndexWriter, Search

NOW = 1_700_000_000.0
DAY = 86_400
Finder = Callable[..., Search]


@pytest.fixture
def indexed(tmp_path: Path) -> Iterable[Finder]:
    """Gives a search of these entries."""
    opened: list[Search] = []

    def index(*lists: list[Entry]) -> Search:
        paths = []
        for entries in lists:
            paths.append(tmp_path / f"index{len(opened)}-{len(paths)}")
            writer = IndexWriter(paths[-1], 15_000_000)
            writer.upsert(entries)
            writer.commit(b"")
            writer.close()
        opened.append(Search(paths, clock=lambda: NOW))
        return opened[-1]

    yield index
    for search in opened:
        search.close()


def page(name: str, body: str = "", **more: object) -> Entry:
    url = name if "://" in name else f"https://a.test/{name}"
    return Entry(url, NOW - DAY, body=body, **{"language": "en"} | more)  # type: ignore[arg-type]


def names(answer: Answer) -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in answer.results]


def all_pages(search: Search, query: str, limit: int, **more: str) -> list[str]:
    """The URLs of all results, page by page."""
    urls: list[str] = []
    cursor = ""
    while True:
        answer = search.answer(query, limit=limit, cursor=cursor, **more)  # type: ignore[arg-type]
        assert len(answer.results) <= limit
        urls += [hit.url for hit in answer.results]
        cursor = answer.next
        if not cursor:
            return urls


WORDS = [
    page("both", "The harbour has a lantern."),
    page("one", "The harbour sleeps."),
    page("apart", "A lantern stands near the old harbour."),
    page("together", "The harbour lantern shines."),
    page("plural", "Two harbours and running lanterns."),
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("harbour,lantern", {"both", "apart", "together", "plural"}),
        ("harbour lantern", {"both", "apart", "together", "plural"}),
        ('"harbour lantern"', {"together"}),
        ('"HARBOUR, Lantern"', {"together"}),
        ("harbour -lantern", {"one"}),
        ("sleeps OR shines", {"one", "together"}),
        ("harbour (sleeps OR shines)", {"one", "together"}),
        ("harbour -(sleeps OR shines)", {"both", "apart", "plural"}),
        ("sleep", {"one"}),
        ('"sleep"', set()),
        ("run", {"plural"}),
        ("runs", {"plural"}),
        ("nowhere", set()),
        ("url:both", {"both"}),
        ("https://a.test/both", {"both"}),
    ],
)
def test_the_words_of_a_query_decide(indexed: Finder, query: str, found: set[str]) -> None:
    answer = indexed(WORDS).answer(query)
    assert set(names(answer)) == found
    assert answer.total == len(found)


def test_other_languages_find_the_exact_word(indexed: Finder) -> None:
    search = indexed([
        page("de", "Die Häuser am Hafen", language="de"),
        page("none", "Die Häuser am Meer", language=""),
        page("en", "the running man", language="en"),
        page("xx", "the running man", language="xx"),
        page("fr", "les chevaux du marché", language="fr-CA"),
    ])  # fmt: skip
    assert set(names(search.answer("Häuser"))) == {"de", "none"}
    assert names(search.answer("haus")) == ["de"]
    assert names(search.answer("HAUSER hafen")) == ["de"]
    assert set(names(search.answer("running"))) == {"en", "xx"}
    assert names(search.answer("cheval marche")) == ["fr"]
    assert names(search.answer("häuser", language="de")) == ["de"]


@pytest.mark.parametrize("where", ["body", "title", "anchors"])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("garden", {"en", "plural", "de"}),  # German `gard`; so is French `garde`, but in French
        ("gardener", {"en", "de", "plural"}),
        ("garde", {"fr", "de", "plural"}),
        ("walk", {"walk", "walking", "other"}),
        ("walking", {"walk", "walking"}),  # a stem in English only
        ("walked", {"walk", "walking"}),
        ("fjordene", {"nb", "nn"}),  # one stemmer, two languages
    ],
)
def test_a_stem_is_one_of_its_language(indexed: Finder, query: str, found: set[str], where: str) -> None:
    texts = {
        "en": ("gardens gardener garden", "en"), "plural": ("Garden", "de"), "fr": ("la garde du roi", "fr"),
        "de": ("Die Garde", "de-AT"), "walk": ("a walk", "en"), "walking": ("Walking", "en-GB"),
        "other": ("Walk", "de"), "none": ("gard", ""), "nb": ("fjord", "nb"), "nn": ("fjordar", "nn"),
    }  # fmt: skip
    search = indexed([
        page(name, language=language, **{where: [text] if where == "anchors" else text})
        for name, (text, language) in texts.items()
    ])  # fmt: skip
    answer = search.answer(query)
    assert set(names(answer)) == found
    assert answer.total == len(found)
    if where == "title":
        assert set(names(search.answer(f"title:{query}"))) == found
    if len(found) < len(texts):
        assert set(names(search.answer(f"site:a.test -{query}"))) == set(texts) - found


def test_words_are_marked_by_the_language_of_the_page(indexed: Finder) -> None:
    search = indexed([
        page("en", "A walk is walking.", language="en"),
        page("de", "Ein Walk ist Walking.", language="de"),
        page("none", "A walk is walking.", language=""),
    ])  # fmt: skip
    shown = {hit.url[-2:]: hit.snippet for hit in search.answer("walking").results}
    assert shown == {
        "en": "A <mark>walk</mark> is <mark>walking</mark>.",
        "de": "Ein Walk ist <mark>Walking</mark>.",
        "ne": "A walk is <mark>walking</mark>.",
    }


def test_no_phrase_goes_into_the_stems_of_a_title(indexed: Finder) -> None:
    search = indexed([page("p", title="The walking lanterns", anchors=["walking lanterns"])])
    for query in ('"lanterns walk"', '"walk lantern"', '"lanterns en walk"', '"en:walk"', "en:lantern"):
        assert search.answer(query).total == 0, query
    assert search.answer("lantern walk").total == 1


def test_scripts_without_spaces_are_found(indexed: Finder) -> None:
    search = indexed([
        page("tokyo", "私は東京都に住んでいます。", language="ja"),
        page("kyoto", "京都は古い都です。", language="ja"),
        page("year", "2024年度の予算", language="ja"),
        page("zh", "我喜欢北京大学的图书馆", language="zh"),
        page("th", "ฉันชอบอาหารไทย", language="th"),
        page("ko", "한국어를 공부합니다", language="ko"),
        page("mixed", "Pythonプログラミング入門", language="ja"),
        page("half", "ﾌﾟﾛｸﾞﾗﾑ", language="ja"),
    ])  # fmt: skip
    for query, found in {
        "東京": {"tokyo"},
        "東京都": {"tokyo"},
        "京都": {"tokyo", "kyoto"},
        "都": {"tokyo", "kyoto"},
        "古い都": {"kyoto"},
        "2024年": {"year"},
        "北京大学": {"zh"},
        "大学北京": {"zh"},  # a row may be two words, in any order
        '"大学北京"': set(),
        "อาหาร": {"th"},
        "한국": {"ko"},
        "공부": {"ko"},
        "python入門": set(),
        "python": {"mixed"},
        "python 入門": {"mixed"},
        "プログラム": {"half"},
        "ﾌﾟﾛｸﾞﾗ": {"mixed", "half"},
        "年": {"year"},
        "です": {"kyoto"},
    }.items():
        assert set(names(search.answer(query))) == found, query


def test_names_of_programs_are_found(indexed: Finder) -> None:
    search = indexed([
        page("asyncio", "Use asyncio.gather(a, b) here"),
        page("apart", "gather some asyncio"),
        page("pg", "pg_dump writes a file"),
        page("cpp", "Written in C++ and C#"),
        page("c", "Written in C"),
        page("access", "put it in .htaccess"),
        page("version", "Python 3.11 is out"),
        page("other", "Python 3.1, issue 11"),
    ])  # fmt: skip
    for query, found in {
        "asyncio.gather": {"asyncio"},
        "pg_dump": {"pg"},
        "dump": {"pg"},
        "C++": {"cpp"},
        "c#": {"cpp"},
        ".htaccess": {"access"},
        "htaccess": {"access"},
        "3.11": {"version"},
        "C": {"c"},
        "asyncio.gather(a": {"asyncio"},
    }.items():
        assert set(names(search.answer(query))) == found, query


def test_filters(indexed: Finder) -> None:
    year = 365 * DAY
    search = indexed([
        Entry("https://a.test/1", 0.0, body="silk", language="en"),
        Entry("https://www.a.test/2", year * 1.0, body="silk", language="pt-BR", type="application/pdf"),
        Entry("https://a.test:8080/3", year * 2.0, body="silk", language="pt"),
        Entry("https://ba.test/4", year * 3.0, body="silk", language=""),
        Entry("http://192.0.2.7/5", year * 4.0, body="silk", title="Thread"),
    ])  # fmt: skip
    for query, found in {
        "silk site:a.test": "13",
        "silk site:a.test:8080": "3",
        "silk domain:a.test": "123",
        "silk domain:test": "1234",
        "domain:192.0.2.7": "5",
        "site:192.0.2.7": "5",
        "lang:pt": "23",
        "lang:pt-br": "2",
        "lang:en": "1",
        "type:pdf": "2",
        "type:text": "1345",
        "type:application/pdf": "2",
        "after:1972": "345",
        "before:1972": "12",
        "after:1971-01-01 before:1972-01": "2",
        "silk -site:a.test": "245",
        "title:thread": "5",
        "title:silk": "",
        "url:a.test": "123",
        "site:a.test OR lang:pt": "123",
    }.items():
        assert "".join(sorted(names(search.answer(query)))) == found, query
    assert "".join(sorted(names(search.answer("silk", site="https://A.test/", language="PT")))) == "3"
    assert search.answer("", site="ba.test").total == 1
    with pytest.raises(QueryError, match="site: needs a host"):
        search.answer("silk", site="//")


def test_titles_links_and_neighbours_are_worth_more(indexed: Finder) -> None:
    filler = "some other words about nothing in particular " * 5
    search = indexed([
        page(name, text, **{"title": "A page", "anchors": ["here"]} | more)
        for name, text, more in (
            ("body", f"{filler} silk {filler}", {}),
            ("title", filler, {"title": "Silk"}),
            ("anchor", filler, {"anchors": ["silk"]}),
            ("near", f"{filler} spider web {filler}", {}),
            ("far", f"{filler} spider {filler} web {filler}", {}),
            ("linked", f"{filler} loom {filler}", {"inlinks": 500}),
            ("unlinked", f"{filler} loom {filler}", {}),
            ("exact", f"{filler} weaving {filler}", {}),
            ("stem", f"{filler} weaves {filler}", {}),
        )
    ])  # fmt: skip
    assert names(search.answer("silk")) == ["title", "anchor", "body"]
    assert names(search.answer("spider web")) == ["near", "far"]
    assert names(search.answer("loom")) == ["linked", "unlinked"]
    assert names(search.answer("weaving")) == ["exact", "stem"]
    parts = dict(search.answer("silk").results[0].why)
    assert parts["title"] > 0
    assert dict(search.answer("loom").results[0].why)["times, for links and place"] > 1.3
    assert "words together" in dict(search.answer("spider web").results[0].why)


def test_snippets_are_marked_and_escaped(indexed: Finder) -> None:
    nothing = "Nothing is here. " * 40
    search = indexed([
        page("a", main=f"First line.\n{nothing}A <b>harbour</b> & many Harbours. {nothing}", body="harbour"),
        page("b", body="東京都の<駅>", language="ja"),
        page("c", title="silk", body="", description="What it is about"),
    ])  # fmt: skip
    snippet = search.answer("harbour").results[0].snippet
    assert "A &lt;b&gt;<mark>harbour</mark>&lt;/b&gt; &amp; many <mark>Harbours</mark>." in snippet
    assert snippet.startswith("… ")
    assert snippet.endswith(" …")
    assert len(snippet) < 320
    assert search.answer("京都").results[0].snippet == "東<mark>京都</mark>の&lt;駅&gt;"
    assert search.answer("silk").results[0].snippet == "What it is about"


@pytest.mark.parametrize(
    ("title", "text", "shown"),
    [
        ("The Harbour — Example", "The harbour¶\nA harbour is here.", "A <mark>harbour</mark> is here."),
        ("Harbour | Example", "Example\nHarbour\n\nShips.", "Ships."),
        ("Harbour", "Harbour Ships in the harbour", "Ships in the <mark>harbour</mark>"),
        ("Harbour", "Harbours of old", "<mark>Harbours</mark> of old"),
        ("The harbour", "Harbour\nHarbour master: ships", "<mark>Harbour</mark> master: ships"),
        ("Harbour", "Harbour", "<mark>Harbour</mark>"),
        ("Harbour of old", "Old harbour\nShips", "Old <mark>harbour</mark> Ships"),
        ("", "Harbour\nShips", "<mark>Harbour</mark> Ships"),
        ("Harbour", "¶\nHarbour\nShips", "¶ <mark>Harbour</mark> Ships"),
        ("第4章 harbour", "第4章 harbour\n人の", "人の"),
    ],
)
def test_snippets_do_not_say_the_title_again(indexed: Finder, title: str, text: str, shown: str) -> None:
    search = indexed([page("p", title=title, main=text, body=f"{text} harbour")])
    assert search.answer("harbour").results[0].snippet == shown
    search = indexed([page("q", title=title, body=text)])
    known = search.page("https://a.test/q")
    assert known is not None
    assert known.snippet == shown.replace("<mark>", "").replace("</mark>", "")


@given(st.text(max_size=400), st.sampled_from(["harbour", "京", "C++", '"a b"', "a.b", "ß"]))
def test_snippets_of_any_text_are_safe(text: str, query: str) -> None:
    from gossamer.index.matching import words_sought
    from gossamer.index.query import parse
    from gossamer.index.snippet import Marker

    snippet = Marker(words_sought(parse(query))).snippet(text + " " + query, "en", text[:20])
    plain = snippet.replace("<mark>", "").replace("</mark>", "")
    assert "<" not in plain
    assert ">" not in plain
    snippet.encode()


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


def test_domains_are_a_tree(indexed: Finder) -> None:
    urls = [
        "https://a.example.org/1", "https://a.example.org/2", "https://b.example.org/", "https://example.org/", "https://x.org/",
        "http://example.org:8080/", "http://192.0.2.7/", "http://[2001:db8::1]/", "http://localhost/",
    ]  # fmt: skip
    search = indexed([page(url, "silk") for url in urls])

    def below(name: str) -> list[tuple[str, int, int, bool]]:
        return [(one.name, one.hosts, one.pages, one.has_children) for one in search.domains(name)]

    assert below("") == [
        ("org", 5, 6, True), ("192.0.2.7", 1, 1, False), ("[2001:db8::1]", 1, 1, False), ("localhost", 1, 1, False),
    ]  # fmt: skip
    assert below("org") == [("example.org", 4, 5, True), ("x.org", 1, 1, False)]
    assert below("Example.org.") == [
        ("a.example.org", 1, 2, False), ("b.example.org", 1, 1, False), ("example.org:8080", 1, 1, False),
    ]  # fmt: skip
    assert below("a.example.org") == []
    assert below("nowhere") == []


def test_terms_tell_what_the_index_is_about(indexed: Finder) -> None:
    entries = [
        page(f"p{n}", "the harbour and other words", title=f"The {word} of the Harbour - Example Site", inlinks=n)
        for n, word in enumerate(["Lantern", "Lanterns", "Copper", "Copper", "Valley"] * 8)
    ]
    terms = indexed(entries).terms(3)
    assert terms[0] == "copper"
    assert "valley" in terms
    assert sum("lantern" in term for term in terms) == 1
    assert not {"the", "harbour"} & set(terms)


def test_terms_are_whole_words_as_pages_have_them(indexed: Finder) -> None:
    titles = [
        "Guia d'instal·lació",
        "row_level security",
        "Installing (Debian) »Bücher«",
        "Debian Refere…",
        "猫と東京 Debian",
    ]
    terms = indexed([page(f"p{n}", "text", title=title, language="") for n, title in enumerate(titles)]).terms(9)
    assert set(terms) == {"debian", "guia", "security", "installing", "bücher", "猫と東京"}


def test_a_page_is_known_by_its_url(indexed: Finder) -> None:
    search = indexed([page("p", "silk & web", title="T", description="D")])
    hit = search.page("https://a.test/p")
    assert hit is not None
    assert (hit.title, hit.description, hit.snippet, hit.host) == ("T", "D", "silk &amp; web", "a.test")
    assert search.page("https://a.test/q") is None
    assert search.size().newest == NOW - DAY


def test_an_index_made_anew_in_the_same_place_is_seen(tmp_path: Path) -> None:
    search = Search([tmp_path / "index"])
    for number in range(3):
        shutil.rmtree(tmp_path / "index", ignore_errors=True)
        assert search.answer("silk").total == 0
        writer = IndexWriter(tmp_path / "index", 15_000_000)
        writer.upsert([page(f"p{n}", "silk") for n in range(number + 1)])
        writer.commit(b"")
        writer.close()
        assert search.answer("silk").total == number + 1
        assert len(search.answer("silk").results) == number + 1


def test_several_threads_may_ask_while_the_index_is_written(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, 15_000_000)
    search = Search([tmp_path])
    failures: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        last = 0
        try:
            while not done.is_set():
                answer = search.answer("silk", limit=100)
                assert answer.total >= last
                assert len(answer.results) == min(answer.total, 100)
                last = answer.total
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(20):
        writer.upsert([page(f"p{number}-{n}", "silk") for n in range(5)])
        writer.commit(b"")
    done.set()
    for thread in threads:
        thread.join()
    writer.close()
    assert not failures
    assert search.answer("silk").total == 100
