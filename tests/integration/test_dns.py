"""Names are resolved by real DNS servers on loopback, good and bad ones; all their addresses are used."""

from __future__ import annotations

import asyncio
import time
import timeit
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from crawling import crawl, urls
from listening import Door, black_hole, fetch, fetched, fetcher_of, has_ipv6_loopback

from gossamer.agent import read_progress, read_visits
from gossamer.config import FetchConfig
from gossamer.fetch import Resolver, name_servers, resolver
from gossamer.fetch.resolver import Answer, has_ipv6, has_route
from gossamer.model import Fault, Page, Reason, State
from gossamer.testing import FakeClock, Manner, TinyDNS, TinyWeb
from gossamer.testing.dns import AAAA, A

T = TypeVar("T")
BAD = [Manner.SILENT, Manner.SERVFAIL, Manner.REFUSED, Manner.GARBAGE, Manner.WRONG_ID]
needs_ipv6 = pytest.mark.skipif(not has_ipv6_loopback(), reason="this machine has no ::1")


@pytest.fixture
def dns() -> Iterator[TinyDNS]:
    with TinyDNS() as server:
        yield server


def ask(
    work: Callable[[Resolver], Awaitable[T]],
    *servers: TinyDNS,
    clock: Callable[[], float] = time.time,
    ipv6: bool = True,
    reaches: Callable[[str], bool] = lambda address: True,
) -> T:
    async def run() -> T:
        asked = Resolver((), [server.address for server in servers], clock, lambda: ipv6, reaches)
        try:
            return await work(asked)
        finally:
            await asked.close()

    return asyncio.run(run())


def resolve(name: str, *servers: TinyDNS, **options: bool) -> Answer:
    return ask(lambda asked: asked.resolve(name), *servers, **options)  # type: ignore[arg-type]


# -- answers ---------------------------------------------------------------------------------------------------------


def test_all_addresses_of_both_families(dns: TinyDNS) -> None:
    dns.add("a.test", "192.0.2.1", "192.0.2.2", "2001:db8::1")
    assert resolve("a.test", dns).addresses == ("192.0.2.1", "192.0.2.2", "2001:db8::1")


def test_of_many_addresses_a_few_are_kept(dns: TinyDNS) -> None:
    dns.add("a.test", *(f"192.0.2.{n}" for n in range(30)), *(f"2001:db8::{n}" for n in range(1, 9)))
    addresses = resolve("a.test", dns).addresses
    assert (len(addresses), sum(":" in address for address in addresses)) == (8, 4)


def test_without_ipv6_nobody_asks_for_it(dns: TinyDNS) -> None:
    dns.add("a.test", "192.0.2.1", "2001:db8::1")
    assert resolve("a.test", dns, ipv6=False).addresses == ("192.0.2.1",)
    assert [question.kind for question in dns.questions] == [A]


def test_addresses_without_a_route_are_left_out_unless_there_are_no_others(dns: TinyDNS) -> None:
    dns.add("a.test", "192.0.2.1", "2001:db8::1")
    dns.add("b.test", "2001:db8::1")

    async def both(asked: Resolver) -> list[tuple[str, ...]]:
        return [(await asked.resolve(name)).addresses for name in ("a.test", "b.test")]

    found = ask(both, dns, reaches=lambda address: ":" not in address)
    assert found == [("192.0.2.1",), ("2001:db8::1",)]


def test_routes_and_ipv6_are_what_the_kernel_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert has_route("127.0.0.1")
    table = tmp_path / "if_inet6"
    monkeypatch.setattr(resolver, "_INTERFACES", table)
    assert not has_ipv6()
    table.write_text("0" * 31 + "1 01 80 10 80 lo\nfe80" + "0" * 27 + "1 02 40 20 80 eth0\n")
    assert not has_ipv6()
    table.write_text("2606" + "0" * 27 + "1 02 40 00 80 eth0\n")
    assert has_ipv6()


def test_a_name_that_is_another_holds_as_long_as_the_shorter_of_both(dns: TinyDNS) -> None:
    dns.add("end.test", "192.0.2.1", "2001:db8::1", ttl=600)
    dns.alias("middle.test", "end.test", ttl=90)
    dns.alias("a.test", "middle.test", ttl=3600)
    clock = FakeClock()

    async def check(asked: Resolver) -> Answer:
        return await asked.resolve("a.test")

    assert ask(check, dns, clock=clock) == Answer(("192.0.2.1", "2001:db8::1"), clock() + 90)


def test_an_answer_too_long_for_udp_is_asked_for_by_tcp(dns: TinyDNS) -> None:
    dns.add("a.test", "192.0.2.1")
    dns.misbehave("a.test", Manner.TRUNCATED)
    assert resolve("a.test", dns, ipv6=False).addresses == ("192.0.2.1",)
    assert [question.tcp for question in dns.questions] == [False, True]


def test_local_names_and_broken_ones_are_not_asked_for(dns: TinyDNS) -> None:
    assert "127.0.0.1" in resolve("localhost", dns).addresses
    assert "127.0.0.1" in resolve("deep.in.localhost", dns).addresses
    assert resolve("a..b", dns)[::2] == ((), "does not resolve")
    assert resolve("x" * 64 + ".test", dns)[::2] == ((), "does not resolve")
    assert dns.questions == []


def test_names_that_no_server_can_have_are_neither_queued_nor_asked_for(dns: TinyDNS, tmp_path: Path) -> None:
    """Wherever they come from: links, redirects, sitemaps."""
    label = "x" * 64
    with TinyWeb() as web:
        dns.add("a.test", "127.0.0.1")
        site = f"http://a.test:{web.port}"
        links = ["http://a..b/", "http://-/1", "http://-/2", f"http://{label}.test/", "http://..a.test/"]
        web.add_page(f"{site}/", links=[*links, "/moved"])
        web.add_redirect(f"{site}/moved", "http://b-/target")
        web.add_robots(f"a.test:{web.port}", "Sitemap: http://c..d/map")
        assert crawl(tmp_path / "c", [f"{site}/"], "none=127.0.0.1:1", dns=[dns.address]).reason == "complete"
    wrong = {visit.url: visit.reason for visit in read_visits(tmp_path / "c", State.EXCLUDED)}
    assert wrong == dict.fromkeys([*links, "http://b-/target", "http://c..d/map"], "host_name")
    assert urls(tmp_path / "c", State.FETCHED) == {f"{site}/", f"{site}/moved"}
    assert {question.name for question in dns.questions} == {"a.test"}
    assert read_progress(tmp_path / "c").hosts == 1


def test_search_domains_are_for_names_without_a_dot(dns: TinyDNS, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALDOMAIN", "corp.test")  # as `search` in resolv.conf
    dns.add("wiki.corp.test", "192.0.2.1")
    dns.add("www.wiki.corp.test", "192.0.2.1")
    assert resolve("wiki", dns).addresses == ("192.0.2.1",)
    assert resolve("www.wiki", dns)[::2] == ((), "does not resolve")


# -- several servers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("manner", BAD)
@pytest.mark.parametrize("bad_first", [True, False])
def test_a_bad_server_neither_breaks_nor_slows_a_name(dns: TinyDNS, manner: Manner, bad_first: bool) -> None:
    dns.add("a.test", "192.0.2.1", "2001:db8::1")
    dns.delay = 0.1  # the bad one is heard first
    with TinyDNS() as bad:
        bad.manner = manner
        started = time.monotonic()
        answer = resolve("a.test", *((bad, dns) if bad_first else (dns, bad)))
        assert answer.addresses == ("192.0.2.1", "2001:db8::1")
        assert time.monotonic() - started < 3.0
        assert bad.asked("a.test") >= 1


def test_a_server_that_is_gone_neither_breaks_nor_slows_a_name(dns: TinyDNS) -> None:
    dns.add("a.test", "192.0.2.1")
    with TinyDNS() as gone:
        pass
    started = time.monotonic()
    assert resolve("a.test", gone, dns).addresses == ("192.0.2.1",)
    assert time.monotonic() - started < 3.0


def test_the_fastest_answer_wins(dns: TinyDNS) -> None:
    dns.add("a.test", "192.0.2.1")
    with TinyDNS() as slow:
        slow.add("a.test", "192.0.2.99")
        slow.delay = 60.0
        assert resolve("a.test", slow, dns).addresses == ("192.0.2.1",)


@pytest.mark.parametrize("other", BAD)
def test_no_such_name_is_an_answer(dns: TinyDNS, other: Manner) -> None:
    with TinyDNS() as bad:
        bad.manner = other
        started = time.monotonic()
        assert resolve("none.test", bad, dns)[::2] == ((), "does not resolve")
        assert time.monotonic() - started < 3.0


@pytest.mark.parametrize("bad", [A, AAAA])
def test_no_such_name_is_an_answer_for_both_families(dns: TinyDNS, bad: int) -> None:
    """Even if it comes after the failure of the other: three servers fail at once, the one that knows is slow."""
    dns.misbehave("none.test", Manner.SERVFAIL, bad)
    dns.misbehave("none.test", Manner.TRUNCATED, A + AAAA - bad)
    dns.delay = 0.01
    with TinyDNS() as broken:
        broken.manner = Manner.SERVFAIL
        assert resolve("none.test", broken, dns)[::2] == ((), "does not resolve")


def test_servers_of_the_system_are_followed_when_they_change(dns: TinyDNS, monkeypatch: pytest.MonkeyPatch) -> None:
    system = [dns.address]
    monkeypatch.setattr(name_servers, "_system_servers", lambda: list(system))
    dns.add("a.test", "192.0.2.1", ttl=0)
    clock = FakeClock()

    async def check(asked: Resolver) -> None:
        assert (await asked.resolve("a.test")).addresses == ("192.0.2.1",)
        with TinyDNS() as new:
            new.add("a.test", "192.0.2.2", ttl=0)
            system[:] = [new.address]
            clock.advance(31)
            assert (await asked.resolve("a.test")).addresses == ("192.0.2.2",)
            system[:] = [dns.address, new.address]
            new.delay = 0.1
            clock.advance(31)
            await asked.resolve("a.test")
            assert dns.asked("a.test") == 2
        system[:] = [dns.address]
        clock.advance(31)
        assert (await asked.resolve("a.test")).addresses == ("192.0.2.1",)

    ask(check, clock=clock)


def test_a_silent_server_is_not_flooded(dns: TinyDNS) -> None:
    names = [f"n{number}.test" for number in range(1000)]
    for name in names:
        dns.add(name, "192.0.2.1")
    with TinyDNS() as silent:
        silent.manner = Manner.SILENT

        async def all_names(asked: Resolver) -> list[Answer]:
            return await asyncio.gather(*map(asked.resolve, names))

        assert all(answer.addresses for answer in ask(all_names, silent, dns))
        assert len({question.name for question in silent.questions}) <= 130


# -- what is remembered ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ttl", "seconds"), [(0, 30), (5, 30), (300, 300), (1_000_000, 86_400)])
def test_answers_hold_for_their_time_within_limits(dns: TinyDNS, ttl: int, seconds: int) -> None:
    dns.add("a.test", "192.0.2.1", ttl=ttl)
    clock = FakeClock()

    async def check(asked: Resolver) -> None:
        answer = await asked.resolve("a.test")
        clock.advance(seconds - 1)
        assert asked.known("a.test") == answer
        assert await asked.resolve("a.test") == answer
        clock.advance(2)
        assert asked.known("a.test") is None

    ask(check, dns, clock=clock)
    assert dns.asked("a.test") == 1


def test_an_answer_that_is_over_is_asked_for_again(dns: TinyDNS) -> None:
    dns.add("a.test", "192.0.2.1", ttl=0)
    clock = FakeClock()

    async def check(asked: Resolver) -> None:
        assert (await asked.resolve("a.test")).addresses == ("192.0.2.1",)
        dns.add("a.test", "192.0.2.2", ttl=0)
        assert (await asked.resolve("a.test")).addresses == ("192.0.2.1",)
        clock.advance(31)
        assert (await asked.resolve("a.test")).addresses == ("192.0.2.2",)

    ask(check, dns, clock=clock)
    assert dns.asked("a.test") == 2


@pytest.mark.parametrize(
    ("name", "seconds", "why"),
    [
        ("none.test", 60, "does not resolve"),
        ("empty.test", 60, "has no address"),
        ("broken.test", 5, "cannot be resolved now: no DNS server has an answer"),
        ("half.test", 5, "cannot be resolved now: no DNS server has an answer"),
    ],
)
def test_that_there_is_no_address_is_remembered_for_a_while(dns: TinyDNS, name: str, seconds: int, why: str) -> None:
    dns.add("empty.test")
    dns.misbehave("broken.test", Manner.SERVFAIL)
    dns.add("half.test")
    dns.misbehave("half.test", Manner.SERVFAIL, A)
    clock = FakeClock()

    async def check(asked: Resolver) -> None:
        assert (await asked.resolve(name))[::2] == ((), why)
        before = dns.asked(name)
        clock.advance(seconds - 1)
        await asked.resolve(name)
        assert dns.asked(name) == before
        clock.advance(2)
        dns.add(name, "192.0.2.1")
        dns.misbehave(name, Manner.WELL)
        assert (await asked.resolve(name)).addresses == ("192.0.2.1",)

    ask(check, dns, clock=clock)


@pytest.mark.parametrize("kind", [A, AAAA])
def test_a_family_that_is_never_answered_does_not_hold_up_the_other(dns: TinyDNS, kind: int) -> None:
    dns.add("a.test", "192.0.2.1", "2001:db8::1", ttl=3600)
    dns.misbehave("a.test", Manner.SILENT, kind)
    clock = FakeClock()

    async def check(asked: Resolver) -> Answer:
        return await asked.resolve("a.test")

    started = time.monotonic()
    answer = ask(check, dns, clock=clock)
    assert answer.addresses == (("2001:db8::1",) if kind == A else ("192.0.2.1",))
    assert answer.until == clock() + 30  # soon asked again: half of it is missing
    assert time.monotonic() - started < 3.0


def test_the_number_of_names_remembered_is_bounded(dns: TinyDNS, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "_MOST_NAMES", 100)
    names = [f"n{number}.test" for number in range(250)]
    for name in names:
        dns.add(name, "192.0.2.1")

    async def check(asked: Resolver) -> None:
        for name in names:
            await asked.resolve(name)
        kept = [name for name in names if asked.known(name)]
        assert 80 <= len(kept) <= 100
        assert kept == names[-len(kept) :]

    ask(check, dns, ipv6=False)


# -- how much is asked -----------------------------------------------------------------------------------------------


def test_a_name_is_asked_for_once_for_all_who_wait(dns: TinyDNS) -> None:
    dns.add("a.test", "192.0.2.1")
    dns.delay = 0.05

    async def check(asked: Resolver) -> list[Answer]:
        return await asyncio.gather(*(asked.resolve("a.test") for _ in range(100)))

    assert len(set(ask(check, dns))) == 1
    assert sorted(question.kind for question in dns.questions) == [A, AAAA]


def test_thousands_of_new_names_do_not_flood_the_server(dns: TinyDNS) -> None:
    names = [f"n{number}.test" for number in range(2000)]
    for name in names:
        dns.add(name, "192.0.2.1")
    dns.delay = 0.02

    async def check(asked: Resolver) -> list[Answer]:
        return await asyncio.gather(*map(asked.resolve, names))

    assert all(answer.addresses for answer in ask(check, dns))
    assert 16 < dns.most_waiting <= 256


def test_a_question_outlives_the_channel_it_was_asked_on(dns: TinyDNS) -> None:
    dns.add("slow.test", "192.0.2.1")
    dns.add("a.test", "192.0.2.2")
    clock = FakeClock()

    async def check(asked: Resolver) -> list[tuple[str, ...]]:
        dns.delay = 0.3
        slow = asyncio.ensure_future(asked.resolve("slow.test"))
        await asyncio.wait([slow], timeout=0.1)
        assert dns.asked("slow.test")
        assert not slow.done()
        clock.advance(31)
        return [(await asked.resolve("a.test")).addresses, (await slow).addresses]

    assert ask(check, dns, clock=clock, ipv6=False) == [("192.0.2.2",), ("192.0.2.1",)]


def test_what_is_known_is_found_within_two_microseconds(dns: TinyDNS) -> None:
    names = [f"n{number}.example.test" for number in range(100)]
    for name in names:
        dns.add(name, "192.0.2.1")

    async def check(asked: Resolver) -> float:
        await asyncio.gather(*map(asked.resolve, names))
        known = asked.known
        return min(timeit.repeat(lambda: [known(name) for name in names], number=20, repeat=50)) / (20 * len(names))

    assert ask(check, dns) < 2e-6


# -- connecting ------------------------------------------------------------------------------------------------------


def page_from(dns: TinyDNS, port: int) -> tuple[Page, float]:
    config = FetchConfig(allow_private=True, dns=(dns.address,))
    started = time.monotonic()
    (outcome,) = fetch(config, f"http://a.test:{port}/")
    assert isinstance(outcome, Page), outcome
    return outcome, time.monotonic() - started


def test_the_second_address_is_used_when_the_first_refuses(dns: TinyDNS) -> None:
    dns.add("a.test", "127.0.0.5", "127.0.0.6", "127.0.0.1")
    with Door("127.0.0.1") as door:
        page, seconds = page_from(dns, door.port)
    assert (page.address, door.knocks) == ("127.0.0.1", ["127.0.0.1"])
    assert seconds < 2.0


@needs_ipv6
@pytest.mark.parametrize(("live", "dead"), [("127.0.0.1", "::1"), ("::1", "127.0.0.1"), ("127.0.0.1", "127.0.0.5")])
def test_an_address_that_does_not_answer_costs_little(dns: TinyDNS, live: str, dead: str) -> None:
    dns.add("a.test", dead, live)
    with Door(live) as door, black_hole(dead, door.port):
        page, seconds = page_from(dns, door.port)
    assert page.address == live
    assert seconds < 2.0


@needs_ipv6
@pytest.mark.parametrize(("live", "dead"), [("127.0.0.1", "::1"), ("::1", "127.0.0.1")])
def test_an_address_that_refuses_costs_nothing(dns: TinyDNS, live: str, dead: str) -> None:
    dns.add("a.test", dead, live)
    with Door(live) as door:
        page, seconds = page_from(dns, door.port)
    assert page.address == live
    assert seconds < 2.0


def test_the_address_that_answered_is_kept_and_others_are_tried_when_it_is_gone(dns: TinyDNS) -> None:
    both = ["127.0.0.1", "127.0.0.2"]
    dns.add("a.test", *both)

    async def run() -> list[str]:
        fetcher = fetcher_of(FetchConfig(allow_private=True, dns=(dns.address,)))
        url = f"http://a.test:{port}/"
        used = []
        for open_now in (["127.0.0.2"], both, ["127.0.0.1"], both):
            with Door(*open_now, port=port):
                (outcome,) = await fetched(fetcher, url)
                used.append(outcome.address if isinstance(outcome, Page) else outcome.reason)
        await fetcher.close()
        return used

    with Door("127.0.0.1") as door:
        port = door.port
    assert asyncio.run(run()) == ["127.0.0.2", "127.0.0.2", "127.0.0.1", "127.0.0.1"]


def test_a_name_that_moves_is_found_at_its_new_place_when_its_time_is_over(dns: TinyDNS) -> None:
    clock = FakeClock()
    places = [["127.0.0.1"], ["127.0.0.2", "127.0.0.3"], ["127.0.0.1", "127.0.0.3"], ["127.0.0.2"]]

    async def run() -> list[str]:
        fetcher = fetcher_of(FetchConfig(allow_private=True, dns=(dns.address,)), clock=clock)
        used = []
        for place in places:
            dns.add("a.test", *place, ttl=0)
            for _ in range(2):
                (outcome,) = await fetched(fetcher, f"http://a.test:{door.port}/")
                assert isinstance(outcome, Page), outcome
                used.append(outcome.address)
            clock.advance(31)
        await fetcher.close()
        return used

    with Door("127.0.0.1", "127.0.0.2", "127.0.0.3") as door:
        used = asyncio.run(run())
    assert [address in place for address, place in zip(used[::2], places, strict=True)] == [True] * 4
    assert used[::2] == used[1::2]


@pytest.mark.parametrize("name", ["none.test", "broken.test"])
def test_a_name_without_address_is_a_fault_to_be_tried_again(dns: TinyDNS, name: str) -> None:
    dns.misbehave("broken.test", Manner.SERVFAIL)
    (outcome,) = fetch(FetchConfig(dns=(dns.address,)), f"http://{name}/")
    assert isinstance(outcome, Fault)
    assert (outcome.reason, outcome.retry, outcome.detail.split()[0]) == (Reason.DNS, True, name)
