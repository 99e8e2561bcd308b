"""Names that are ours, and browsers that ask for somebody else."""

from __future__ import annotations

import pytest

from gossamer.service.listening import is_loopback
from gossamer.service.origin import Names, is_foreign

NAMES = Names("127.0.0.1", ["https://search.example.org", "http://intra.example:8080/"])


OWN = (
    "localhost localhost:8000 LOCALHOST 127.0.0.1:8000 127.5.5.5 [::1]:8000 [::1] 192.0.2.1:80 "
    "search.example.org Search.Example.org:443 intra.example:8080"
).split()
OTHERS = (
    ":8000 evil.example evil.example:8000 localhost.evil.example 127.0.0.1.evil.example x@localhost 127.0.0.1:8000:80 "
    "[::1 ::1] [localhost] localhost:x search.example.org.evil.example [::1]x"
).split()


@pytest.mark.parametrize("host", OWN)
def test_own_names(host: str) -> None:
    assert NAMES.know(host)


@pytest.mark.parametrize("host", ["", *OTHERS])
def test_names_of_others(host: str) -> None:
    assert not NAMES.know(host)


def test_the_name_it_listens_on_is_its_own() -> None:
    assert Names("box.lan").know("box.lan:9000")
    assert not Names("box.lan").know("other.lan")


@pytest.mark.parametrize(
    ("method", "path", "headers", "foreign"),
    [
        ("GET", "/api/v1/search", {}, False),
        ("GET", "/api/v1/search", {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, False),
        ("GET", "/api/v1/search", {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}, False),
        ("GET", "/api/v1/search", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, True),
        ("GET", "/api/v1/search", {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, True),
        ("GET", "/", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, False),
        ("POST", "/login", {}, False),  # no browser
        ("POST", "/login", {"origin": "http://localhost:8000"}, False),
        ("POST", "/login", {"origin": "http://localhost:9000"}, True),
        ("POST", "/login", {"origin": "https://localhost:8000"}, True),
        ("POST", "/login", {"origin": "null"}, True),
        ("POST", "/login", {"origin": "http://evil.example"}, True),
        ("POST", "/login", {"sec-fetch-site": "cross-site"}, True),
        ("POST", "/login", {"sec-fetch-site": "same-site"}, True),
        ("POST", "/login", {"sec-fetch-site": "same-origin", "origin": "http://localhost:8000"}, False),
        ("DELETE", "/api/v1/blocklist", {"origin": "http://evil.example"}, True),
        ("DELETE", "/api/v1/blocklist", {"origin": "http://evil.example", "authorization": "Bearer x"}, False),
    ],
)
def test_who_asks(method: str, path: str, headers: dict[str, str], foreign: bool) -> None:
    assert is_foreign(method, path, {"host": "localhost:8000", **headers}, NAMES) == foreign


def test_behind_a_proxy_pages_come_over_https() -> None:
    headers = {"host": "search.example.org", "origin": "https://search.example.org"}
    assert not is_foreign("POST", "/login", headers, NAMES)
    assert is_foreign("POST", "/login", {**headers, "origin": "http://search.example.org"}, NAMES)


def test_loopback_is_what_the_connection_says() -> None:
    for address in ("127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"):
        assert is_loopback(address)
    for address in ("", "localhost", "10.0.0.1", "::ffff:10.0.0.1", "0.0.0.0", "fe80::1", "testclient"):
        assert not is_loopback(address)
