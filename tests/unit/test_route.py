"""What libcurl is told of a host."""

from __future__ import annotations

import math

import pytest

from gossamer.fetch import Ports, Resolver, port_of, split_host
from gossamer.fetch.guard import Guard
from gossamer.fetch.resolver import Answer
from gossamer.fetch.route import Route, Routes, Told
from gossamer.model import Fault, Page, Reason

URL = "http://a.test/"
BOTH = ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2")


def routes(ports: tuple[str, ...] = ("80", "443", "1024-65535"), *connect: str) -> Routes:
    return Routes(Resolver(connect, (), lambda: 0.0), Guard(allow_private=False), Ports(ports))


def page(address: str) -> Page:
    return Page(URL, 200, b"", b"", b"", 0.0, 0.0, address)


def told(route: Route) -> str:
    line = route.resolve(URL)[-1]
    route.over(URL)
    return line


def test_several_addresses_are_told_with_the_port_of_the_url() -> None:
    route = Route("a.test", addresses=("192.0.2.1", "2001:db8::1"))
    assert route.resolve("http://a.test/x") == ["a.test:80:192.0.2.1,[2001:db8::1]"]
    assert route.resolve("https://a.test/") == ["a.test:443:192.0.2.1,[2001:db8::1]"]
    assert Route("a.test:8080", addresses=BOTH).resolve("http://a.test:8080/")[0].startswith("a.test:8080:")


def test_libcurl_forgets_a_host_when_its_last_transfer_is_over() -> None:
    told = Told()
    a, b = (Route(f"{name}.test", addresses=BOTH[:2], told=told) for name in "ab")
    assert a.resolve(URL) == a.resolve(URL) == ["a.test:80:192.0.2.1,192.0.2.2"]
    a.over(URL)
    assert b.resolve("http://b.test/")[:-1] == []
    a.over(URL)
    assert b.resolve("http://b.test/")[:-1] == ["-a.test:80"]
    assert b.resolve("http://b.test/")[:-1] == []
    assert a.resolve(URL)[:-1] == []
    a.over(URL)
    assert a.resolve(URL)[:-1] == []  # it is needed again
    assert b.resolve("https://b.test/") == ["b.test:443:192.0.2.1,192.0.2.2"]


def test_what_answered_comes_first_until_it_fails() -> None:
    route = Route("a.test", addresses=BOTH)
    everything = told(route)
    route.learn(page("192.0.2.1"))
    assert told(route) == "a.test:80:192.0.2.1,192.0.2.2"
    route.learn(page("192.0.2.2"))
    assert told(route) == "a.test:80:192.0.2.2,192.0.2.1"
    route.learn(Fault(Reason.CLOSED, True))
    assert told(route) == "a.test:80:192.0.2.2,192.0.2.1"
    route.learn(Fault(Reason.CONNECT, True))
    assert told(route) == everything
    route.learn(page("2001:db8::2"))
    assert told(route) == "a.test:80:[2001:db8::2],192.0.2.1,192.0.2.2,[2001:db8::1]"


def test_an_answer_from_elsewhere_changes_nothing() -> None:
    route = Route("a.test", addresses=BOTH)
    everything = told(route)
    route.learn(page("192.0.2.77"))
    assert told(route) == everything


def test_one_address_is_a_target_and_forbidden_ones_are_left_out() -> None:
    found = routes()
    one = found.known("a.test", 0.0, Answer(("1.1.1.1", "127.0.0.1", "::1"), 60.0))
    assert one is not None
    assert (one.target, one.several, one.until) == ("1.1.1.1:", False, 60.0)
    two = found.known("b.test", 0.0, Answer(("1.1.1.1", "127.0.0.1", "2606:4700::1"), 60.0))
    assert two is not None
    assert (two.target, two.resolve("http://b.test/")) == ("", ["b.test:80:1.1.1.1,[2606:4700::1]"])


def test_a_route_holds_as_long_as_the_answer() -> None:
    found = routes()
    assert found.known("a.test", 0.0) is None
    route = found.known("a.test", 0.0, Answer(("1.1.1.1",), 60.0))
    assert found.known("a.test", 59.0) is route
    assert found.known("a.test", 61.0) is None
    assert found.known("a.test", 61.0, Answer((), 99.0, "does not resolve")) is None


@pytest.mark.parametrize("host", ["*", "*.test", "a,b.test", "a$.test", "a!b"])
def test_names_that_mean_something_to_libcurl_have_one_address(host: str) -> None:
    route = routes().known(host, 0.0, Answer(("1.1.1.1", "8.8.8.8"), 60.0))
    assert route is not None
    assert (route.several, route.target) == (False, "1.1.1.1:")


def test_addresses_and_rules_need_no_answer() -> None:
    found = routes(("80",), "*.there.test=192.0.2.1:22", "six.test=[::1]:8080")
    hosts = {"a.there.test": "192.0.2.1:22", "six.test": "[::1]:8080", "127.0.0.1": "", "[::1]:80": ""}
    for host, target in hosts.items():
        route = found.known(host, 0.0)
        assert route is not None
        assert (route.target, route.until, route.several) == (target, math.inf, False)
    assert [found.by_host[host].is_rule for host in ("a.there.test", "127.0.0.1")] == [True, False]


def test_a_refused_port_needs_no_answer_and_a_rule_needs_no_port() -> None:
    found = routes(("80", "443"), "*.there.test:*=192.0.2.1:22")
    refused = found.known("a.test:22", 0.0)
    assert refused is not None
    assert "port 22" in refused.refusal("http://a.test:22/")
    assert "port 22" in refused.refusal("https://a.test:22/")
    ruled = found.known("a.there.test:22", 0.0)
    assert ruled is not None
    assert not ruled.refused


def test_the_default_ports_are_told_apart() -> None:
    route = routes(("443",)).known("1.1.1.1", 0.0)
    assert route is not None
    assert "port 80" in route.refusal("http://1.1.1.1/")
    assert route.refusal("https://1.1.1.1/") == ""


def test_hosts_and_their_ports() -> None:
    assert split_host("a.test:8080") == ("a.test", 8080)
    assert split_host("a.test") == ("a.test", 0)
    assert split_host("[::1]") == ("[::1]", 0)
    assert split_host("[::1]:80") == ("[::1]", 80)
    assert [port_of(url) for url in ("http://a/", "https://a/", "http://a:443/", "https://[::1]:80/x:9/")] == [
        80,
        443,
        443,
        80,
    ]
