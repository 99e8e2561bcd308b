"""A domain of 80 hosts, judged from the server's log: never faster than its domain delay, and nobody waits for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from simulated_time import LongCrawl

from gossamer.testing import FakeClock, TinyDNS, TinyWeb

HOSTS = 80
PAGES = 3
ALMOST = 1e-6  # seconds that sums of seconds since 1970 may be off


def web_of(clock: FakeClock) -> TinyWeb:
    """80 hosts of one domain, which is one of them, and three other domains. Their robots.txt is missing."""
    web = TinyWeb(clock=clock)
    for host in names():
        for page in range(PAGES):
            web.add_page(f"http://{host}/{page}", links=[f"/{page + 1}"])
    return web


def names() -> list[str]:
    big = ["big.test", "www.big.test:8080", *(f"h{number}.big.test" for number in range(HOSTS - 2))]
    return [*big, "a.test", "b.test", "www.c.test"]


def seeds() -> list[str]:
    return [f"http://{host}/0" for host in names()]


def is_big(host: str) -> bool:
    return host.partition(":")[0].endswith("big.test")


def crawl_of(home: Path, web: TinyWeb, clock: FakeClock, tables: Path | None = None, **settings: object) -> LongCrawl:
    given = {"policy__delay": "1s", "fresh__keep_fresh": False, "agent__commit_interval": "1s", **settings}
    return LongCrawl(home, web.connect, clock, tables, **given)


def begun(web: TinyWeb, big: bool = True) -> list[float]:
    return [arrival.wall for arrival in web.log.arrivals if is_big(arrival.host) == big]


def least_gap(times: list[float]) -> float:
    return min(later - earlier for earlier, later in pairwise(times))


@pytest.mark.parametrize(("given", "pause"), [("1/8", 1 / 8), ("1/20", 1 / 20), ("250ms", 0.25)])
def test_a_domain_of_80_hosts_is_visited_no_faster_than_its_delay_allows(
    tmp_path: Path, given: str, pause: float
) -> None:
    clock = FakeClock()
    start = clock.now()
    with web_of(clock) as web:
        progress = crawl_of(tmp_path / "c", web, clock, policy__domain_delay=given).run(*seeds(), seconds=600)
        times, others = begun(web), begun(web, big=False)
        requests = Counter(arrival.host for arrival in web.log.arrivals)
    assert progress.reason == "complete"
    assert progress.pages == (HOSTS + 3) * (PAGES + 1), "the last page of each host is missing"
    assert set(requests.values()) == {PAGES + 2}, "robots.txt is a visit like others"
    assert least_gap(times) >= pause - ALMOST
    assert times[-1] - times[0] <= (len(times) - 1) * pause + ALMOST, "nor slower"
    assert max(others) - start <= PAGES + 1 + ALMOST, "other domains do not wait"


@pytest.mark.parametrize("crash", [False, True])
def test_a_domain_rests_across_restarts(tmp_path: Path, crash: bool) -> None:
    clock = FakeClock()
    with web_of(clock) as web:
        crawl = crawl_of(tmp_path / "c", web, clock, policy__domain_delay="300ms")
        crawl.run(*seeds(), seconds=10.4, crash=crash)
        first = len(begun(web))
        for _ in range(20):
            crawl.run(seconds=0.2, crash=crash)
        crawl.run(seconds=600)
        times = begun(web)
        pages = Counter(arrival.url for arrival in web.log.arrivals if arrival.status == 200)
    assert first == 35
    assert len(pages) == (HOSTS + 3) * PAGES
    assert least_gap(times) >= 0.3 - ALMOST


def test_a_crawl_without_a_delay_has_none_for_domains(tmp_path: Path) -> None:
    clock = FakeClock()
    start = clock.now()
    with web_of(clock) as web:
        progress = crawl_of(tmp_path / "c", web, clock, policy__delay=0).run(*seeds(), seconds=600)
    assert progress.reason == "complete"
    assert clock.now() - start < 3, "only commits let time pass"


def test_a_host_without_a_domain_delay_neither_waits_for_its_domain_nor_makes_it_wait(tmp_path: Path) -> None:
    tables = tmp_path / "given.toml"
    tables.write_text('[hosts."h7.big.test"]\ndomain_delay = 0\n')
    clock = FakeClock()
    start = clock.now()
    with web_of(clock) as web:
        crawl_of(tmp_path / "c", web, clock, tables).run(*seeds(), seconds=600)
        times: dict[bool, list[float]] = {True: [], False: []}
        for arrival in web.log.arrivals:
            if is_big(arrival.host):
                times[arrival.host == "h7.big.test"].append(arrival.wall)
    assert times[True][-1] - start <= PAGES + 1 + ALMOST
    assert least_gap(times[False]) >= 1 / 8 - ALMOST
    assert times[False][-1] - times[False][0] <= (len(times[False]) - 1) / 8 + ALMOST


@pytest.fixture
def dns() -> Iterator[TinyDNS]:
    with TinyDNS() as found:
        yield found


@pytest.mark.parametrize("hosts_in_memory", [10_000, 4])
def test_an_address_of_40_domains_is_visited_no_faster_than_its_delay_allows(
    tmp_path: Path, dns: TinyDNS, hosts_in_memory: int
) -> None:
    """From the first request to each of its names on, also where most of the hosts are on disk in between."""
    clock = FakeClock()
    with TinyWeb(clock=clock) as web:
        hosts = [f"site{number}.test:{web.port}" for number in range(40)]
        for host in hosts:
            dns.add(host.partition(":")[0], "127.0.0.1", ttl=10**5)
            for page in range(PAGES):
                web.add_page(f"http://{host}/{page}", links=[f"/{page + 1}"])
        crawl = crawl_of(
            tmp_path / "c", web, clock, fetch__connect=[], fetch__dns=[dns.address], frontier__hosts=hosts_in_memory
        )
        progress = crawl.run(*(f"http://{host}/0" for host in hosts), seconds=600)
        times = begun(web, big=False)
        assert least_gap(times) >= 1 / 16 - ALMOST
        if hosts_in_memory > 40:
            assert times[-1] - times[0] <= (len(times) - 1) / 16 + 1, "nor much slower"
        assert progress.reason == "complete"
        assert set(web.log.requests_per_url().values()) == {1}
        assert len(times) == 40 * (PAGES + 2) == progress.requests
