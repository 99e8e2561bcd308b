"""`explain` says when a page is visited again and why then: each sentence brought about by a crawl of days or weeks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from simulated_time import DAY, HOUR, LongCrawl
from test_keep_fresh import Page, versioned

from gossamer.agent import Explanation
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.explain import explain
from gossamer.config import load
from gossamer.model import State
from gossamer.testing import FakeClock
from gossamer.testing.tinyweb import TinyWeb
from gossamer.testing.web import End, Reply

HOME = "http://a.test/"
DAILY = {"fresh__min_interval": "1d", "fresh__max_interval": "1d"}


class Long:
    """A crawl of one page and what it links to."""

    def __init__(self, tmp_path: Path, web: TinyWeb, tables: str = "", **settings: object) -> None:
        self.home = tmp_path / "crawl"
        self.clock = FakeClock(1_790_000_000.0)
        self._web = web
        self._file = tmp_path / "settings.toml"
        self._file.write_text(tables)
        self.page = Page(web, HOME)
        self.change(**settings)

    def change(self, **settings: object) -> None:
        """The settings from here on."""
        self._crawl = LongCrawl(self.home, self._web.connect, self.clock, self._file, **settings)

    def run(self, seconds: float, *seeds: str) -> None:
        self._crawl.run(*(seeds or (HOME,)), seconds=seconds)

    def until_visited(self, page: Page, url: str = HOME) -> None:
        """As far as there is something to see of that."""
        visits = page.visits
        while page.visits == visits:
            outlook = self.explained(url).outlook
            assert outlook is not None
            self.run(max(outlook.due - self.clock.now(), 0.0) + 1.0)

    def explained(self, url: str = HOME, later: float = 0.0) -> Explanation:
        return explain(self.home, url, now=self.clock.now() + later)

    def again(self, url: str = HOME, later: float = 0.0) -> str:
        return self.explained(url, later).again


# -- how it changes ----------------------------------------------------------------------------------------------------


def test_a_page_that_was_visited_once(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web)
        crawl.run(60.0)
    found = crawl.explained()
    assert found.sentence == "It was fetched 1 min ago, with status 200."
    assert re.match(r"It was visited once; pages like it change about every \d+ d, by estimate\. The copy", found.again)
    assert "; the first time sooner, so that pages that were found together are not visited together." in found.again
    assert "It has neither ETag nor Last-Modified, and is always fetched as a whole." in found.again
    assert found.again.endswith(
        f"No crawl is running (it was stopped): gossamer crawl --dir {tmp_path / 'crawl'} continues it."
    )
    assert found.outlook is not None
    assert found.visit is not None
    assert found.outlook.due == found.visit.due


def test_a_page_that_changes_and_one_that_does_not(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **DAILY)
        Page(web, "http://b.test/")
        crawl.run(DAY, HOME, "http://b.test/")
        for day in range(20):
            crawl.page.text = f"day {day}"
            crawl.run(DAY)
        busy, quiet = crawl.again(), crawl.again("http://b.test/")
        changes = re.match(r"It was seen changed (\d+) times; by estimate it changes about every (\d+) h\.", busy)
        assert changes is not None
        assert 15 <= int(changes[1]) <= 21
        assert int(changes[2]) <= 36
        assert re.match(
            r"It was found unchanged at its last \d+ visits; by estimate it changes about every \d+ d", quiet
        )
        found = crawl.explained("http://b.test/").sentence
        assert re.fullmatch(r"It was visited and found unchanged .* ago, with status 200\.", found)
        likely = re.compile(r"The copy is (\d+) % likely to be what its server still shows\.")
        shares = [likely.search(crawl.again(HOME, later)) for later in (0, DAY, 30 * DAY)]
        numbers = [int(share[1]) for share in shares if share]
        assert len(numbers) == 3
        assert numbers == sorted(numbers, reverse=True)
        assert numbers[0] > 20 > numbers[2]
        crawl.run(DAY + HOUR)
        assert " times, not at its last visit; " in crawl.again()
        crawl.run(DAY)
        assert " times, not at its last 2 visits; " in crawl.again()


def test_a_page_that_was_seen_changed_once(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **DAILY)
        crawl.run(HOUR)
        crawl.page.text = "other"
        crawl.until_visited(crawl.page)
    assert "It was seen changed once; by estimate" in crawl.again()


def test_a_page_that_was_gone_for_a_while(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **DAILY)
        crawl.run(HOUR)
        crawl.page.status = 410
        crawl.until_visited(crawl.page)
        assert crawl.explained().sentence.endswith("with status 410: the server says that the page is gone for good.")
        assert "what is no page is visited" in crawl.again()
        crawl.page.status = 200
        crawl.until_visited(crawl.page)
    assert crawl.again().startswith("It was gone, and is there again; by estimate it changes about every ")


# -- when it is due, and why then --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tables", "settings", "words"),
    [
        (
            "",
            {"fresh__min_interval": "20d"},
            "pages like it are visited not sooner than every 20 d (fresh.min_interval)",
        ),
        (
            "",
            {"fresh__max_interval": "90m"},
            "pages like it are visited at least every 1 h 30 min (fresh.max_interval)",
        ),
        (
            '[hosts."a.test"]\nmin_interval = "21d"\n',
            {},
            "not sooner than every 21 d (min_interval of its table in [hosts])",
        ),
        (
            '[hosts."a.test"]\nmax_interval = "3h"\n[urls."test/$"]\nmax_interval = "90m"\n',
            {},
            'at least every 1 h 30 min (max_interval of [urls."test/$"])',
        ),
        ("", {}, " min, when a change is 10 % likely"),
    ],
)
def test_bounds_of_its_interval(tmp_path: Path, tables: str, settings: dict[str, object], words: str) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, tables, **settings)
        crawl.run(60.0)
    said = crawl.again()
    assert re.search(r"\. It is due in [^:.]*: [^:]*" + re.escape(words), said), said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"fresh__revisit_rate": 0.0001},
            r"\. It is due in [^:.]*: with the speed there is, pages like it are visited",
        ),
        (
            {"policy__delay": "600"},
            r"\. It is due in [^:.]*: its host rests 600 s between visits, so that pages like it are visited",
        ),
    ],
)
def test_what_speed_allows(tmp_path: Path, settings: dict[str, object], words: str) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **settings)
        crawl.page.links = [f"/{number}" for number in range(60)]
        for link in crawl.page.links:
            Page(web, f"http://a.test{link}")
        crawl.run(DAY / 2)
    found = [crawl.explained(f"http://a.test/{number}") for number in range(0, 60, 6)]
    fitting = [one.outlook for one in found if re.search(words + r" about every \d+ (d|h)", one.again)]
    assert fitting, found[0].again
    assert all(one is not None and one.min_interval < one.interval < one.max_interval for one in fitting)


def test_the_longest_interval_yields_where_visits_are_too_few(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, fresh__revisit_rate=1e-5, policy__max_tries=1)
        crawl.page.links = [f"/{number}" for number in range(60)]
        for link in crawl.page.links[1:]:
            Page(web, f"http://a.test{link}")
        web.add_handler("http://a.test/0", lambda request: Reply((), End.CLOSE))
        crawl.run(DAY)
    outlooks = [crawl.explained(f"http://a.test/{number}").outlook for number in range(1, 60)]
    assert {one.cause for one in outlooks if one is not None} == {"speed"}
    assert max(one.interval for one in outlooks if one is not None) > 31 * DAY
    every = r"every \d{3} d .*\(visits are too few for fresh\.max_interval\)\."
    assert re.search(r"It is tried again in \d+ d: " + every, crawl.again("http://a.test/0"))


def test_a_visit_that_comes_sooner_or_later_than_others(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **DAILY)
        crawl.run(2.2 * DAY)
    assert "this time" not in crawl.again()
    directory = CrawlDir(crawl.home)
    for interval, words in (("10d", "; this time sooner, by what was known"), ("1h", "; this time later, by what was")):
        config = load(
            directory.settings, {"fresh.min_interval": interval, "fresh.max_interval": interval}, resumed=True
        )
        directory.save(config)
        assert words in crawl.again()


def test_one_whose_time_has_passed(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **DAILY)
        crawl.run(DAY)
    due = crawl.explained().outlook
    assert due is not None
    late = due.due + 2 * HOUR - crawl.clock.now()
    assert "It has been due for 2 h: pages like it are visited not sooner than every 1 d" in crawl.again(HOME, late)
    directory = CrawlDir(crawl.home)
    directory.take()
    try:
        assert "It has been due for 2 h, and other visits come first: " in crawl.again(HOME, late)
    finally:
        directory.release()


def test_one_that_waits_in_the_queue(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, policy__delay=4, **DAILY)
        crawl.page.links = ["/1", "/2"]
        urls = [HOME, f"{HOME}1", f"{HOME}2"]
        for url in urls[1:]:
            Page(web, url)
        crawl.run(2 * DAY)
        crawl.clock.advance(5 * DAY)  # all are due
        crawl.run(1.0)
        said = [crawl.again(url) for url in urls]
        waiting = [
            words for words in said if "It is due, and waits in the queue of its host to be visited again" in words
        ]
        assert len(waiting) == 3  # robots.txt comes first
        assert sum("2 other URLs of the host are queued, all after it." in words for words in waiting) == 1
        assert "No crawl runs" not in waiting[0]
        found = crawl.explained()
        assert found.host is not None
        assert (found.host.queued, found.host.revisits, found.host.new) == (3, 3, 0)
        assert "No crawl is running" in found.host_sentence  # where it is said once

        crawl.change(fresh__keep_fresh=False)
        CrawlDir(crawl.home).save(load(CrawlDir(crawl.home).settings, {"fresh.keep_fresh": False}, resumed=True))
        off = [crawl.again(url) for url in urls]
        assert (
            sum("queued to be visited again, and after that is not: keep_fresh is off" in words for words in off) == 3
        )


def test_one_whose_server_fails(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, policy__max_tries=1, **DAILY)
        crawl.run(HOUR)
        web.add_handler(HOME, lambda request: Reply((), End.CLOSE))
        outlook = crawl.explained().outlook
        assert outlook is not None
        crawl.run(outlook.due - crawl.clock.now() + 60.0)
        found = crawl.explained()
    assert found.sentence.startswith("It was last to be had ")
    assert "It was not to be had at its last visit, and is looked for again in 59 min" in found.again
    assert "The copy is" not in found.again


def test_a_page_that_is_not_there(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, fresh__max_interval="1d")
        crawl.run(DAY)
        crawl.page.status = 500
        crawl.until_visited(crawl.page)
        said = crawl.again()
        assert re.search(r"It was not to be had at its last visit, and is looked for again in (1 h|59 min)", said), said
        assert said.endswith(
            "; its copy stays so long. No crawl is running (it was stopped):"
            f" gossamer crawl --dir {tmp_path / 'crawl'} continues it."
        )
        assert "and was to be looked for again 1 h ago" in crawl.again(HOME, 2 * HOUR - 1)
        crawl.until_visited(crawl.page)
        assert "It was not to be had at its last 2 visits" in crawl.again()


def test_one_that_was_never_there(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, policy__max_tries=1)
        web.add_handler(HOME, lambda request: Reply((), End.CLOSE))
        crawl.run(DAY)
    found = crawl.explained()
    assert found.visit is not None
    assert found.visit.state is State.DEAD
    assert re.search(r"It is tried again in 29 d: every 30 d \(fresh\.max_interval\)\.", found.again)
    assert re.search(r"It was to be tried again 1[0-9] d .*ago: every 30 d", crawl.again(HOME, 45 * DAY))


def test_a_sitemap(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_robots("a.test", "Sitemap: http://a.test/map")
        web.add_page("http://a.test/map", body="<urlset></urlset>", headers={"Content-Type": "text/xml"})
        crawl = Long(tmp_path, web)
        crawl.run(60.0)
    found = crawl.explained("http://a.test/map")
    assert found.sentence == "It is left out: it is a sitemap, which was read for links and is no page."
    assert re.match(r"It is due in .*: what is no page is visited about every \d+ min", found.again)


@pytest.mark.parametrize("rule", ["robots", "blocklist"])
def test_what_forbids_it_by_now(tmp_path: Path, rule: str) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **DAILY)
        crawl.run(DAY)
        if rule == "robots":
            web.add_robots("a.test", "User-agent: *\nDisallow: /")
            words = "the robots.txt of a.test does not allow it (Disallow: /)."
            crawl.run(3 * DAY)
        else:
            words = "it is on the blocklist ('a.test'; gossamer block shows all)."
            directory = CrawlDir(crawl.home)
            directory.save(load(directory.settings, {"policy.blocklist": ["a.test"]}, resumed=True))
    assert f"It is not visited again for now: {words}" in crawl.again()


# -- whether it is visited again at all --------------------------------------------------------------------------------


def test_keep_fresh_is_off_again(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **DAILY)
        crawl.run(3 * DAY)
        crawl.change(fresh__keep_fresh=False)
        crawl.run(HOUR)
    found = crawl.explained()
    assert found.again.startswith("It was found unchanged at its last ")
    how = f"gossamer crawl --dir {tmp_path / 'crawl'} --keep-fresh"
    assert found.again.endswith(f"It is not visited again: keep_fresh is off ({how}).")
    assert "visited again" not in found.host_sentence


def test_keep_fresh_was_never_on_and_is_from_now(tmp_path: Path) -> None:
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, fresh__keep_fresh=False)
        crawl.run(HOUR)
    assert (crawl.again(), crawl.explained().outlook) == ("", None)
    directory = CrawlDir(crawl.home)
    directory.save(load(directory.settings, {"fresh.keep_fresh": True}, resumed=True))
    assert crawl.again() == (
        "When it is visited again is not known yet: pages of earlier runs are taken up one after the other."
    )
    assert crawl.explained().host_sentence.endswith("Its pages are visited again when they are due.")
    assert crawl.again("http://a.test/unknown") == ""


# -- what its server is believed ---------------------------------------------------------------------------------------


def test_validators(tmp_path: Path) -> None:
    hosts = ("true", "constant", "both", "deaf", "new")
    with TinyWeb() as web:
        crawl = Long(tmp_path, web, **DAILY)
        pages = {host: Page(web, f"http://{host}.test/") for host in hosts}
        proof = [Page(web, f"http://deaf.test/{number}") for number in range(3)]
        pages["deaf"].links = ["/0", "/1", "/2"]
        for page in pages.values():
            versioned(page, 0)
        pages["deaf"].honest = False
        crawl.run(DAY, *(f"http://{host}.test/" for host in hosts))
        for day in range(1, 30):
            versioned(pages["true"], day)
            pages["constant"].headers = {"ETag": '"always"'}
            for host in ("constant", "both"):
                pages[host].text = f"day {day}"
            for page in proof:
                versioned(page, day)
            crawl.run(DAY)
    said = {host: crawl.again(f"http://{host}.test/") for host in hosts}
    assert "Its ETag and Last-Modified can be believed: where the page has not changed, it is not" in said["true"]
    assert "ETag of its host stays the same though pages change: it is not asked for with it." in said["constant"]
    assert (
        "ETag and Last-Modified of its host stay the same though pages change: it is not asked for with them."
        in (said["both"])
    )
    assert "To ask with its ETag and Last-Modified is no use, as the page comes all the same" in said["deaf"]
    assert "Whether its ETag and Last-Modified can be believed is not known yet." in said["new"]
