"""Nothing connects to a place that is not allowed, however its URL is written and whatever leads there.

Each way ends at a listener on loopback that must not see a connection; and the same ways with an open guard reach it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from html import escape
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl
from listening import Door, fetch, fetched, fetcher_of, has_ipv6_loopback, html, redirect

from gossamer.agent import read_visits
from gossamer.config import FetchConfig
from gossamer.fetch import guard
from gossamer.fetch.guard import Guard
from gossamer.fetch.resolver import has_ipv6
from gossamer.model import Fault, Page, Reason, State, VisitRecord
from gossamer.model.url import host_of, normalize
from gossamer.testing import FakeClock, TinyDNS

PUBLIC = "127.0.0.9"  # taken for a public address in these tests
GONE = "127.0.0.8"  # the same, and nobody there
NOBODY = "nobody.invalid=127.0.0.1:9"
IPV6 = has_ipv6_loopback()
FORBIDDEN = ["127.0.0.1", "127.1.2.3", *(["::1"] if IPV6 else [])]

# {p} is the port of the listener. What is written here reaches it when the guard is open.
LOOPBACK = """
    http://127.0.0.1:{p}/
    http://127.1:{p}/
    http://127.0.1:{p}/
    http://2130706433:{p}/
    http://0x7f000001:{p}/
    http://0X7F000001:{p}/
    http://0x7f.0.0.1:{p}/
    http://0x7f.1:{p}/
    http://0177.0.0.1:{p}/
    http://017700000001:{p}/
    http://0177.0x0.0.01:{p}/
    http://127.000.000.001:{p}/
    http://000000000000177.0.0.1:{p}/
    http://127.0.0.1.:{p}/
    http://127.1.2.3:{p}/
    http://127.66051:{p}/
    http://2130772483:{p}/
    http://0x7f010203:{p}/
    http://%31%32%37.0.0.1:{p}/
    http://127%2E0%2E0%2E1:{p}/
    http://%30%78%37%66%30%30%30%30%30%31:{p}/
    http://１２７.０.０.１:{p}/
    http://127.0.0.１:{p}/
    http://①②⑦.⓪.⓪.①:{p}/
    http://127。0。0。1:{p}/
    http://127．0．0．1:{p}/
    http://0ｘ7ｆ.1:{p}/
    http://127.0.0\u00ad.1:{p}/
    http://12\u200b7.0.0.1:{p}/
    http://example.org@127.0.0.1:{p}/
    http://example.org:80@127.0.0.1:{p}/
    http://example.org%2F@127.0.0.1:{p}/
    http://a@b@127.0.0.1:{p}/
    http://127.0.0.1:{p}\\@example.org/
    http://127.0.0.1:{p}#@example.org/
    http://127.0.0.1:{p}?@example.org/
    http:\\\\127.0.0.1:{p}\\
    HTTP://127.0.0.1:0{p}/
    http://0.0.0.0:{p}/
    http://0:{p}/
    http://0x0:{p}/
    http://00.00.00.00:{p}/
    http://localhost:{p}/
    http://LOCALHOST:{p}/
    http://localhost.:{p}/
    http://%6cocalhost:{p}/
    http://ⓛocalhost:{p}/
    http://ｌｏｃａｌｈｏｓｔ:{p}/
    http://local\u00adhost:{p}/
    http://any.localhost:{p}/
    http://loopback.test:{p}/
    http://other.test:{p}/
    http://unspecified.test:{p}/
    http://twice.test:{p}/
    http://alias.test:{p}/
"""
LOOPBACK_V6 = """
    http://[::ffff:127.0.0.1]:{p}/
    http://[::FFFF:7F00:0001]:{p}/
    http://[0:0:0:0:0:ffff:127.0.0.1]:{p}/
    http://[0000:0000:0000:0000:0000:ffff:7f00:0001]:{p}/
    http://[::ffff:127.1.2.3]:{p}/
    http://[::1]:{p}/
    http://[0:0:0:0:0:0:0:1]:{p}/
    http://[0000:0000:0000:0000:0000:0000:0000:0001]:{p}/
    http://[::0.0.0.1]:{p}/
    http://[0::01]:{p}/
    http://a:b@[::1]:{p}/
    http://[::]:{p}/
    http://[0:0::0:0]:{p}/
"""
NAMES_V6 = """
    http://six.test:{p}/
    http://mapped.test:{p}/
    http://both.test:{p}/
"""
# In a page of an http server these two are paths.
SEEDS = """
    http:/127.0.0.1:{p}/
    http:127.0.0.1:{p}/
"""
# From here no way leads to the listener; and at most of these places something may be that must not be asked even once.
ELSEWHERE = """
    http://[::127.0.0.1]:{p}/
    http://[::7f00:1]:{p}/
    http://[::ffff:0:127.0.0.1]:{p}/
    http://[64:ff9b::127.0.0.1]:{p}/
    http://[64:ff9b::7f00:1]:{p}/
    http://[64:ff9b:1::7f00:1]:{p}/
    http://[64:ff9b:1:7f00:0:100::]:{p}/
    http://[2002:7f00:1::]:{p}/
    http://[2002:7f00:1::7f00:1]:{p}/
    http://[2002:a00:1::1]:{p}/
    http://[2001:0:7f00:1::80ff:fffe]:{p}/
    http://[2001:0:101:101::80ff:fffe]:{p}/
    http://[fe80::5efe:127.0.0.1]:{p}/
    http://[2606:4700::5efe:127.0.0.1]:{p}/
    http://[2606:4700::200:5efe:10.0.0.1]:{p}/
    http://[fe80::1]:{p}/
    http://[fec0::1]:{p}/
    http://[fc00::1]:{p}/
    http://[fd00:ec2::254]/
    http://[fd20:ce::254]/
    http://[fd00:42::42]/
    http://[2001:db8::1]:{p}/
    http://[3fff::1]:{p}/
    http://[2001:2::1]:{p}/
    http://[100::1]:{p}/
    http://[ff02::1]:{p}/
    http://[4000::1]:{p}/
    http://169.254.169.254/latest/meta-data/
    http://2852039166/latest/meta-data/
    http://0xa9fea9fe/
    http://0251.0376.0251.0376/
    http://169.254.43518/
    http://[::ffff:169.254.169.254]/
    http://[64:ff9b::a9fe:a9fe]/
    http://169.254.170.2/
    http://100.100.100.200/
    http://192.0.0.192/
    http://168.63.129.16/
    http://10.0.0.1:{p}/
    http://172.16.0.1:{p}/
    http://172.31.255.254:{p}/
    http://192.168.0.1:{p}/
    http://100.64.0.1:{p}/
    http://192.0.0.1:{p}/
    http://192.0.2.1:{p}/
    http://192.88.99.1:{p}/
    http://198.18.0.1:{p}/
    http://198.51.100.1:{p}/
    http://203.0.113.1:{p}/
    http://224.0.0.1:{p}/
    http://240.0.0.1:{p}/
    http://255.255.255.255:{p}/
    http://metadata.test/
    http://private.test:{p}/
"""
ELSEWHERE_V6 = """
    http://link.test:{p}/
    http://nat64.test:{p}/
    http://compatible.test:{p}/
"""
NO_URL = ["http://[::1%25lo]:{p}/", "http://[fe80::1%25eth0]:{p}/", "http://127.0.0.1.1:{p}/", "http://256.0.0.1:{p}/"]


@pytest.fixture
def dns() -> Iterator[TinyDNS]:
    with TinyDNS() as server:
        for name, addresses in {
            "loopback": ["127.0.0.1"],
            "other": ["127.1.2.3"],
            "unspecified": ["0.0.0.0"],
            "twice": ["127.0.0.1", "127.1.2.3"],
            "six": ["::1"],
            "mapped": ["::ffff:127.0.0.1"],
            "both": ["127.0.0.1", "::1"],
            "metadata": ["169.254.169.254"],
            "private": ["10.0.0.1", "192.168.0.1"],
            "link": ["fe80::1"],
            "nat64": ["64:ff9b::7f00:1"],
            "compatible": ["::127.0.0.1"],
        }.items():
            server.add(f"{name}.test", *addresses, ttl=0)
        server.alias("alias.test", "loopback.test", ttl=0)
        yield server


@pytest.fixture
def door() -> Iterator[Door]:
    with Door(*FORBIDDEN) as listener:
        yield listener


@pytest.fixture
def one_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard as it is, but for two addresses of loopback."""
    loopback = [IPv4Network("127.0.0.0/8")]
    for address in (PUBLIC, GONE):
        loopback = [
            part
            for network in loopback
            for part in (
                network.address_exclude(IPv4Network(address)) if network.overlaps(IPv4Network(address)) else [network]
            )
        ]
    others = [network for network in guard._PRIVATE if network != IPv4Network("127.0.0.0/8")]
    monkeypatch.setattr(guard, "_PRIVATE", (*loopback, *others))


def urls(port: int, *tables: str) -> list[str]:
    return [line.strip().format(p=port) for table in tables for line in table.split("\n") if line.strip()]


def reachable(port: int) -> list[str]:
    return urls(port, LOOPBACK, LOOPBACK_V6 if IPV6 else "", NAMES_V6 if IPV6 and has_ipv6() else "")


def forbidden(port: int) -> list[str]:
    return urls(port, LOOPBACK, LOOPBACK_V6, ELSEWHERE, NAMES_V6 + ELSEWHERE_V6 if has_ipv6() else "")


def normalized(written: list[str]) -> set[str]:
    found = {normalize(url) for url in written}
    assert None not in found
    return {url for url in found if url}


def visits(home: Path) -> dict[str, VisitRecord]:
    return {visit.url: visit for visit in read_visits(home, None)}


def test_the_table_is_long_enough_and_all_of_it_are_urls(door: Door) -> None:
    assert len(urls(door.port, LOOPBACK, LOOPBACK_V6, NAMES_V6, ELSEWHERE, ELSEWHERE_V6)) > 120
    assert len(normalized(urls(door.port, LOOPBACK, LOOPBACK_V6, NAMES_V6, ELSEWHERE, ELSEWHERE_V6))) > 60
    assert [normalize(url.format(p=door.port)) for url in NO_URL] == [None] * len(NO_URL)


def test_seeds(tmp_path: Path, dns: TinyDNS, door: Door) -> None:
    given = forbidden(door.port) + urls(door.port, SEEDS)
    crawl(tmp_path, given, NOBODY, allow_private=False, dns=[dns.address])
    found = visits(tmp_path)
    assert set(found) == normalized(given)
    assert {(visit.state, visit.reason) for visit in found.values()} == {(State.EXCLUDED, "address")}
    assert door.knocks == []


def test_the_same_seeds_arrive_where_the_guard_is_open(
    tmp_path: Path, dns: TinyDNS, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Guard, "allows", lambda self, *_: True)
    given = reachable(door.port) + urls(door.port, SEEDS)
    crawl(tmp_path, given, NOBODY, allow_private=False, dns=[dns.address])
    found = visits(tmp_path)
    assert set(found) == normalized(given)
    assert {url: visit.reason for url, visit in found.items() if visit.state is not State.FETCHED} == {}
    assert len(door.knocks) >= len(found)


def test_links_and_redirects(tmp_path: Path, dns: TinyDNS, door: Door, one_is_public: None) -> None:
    given = forbidden(door.port)
    with Door(PUBLIC, answer=lambda host, path: front(given, path)) as public:
        crawl(tmp_path, [f"http://{PUBLIC}:{public.port}/"], NOBODY, allow_private=False, dns=[dns.address])
        found = visits(tmp_path)
        pages = {url for url in found if PUBLIC in url}
        assert len(pages) == 2 + len(given)
        assert all(found[url].state is State.FETCHED for url in pages)
    others = {url: visit for url, visit in found.items() if url not in pages}
    assert set(others) == normalized(given)
    assert {(visit.state, visit.reason) for visit in others.values()} == {(State.EXCLUDED, "address")}
    assert door.knocks == []


def test_the_same_links_and_redirects_arrive_where_the_guard_is_open(
    tmp_path: Path, dns: TinyDNS, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Guard, "allows", lambda self, *_: True)
    given = reachable(door.port)
    with Door(PUBLIC, answer=lambda host, path: front(given, path, links=False)) as public:
        crawl(tmp_path, [f"http://{PUBLIC}:{public.port}/"], NOBODY, allow_private=False, dns=[dns.address])
    found = visits(tmp_path)
    assert {url for url, visit in found.items() if visit.state is State.FETCHED} >= normalized(given)
    assert len(door.knocks) >= len(normalized(given))


def front(targets: list[str], path: str, links: bool = True) -> bytes:
    """A page that leads to all targets, by link or by redirect."""
    if path == "/robots.txt":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    if path == "/":
        ways = [f"/to/{number}" for number in range(len(targets))] + (["/links"] if links else [])
        return html("".join(f'<a href="{way}">x</a>' for way in ways))
    if path == "/links":
        return html("".join(f'<a href="{escape(target)}">x</a>' for target in targets))
    return redirect(_ascii(targets[int(path.rpartition("/")[2])]))


def _ascii(url: str) -> str:
    """Headers are bytes: what is not ASCII is percent-encoded, which URL parsers take off host names."""
    return "".join(char if char.isascii() else "".join(f"%{byte:02X}" for byte in char.encode()) for char in url)


@pytest.mark.parametrize("is_open", [False, True])
def test_redirects_of_robots_txt(
    tmp_path: Path, dns: TinyDNS, door: Door, one_is_public: None, monkeypatch: pytest.MonkeyPatch, is_open: bool
) -> None:
    targets = reachable(door.port) if is_open else forbidden(door.port)
    for number in range(len(targets)):
        dns.add(f"h{number}.test", PUBLIC)
    if is_open:
        monkeypatch.setattr(Guard, "allows", lambda self, *_: True)

    def answer(host: str, path: str) -> bytes:
        if path == "/robots.txt":
            return redirect(_ascii(targets[int(host.partition(".")[0][1:])]))
        return html("")

    with Door(PUBLIC, answer=answer) as public:
        seeds = [f"http://h{number}.test:{public.port}/" for number in range(len(targets))]
        crawl(tmp_path, seeds, NOBODY, allow_private=False, dns=[dns.address])
        assert public.paths.count("/robots.txt") == len(targets)
    assert len(door.knocks) == (len(targets) if is_open else 0)


@pytest.mark.parametrize("second", ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", "0.0.0.0"])
def test_a_name_that_changes_its_mind(dns: TinyDNS, one_is_public: None, second: str) -> None:
    if ":" in second and not IPV6:
        pytest.skip("this machine has no ::1")
    clock = FakeClock()

    async def run() -> list[Page | Fault]:
        fetcher = fetcher_of(FetchConfig(dns=(dns.address,)), clock=clock)
        url = f"http://rebind.test:{door.port}/"
        dns.add("rebind.test", PUBLIC, ttl=0)
        outcomes = await fetched(fetcher, url)
        dns.add("rebind.test", second, ttl=0)
        outcomes += await fetched(fetcher, url)
        clock.advance(31)
        outcomes += await fetched(fetcher, url)
        await fetcher.close()
        return outcomes

    with Door(PUBLIC, *FORBIDDEN) as door:
        first, again, last = asyncio.run(run())
        assert isinstance(first, Page)
        assert isinstance(again, Page)  # the answer holds for a while, though it says not to keep it
        assert isinstance(last, Fault)
        assert (last.reason, last.retry) == (Reason.ADDRESS, False)
        assert door.knocks == [PUBLIC, PUBLIC]


def test_of_public_and_private_addresses_only_the_public_are_used(dns: TinyDNS, one_is_public: None) -> None:
    dns.add("some.test", "127.0.0.1", PUBLIC, "127.1.2.3", "::1")
    dns.add("down.test", "127.0.0.1", GONE, "::1")
    with Door(PUBLIC, *FORBIDDEN) as door:
        config = FetchConfig(dns=(dns.address,))
        some, down = fetch(config, f"http://some.test:{door.port}/", f"http://down.test:{door.port}/")
        assert isinstance(some, Page)
        assert some.address == PUBLIC
        assert isinstance(down, Fault)
        assert (down.reason, down.retry) == (Reason.CONNECT, True)
        assert door.knocks == [PUBLIC]
        reached = fetch(FetchConfig(dns=(dns.address,), allow_private=True), f"http://down.test:{door.port}/")
        assert isinstance(reached[0], Page)
        assert len(door.knocks) == 2


def test_networks_narrow_what_private_crawls_may_reach(tmp_path: Path, dns: TinyDNS, door: Door) -> None:
    with Door(PUBLIC, answer=lambda host, path: front(reachable(door.port), path)) as inside:
        seed = f"http://{PUBLIC}:{inside.port}/"
        crawl(tmp_path, [seed], NOBODY, networks=f"{PUBLIC}/32", dns=[dns.address])
    found = visits(tmp_path)
    assert found[seed].state is State.FETCHED
    assert {visit.reason for url, visit in found.items() if PUBLIC not in url} == {"address"}
    assert door.knocks == []


def test_names_or_addresses(tmp_path: Path, dns: TinyDNS) -> None:
    """All names of .th, wherever they are, and all servers of a network, whatever their names are."""
    asked: list[tuple[str, str]] = []
    hosts = ["here.th", "there.ac.th", "in.com", "out.com", "th.com", "127.0.0.3", "127.0.0.4"]
    for name, address in {
        "here.th": "127.0.0.2", "there.ac.th": "127.0.0.4", "in.com": "127.0.0.3", "out.com": "127.0.0.4",
        "th.com": "127.0.0.4", "later.com": "127.0.0.3",
    }.items():  # fmt: skip
        dns.add(name, address)

    def answer(host: str, path: str) -> bytes:
        asked.append((host.partition(":")[0], path))
        links = {"here.th": hosts, "in.com": ["later.com", "out.com"], "there.ac.th": ["out.com", "here.th"]}
        leads = links.get(asked[-1][0], []) if path == "/" else []
        return html("".join(f'<a href="http://{name}:{door.port}/p">x</a><a href="http://{name}:{door.port}/">x</a>'
                            for name in leads))  # fmt: skip

    with Door("127.0.0.2", "127.0.0.3", "127.0.0.4", answer=answer) as door:
        seeds = [f"http://here.th:{door.port}/"]
        crawl(tmp_path / "or", seeds, NOBODY, scope="domain", domains=[".th"], networks=["127.0.0.3/32"],
              dns=[dns.address])  # fmt: skip
        pages = {host for host, path in asked if path != "/robots.txt"}
        assert pages == {"here.th", "there.ac.th", "in.com", "later.com", "127.0.0.3"}
        assert {host for host, _ in asked} == pages
        assert dns.asked("out.com") == dns.asked("th.com") == 1
        left = {url: visit for url, visit in visits(tmp_path / "or").items() if visit.state is not State.FETCHED}
        assert {(host_of(url).partition(":")[0], visit.reason) for url, visit in left.items()} == {
            ("out.com", "address"), ("th.com", "address"), ("127.0.0.4", "address"),
        }  # fmt: skip
        asked.clear()
        crawl(tmp_path / "names", seeds, NOBODY, domains=[".th"], dns=[dns.address])
        assert {host for host, _ in asked} == {"here.th", "there.ac.th"}
        assert {visit.reason for visit in visits(tmp_path / "names").values() if visit.state is State.EXCLUDED} == {
            "scope"
        }
        asked.clear()
        crawl(tmp_path / "closed", seeds, NOBODY, domains=[".th"], allow_private=False, dns=[dns.address])
        assert asked == []


# -- ports -----------------------------------------------------------------------------------------------------------


def test_a_port_that_is_not_allowed_is_not_connected_to(tmp_path: Path, door: Door) -> None:
    links = [f"http://127.0.0.1:{door.port}/", "http://127.0.0.1:22/", "https://127.0.0.1/"]
    answer = html("".join(f'<a href="{link}">x</a>' for link in links))
    with Door("127.0.0.1", answer=lambda host, path: answer) as way:
        seed = f"http://127.0.0.1:{way.port}/"
        crawl(tmp_path, [seed], NOBODY, ports=[str(way.port)])
        assert sorted(way.paths) == ["/", "/robots.txt"]
    found = visits(tmp_path)
    assert found[seed].state is State.FETCHED
    assert [(found[link].state, found[link].reason) for link in links] == [(State.EXCLUDED, "address")] * 3
    assert door.knocks == []


def test_the_fault_names_the_port_and_the_option(door: Door) -> None:
    config = FetchConfig(allow_private=True, ports=("80",))
    (outcome,) = fetch(config, f"http://127.0.0.1:{door.port}/")
    assert isinstance(outcome, Fault)
    assert (outcome.reason, outcome.retry) == (Reason.ADDRESS, False)
    assert f"port {door.port} " in outcome.detail
    assert "fetch.ports" in outcome.detail
    assert door.knocks == []
    named = FetchConfig(allow_private=True, ports=(str(door.port),))
    assert isinstance(fetch(named, f"http://127.0.0.1:{door.port}/")[0], Page)


def test_the_port_of_a_connect_rule_is_the_users_choice(door: Door) -> None:
    config = FetchConfig(allow_private=True, ports=("80",), connect=(f"*=127.0.0.1:{door.port}",))
    assert isinstance(fetch(config, "http://a.test:22/")[0], Page)


def test_a_seed_on_a_refused_port_is_told_so(tmp_path: Path, door: Door) -> None:
    notices: list[str] = []
    seeds = ["http://127.0.0.1:6379/", f"http://127.0.0.1:{door.port}/"]
    crawl(tmp_path, seeds, NOBODY, notices)
    (notice,) = [notice for notice in notices if "6379" in notice]
    assert "port 6379 is used by services that are no web servers; name it in fetch.ports to allow it" in notice
    assert set(visits(tmp_path)) == {seeds[1]}


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"allow_private": False}, "give --allow-private"),
        ({"allow_private": True, "networks": ["10.0.0.0/8"]}, "name its network with --networks"),
    ],
)
def test_a_seed_that_will_not_be_visited_is_named(tmp_path: Path, options: dict[str, Any], remedy: str) -> None:
    notices: list[str] = []
    summary = crawl(tmp_path / "c", ["http://127.0.0.1:8099/"], "elsewhere.test=127.0.0.1:1", notices, **options)
    assert (summary.pages, summary.excluded) == (0, 1)
    (notice,) = [text for text in notices if "127.0.0.1" in text]
    assert "will not be visited" in notice
    assert remedy in notice
