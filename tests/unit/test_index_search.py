"""What is found, and in which order; what an index is about."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from pathlib import Path

import pytest
from searched import DAY, NOW, Finder, names, page

from gossamer.errors import QueryError
from gossamer.index import Entry, FoundDomain, IndexWriter, Search
from gossamer.index.tree import MOST_DOMAINS, largest, merged, tree_of

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


def test_results_are_a_tree_of_domains(indexed: Finder) -> None:
    """From edu to mit.edu to web.mit.edu, of what is found alone; each level is what a filter for it finds."""
    urls = [
        "http://web.mit.edu/1", "http://web.mit.edu/2", "http://mit.edu/", "http://mit.edu:8080/", "http://cmu.edu/",
        "http://192.0.2.7/", "http://192.0.2.7:81/", "http://[2001:db8::1]/", "http://localhost/",
    ]  # fmt: skip
    search = indexed([*(page(url, "silk") for url in urls), page("http://other.edu/", "wool")])
    answer = search.answer("silk", domains=True)
    seen: dict[str, tuple[int, int, int]] = {}

    def look(level: list[FoundDomain], above: str) -> None:
        for found in level:
            assert found.name.endswith(above) or found.name.startswith(above)
            assert found.pages == found.own + sum(each.pages for each in found.domains)
            kind = "domain" if found.hosts > 1 else "site"
            assert search.answer(f"silk {kind}:{found.name}").total == found.pages, found.name
            seen[found.name] = found.hosts, found.pages, found.own
            look(found.domains, found.name)

    look(answer.domains, "")
    assert seen == {
        "edu": (4, 5, 0), "mit.edu": (3, 4, 1), "web.mit.edu": (1, 2, 2), "mit.edu:8080": (1, 1, 1),
        "cmu.edu": (1, 1, 1), "192.0.2.7": (2, 2, 1), "192.0.2.7:81": (1, 1, 1), "[2001:db8::1]": (1, 1, 1),
        "localhost": (1, 1, 1),
    }  # fmt: skip
    assert answer.domains[0].name == "edu", "the largest comes first"
    assert search.answer("silk").domains == []


def test_the_tree_of_results_is_bounded_and_has_the_largest(indexed: Finder) -> None:
    entries = [page(f"http://h{n}.d{n % 7}.test/{k}", "silk") for n in range(300) for k in range(1 + (n == 211))]
    (top,) = indexed(entries).answer("silk", domains=True).domains
    assert (top.name, top.hosts, top.pages) == ("test", 300, 301)
    names = [found.name for domain in top.domains for found in (domain, *domain.domains)]
    assert 1 + len(names) == MOST_DOMAINS
    assert names[:2] == ["d1.test", "h211.d1.test"]
    assert {domain.name for domain in top.domains} == {f"d{n}.test" for n in range(7)}


def test_trees_of_several_are_one() -> None:
    one = tree_of({"a.x.test": 3, "x.test": 1, "y.test": 2})
    other = tree_of({"a.x.test": 4, "b.x.test": 5, "z.org": 1})
    whole = {"a.x.test": 7, "b.x.test": 5, "x.test": 1, "y.test": 2, "z.org": 1}
    both = merged([one, other])
    assert [(found.name, found.pages) for found in largest(both)] == [("test", 15), ("org", 1)]
    (test, _) = largest(both)
    assert [(found.name, found.pages, found.own) for found in test.domains] == [("x.test", 13, 1), ("y.test", 2, 2)]
    assert {found.name: found.pages for found in test.domains[0].domains} == {"a.x.test": 7, "b.x.test": 5}
    assert [found.pages for found in largest(tree_of(whole))] == [15, 1]


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


SAID = {
    "en": ("Against the {0} and about every {0}", ("copper", "lantern", "valley", "walnut", "compass")),
    "es": ("Antes de {0}, tras su {0}, hacia todas", ("medianoche", "escarabajo", "comerciante", "puente", "garza")),
    "de": ("Während {0} zwischen jedem {0}", ("Laterne", "Kupfer", "Walnuss", "Kompass", "Käfer")),
    "pl": ("Również {0} przez każdy {0}", ("latarnia", "miedź", "dolina", "kompas", "żuraw")),
    "tr": ("Çünkü {0} için sadece {0}", ("fener", "bakır", "vadi", "pusula", "turna")),
    "ru": ("Через {0} и почему {0}", ("фонарь", "медь", "долина", "компас", "журавль")),
    "ja": ("から {0}", ("銅", "提灯", "羅針盤", "谷間", "胡桃")),
}


def test_terms_are_no_stop_words_of_any_language_and_of_the_languages_of_the_pages(indexed: Finder) -> None:
    """Words that stand in every title, in seven languages; there are more English pages than others."""
    entries = [
        page(f"{language}{n}", f"{n} {words[n % 5]} {words[n % 5]}", title=said.format(words[n % 5]), language=language)
        for language, (said, words) in SAID.items()
        for n in range(160 if language == "en" else 40)
    ]
    search = indexed(entries)
    terms = search.terms(14)
    owners = {word.lower(): language for language, (_, words) in SAID.items() for word in words}
    assert [term for term in terms if term not in owners] == []
    counted = Counter(owners[term] for term in terms)
    assert counted.keys() == SAID.keys()
    assert counted["en"] > max(number for language, number in counted.items() if language != "en")
    assert Counter(owners[term] for term in search.terms(3))["en"] >= 1
    for term in terms:
        assert search.answer(term).total >= 3, term


def test_terms_are_neither_rare_nor_common(indexed: Finder) -> None:
    entries = [
        page(
            f"p{n}",
            "Installation of the daemon",
            title=f"Daemon {'rewriting' if n % 8 == 0 else 'chapter'} {'singular' if n == 5 else 'x'}",
        )
        for n in range(80)
    ]
    assert indexed(entries).terms(1) == [
        "rewriting"
    ]  # and not `daemon`, in all, `chapter`, in most, `singular`, in one
    assert "singular" not in indexed(entries).terms(9)


def test_terms_of_pages_without_titles_are_those_of_their_texts(indexed: Finder) -> None:
    words = ("copper", "lantern", "valley", "walnut")
    entries = [page(f"p{n}", f"About the {words[n % 4]} and nothing else at all") for n in range(40)]
    assert set(indexed(entries).terms(5)) == set(words)


def test_terms_hold_for_a_minute_while_the_index_grows(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path / "i", 64 << 20)
    writer.upsert([page(f"p{n}", "text", title="Copper") for n in range(3)])
    writer.commit(b"1")
    now = [NOW]
    search = Search([tmp_path / "i"], lambda: now[0])
    assert search.terms(1) == ["copper"]
    writer.upsert([page(f"q{n}", "text", title="Lantern") for n in range(9)])
    writer.commit(b"2")
    assert search.terms(1) == ["copper"]
    now[0] += 61
    assert search.terms(1) == ["lantern"]
    writer.close()
    search.close()


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
