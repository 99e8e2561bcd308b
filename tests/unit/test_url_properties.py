"""What must hold for every string, and that the fast lanes give what the whole parser gives."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.model.url import (
    MAX_LENGTH,
    PLAIN_PATH,
    _crawl_form,
    host_of,
    normalize,
    resolve,
    seed_url,
    split,
    why_not,
)

# Pieces in which every rule has something to do, put together without regard to grammar.
_PIECES = st.one_of(
    st.sampled_from(["http://", "https://", "HTTP:", "ftp:", "//", "/", "\\", "?", "&", "=", "#", ";", ":", "@"]),
    st.sampled_from([".", "..", "./", "../", "%2e", "%2E%2e", "%%32e", "%", "%7e", "%c3%bc", "%00", "index.html"]),
    st.sampled_from(["example.org", "EXAMPLE.org.", "xn--bcher-kva", "xn--", "127.0.0.1", "0x7f.1", "1.", "[::1]"]),
    st.sampled_from(["80", "443", "8080", "65536", "a", "b", "A", "_", "~", "(", ")", "\t", "\n", " ", "\x00"]),
    st.sampled_from([";jsessionid=1", ";jsess", "ionid=2", "/(S(x))/", "sid=a1", "?utm_source=x", "&fbclid=", "utm_"]),
    st.sampled_from(
        ["&s=" + "0af3" * 8, ";s=" + "0af3" * 8, "&session=", "0af3" * 8, "&__cft__[0]=", "&pk_kwd", "&_ga"]
    ),
    st.sampled_from(["\ud800", "\u200d", "\u3002", "\u00a0", "😀", "ü"]),
)
_URLISH = st.lists(_PIECES, max_size=14).map("".join)
_HTTPISH = st.builds(
    "http{}://{}{}".format, st.sampled_from(["", "s"]), st.sampled_from(["h", "h.", "a.1..", "."]), _URLISH
)
_ANY = st.one_of(st.text(st.characters()), _URLISH, _HTTPISH)
_ORIGINS = st.sampled_from(
    [
        "http://example.org",
        "https://a.b-c.example:8443",
        "http://127.0.0.1:81",
        "http://[::1]",
        "https://xn--bcher-kva.de",
    ]
)
_PLAIN_PATHS = st.from_regex(re.compile(PLAIN_PATH.decode().replace("}+", "}")), fullmatch=True)


thorough = settings(max_examples=300)


def _slow(url: str, base: str | None = None) -> str | None:
    href = resolve(url, base)
    return None if href is None else _crawl_form(href)


@thorough
@given(_ANY, st.none() | _ANY)
def test_never_raises_and_is_idempotent(url: str, base: str | None) -> None:
    once = normalize(url, base)
    if once is not None:
        assert normalize(once) == once
        assert normalize(once, base) == once
        assert once.isascii()
        assert "#" not in once
        assert "@" not in host_of(once)
        assert len(once) <= MAX_LENGTH
        assert "".join(split(once)) == once
        assert split(once)[0].endswith("//" + host_of(once))


@thorough
@given(_ANY)
def test_there_is_a_reason_exactly_when_there_is_no_url(text: str) -> None:
    assert (why_not(text) == "") == (normalize(text) is not None)
    seed = seed_url(text)
    assert seed is None or normalize(seed) == seed


@thorough
@given(_ANY, st.none() | _HTTPISH)
def test_fast_lanes_agree_with_the_parser(url: str, base: str | None) -> None:
    expected = _slow(url, base) if base is None or resolve(base) is not None else _slow(url)
    assert normalize(url, base) == expected


# References in the alphabet of the fast lanes, which text at random seldom stays within.
_NEAR_PLAIN = st.text(st.sampled_from("ab.AZ09_~-/:,+=@!?&#;%(x"), max_size=24)


@thorough
@given(_NEAR_PLAIN, _ORIGINS, _NEAR_PLAIN)
def test_fast_joins_agree_with_the_parser(reference: str, origin: str, path: str) -> None:
    base = f"{origin}/{path}"
    assert normalize(reference, base) == _slow(reference, base)
    assert normalize(base) == _slow(base)


@thorough
@given(st.text(st.sampled_from("ab1x-.n:/048"), max_size=20))
def test_fast_hosts_agree_with_the_parser(rest: str) -> None:
    assert normalize("http://" + rest) == _slow("http://" + rest)
    assert normalize("https://" + rest + "/a") == _slow("https://" + rest + "/a")


@thorough
@given(_ORIGINS, _PLAIN_PATHS)
def test_a_plain_path_needs_no_work(origin: str, path: str) -> None:
    assert normalize(origin + path) == origin + path
    assert _slow(origin + path) == origin + path
    assert resolve(path, origin + "/any/where?x") == origin + path


@pytest.mark.parametrize("path", ["/", "/a", "/a/", "/a.html", "/a/b-c_d~e/f.g.h", "/A/0", "/wiki/Help:X"])
def test_common_paths_are_plain(path: str) -> None:
    assert re.fullmatch(PLAIN_PATH, path.encode())


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a",
        "//a",
        "/a//b",
        "/.",
        "/..",
        "/.a",
        "/a/../b",
        "/a?b",
        "/a;b",
        "/a%20",
        "/a#b",
        "/a b",
        "/ü",
        "/(S(x))/",
        "/a\n",
    ],
)
def test_other_paths_are_not_plain(path: str) -> None:
    assert not re.fullmatch(PLAIN_PATH, path.encode())


def test_plain_paths_are_bounded() -> None:
    assert re.fullmatch(PLAIN_PATH, b"/a" * 24)
    assert not re.fullmatch(PLAIN_PATH, b"/a" * 25)
    assert re.fullmatch(PLAIN_PATH, b"/" + b"a" * 63)
    assert not re.fullmatch(PLAIN_PATH, b"/" + b"a" * 64)
    assert not re.fullmatch(PLAIN_PATH, b"/a&amp;b")
