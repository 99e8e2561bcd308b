"""Strategies by themselves: how they are found, what they decide, what they remember."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.agent.strategies import BUILT_IN, strategy_of
from gossamer.config import StrategyConfig
from gossamer.errors import ConfigError
from gossamer.model import Page, Visit
from gossamer.rules.strategies.focused import Focused
from gossamer.rules.strategies.importance import Importance
from gossamer.rules.strategies.met import Met, arrivals_a_link
from gossamer.rules.strategies.random_walk import RandomWalk
from gossamer.rules.strategies.ranks import Ranks
from gossamer.rules.strategies.topic import Topic, words_in
from gossamer.rules.strategy import Anchor, PageWords, SeenPage

DOCUMENT = Path(__file__).parents[2] / "docs" / "strategies.md"


def page(
    url: str, links: Iterable[str] = (), text: str = "", status: int = 200, said: dict[str, str] | None = None
) -> SeenPage:
    visit = Visit(url, "a.test", 1, 4, 32)
    body = text.encode() or b"x"
    found = Page(url=url, status=status, head=b"", raw=body, body=body, fetched_at=1.0, seconds=0.1, address="")
    anchors = {link: Anchor(words, "") for link, words in (said or {}).items()}
    return SeenPage(visit, found, list(links), lambda _: PageWords("", text, anchors))


# -- finding them ------------------------------------------------------------------------------------------------------


def made(name: str, *options: str) -> gossamer.Strategy | None:
    return strategy_of(StrategyConfig(strategy=name, strategy_option=options))


def test_one_without_the_method_says_which() -> None:
    class Mine(gossamer.Strategy):
        pass

    with pytest.raises(NotImplementedError, match="Mine has no method `order`: write one"):
        Mine().order(page("http://a.test/"))


def test_breadth_first_needs_none() -> None:
    assert made("breadth-first") is None


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_what_is_shipped_can_be_made_and_is_documented(name: str) -> None:
    strategy = made(name, *(["words=solar"] if name == "focused" else []))
    assert isinstance(strategy, gossamer.Strategy)
    text = DOCUMENT.read_text(encoding="utf-8")
    assert f"`{name}`" in text
    for key, option in type(strategy).options.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{key}` |"))
        assert option.help in row


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("focus", (), "'focus' is not known; did you mean 'focused'?"),
        ("breadth-first", ("hosts=3",), "breadth-first has no options"),
        ("site-by-site", ("host=3",), "site-by-site has no such option; did you mean 'hosts'?"),
        ("site-by-site", ("hosts=none",), "--strategy-option hosts: 'none' is not a whole number"),
        ("site-by-site", ("hosts=0",), "is not a whole number of at least 1"),
        ("focused", (), "needs a topic"),
        ("focused", ("examples=/nowhere/at all",), "'/nowhere/at all' is not a file that can be read (No such file"),
        ("no.such.module:Class", (), "cannot be loaded: ModuleNotFoundError"),
        ("gossamer:Nothing", (), "cannot be loaded: AttributeError"),
        ("gossamer:normalize", (), "cannot be made: TypeError"),
        ("collections:Counter", (), "is no gossamer.Strategy"),
    ],
)
def test_mistakes_are_named(name: str, options: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        made(name, *options)


def test_one_of_your_own_is_imported_from_where_you_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_order.py").write_text(
        "import gossamer\n\n"
        "class Mine(gossamer.Strategy):\n"
        "    def __init__(self, word='x'):\n        self.word = word\n"
        "    def order(self, page):\n        return [0 if self.word in link else 9 for link in page.links]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    strategy = made("my_order:Mine", "word=news")
    assert strategy is not None
    assert strategy.order(page("http://a.test/", ["http://a.test/news", "http://a.test/old"])) == [0, 9]
    with pytest.raises(ConfigError, match="cannot be made: TypeError"):
        made("my_order:Mine", "words=news")


# -- importance --------------------------------------------------------------------------------------------------------


def test_what_more_leads_to_is_raised() -> None:
    strategy = Importance(places=4096)
    for number in range(40):
        strategy.order(page(f"http://a.test/{number}", ["http://b.test/hub", f"http://a.test/x{number}"]))
    raised = {request.url: request.priority for request in strategy.requests(0.0, False)}
    assert raised == {"http://b.test/hub": 1}
    assert list(strategy.requests(0.0, False)) == []
    strategy.order(page("http://b.test/hub"))
    for number in range(40):
        strategy.order(page(f"http://c.test/{number}", ["http://b.test/hub"]))
    assert list(strategy.requests(0.0, False)) == [], "what was visited is not raised"


def test_importance_is_kept_and_bounded() -> None:
    strategy = Importance(places=1024)
    for number in range(3000):
        strategy.order(page(f"http://a.test/{number}", [f"http://a.test/{number * 3 + step}" for step in range(5)]))
    saved = strategy.unsaved(last=True)
    assert sum(map(len, saved.values())) == 1024 * 5 + 16 + len(saved["raised"])
    again = Importance(places=1024)
    again.restore(saved)
    links = [f"http://a.test/{number}" for number in range(3000, 3020)]
    assert again.order(page("http://b.test/", links)) == strategy.order(page("http://b.test/", links))
    Importance(places=2048).restore(saved)  # of another size: it begins anew


def test_what_is_shown_is_kept_with_every_commit() -> None:
    """What is learned is kept now and then; after a crash figures would go back, and be wrong for ever."""
    raising, again = Importance(places=1024), Importance(places=1024)
    for number in range(40):
        raising.order(page(f"http://a.test/{number}", ["http://b.test/hub", f"http://a.test/x{number}"]))
    assert list(raising.requests(0.0, False))
    again.restore(raising.unsaved(last=False))
    assert again.figures() == raising.figures() == {"raised": 1}

    reading, again_reading = Focused(words=["solar"], learn=False), Focused(words=["solar"], learn=False)
    for number in range(10):
        reading.order(page(f"http://a.test/{number}", [], "solar" if number % 2 else "bread"))
    again_reading.restore(reading.unsaved(last=False))
    for strategy in (reading, again_reading):
        strategy.order(page("http://a.test/last", [], "solar"))
        assert strategy.figures() == {"relevant": 6, "harvest": 0.5455, "harvest_last_1000": 0.5455}


# -- focused -----------------------------------------------------------------------------------------------------------


def test_words_of_scripts_without_spaces_come_in_pairs() -> None:
    assert words_in("Solar-Panels 東京都 x 12") == ["solar", "panels", "東京", "京都"]


def test_a_topic_by_words_and_what_it_is_not() -> None:
    topic = Topic(["solar", "panel"], not_with=["casino"])
    about, other = words_in("a solar panel on the roof"), words_in("onions and butter in a pan")
    assert topic.score(about) > 0.5
    assert topic.score(other) == 0.0
    assert topic.score([*about, "casino"]) == 0.0


def test_a_topic_by_examples_learns_which_words_say_nothing() -> None:
    topic = Topic([], ["solar panel welcome", "solar roof welcome"])
    before = topic.score(words_in("welcome to our shop of shoes"))
    for _ in range(60):
        topic.saw(words_in("welcome to something else"))
    assert topic.score(words_in("welcome to our shop of shoes")) < before
    assert topic.score(words_in("solar panel")) > 0.5


def test_ranks_fill_the_priorities_whatever_the_scores() -> None:
    ranks, random = Ranks(), Random(1)
    for _ in range(5000):
        ranks.priority(0.01 * random.random())
    counts = Counter(ranks.priority(0.4 * random.random()) for _ in range(60_000))
    found = Counter(ranks.priority(0.4 * random.random()) for _ in range(10_000))
    assert set(counts) == set(range(1, 9))
    assert found[1] == pytest.approx(200, abs=150)
    assert found[8] == pytest.approx(2500, abs=700)


def test_what_leads_to_relevant_pages_is_learned() -> None:
    """Links that say `torus` lead to pages about the topic, though it is not a word of it."""
    strategy = Focused(words=["solar", "panel"])
    random = Random(3)
    for number in range(600):
        name = f"http://a.test/{number}"
        word = "torus" if number % 5 == 0 else random.choice(["cube", "sphere", "cone"])
        strategy.order(page("http://a.test/", [name], "nothing here", said={name: word}))
        strategy.order(page(name, [], "solar panel" if word == "torus" else "bread and butter"))
    links = ["http://b.test/one", "http://b.test/two"]
    said = {links[0]: "cube", links[1]: "torus"}
    poor, good = strategy.order(page("http://a.test/", links, "nothing here", said=said))
    assert poor is not None
    assert good is not None
    assert good <= 2 < 5 <= poor
    assert strategy.figures()["harvest"] == pytest.approx(0.1, abs=0.01)  # half of the pages are the one with links
    again = Focused(words=["solar", "panel"])
    again.restore(strategy.unsaved(last=True))
    assert again.figures() == strategy.figures()
    links = ["http://c.test/one", "http://c.test/two"]
    said = {links[0]: "cube", links[1]: "torus"}
    assert again.order(page("http://a.test/", links, "nothing here", said=said)) == [poor, good]


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ConfigError, match=r"pip install 'gossamer\[focused\]', or give --strategy-option learn=false"):
        Focused(words=["solar"])
    assert Focused(words=["solar"], learn=False).order(page("http://a.test/", ["http://a.test/x"])) == [8]


def test_an_example_that_is_a_url_counts_when_it_is_visited() -> None:
    strategy = Focused(examples=["http://a.test/best"], learn=False)
    strategy.order(page("http://a.test/old", ["http://a.test/best"], status=301))
    strategy.order(page("http://a.test/best", [], "volcano lava magma crater eruption"))
    strategy.order(page("http://a.test/x", [], "lava and magma of a volcano"))
    strategy.order(page("http://a.test/y", [], "bread and butter"))
    assert strategy.figures()["relevant"] == 2


def test_a_page_of_very_many_links_takes_no_longer_than_it_must() -> None:
    strategy = Focused(words=["solar"], learn=False)
    links = [f"http://a.test/{number}" for number in range(5000)]
    found = strategy.order(page("http://a.test/", links))
    assert len(found) == 5000
    assert found[-1] == 9


# -- random walk -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.05, 0.2, 1.0, 3.0])
def test_how_often_walkers_come_is_found_from_those_that_were_met(rate: float) -> None:
    """Visits are drawn with a known rate; pages that were not met are not seen."""
    random = Random(1)
    pages = []
    for number in range(4000):
        links = 1 + number % 7
        gap, visits = random.expovariate(rate * links), 0
        while gap < 1:
            gap, visits = gap + random.expovariate(rate * links), visits + 1
        if visits:
            pages.append((visits, links))
    assert arrivals_a_link(pages) == pytest.approx(rate, rel=0.2)


def test_pages_that_moved_or_are_gone_count_as_what_they_are() -> None:
    met = Met(10, Random(1))
    met.meet("a", ["b", "old", "gone", "a"], 0)
    met.meet("b", ["a"], 1)
    assert met.links("a") == ["b", "old", "gone"]
    met.moved("old", "b")
    met.moved("gone", "")
    assert met.links("a") == ["b", "b"]
    met.arrived("b")
    (page_b,) = met.sample()
    assert (page_b.url, page_b.visits, page_b.in_links) == ("b", 1, 1)


def walk(strategy: RandomWalk, web: dict[str, list[str]], start: str, most: int) -> list[Mapping[str, Any]]:
    """What a crawl does, without one."""
    wanted = [start]
    for _ in range(most):
        if not wanted:
            wanted = [request.url for request in strategy.requests(0.0, True)]
            if not wanted:
                break
        url = wanted.pop(0)
        if url in web:
            strategy.order(page(url, web[url]))
        wanted += [request.url for request in strategy.requests(0.0, False)]
    return list(strategy.results())


@settings(max_examples=5)
@given(st.integers(0, 1000))
def test_weights_make_a_walk_uniform(seed: int) -> None:
    """Every second link leads to one of five hubs; weighted, these are few of many."""
    names = [f"http://{'hub' if number < 5 else 'a'}.test/{number}" for number in range(1000)]
    random = Random(seed)
    web = {name: [*random.sample(names[:5], 5), *random.sample(names[5:], 5)] for name in names}
    strategy = RandomWalk(walkers=8, pages=300, links=100, seed=seed)
    sample = walk(strategy, web, names[5], 100_000)
    visits = sum(line["visits"] for line in sample)
    raw = sum(line["visits"] for line in sample if line["host"] == "hub.test") / visits
    total = sum(line["weight"] for line in sample)
    corrected = sum(line["weight"] for line in sample if line["host"] == "hub.test") / total
    assert raw > 0.4
    assert corrected < 0.02


def test_a_walk_turns_back_where_there_is_nothing() -> None:
    strategy = RandomWalk(walkers=2, steps=50, pages=10)
    web = {"http://a.test/": ["http://a.test/gone", "http://a.test/b"], "http://a.test/b": ["http://a.test/"]}
    sample = walk(strategy, web, "http://a.test/", 1000)
    assert strategy.figures()["steps"] == 50
    assert {line["url"] for line in sample} == set(web)


def test_a_walk_goes_on_where_it_was() -> None:
    names = [f"http://a.test/{number}" for number in range(50)]
    web = {name: [names[(number * 3 + step) % 50] for step in range(4)] for number, name in enumerate(names)}
    first = RandomWalk(walkers=3, pages=20)
    walk(first, web, names[0], 1000)
    again = RandomWalk(walkers=3, pages=40)
    again.restore(first.unsaved(last=True))
    assert again.figures() == first.figures()
    assert sorted(map(str, again.results())) == sorted(map(str, first.results()))
    walk(again, web, names[0], 1000)
    assert again.figures()["pages_met"] == 40
