from __future__ import annotations

import pytest

from gossamer.fetch.cookies import Jar
from gossamer.testing import FakeClock

PAGE = "https://www.shop.example.co.uk/cart/list?q=1"


def jar(*lines: str, url: str = PAGE, clock: FakeClock | None = None) -> Jar:
    made = Jar(clock or FakeClock())
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + "".join(f"Set-Cookie: {line}\r\n" for line in lines)
    made.take(url, head.encode("latin-1") + b"\r\n")
    return made


@pytest.mark.parametrize(
    ("line", "host", "sent"),
    [
        ("a=1", "www.shop.example.co.uk", True),
        ("a=1", "shop.example.co.uk", False),
        ("a=1", "x.www.shop.example.co.uk", False),
        ("a=1", "www.shop.example.co.uk:8443", False),
        ("a=1; Domain=shop.example.co.uk", "www.shop.example.co.uk", True),
        ("a=1; domain=.Shop.Example.CO.uk", "x.shop.example.co.uk", True),
        ("a=1; Domain=example.co.uk", "example.co.uk", True),
        ("a=1; Domain=example.co.uk", "other.example.co.uk:8443", True),
        ("a=1; Domain=example.co.uk", "badexample.co.uk", False),
        ("a=1; Domain=co.uk", "www.shop.example.co.uk", False),
        ("a=1; Domain=co.uk", "victim.co.uk", False),
        ("a=1; Domain=uk", "victim.co.uk", False),
        ("a=1; Domain=victim.co.uk", "victim.co.uk", False),
        ("a=1; Domain=x.www.shop.example.co.uk", "x.www.shop.example.co.uk", False),
        ("a=1; Domain=", "www.shop.example.co.uk", True),
    ],
)
def test_who_gets_a_cookie_back(line: str, host: str, sent: bool) -> None:
    assert jar(line + "; Path=/").header(f"https://{host}/") == ("a=1" if sent else "")


def test_owners_below_a_shared_suffix_do_not_share() -> None:
    made = jar("a=1; Domain=github.io", "b=2; Domain=me.github.io; Path=/", url="https://me.github.io/")
    assert made.header("https://me.github.io/") == "b=2"
    assert made.header("https://you.github.io/") == ""
    assert made.header("https://github.io/") == ""


def test_an_address_keeps_its_cookies_to_itself() -> None:
    made = jar("a=1; Domain=2.3.4", "b=2; Path=/", url="http://1.2.3.4/")
    assert made.header("http://1.2.3.4/") == "b=2"
    assert made.header("http://9.2.3.4/") == ""


@pytest.mark.parametrize(
    ("line", "path", "sent"),
    [
        ("a=1", "/cart/", True),
        ("a=1", "/cart", True),
        ("a=1", "/cart/deep/er", True),
        ("a=1", "/", False),
        ("a=1", "/cartoon", False),
        ("a=1; Path=/", "/anything", True),
        ("a=1; Path=/x/", "/x/y", True),
        ("a=1; Path=/x/", "/x", False),
        ("a=1; Path=nonsense", "/cart/", True),
    ],
)
def test_paths(line: str, path: str, sent: bool) -> None:
    assert jar(line).header(f"https://www.shop.example.co.uk{path}?q=/cart/") == ("a=1" if sent else "")


def test_secure_cookies_go_and_come_over_https_only() -> None:
    made = jar("a=1; Secure; Path=/", "b=2; Path=/")
    assert made.header(PAGE) == "a=1; b=2"
    assert made.header(PAGE.replace("https", "http")) == "b=2"
    assert jar("a=1; Secure", url="http://a.example/").header("https://a.example/") == ""


@pytest.mark.parametrize(
    "line",
    ["__Secure-a=1", "__Host-a=1; Secure", "__Host-a=1; Secure; Path=/; Domain=example.co.uk", "__host-a=1; Path=/"],
)
def test_names_that_promise_more_than_they_keep(line: str) -> None:
    assert len(jar(line)) == 0
    assert len(jar("__Host-a=1; Secure; Path=/", "__Secure-b=2; Secure")) == 2


@pytest.mark.parametrize(
    "line",
    [
        "",
        ";",
        "=",
        "a=" + "x" * 5000,
        "a=b\x01c",
        "a=\xe9",
        "a=1; Max-Age=0",
        "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    ],
)
def test_what_is_not_taken(line: str) -> None:
    assert len(jar(line)) == 0


def test_they_end_when_they_say() -> None:
    clock = FakeClock(1_700_000_000.0)
    made = jar(
        "a=1; Max-Age=10", "b=2; Expires=Tue, 14 Nov 2023 22:13:50 GMT", "c=3; Expires=whenever", "d=4; Max-Age=1e3",
        clock=clock,
    )  # fmt: skip
    assert made.header(PAGE) == "a=1; b=2; c=3; d=4"
    clock.advance(11)
    assert made.header(PAGE) == "b=2; c=3; d=4"
    clock.advance(30)
    assert made.header(PAGE) == "c=3; d=4"


def test_set_again_changes_and_unset_forgets() -> None:
    made = jar("a=1", "b=2")
    made.take(PAGE, b"HTTP/1.1 200 OK\r\nset-cookie: a=3\r\nSET-COOKIE:b=; max-age=-1\r\n\r\n")
    assert made.header(PAGE) == "a=3"


def test_longer_paths_come_first() -> None:
    assert jar("a=1; Path=/", "a=2; Path=/cart").header(PAGE) == "a=2; a=1"


def test_a_thousand_cookies_are_bounded() -> None:
    made = Jar(FakeClock())
    for number in range(1000):
        made.take(
            f"https://h{number % 7}.example.org/",
            b"HTTP/1.1 200 OK\r\nSet-Cookie: n%d=%b; Path=/; Domain=example.org\r\n\r\n" % (number, b"x" * 1000),
        )
    assert len(made) == 50
    header = made.header("https://www.example.org/")
    assert 1000 < len(header) <= 8192
    assert len(jar(*(f"n{number}=1" for number in range(1000)))) == 50
    for number in range(10_100):
        made.take(f"https://example{number}.org/", b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n")
    assert len(made) <= 10_050
