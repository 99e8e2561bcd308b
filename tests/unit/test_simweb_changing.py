"""A web that changes: rates, births and ends of pages as functions of time, and servers that tell the truth or not."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime
from email.utils import formatdate
from itertools import pairwise
from math import exp, log
from statistics import NormalDist, correlation, mean

import pytest

from gossamer.parse import parse
from gossamer.testing import FakeClock, World, reachable
from gossamer.testing.web.honesty import LIES, Honesty
from gossamer.testing.web.hosts import Host
from gossamer.testing.web.life import BORN, DAY, DIRECTORIES, NEWS, OUTAGE_SECONDS
from gossamer.testing.web.message import Request
from gossamer.testing.web.paths import FEED_PATH, Resource, Section, page_number, page_path
from gossamer.testing.web.profile import PROFILES, Change, Profile
from gossamer.testing.web.site import WorldSite
from gossamer.testing.web.truth import Kind

NOW = 1_700_000_000.0
HREF = re.compile(rb'<a href="([^"]+)"')
STEADY = Change(hubs=0.0, births=1e-9, mortal=0.0, outages=0.0)  # pages that stay, so that only texts change


def changing(change: Change) -> Profile:
    return replace(PROFILES["changing"], change=change)


class Web:
    """A changing world with a clock, asked without sockets."""

    def __init__(self, hosts: int = 40, pages: int = 100, change: Change | None = None, seed: int = 1) -> None:
        self.clock = FakeClock(NOW)
        profile = changing(change) if change else "changing"
        self.world = World(seed, hosts, pages, profile, self.clock)
        self._site = WorldSite(self.world)

    def get(self, host: Host, path: bytes, **headers: str) -> tuple[int, dict[str, str], bytes]:
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"GET {path.decode()} HTTP/1.1\r\nHost: {host.name}\r\n{lines}".encode()
        answer = self._site.answer(Request(b"GET", host.name.encode(), path, head))
        assert isinstance(answer, bytes)
        top, _, body = answer.partition(b"\r\n\r\n")
        status, *fields = top.decode().split("\r\n")
        return int(status.split()[1]), dict(field.split(": ", 1) for field in fields), body

    def host(self, honesty: Honesty, noise: bool | None = None) -> Host:
        hosts = map(self.world.host, range(self.world.hosts))
        return next(host for host in hosts if host.honesty is honesty and noise in (None, host.noise))

    def fast_page(self, host: Host, least: float = 2.0) -> int:
        """A page that changes at least so often a day."""
        return next(page for page in range(1, host.size) if self.world.changes_per_day(host, page) > least)

    def pass_a_change(self, host: Host, page: int) -> None:
        """To a moment some seconds after the page's next change."""
        start = self.clock.now()
        self.clock.advance(self.world.changes(host, page, start, start + 400 * DAY)[0] - start + 7.0)


# ---- rates


def test_rates_follow_the_power_law_between_their_bounds() -> None:
    change = replace(STEADY, slowest=0.01, fastest=10.0, exponent=0.5)
    world = World(hosts=500, pages=200, profile=changing(change))
    rates = sorted(world.changes_per_day(world.host(h), p) for h in range(1, 500) for p in range(0, 200, 7))
    assert rates[0] >= 0.01
    assert rates[-1] <= 10.0 + 1e-6
    low, high = 0.01**-0.5, 10.0**-0.5
    for level in (0.1, 0.25, 0.5, 0.75, 0.9):  # the quantiles that the law says, but for the few directories there are
        law = (low + level * (high - low)) ** -2
        assert abs(log(rates[int(level * len(rates))] / law)) < 0.15


def test_rates_are_lognormal_around_a_median() -> None:
    change = replace(STEADY, median=0.2, sigma=1.5)
    world = World(hosts=500, pages=200, profile=changing(change))
    rates = sorted(world.changes_per_day(world.host(h), p) for h in range(1, 500) for p in range(0, 200, 7))
    for level in (0.1, 0.25, 0.5, 0.75, 0.9):
        law = 0.2 * exp(1.5 * NormalDist().inv_cdf(level))
        assert abs(log(rates[int(level * len(rates))] / law)) < 0.15


@pytest.mark.parametrize("kinship", [0.0, 0.5, 0.9])
def test_pages_of_a_directory_resemble_each_other(kinship: float) -> None:
    world = World(hosts=60, pages=64, profile=changing(replace(STEADY, kinship=kinship)))
    pairs = [(h, page) for h in range(60) for page in range(1, 16)]
    rates = [[log(world.changes_per_day(world.host(h), page + more)) for h, page in pairs] for more in (0, 16, 17)]
    assert abs(correlation(rates[0], rates[1]) - kinship) < 0.12
    assert abs(correlation(rates[0], rates[2])) < 0.12  # the next directory
    assert page_path(3).split(b"/")[1] == page_path(19).split(b"/")[1] != page_path(20).split(b"/")[1]


def test_a_page_changes_as_often_as_its_rate_says() -> None:
    world = World(hosts=30, pages=64, profile="changing")
    expected, found = 0.0, 0
    for index in range(30):
        host = world.host(index)
        for page in range(64):
            changes = world.changes(host, page, NOW, NOW + 60 * DAY)
            assert changes == sorted(changes)
            found += len(changes)
            expected += 60 * world.changes_per_day(host, page)
            assert world.change_interval(host, page) == pytest.approx(DAY / world.changes_per_day(host, page))
    assert abs(found - expected) < 5 * expected**0.5


def test_the_last_change_is_the_last_of_the_changes() -> None:
    web = Web()
    host = web.world.host(3)
    hub = next(page for page in range(16) if web.world.news(host, page))
    born = web.world.news(host, hub)[0]
    for page in (hub, born, web.fast_page(host), 90):
        for day in range(50):
            start, end = NOW + day * DAY, NOW + (day + 9) * DAY
            changes = web.world.changes(host, page, start, end)
            before = web.world.changed_at(host, page, start)
            assert web.world.changed_at(host, page, end) == (changes[-1] if changes else before)
            assert (web.world.version(host, page, start) == web.world.version(host, page, end)) == (not changes)


# ---- texts


def test_the_main_text_changes_with_the_version_and_with_nothing_else() -> None:
    web = Web(change=STEADY)
    for honesty, noise in ((Honesty.TRUTHFUL, False), (Honesty.BARE, True), (Honesty.FRESH_ETAG, True)):
        host = web.host(honesty, noise)
        page = web.fast_page(host)
        seen: dict[int, str] = {}
        bodies: dict[int, bytes] = {}
        for _ in range(60):
            web.clock.advance(3_700.0)
            body = web.get(host, page_path(page))[2]
            version = web.world.version(host, page)
            text = parse(body, "http://a.test/", "text/html; charset=utf-8").main_text
            assert f"{version:x}: " in text
            assert seen.setdefault(version, text) == text
            assert (bodies.setdefault(version, body) == body) or noise
        assert len(seen) > 4
        assert len(set(seen.values())) == len(seen)
        assert not any(word in text for text in seen.values() for word in ("Page generated", "<"))


def test_a_change_replaces_some_of_the_text() -> None:
    web = Web(change=STEADY)
    host = web.world.host(0)
    page = web.fast_page(host)
    kept = []
    for _ in range(40):
        before = set(re.findall(rb"<p>.*?</p>", web.get(host, page_path(page))[2]))
        web.pass_a_change(host, page)
        after = set(re.findall(rb"<p>.*?</p>", web.get(host, page_path(page))[2]))
        kept.append(len(before & after) / len(before))
    assert min(kept) < 0.2
    assert max(kept) > 0.4
    assert max(kept) < 1


def test_noise_is_on_some_hosts_and_never_the_same() -> None:
    web = Web(hosts=100)
    hosts = [web.world.host(index) for index in range(100)]
    assert 25 <= sum(host.noise for host in hosts) <= 35
    for host, clock in ((web.host(Honesty.BARE, True), "22:13:20"), (web.host(Honesty.FRESH_ETAG, True), "22:14:15")):
        page = next(page for page in range(host.size) if web.world.changes_per_day(host, page) < 0.01)
        seen = []
        for _ in range(5):
            seen.append(web.get(host, page_path(page)))
            web.clock.advance(11.0)
        assert len({body for _, _, body in seen}) == 5
        assert len({re.findall(rb'<aside class="advert">.*?</aside>', body)[0] for _, _, body in seen}) == 5
        assert f"<footer><p>Page generated {clock}</p></footer>".encode() in seen[0][2]
        tags = {headers.get("ETag") for _, headers, _ in seen}
        assert tags == {None} if host.honesty is Honesty.BARE else len(tags) == 5
        assert not any("Last-Modified" in headers for _, headers, _ in seen)


# ---- honesty


def test_a_share_of_the_hosts_lies_in_every_way() -> None:
    world = World(hosts=400, pages=4, profile="changing")
    manners = Counter((host.honesty, host.noise) for host in map(world.host, range(400)))
    assert 75 <= sum(manners[lie, False] for lie in LIES) <= 85
    assert set(manners) == {(lie, False) for lie in LIES} | {
        (Honesty.TRUTHFUL, False),
        (Honesty.BARE, True),
        (Honesty.FRESH_ETAG, True),
    }
    assert world.host(0).honesty is Honesty.TRUTHFUL
    assert all(host.sitemap for host in map(world.host, range(400)) if host.honesty is Honesty.SITEMAP_NOW)
    honest = World(hosts=400, pages=4, profile=changing(Change(liars=0.0, noisy=0.0)))
    assert {honest.host(index).honesty for index in range(400)} == {Honesty.TRUTHFUL}


def test_truthful_hosts_say_304_exactly_while_nothing_changed() -> None:
    web = Web(change=STEADY)
    for wanted in ((True, True), (True, False), (False, True)):
        hosts = (web.world.host(index) for index in range(40))
        host = next(h for h in hosts if h.honesty is Honesty.TRUTHFUL and (h.etag, h.last_modified) == wanted)
        page = web.fast_page(host)
        status, headers, body = web.get(host, page_path(page))
        assert status == 200
        changed = web.world.changed_at(host, page)
        assert headers.get("Last-Modified", "") == (formatdate(int(changed), usegmt=True) if wanted[1] else "")
        asked = {}
        if wanted[0]:
            asked["If_None_Match"] = headers["ETag"]
        if wanted[1]:
            asked["If_Modified_Since"] = headers["Last-Modified"]
        status, again, nothing = web.get(host, page_path(page), **asked)
        assert (status, nothing, again.get("ETag")) == (304, b"", headers.get("ETag"))
        web.pass_a_change(host, page)
        status, again, other = web.get(host, page_path(page), **asked)
        assert status == 200
        assert other != body
        assert again.get("ETag") != headers.get("ETag") or not wanted[0]


@pytest.mark.parametrize("lie", [Honesty.CONSTANT_ETAG, Honesty.CONSTANT_DATE])
def test_constant_validators_hide_changes(lie: Honesty) -> None:
    web = Web(hosts=200, change=STEADY)
    host = web.host(lie)
    page = web.fast_page(host)
    _, headers, body = web.get(host, page_path(page))
    name, asked = ("ETag", "If_None_Match") if lie is Honesty.CONSTANT_ETAG else ("Last-Modified", "If_Modified_Since")
    web.pass_a_change(host, page)
    assert web.get(host, page_path(page), **{asked: headers[name]})[0] == 304
    status, again, other = web.get(host, page_path(page))
    assert (status, again[name]) == (200, headers[name])
    assert other != body


@pytest.mark.parametrize("lie", [Honesty.FRESH_ETAG, Honesty.DATE_NOW, Honesty.IGNORES])
def test_some_hosts_never_say_304(lie: Honesty) -> None:
    web = Web(hosts=200, change=STEADY)
    host = web.host(lie, False)
    page = next(page for page in range(host.size) if web.world.changes_per_day(host, page) < 0.01)
    _, headers, body = web.get(host, page_path(page))
    names = {"ETag": "If_None_Match", "Last-Modified": "If_Modified_Since"}
    asked = {names[name]: value for name, value in headers.items() if name in names}
    assert asked
    web.clock.advance(90.0)
    status, again, same = web.get(host, page_path(page), **asked)
    assert (status, same) == (200, body)
    moved = [name for name in names if headers.get(name) != again.get(name)]
    assert moved == {Honesty.FRESH_ETAG: ["ETag"], Honesty.DATE_NOW: ["Last-Modified"], Honesty.IGNORES: []}[lie]


def test_max_age_is_a_promise_that_is_kept() -> None:
    web = Web(change=Change(slowest=1.0, fastest=240.0))
    ages = Counter[str]()
    for index in range(40):
        host = web.world.host(index)
        for page in range(0, host.size, 3):
            status, headers, _ = web.get(host, page_path(page))
            said = headers.get("Cache-Control")
            assert (said is not None) == (host.max_age and status == 200)
            if said:
                ages[said] += 1
                seconds = int(said.removeprefix("max-age="))
                assert not web.world.turns(host, page, NOW, NOW + seconds)
    web = Web(pages=400, change=Change(fastest=0.01, outages=0.0))
    life = web.world.life
    assert life is not None
    host = next(host for host in map(web.world.host, range(40)) if host.max_age)
    page, going = next(
        (page, moments[0])
        for page in range(400)
        if (moments := life.comings_and_goings(host, page, NOW, NOW + 300 * DAY)) and web.world.exists(host, page)
    )
    web.clock.advance(going - NOW - 100.0)
    assert web.get(host, page_path(page))[1]["Cache-Control"] == "max-age=60"
    assert set(ages) == {f"max-age={seconds}" for seconds in (3600, 600, 60, 0)}


# ---- sitemaps and feeds


def _lastmods(web: Web, host: Host) -> dict[int, str]:
    status, _, body = web.get(host, b"/sitemap.xml")
    assert status == 200
    found = re.findall(r"<loc>http://[^/]+(/[^<]*)</loc><lastmod>([^<]+)</lastmod>", body.decode())
    pages = {page_number(path.encode()): moment for path, moment in found}
    assert None not in pages
    return {page: moment for page, moment in pages.items() if page is not None}


def test_sitemaps_say_when_pages_changed_or_always_now() -> None:
    web = Web(hosts=300)
    for honesty in (Honesty.TRUTHFUL, Honesty.SITEMAP_NOW):
        hosts = (web.world.host(index) for index in range(300))
        host = next(h for h in hosts if h.honesty is honesty and h.sitemap == "xml")
        lastmods = _lastmods(web, host)
        here = {page for page in range(host.size) if web.world.status(host, page) == 200}
        assert here <= set(lastmods)
        assert any(page >= BORN for page in lastmods)
        for page, said in lastmods.items():
            moment = int(web.world.changed_at(host, page)) if honesty is Honesty.TRUTHFUL else NOW
            assert datetime.fromisoformat(said).timestamp() == moment


def test_a_feed_lists_what_changed_last() -> None:
    web = Web()
    host = web.world.host(2)
    front = web.get(host, b"/")[2]
    assert b'<link rel="alternate" type="application/atom+xml" title="News" href="/feed.atom">' in front
    assert b"feed.atom" not in web.get(host, page_path(1))[2]
    status, headers, body = web.get(host, FEED_PATH)
    assert (status, headers["Content-Type"]) == (200, "application/atom+xml")
    entries = re.findall(r'<link href="http://[^/]+(/[^"]*)"/><id>[^<]*</id><updated>([^<]+)</updated>', body.decode())
    assert len(entries) == 20
    dates = [date for _, date in entries]
    assert dates == sorted(dates, reverse=True)
    listed = {page_number(path.encode()) for path, _ in entries}
    known = [*range(host.size), *(page for hub in range(16) for page in web.world.news(host, hub))]
    here = [page for page in known if web.world.life and not web.world.life.gone(host, page, NOW)]
    assert listed == set(sorted(here, key=lambda page: -web.world.changed_at(host, page))[:20])
    assert web.get(host, FEED_PATH, If_None_Match=headers["ETag"])[0] == 304
    web.clock.advance(DAY)
    assert web.get(host, FEED_PATH, If_None_Match=headers["ETag"])[0] == 200


def test_other_profiles_have_no_feed() -> None:
    world = World(hosts=3, pages=4)
    assert world.resource(world.host(1), FEED_PATH) is None
    assert reachable(world, [world.url(0, FEED_PATH)])[world.url(0, FEED_PATH)].status == 404


# ---- coming and going


def test_new_pages_come_to_hubs_and_are_not_there_before() -> None:
    web = Web(hosts=12, change=Change(births=2.0, outages=0.0))
    host = web.world.host(5)
    births = web.world.births(host, NOW, NOW + 20 * DAY)
    assert births == sorted(births)
    rate = sum(web.world.life.birth_rate(host, hub) for hub in range(16)) if web.world.life else 0
    assert abs(len(births) - 20 * rate) < 5 * (20 * rate) ** 0.5
    for moment, page in births[:20]:
        hub = page % DIRECTORIES
        assert page_path(hub) == b"/" or page_path(hub).split(b"/")[1] == page_path(page).split(b"/")[1]
        assert not web.world.exists(host, page, moment - 0.01)
        assert web.world.exists(host, page, moment)
        assert page not in web.world.news(host, hub, moment - 0.01)
        assert web.world.news(host, hub, moment)[0] == page
        assert len(web.world.news(host, hub, moment)) == NEWS
        assert moment in web.world.changes(host, hub, NOW - 1_000 * DAY, moment)
        assert web.world.changed_at(host, page, moment) == moment
        assert web.world.changes(host, page, NOW, moment) == []
    first = births[0]
    assert web.get(host, page_path(first[1]))[0] == 404
    web.clock.advance(first[0] - NOW + 0.01)
    assert web.get(host, page_path(first[1]))[0] == 200
    assert page_path(first[1]) in HREF.findall(web.get(host, page_path(first[1] % DIRECTORIES))[2])


def test_numbers_that_no_page_ever_has_are_nothing() -> None:
    web = Web()
    host = web.world.host(1)
    plain = next(hub for hub in range(16) if not web.world.news(host, hub))
    for page in (host.size, BORN - 1, BORN + 16 * 15, BORN + 16 * 1_000_000 + plain, 10**12 - 1):
        assert web.world.resource(host, page_path(page)) is None
        assert not web.world.exists(host, page)
        assert web.get(host, page_path(page))[0] == 404


def test_some_leaves_are_there_for_a_year_and_then_gone() -> None:
    world = World(hosts=6, pages=300, profile=changing(Change(fastest=1.0, outages=0.0)))
    gone, statuses = 0, Counter[int]()
    for index in range(6):
        host = world.host(index)
        for page in range(host.size):
            moments = [NOW + day * DAY for day in range(0, 1460, 20)]
            seen = [world.status(host, page, moment) for moment in moments]
            statuses.update(set(seen))
            gone += len(set(seen)) > 1
            passages = world.life.comings_and_goings(host, page, NOW, moments[-1]) if world.life else []
            assert sum(a != b for a, b in pairwise(seen)) == len(passages)
            for moment in passages:
                assert world.exists(host, page, moment - 1) != world.exists(host, page, moment + 1)
                assert moment in world.turns(host, page, moment - 1, moment)
                went = not world.exists(host, page, moment + 1)
                year = world.changes(host, page, moment + 1, moment + 364 * DAY)
                assert world.turns(host, page, moment + 1, moment + 364 * DAY) == ([] if went else year)
    assert set(statuses) == {200, 404, 410}
    leaves = 6 * (300 - 38)
    assert 0.12 < gone / leaves < 0.19


def test_an_outage_lasts_an_hour_and_is_no_turn() -> None:
    world = World(hosts=2, pages=100, profile=changing(replace(STEADY, outages=0.5)))
    host = world.host(1)
    assert all(world.exists(host, 0, NOW + hour * 3600) for hour in range(1000))
    out = 0
    for page in range(1, 100):
        seen = [world.status(host, page, NOW + minute * 600) for minute in range(144 * 10)]
        out += seen.count(404)
        starts = [at for at in range(1, len(seen)) if seen[at] == 404 and seen[at - 1] == 200]
        assert all(seen[at : at + 5] == [404] * 5 for at in starts[:-1])
        assert set(seen) <= {200, 404}
        assert world.turns(host, page, NOW, NOW + 10 * DAY) == world.changes(host, page, NOW, NOW + 10 * DAY)
    assert out / (99 * 1440) == pytest.approx(0.5 * OUTAGE_SECONDS / DAY, rel=0.15)


# ---- truth


def test_links_are_written_as_the_world_says_they_are_at_that_time() -> None:
    web = Web(hosts=12, change=Change(births=3.0))
    for day in range(3):
        for index in range(12):
            host = web.world.host(index)
            for page in range(0, host.size, 5):
                status, _, body = web.get(host, page_path(page))
                assert status == web.world.status(host, page)
                if status == 200:
                    written = [h.decode() if h[:4] == b"http" else web.world.url(index, h) for h in HREF.findall(body)]
                    links = web.world.links(host, Resource(Section.PAGE, page, page_path(page)))
                    assert written == [web.world.url(*link) for link in links], (day, index, page)
        web.clock.advance(5 * DAY)


def test_what_is_reachable_depends_on_the_moment() -> None:
    web = Web(hosts=6, pages=120, change=Change(births=1.0, outages=0.0))
    world = web.world
    now, then = (reachable(world, [world.url(0)], at=at) for at in (NOW, NOW + 30 * DAY))
    assert reachable(world, [world.url(0)]) == now
    web.clock.advance(30 * DAY)
    assert reachable(world, [world.url(0)]) == then
    base = {world.url(h, page_path(page)) for h in range(6) for page in range(120)}
    for found, at in ((now, NOW), (then, NOW + 30 * DAY)):
        assert base <= set(found)  # only leaves are ever gone, so all are linked
        for index in range(6):
            for page in range(120):
                assert found[world.url(index, page_path(page))].status == world.status(world.host(index), page, at)
        assert {expected.kind for expected in found.values()} == {Kind.OK, Kind.MISSING}
    new = {url for url in then if url not in now}
    births = {world.url(h, page_path(p)) for h in range(6) for _, p in world.births(world.host(h), NOW, NOW + 30 * DAY)}
    assert new
    assert new <= births
    fed = reachable(world, [world.url(0)], embedded=True)
    assert {url: e for url, e in fed.items() if url.endswith("/feed.atom")} == {
        world.url(h, FEED_PATH): (Kind.NON_HTML, 200, fed[world.url(h)].depth + 1, False) for h in range(6)
    }


def test_equal_worlds_are_equal_at_equal_times() -> None:
    one, same, other = Web(seed=1), Web(seed=1), Web(seed=2)
    for page in (0, 3, 50):
        assert one.get(one.world.host(7), page_path(page)) == same.get(same.world.host(7), page_path(page))
    assert one.world.changes(one.world.host(7), 3, 0, NOW) != other.world.changes(other.world.host(7), 3, 0, NOW)


def test_pages_are_about_eight_kilobytes() -> None:
    web = Web(hosts=20, change=STEADY)
    sizes = [len(web.get(web.world.host(h), page_path(page))[2]) for h in range(20) for page in range(100)]
    assert 7_200 < mean(sizes) < 8_800
