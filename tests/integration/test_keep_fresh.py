from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from simulated_time import DAY, HOUR, LongCrawl

from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier, keys
from gossamer.model import State
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope
from gossamer.testing import FakeClock
from gossamer.testing.tinyweb import TinyWeb
from gossamer.testing.web.message import Request, response

STORY = "<p>{} has a story that is long enough to be what the page says, and not only a part of its frame, we hope.</p>"


class Page:
    """A page whose text, headers and status a test changes; it remembers how it was asked for."""

    def __init__(self, web: TinyWeb, url: str, links: list[str] | None = None) -> None:
        self.text = url
        self.links = links or []
        self.status = 200
        self.noise = ""
        self.headers: dict[str, str] = {}
        self.honest = True  # answers 304 where it should
        self.asked: list[dict[str, str]] = []
        web.add_handler(url, self._answer)

    def _answer(self, request: Request) -> bytes:
        names = ("If-None-Match", "If-Modified-Since")
        asked = {name: value for name in names if (value := request.header(name)) is not None}
        self.asked.append(asked)
        if self.honest and asked and any(value in self.headers.values() for value in asked.values()):
            return response(304, "", b"", self.headers.items())
        links = "".join(f'<a href="{link}">{link}</a> ' for link in self.links)
        body = f"<title>t</title><main>{STORY.format(self.text)}</main><aside>{self.noise}</aside>{links}"
        return response(self.status, "text/html; charset=utf-8", body.encode(), self.headers.items())

    @property
    def visits(self) -> int:
        return len(self.asked)

    @property
    def conditional(self) -> int:
        return sum(bool(asked) for asked in self.asked)


def versioned(page: Page, version: int) -> None:
    page.text = f"version {version}"
    page.headers = {"ETag": f'"v{version}"', "Last-Modified": f"Mon, {version % 28 + 1:02d} Jan 2024 00:00:00 GMT"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_790_000_000.0)


def started(tmp_path: Path, web: TinyWeb, clock: FakeClock, **settings: object) -> LongCrawl:
    return LongCrawl(tmp_path / "crawl", web.connect, clock, None, **settings)


def captures(tmp_path: Path, url: str) -> list[dict[str, str]]:
    paths = sorted((tmp_path / "crawl" / "warc").glob("*.cdxj"))
    lines = [line for path in paths for line in path.read_text().splitlines()]
    found = [json.loads(line.split(" ", 2)[2]) for line in lines]
    return [line for line in found if line["url"] == url]


def test_a_page_that_changes_is_visited_again_and_one_that_does_not_less_and_less(
    tmp_path: Path, clock: FakeClock
) -> None:
    with TinyWeb() as web:
        busy, quiet = Page(web, "http://a.test/"), Page(web, "http://b.test/")
        crawl = started(tmp_path, web, clock)
        crawl.run("http://a.test/", "http://b.test/", seconds=DAY)
        for day in range(40):
            busy.text = f"day {day}"
            progress = crawl.run(seconds=DAY)
        early = quiet.visits
        for _ in range(40):
            crawl.run(seconds=DAY)
        assert busy.visits > 2 * quiet.visits
        assert quiet.visits - early < early / 2
        assert progress.revisits == progress.pages - 2
        assert 25 <= progress.revisits_changed <= 40
        assert 0 < progress.freshness < 1
        record = crawl.visit("http://a.test/", tmp_path / "scratch")
        assert record.state is State.FETCHED
        assert record.changes == progress.revisits_changed
        assert record.due > clock.now() - DAY


def test_a_crawl_that_keeps_fresh_does_not_end_and_one_that_does_not_does(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        Page(web, "http://a.test/")
        assert started(tmp_path, web, clock).run("http://a.test/", seconds=DAY).reason == "stopped"
        other = LongCrawl(tmp_path / "other", web.connect, clock, fresh__keep_fresh=False)
        assert other.run("http://a.test/", seconds=DAY).reason == "complete"


def test_servers_that_tell_the_truth_are_asked_with_validators(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        paths = [f"/{number}" for number in range(8)]
        front = Page(web, "http://a.test/", links=paths)
        pages = [Page(web, f"http://a.test{path}") for path in paths]
        for page in pages:
            versioned(page, 0)
        crawl = started(tmp_path, web, clock, fresh__min_interval="1d", fresh__max_interval="2d")
        crawl.run("http://a.test/", seconds=DAY)
        for day in range(30):
            versioned(pages[day % 2], day + 1)  # two of them change, which proves that they tell the truth
            progress = crawl.run(seconds=2 * DAY)
        quiet = pages[2:]
        assert all(page.conditional > 0.6 * page.visits for page in quiet)
        assert progress.revisits_unmodified > 60
        assert front.conditional == 0
        found = captures(tmp_path, "http://a.test/5")
        assert {line.get("change") for line in found[1:]} == {"same"}
        assert {line["status"] for line in found} == {"200", "304"}
        assert len({line["digest"] for line in found}) == 1
        changes = [line.get("change") for line in captures(tmp_path, "http://a.test/0")]
        assert changes.count("changed") >= 10
        record = crawl.visit("http://a.test/5", tmp_path / "scratch")
        assert (record.status, record.etag) == (200, '"v0"')


def test_a_page_that_another_agent_has_stored_is_asked_for_whole_once(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        pages = [Page(web, f"http://a.test/{number}") for number in range(4)]
        for page in pages:
            versioned(page, 0)
        crawl = started(tmp_path, web, clock, fresh__min_interval="1d", fresh__max_interval="1d")
        crawl.run(*(f"http://a.test/{number}" for number in range(4)), seconds=HOUR)
        for day in range(6):
            versioned(pages[day % 2], day + 1)  # which proves that the server tells the truth
            crawl.run(seconds=DAY)
        quiet, url = pages[2], "http://a.test/2"
        assert quiet.asked[-1], "the server is believed"
        move_here(tmp_path / "crawl", url)
        assert crawl.visit(url, tmp_path / "scratch").stored is None
        before = quiet.visits
        progress = crawl.run(seconds=3 * DAY)
        first, *later = quiet.asked[before:]
        assert not first, "asked for without validators, so that there is a copy here"
        assert any(later), "and with them from then on"
        record = crawl.visit(url, tmp_path / "scratch")
        assert (record.stored is not None, record.changes) == (True, 0)
        assert captures(tmp_path, url)[-len(later) - 1]["status"] == "200"
        assert progress.gone == 0


def move_here(home: Path, url: str) -> None:
    """Change the record of a URL into what it is after its partition came from another agent."""
    config = FrontierConfig()
    frontier = Frontier(home / "frontier", config, Policy(PolicyConfig()), Scope("any"), None, 0.0)
    try:
        key = frontier._roster.key_of(url)
        value = frontier._database.visit(key)
        assert value is not None
        frontier._database.visits[key] = keys.with_elsewhere(value)
        frontier.commit({}, clean=True)
    finally:
        frontier.close()


@pytest.mark.parametrize("lie", ["etag", "modified", "both"])
def test_a_constant_validator_hides_no_change_for_long(tmp_path: Path, clock: FakeClock, lie: str) -> None:
    with TinyWeb() as web:
        page = Page(web, "http://a.test/")
        constant = {"ETag": '"always"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
        if lie != "both":
            constant = dict([next(item for item in constant.items() if lie in item[0].lower())])
        page.headers = constant
        crawl = started(tmp_path, web, clock, fresh__min_interval="1d", fresh__max_interval="1d")
        crawl.run("http://a.test/", seconds=DAY)
        for day in range(30):
            page.text = f"day {day}"
            progress = crawl.run(seconds=DAY)
        assert progress.revisits_changed >= 0.8 * page.visits
        assert page.conditional <= 2


def test_validators_that_always_differ_and_servers_that_ignore_them_are_not_asked_with(
    tmp_path: Path, clock: FakeClock
) -> None:
    with TinyWeb() as web:
        proof = [Page(web, f"http://{host}.test/{n}") for host in ("noisy", "deaf") for n in range(3)]
        noisy = Page(web, "http://noisy.test/", links=["/0", "/1", "/2"])
        deaf = Page(web, "http://deaf.test/", links=["/0", "/1", "/2"])
        versioned(deaf, 0)
        deaf.honest = False
        crawl = started(tmp_path, web, clock, fresh__min_interval="1d", fresh__max_interval="1d")
        crawl.run("http://noisy.test/", "http://deaf.test/", seconds=DAY)
        for day in range(60):
            noisy.headers = {"ETag": f'"{day}"'}
            for page in proof:
                versioned(page, day)
            crawl.run(seconds=DAY)
        for page in (noisy, deaf):
            assert 1 <= page.conditional <= 12
            assert not any(page.asked[-20:])


def test_adverts_are_no_change_and_a_new_link_is_one(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        page = Page(web, "http://a.test/", links=["/old"])
        Page(web, "http://a.test/old")
        Page(web, "http://a.test/new")
        crawl = started(tmp_path, web, clock, fresh__max_interval="2d")
        crawl.run("http://a.test/", seconds=DAY)
        for day in range(10):
            page.noise = f"Buy {day} for the price of {day * 7}"
            progress = crawl.run(seconds=2 * DAY)
        assert progress.revisits_changed == 0
        assert progress.revisits > 5
        found = captures(tmp_path, "http://a.test/")
        assert {line.get("change") for line in found[1:]} == {"same"}
        assert len({line["digest"] for line in found}) > 3  # each is kept as it was
        page.links = ["/old", "/new"]
        progress = crawl.run(seconds=4 * DAY)
        assert progress.revisits_changed == 1
        assert crawl.visit("http://a.test/new", tmp_path / "scratch").state is State.FETCHED


def test_a_page_that_vanishes_is_looked_for_again_before_it_is_gone(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        page = Page(web, "http://a.test/")
        crawl = started(tmp_path, web, clock, fresh__max_interval="1d")
        crawl.run("http://a.test/", seconds=DAY)
        page.status = 404
        visits = page.visits
        while page.visits == visits:
            crawl.run(seconds=HOUR)
        record = crawl.visit("http://a.test/", tmp_path / "scratch")
        assert record.status == 200
        assert record.due <= clock.now() + HOUR  # soon
        progress = crawl.run(seconds=2 * HOUR)
        assert progress.gone == 1
        assert crawl.visit("http://a.test/", tmp_path / "scratch").status == 404
        assert [line.get("change") for line in captures(tmp_path, "http://a.test/")][-1] == "gone"
        page.status = 200
        crawl.run(seconds=3 * DAY)
        assert crawl.visit("http://a.test/", tmp_path / "scratch").status == 200
        assert "new" in [line.get("change") for line in captures(tmp_path, "http://a.test/")]


def test_a_page_that_was_missing_for_a_moment_is_not_gone(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        page = Page(web, "http://a.test/")
        crawl = started(tmp_path, web, clock, fresh__max_interval="1d")
        crawl.run("http://a.test/", seconds=DAY)
        page.status = 500
        visits = page.visits
        while page.visits < visits + 2:
            crawl.run(seconds=HOUR)
        page.status = 200
        progress = crawl.run(seconds=DAY)
        assert progress.gone == 0
        assert {line["status"] for line in captures(tmp_path, "http://a.test/")} == {"200"}


@pytest.mark.parametrize("status", [301, 308, 410])
def test_what_is_said_to_be_for_good_is_believed_at_once(tmp_path: Path, clock: FakeClock, status: int) -> None:
    with TinyWeb() as web:
        page = Page(web, "http://a.test/")
        crawl = started(tmp_path, web, clock, fresh__max_interval="1d")
        crawl.run("http://a.test/", seconds=DAY)
        page.status, page.headers = status, {"Location": "http://a.test/moved"}
        assert crawl.run(seconds=DAY).gone == 1
        assert crawl.visit("http://a.test/", tmp_path / "scratch").status == status


def test_every_due_time_outlives_a_crash(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        urls = [f"http://a.test/{number}" for number in range(30)]
        pages = [Page(web, url) for url in urls]
        crawl = started(tmp_path, web, clock, fresh__max_interval="4d")
        crawl.run(*urls, seconds=HOUR)
        before = {url: crawl.visit(url, tmp_path / "scratch").due for url in urls}
        assert all(due > clock.now() - HOUR for due in before.values())
        crawl.run(seconds=HOUR / 2, crash=True)  # less than there is between two commits
        assert before == {url: crawl.visit(url, tmp_path / "scratch").due for url in urls}
        for _ in range(3):
            crawl.run(seconds=2 * DAY, crash=True)
        crawl.run(seconds=8 * DAY)
        assert min(page.visits for page in pages) >= 3
        assert all(crawl.visit(url, tmp_path / "scratch").due > clock.now() - HOUR for url in urls)


def test_visits_of_a_crawl_that_was_not_kept_fresh_are_taken_up(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        urls = [f"http://a.test/{number}" for number in range(5)]
        pages = [Page(web, url) for url in urls]
        before = started(tmp_path, web, clock, fresh__keep_fresh=False)
        assert before.run(*urls, seconds=DAY).reason == "complete"
        assert before.visit(urls[0], tmp_path / "scratch").due == 0
        crawl = started(tmp_path, web, clock, fresh__max_interval="1d")
        crawl.run(seconds=3 * DAY)
        assert min(page.visits for page in pages) >= 2


def test_a_minimum_and_a_pattern_bound_the_intervals(tmp_path: Path, clock: FakeClock) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(
        '[hosts."slow.test"]\nmin_interval = "10d"\n[urls."/hourly"]\nmin_interval = "1h"\nmax_interval = "1h"\n'
    )
    with TinyWeb() as web:
        slow, hourly = Page(web, "http://slow.test/"), Page(web, "http://a.test/hourly")
        crawl = LongCrawl(tmp_path / "crawl", web.connect, clock, settings)
        crawl.run("http://slow.test/", "http://a.test/hourly", seconds=HOUR)
        for day in range(30):
            slow.text = f"day {day}"
            crawl.run(seconds=DAY)
        assert 2 <= slow.visits <= 4
        assert 24 * 30 * 0.9 < hourly.visits <= 24 * 30 + 2


def test_a_host_that_rests_long_is_visited_again_all_the_time(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        urls = [f"http://a.test/{number}" for number in range(12)]
        pages = [Page(web, url) for url in urls]
        crawl = started(tmp_path, web, clock, policy__delay=600, fresh__max_interval="1h")  # more than it can take
        crawl.run(*urls, seconds=DAY)
        assert sum(page.visits for page in pages) > 0.8 * DAY / 600
        assert min(page.visits for page in pages) >= 8


def test_robots_that_forbid_later_are_obeyed_and_what_was_fetched_stays(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        page = Page(web, "http://a.test/")
        crawl = started(tmp_path, web, clock, fresh__max_interval="1d")
        crawl.run("http://a.test/", seconds=DAY)
        web.add_robots("a.test", "User-agent: *\nDisallow: /")
        crawl.run(seconds=2 * DAY)  # until the rules are asked for again
        visits = page.visits
        progress = crawl.run(seconds=10 * DAY)
        assert page.visits == visits
        assert crawl.visit("http://a.test/", tmp_path / "scratch").state is State.FETCHED
        assert progress.due == 0
        web.add_robots("a.test", "")
        crawl.run(seconds=4 * DAY)
        assert page.visits > visits


def test_a_sitemap_that_says_that_a_page_changed_is_followed(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        urls = [f"http://a.test/{number}" for number in range(30)]
        pages = [Page(web, url) for url in urls]
        Page(web, "http://a.test/")
        web.add_robots("a.test", "Sitemap: http://a.test/sitemap.xml")

        def sitemap(changed: dict[str, float]) -> None:
            moments = {url: datetime.fromtimestamp(moment, UTC).isoformat() for url, moment in changed.items()}
            rows = "".join(
                f"<url><loc>{url}</loc><lastmod>{moments.get(url, '2020-01-01')}</lastmod></url>" for url in urls
            )
            body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
            web.add_page("http://a.test/sitemap.xml", body=body, headers={"Content-Type": "application/xml"})

        sitemap({})
        settings = tmp_path / "settings.toml"
        settings.write_text("[urls.'sitemap']\nmax_interval = '6h'\n")
        crawl = LongCrawl(tmp_path / "crawl", web.connect, clock, settings)
        crawl.run("http://a.test/", seconds=40 * DAY)  # until all are thought to be quiet

        def visited(seconds: float) -> set[str]:
            """Those that were not due yet, and were visited all the same."""
            before = {url: page.visits for url, page in zip(urls, pages, strict=True)}
            until = clock.now() + seconds
            quiet = {url for url in urls if crawl.visit(url, tmp_path / "scratch").due > until}
            assert len(quiet) > 5
            crawl.run(seconds=seconds)
            return {url for url, page in zip(urls, pages, strict=True) if page.visits > before[url] and url in quiet}

        quiet = max(urls, key=lambda url: crawl.visit(url, tmp_path / "scratch").due)
        assert visited(7 * HOUR) == set()
        sitemap({quiet: clock.now()})
        assert visited(7 * HOUR) == {quiet}
        sitemap({url: clock.now() for url in urls})  # which says nothing
        assert visited(7 * HOUR) == set()
