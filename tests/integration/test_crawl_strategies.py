"""Strategies at work: on real crawls, over real sockets."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crawling import crawl, urls

import gossamer
from gossamer.agent import read_progress
from gossamer.agent.agent import Agent
from gossamer.agent.crawl import Crawl
from gossamer.config import OPTIONS, load
from gossamer.errors import ConfigError
from gossamer.graph.frame import key_of
from gossamer.graph.scores import SCORES, write_scores
from gossamer.model import State
from gossamer.rules.strategies.importance import Importance
from gossamer.testing import TinyWeb
from gossamer.testing.web.words import ENGLISH

NAMES = {option.key: name for name, option in OPTIONS.items()}


def crawled(
    web: TinyWeb, home: Path, strategy: gossamer.Strategy, seeds: Iterable[str], config: str = "", **options: Any
) -> list[str]:
    """What was visited, in order; notices come last."""
    given = {"delay": "0", "scope": "any", "allow_private": True, "connect": [web.connect], "connections": 1, **options}
    file = home.parent / "settings.toml"
    file.write_text(config)
    settings = load(file, {NAMES[key]: value for key, value in given.items()})
    notices: list[str] = []

    async def run() -> None:
        await Crawl(settings, home, seeds, notices.append, strategy=strategy).run(signals=False)

    before = len(web.log.arrivals)
    asyncio.run(run())
    visited = [arrival.path for arrival in web.log.arrivals[before:] if arrival.path != "/robots.txt"]
    return visited + notices


class ByDigit(gossamer.Strategy):
    """High numbers first; what ends in x not at all."""

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        return [None if link.endswith("x") else 9 - int(link[-1]) for link in page.links]


def test_links_come_in_the_order_of_the_strategy(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/2", "/7", "/x", "/5"])
        for name in ("2", "7", "5"):
            web.add_page(f"http://a.test/{name}")
        assert crawled(web, tmp_path / "c", ByDigit(), ["http://a.test/"]) == ["/", "/7", "/5", "/2"]
    assert "http://a.test/x" not in urls(tmp_path / "c"), "what is dropped is not even known"


def test_what_patterns_say_wins(tmp_path: Path) -> None:
    rules = "[urls.'/2$']\npriority = 0\n[urls.'/7$']\npriority = 8\n"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/2", "/7", "/5"])
        visited = crawled(web, tmp_path / "c", ByDigit(), ["http://a.test/"], rules)
    assert visited == ["/", "/2", "/5", "/7"]


class Words(gossamer.Strategy):
    def __init__(self) -> None:
        self.seen: dict[str, tuple[str, str]] = {}

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        self.seen |= {url: tuple(anchor) for url, anchor in zip(page.links, page.anchors, strict=True)}
        return [4] * len(page.links)


def test_who_asks_sees_the_words_of_a_link_and_those_around(tmp_path: Path) -> None:
    with TinyWeb() as web:
        body = "<title>T</title><p>All about <b>solar</b> <a href='/s'>panels on <i>roofs</i></a>, cheap.<p>End"
        web.add_page("http://a.test/", body=body)
        strategy = Words()
        crawled(web, tmp_path / "c", strategy, ["http://a.test/"])
    assert strategy.seen == {"http://a.test/s": ("panels on roofs", "All about solar , cheap. End")}


class Breaks(gossamer.Strategy):
    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked = 0

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        self.asked += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (RuntimeError("out of ideas"), "RuntimeError: out of ideas"),
        ([1], "order() gave 1 priorities for 2 links"),
        ([4, 10], "order() gave 10, which is no priority"),
        ([4, "first"], "order() gave 'first', which is no priority"),
        (None, "TypeError"),
        (StopIteration(), "StopIteration"),
        (FileNotFoundError(2, "no such file", "words.txt"), "FileNotFoundError: [Errno 2] no such file: 'words.txt'"),
        (SystemExit("enough"), "SystemExit: enough"),
    ],
)
def test_a_strategy_that_fails_is_stopped_and_the_crawl_goes_on(tmp_path: Path, answer: Any, said: str) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2"])
        web.add_page("http://a.test/1", ["/3", "/2"])
        strategy = Breaks(answer)
        visited = crawled(web, home, strategy, ["http://a.test/"])
    assert visited[:-1] == ["/", "/1", "/2", "/3"]
    assert said in visited[-1]
    assert "goes on breadth-first" in visited[-1]
    assert strategy.asked == 1
    progress = read_progress(home)
    assert said in progress.strategy_error
    assert said in (home / "logs" / "crawl.log").read_text()


class Counts(gossamer.Strategy):
    """Keeps what it has counted, a record for each page."""

    def __init__(self) -> None:
        self.pages = 0
        self.new: list[dict[str, Any]] = []

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        self.pages += 1
        self.new.append({"n": self.pages, "url": page.url})
        return [4] * len(page.links)

    def records(self) -> list[dict[str, Any]]:
        new, self.new = self.new, []
        return new

    def unsaved(self, last: bool) -> Mapping[str, bytes]:
        return {"pages": b"%d" % self.pages}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        self.pages = int(saved["pages"])

    def figures(self) -> Mapping[str, float]:
        return {"pages_seen": self.pages}


def chain(web: TinyWeb, length: int) -> None:
    for number in range(length):
        web.add_page(f"http://a.test/{number}", [f"/{number + 1}"] if number + 1 < length else [])


def test_what_a_strategy_keeps_is_there_when_the_crawl_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        chain(web, 6)
        crawled(web, home, Counts(), ["http://a.test/0"], max_pages=3)
        (file,) = (home / "strategy").iterdir()
        with open(file, "ab") as lines:  # what a crash leaves behind the commit
            lines.write(b'{"n": 99}\n{"half')
        crawled(web, home, Counts(), [])
    assert [json.loads(line)["n"] for line in file.read_text().splitlines()] == [1, 2, 3, 4, 5, 6]
    progress = read_progress(home)
    assert progress.strategy_figures == {"pages_seen": 6}
    assert progress.strategy.endswith("test_crawl_strategies:Counts")


class Raises(gossamer.Strategy):
    """Everything late; when the page /up is met, /9 is wanted at once."""

    raises = True

    def __init__(self) -> None:
        self.wanted: list[gossamer.Pick] = []

    @property
    def asks(self) -> bool:  # type: ignore[override]
        return bool(self.wanted)

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        if page.url.endswith("/up"):
            self.wanted = [gossamer.Pick("http://a.test/9", 1), gossamer.Pick("http://a.test/new", 2)]
        return [5 if link.endswith("/up") else 7 for link in page.links]

    def requests(self, now: float, idle: bool) -> list[gossamer.Pick]:
        wanted, self.wanted = self.wanted, []
        return wanted


def test_what_waits_can_come_earlier_and_is_visited_once(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2", "/3", "/9", "/up"])
        visited = crawled(web, home, Raises(), ["http://a.test/"])
        assert visited == ["/", "/up", "/9", "/new", "/1", "/2", "/3"]
        assert max(web.log.requests_per_url().values()) == 1
    progress = read_progress(home)
    assert (progress.queued, progress.pages, progress.urls) == (0, 7, 7)


def test_a_crawl_that_was_stopped_between_visits_each_once_all_the_same(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2", "/3", "/9", "/up"])
        crawled(web, home, Raises(), ["http://a.test/"], max_pages=4)
        crawl(home, [], web.connect)  # and breadth-first, which raises nothing
        assert max(web.log.requests_per_url().values()) <= 2  # robots.txt of the second run
        assert all(count == 1 for url, count in web.log.requests_per_url().items() if "robots" not in url)
    assert len(urls(home, State.FETCHED)) == 7
    assert read_progress(home).queued == 0


class Endless(gossamer.Strategy):
    """Asks for the same again and again."""

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        return []

    def requests(self, now: float, idle: bool) -> list[gossamer.Pick]:
        return [gossamer.Pick("http://a.test/one")]


def test_asking_for_what_is_known_does_not_keep_a_crawl_alive(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/one")
        assert crawled(web, tmp_path / "c", Endless(), ["http://a.test/one"]) == ["/one"]


def sites(web: TinyWeb, names: str, pages: int) -> list[str]:
    for name in names:
        host = f"http://{name}.test"
        others = [f"http://{other}.test/0" for other in names if other != name]
        for number in range(pages):
            web.add_page(f"{host}/{number}", [f"{host}/{number + 1}"] * (number + 1 < pages) + others)
    return [f"http://{names[0]}.test/0"]


@pytest.mark.parametrize("at_once", [1, 2])
def test_site_by_site_finishes_what_is_begun(tmp_path: Path, at_once: int) -> None:
    with TinyWeb() as web:
        seeds = sites(web, "abcdef", 8)
        given = {"strategy": "site-by-site", "strategy_option": [f"hosts={at_once}"], "delay": "1ms"}
        summary = crawl(tmp_path / "c", seeds, web.connect, **given)
        assert (summary.pages, summary.reason) == (48, "complete")
        assert most_begun(web) <= at_once


@pytest.mark.parametrize("at_once", [1, 2])
def test_site_by_site_goes_on_with_what_an_earlier_run_has_begun(tmp_path: Path, at_once: int) -> None:
    with TinyWeb() as web:
        seeds = sites(web, "abcdef", 8)
        given = {"strategy": "site-by-site", "strategy_option": [f"hosts={at_once}"], "delay": "1ms"}
        for pages in (5, 13, 20, 0):
            summary = crawl(tmp_path / "c", seeds, web.connect, max_pages=pages, **given)
        assert (summary.pages, summary.reason) == (48, "complete")
        assert most_begun(web) <= at_once


def test_a_site_that_was_begun_and_is_blocked_now_holds_nobody_up(tmp_path: Path) -> None:
    with TinyWeb() as web:
        seeds = sites(web, "abc", 4)
        given = {"strategy": "site-by-site", "strategy_option": ["hosts=1"], "delay": "1ms"}
        crawl(tmp_path / "c", seeds, web.connect, max_pages=2, **given)
        summary = crawl(tmp_path / "c", [], web.connect, max_pages=0, blocklist=["a.test"], **given)
    assert summary.reason == "complete"
    assert len([url for url in urls(tmp_path / "c", State.FETCHED) if "//a" not in url]) == 8


def most_begun(web: TinyWeb) -> int:
    """Hosts that were begun and not finished at a time."""
    last = {arrival.host: number for number, arrival in enumerate(web.log.arrivals)}
    begun: set[str] = set()
    most = 0
    for number, arrival in enumerate(web.log.arrivals):
        begun.add(arrival.host)
        most = max(most, len(begun))
        if last[arrival.host] == number:
            begun.discard(arrival.host)
    return most


def test_sitemap_first(tmp_path: Path) -> None:
    with TinyWeb() as web:
        listed = "".join(f"<url><loc>http://a.test/listed{number}</loc></url>" for number in range(5))
        web.add_robots("a.test", "Sitemap: http://a.test/map.xml\n")
        web.add_page("http://a.test/map.xml", body=f"<urlset>{listed}</urlset>", headers={"Content-Type": "text/xml"})
        web.add_page("http://a.test/", [f"/found{number}" for number in range(5)])
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, strategy="sitemap-first")
        order = [arrival.path for arrival in web.log.arrivals]
    first = [path[1:-1] for path in order if path[1:-1] in ("listed", "found")]
    assert first == ["listed"] * 5 + ["found"] * 5


def test_importance_knows_what_was_ranked(tmp_path: Path) -> None:
    """Ranks of an earlier run: nothing else tells these links from each other."""
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2", "/3", "/4"])
        for number in range(1, 5):
            web.add_page(f"http://a.test/{number}", [], body=f"page {number}")
        web.add_page("http://b.test/")
        crawled(web, home, Importance(), ["http://b.test/"])
        (home / "rank").mkdir()
        scores = {"http://a.test/3": 0.9, "http://a.test/1": 0.05, "http://b.test/": 0.05}
        keys = sorted((key_of(url), score) for url, score in scores.items())
        write_scores(
            home / "rank" / SCORES,
            np.array([key for key, _ in keys], np.uint64),
            np.array([score for _, score in keys]),
            5,
        )
        visited = crawled(web, home, Importance(), ["http://a.test/"])
    assert visited[:2] == ["/", "/3"]


def test_importance_visits_what_much_leads_to_first(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", [*(f"/leaf{number}" for number in range(40)), *(f"/p{n}" for n in range(10))])
        for number in range(10):
            web.add_page(f"http://a.test/p{number}", ["/hub", f"/p{(number + 1) % 10}", f"/own{number}"])
        for number in range(40):
            web.add_page(f"http://a.test/leaf{number}")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, strategy="importance", connections=1)
        order = [arrival.path for arrival in web.log.arrivals if arrival.path != "/robots.txt"]
        assert max(web.log.requests_per_url().values()) == 1
    assert len(order) == 62
    owned = [order.index(f"/own{number}") for number in range(10)]
    assert order.index("/hub") < sorted(owned)[4], "one that ten pages lead to comes before most that one page leads to"


def test_a_random_walk_samples_and_ends(tmp_path: Path) -> None:
    home = tmp_path / "c"
    options = ["pages=30", "walkers=3", "seed=7"]
    with TinyWeb() as web:
        for number in range(60):
            web.add_page(
                f"http://a.test/{number}", [f"/{(number * 7 + step) % 60}" for step in range(1, 6)] + ["/gone"]
            )
        summary = crawl(home, ["http://a.test/0"], web.connect, strategy="random-walk", strategy_option=options)
        visited = set(web.log.requests_per_url())
    assert summary.reason == "complete"
    assert summary.strategy_figures["pages_met"] == 30
    text = (home / "strategy" / "random-walk-results.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert 25 <= len(lines) <= 30
    assert {line["url"] for line in lines} <= visited - {"http://a.test/gone"}
    assert all(line["weight"] >= 1 and line["visits"] >= 1 for line in lines)
    assert summary.strategy_figures["pages_estimated"] == pytest.approx(sum(line["weight"] for line in lines), abs=1)


class Waits(gossamer.Strategy):
    """Asks for pages that will not come."""

    def __init__(self) -> None:
        self.wanted = {f"http://a.test/{name}" for name in ("hidden", "out")} | {"http://b.test/"}
        self.told: set[str] = set()

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        return [None] * len(page.links)

    def requests(self, now: float, idle: bool) -> list[gossamer.Pick]:
        return [gossamer.Pick(url) for url in sorted(self.wanted)]

    def awaited(self) -> set[str]:
        return self.wanted

    def missed(self, url: str, now: float) -> None:
        self.wanted.remove(url)
        self.told.add(url)


def test_who_waits_in_vain_is_told(tmp_path: Path) -> None:
    strategy = Waits()
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        web.add_robots("a.test", "User-agent: *\nDisallow: /hidden\n")
        given = {"scope": "host", "exclude": ["/out"], "commit_interval": "10ms"}
        crawled(web, tmp_path / "c", strategy, ["http://a.test/"], **given)
    assert strategy.told == {"http://a.test/hidden", "http://a.test/out", "http://b.test/"}


def test_a_random_walk_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        for number in range(60):
            web.add_page(f"http://a.test/{number}", [f"/{(number * 7 + step) % 60}" for step in range(1, 6)])
        given = {"strategy": "random-walk", "strategy_option": ["pages=40", "walkers=3"]}
        crawl(home, ["http://a.test/0"], web.connect, max_pages=15, **given)
        summary = crawl(home, [], web.connect, **given)
        assert all(count == 1 for url, count in web.log.requests_per_url().items() if "robots" not in url)
    assert (summary.pages, summary.reason) == (40, "complete")


def test_focused_prefers_its_topic(tmp_path: Path) -> None:
    home = tmp_path / "c"
    text = {"solar": "panel roof energy sunlight module", "cooking": "onion butter oven recipe flour"}
    with TinyWeb() as web:
        for topic, words in text.items():
            for number in range(40):
                own = " ".join(random.Random(f"{topic}{number}").sample(ENGLISH.words, 12))
                said = f"{words} {topic} number {number}: {own}. " * 3
                inside = "".join(f'<p>{topic} <a href="/{topic}/{(number * 3 + k) % 40}">{words}</a>' for k in range(4))
                web.add_page(f"http://a.test/{topic}/{number}", body=f"<title>{topic}</title><p>{said}{inside}")
        start = [f'<p><a href="/{topic}/{n}">{topic}</a>' for n in range(3) for topic in ("cooking", "solar")]
        web.add_page("http://a.test/", body="".join(start))
        options = ["words=solar,panel,energy"]
        summary = crawl(
            home, ["http://a.test/"], web.connect, strategy="focused", strategy_option=options, connections=1,
            max_pages=40,
        )  # fmt: skip
        visited = [arrival.path.split("/")[1] for arrival in web.log.arrivals]
    assert visited.count("solar") > 30
    relevant = visited.count("solar") + 1  # the first page, which speaks of both
    assert summary.strategy_figures["relevant"] == relevant
    assert summary.strategy_figures["harvest"] == pytest.approx(relevant / 40, abs=0.001)
    assert read_progress(home).strategy == "focused"


def test_when_again_is_up_to_the_strategy(tmp_path: Path) -> None:
    class Soon(gossamer.Strategy):
        def order(self, page: gossamer.SeenPage) -> list[int | None]:
            return [4] * len(page.links)

        def again(self, page: gossamer.SeenPage) -> float | None:
            return 7200.0 if page.url.endswith("/soon") else 86400.0 * 400

    found: dict[str, float] = {}
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/soon", "/late"])
        web.add_page("http://a.test/soon")
        web.add_page("http://a.test/late")
        crawled(
            web, tmp_path / "c", Soon(), ["http://a.test/"], keep_fresh=True, max_pages=3, min_interval="1h",
            max_interval="20d",
        )  # fmt: skip
    from gossamer.agent import read_visits

    for visit in read_visits(tmp_path / "c", State.FETCHED):
        found[visit.url] = visit.due - visit.fetched_at
    assert found["http://a.test/soon"] == pytest.approx(7200, abs=2)
    assert found["http://a.test/late"] == pytest.approx(20 * 86400, abs=2), "within the bounds of the crawl"


def test_the_library_takes_names_and_objects(tmp_path: Path) -> None:
    async def visited(**options: Any) -> list[str]:
        given = {"connect": [web.connect], "allow_private": True, "delay": 0, "connections": 1}
        return [page.url async for page in gossamer.crawl(["http://a.test/"], **given, **options)]

    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/5"])
        assert asyncio.run(visited(strategy=ByDigit()))[1] == "http://a.test/5"
        named = asyncio.run(visited(strategy="site-by-site", strategy_option=["hosts=1"]))
        assert named[1] == "http://a.test/1"
        with pytest.raises(ConfigError, match=r"--strategy: 'focussed' is not known; did you mean 'focused'"):
            asyncio.run(visited(strategy="focussed"))


def test_breadth_first_asks_nobody(tmp_path: Path) -> None:
    """The hot path has no call of a strategy where there is none."""
    agents: list[Agent] = []
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1"])
        settings = load(None, {"fetch.allow_private": True, "fetch.connect": [web.connect], "policy.delay": 0})
        run = Crawl(settings, tmp_path / "c", ["http://a.test/"], lambda _: None)
        asyncio.run(run.run(ready=agents.append, signals=False))
    assert agents[0].responses.ordering is None
    assert not (tmp_path / "c" / "strategy").exists()
