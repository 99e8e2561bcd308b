"""robots.txt by our own cases; the suites of others are in tests/contract."""

from __future__ import annotations

import time

import pytest

from gossamer.rules.robots import (
    ALLOW_ALL,
    DISALLOW_ALL,
    MAX_BYTES,
    Robots,
    path_of,
    product_token,
    robots_allows,
    robots_from_status,
)


def _allowed(rules: str, path: str) -> bool:
    """`rules` one to a line, as "+/path" and "-/path"."""
    lines = [("Allow: " if rule[0] == "+" else "Disallow: ") + rule[1:] for rule in rules.split()]
    robots = Robots.parse("\n".join(["User-agent: *", *lines]).encode(), "gossamer")
    assert Robots.from_bytes(robots.to_bytes()).allows(path) == robots.allows(path)
    return robots.allows(path)


@pytest.mark.parametrize(
    ("rules", "allowed", "disallowed"),
    [
        ("-/", "/robots.txt", "/ /a /robots.txt2 /robots.txt?x /a/robots.txt"),
        ("-/a", "/ /b /A", "/a /ab /a/b /a?b"),
        ("-/a/", "/a /ab", "/a/ /a/b"),
        ("-/ +/a", "/a /ab", "/ /b"),
        ("-/a +/a", "/a /ab", ""),
        ("+/a -/ab +/abc -/abcd", "/a /aX /abc /abcX", "/ab /abX /abcd /abcdX"),
        ("-/a$", "/ab /a/ /a?x", "/a"),
        ("-/ +/$", "/", "/a /?x"),
        ("-/*.gif$", "/a.gif?x /a.gift", "/a.gif /b/c.gif /.gif"),
        ("-*.gif$", "/a.gift", "/a.gif"),
        ("-/*/b", "/b /a", "/a/b /a/c/b /a/bc //b"),
        ("-/a*b*c", "/abb /acb", "/abc /axbxc /abcd"),
        ("-/a*b$", "/abc", "/ab /abb /axb /abcb"),
        ("-/a*bc*bc$", "/abc /abcb /abbc", "/abcbc /abcxbc"),
        ("-/*?", "/a", "/?x /a?"),
        ("-/a* +/ab", "/b /ab", "/a /ac"),  # /a* and /ab have three octets each
        ("-/abc +/*/x", "/y", "/abc"),
        ("-/x*$ +/x", "", "/x /xy"),
        ("-/ +/**", "/b /", ""),
        ("-*", "/robots.txt", "/ /a"),
        ("-/a$b", "/a /a%25b", "/a$b /a%24b"),
        ("-/a%2Ab -/c%24", "/aXb /c", "/a*b /a%2Ab /c$ /c%24d"),
        ("-a -b/c -%2Fd -$", "/ /a /b/c /d", ""),
        ("-/%7Ejoe -/caf%C3%A9 -/caf\u00e8", "/cafe", "/~joe /%7ejoe /caf%c3%a9 /café /caf%C3%A8"),
        ("-/a%2Fb", "/a/b", "/a%2fb /a%2Fb"),
        ("-/a/b", "/a%2Fb", "/a/b"),
        ("-/a<b -/{c} -/d|e", "/a", "/a<b /a%3Cb /%7Bc%7D /{c} /d|e /d%7Ce"),
        ("-/?u=https://h", "/?u=https:h", "/?u=https://h /?u=https%3A%2F%2Fh /?u=https%3a//h"),
        ("-/?u=https%3A%2F%2Fh", "/?u=https", "/?u=https://h /?u=https%3A%2F%2Fh"),
        ("-/*u=https%3A%2F%2Fh", "/", "/?u=https%3A%2F%2Fh"),
        ("-/*/x", "/x", "/?a=/x /?a=b/x"),
        ("-/?a%26b", "/?a&b", "/?a%26b"),
        ("-/100%", "/100", "/100%"),
    ],
)
def test_patterns(rules: str, allowed: str, disallowed: str) -> None:
    for path in allowed.split():
        assert _allowed(rules, path), path
    for path in disallowed.split():
        assert not _allowed(rules, path), path


GROUPS = b"""
Disallow: /before-any-group
User-agent: other
Disallow: /other
User-agent: Gossamer
Crawl-delay: 2
User-agent: third
Sitemap: https://example.org/map.xml
Disallow: /one

User-agent: *
Disallow: /all

User-Agent: gossamer/2.0 something
Disallow: /two
Crawl-delay: 7.5
Sitemap: /map2.xml
"""


def test_groups_of_one_agent_are_one() -> None:
    robots = Robots.parse(GROUPS, "gossamer")
    assert [path for path in ("/one", "/two", "/all", "/other", "/before-any-group") if not robots.allows(path)] == [
        "/one",
        "/two",
    ]
    assert robots.crawl_delay == 7.5
    assert robots.sitemaps == ["https://example.org/map.xml", "/map2.xml"]


def test_a_sitemap_or_delay_does_not_end_the_agents_of_a_group() -> None:
    robots = Robots.parse(GROUPS, "third")
    assert not robots.allows("/one")
    assert robots.crawl_delay is None, "the delay stands before this agent is named"


def test_others_get_the_group_for_all() -> None:
    robots = Robots.parse(GROUPS, "unknown")
    assert not robots.allows("/all")
    assert robots.allows("/one")
    assert robots.crawl_delay is None


def test_an_empty_own_group_frees_from_the_group_for_all() -> None:
    robots = Robots.parse(b"User-agent: gossamer\nDisallow:\n\nUser-agent: *\nDisallow: /\n", "gossamer")
    assert robots.unrestricted
    assert robots.allows("/a")


def test_user_agents_in_a_row_share_the_rules() -> None:
    body = b"User-agent: a\nUser-agent: *\nUser-agent: b\nDisallow: /x\n"
    for agent in ("a", "b", "c"):
        assert not Robots.parse(body, agent).allows("/x")


@pytest.mark.parametrize(
    "agent", ["gossamer", "Gossamer", "gossamer/1.0", "Gossamer/1.0 (+https://e.org)", "gossamer (x)"]
)
def test_the_own_group_is_found_by_product_token(agent: str) -> None:
    assert not robots_allows(b"User-agent: GOSSAMER\nDisallow: /x", agent, "https://e.org/x")
    assert robots_allows(b"User-agent: GOSSAMER-news\nDisallow: /x", agent, "https://e.org/x")
    assert robots_allows(b"User-agent: goss\nDisallow: /x", agent, "https://e.org/x")


@pytest.mark.parametrize("agent", ["", " ", "7bot", "bot7", "a b", "*", "\ud800", "Mozilla5 (x; gossamer)"])
def test_what_is_no_product_token_has_only_the_group_for_all(agent: str) -> None:
    body = f"User-agent: {agent}\nDisallow: /own\nUser-agent: *\nDisallow: /all\n".encode("utf-8", "replace")
    assert not robots_allows(body, agent, "https://e.org/all")
    assert product_token(agent) == agent


def test_of_several_delays_the_longest_holds() -> None:
    body = b"User-agent: *\nCrawl-delay: 5\nCrawl-delay: 1\n"
    assert Robots.parse(body, "gossamer").crawl_delay == 5.0


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        *[("10", 10.0), ("0.5", 0.5), (".5", 0.5), ("0", 0.0), ("10 s", 10.0), ("1" * 500, 111111111.0)],
        *[("x", None), ("-1", None), ("", None), ("nan", None), ("inf", None)],
    ],
)
def test_crawl_delay(value: str, delay: float | None) -> None:
    assert Robots.parse(f"User-agent: *\nCrawl-delay: {value}".encode(), "gossamer").crawl_delay == delay


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\nDisallow: /x",
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /x",
        b"\xefUser-agent: *\nDisallow: /x",
        b"User-agent: *\rDisallow: /x\r",
        b"User-agent: *\r\n\r\n\r\nDisallow: /x\r\n",
        b"  USER-AGENT\t:\t*  \n  disallow  :   /x  # why\n",
        b"user-agent *\ndisallow /x\n",
        b"useragent: *\nDissallow: /x\n",
        b"user agent: *\nDisalow: /x\n",
        b"User-agent: *\n<html>\nfoo: bar\n: :\n\x00\xff\nDisallow: /x\n",
        b"User-agent: * # all\nDisallow: /x#y\n",
    ],
)
def test_lines_are_read_with_patience(body: bytes) -> None:
    robots = Robots.parse(body, "gossamer")
    assert not robots.allows("/x")
    assert robots.allows("/y")


@pytest.mark.parametrize(
    "body", [b"", b"\n", b"<html><body>not found</body></html>", b"\x00\x01\xff\xfe", b"Disallow: /"]
)
def test_what_is_no_robots_txt_restricts_nothing(body: bytes) -> None:
    robots = Robots.parse(body, "gossamer")
    assert robots.unrestricted
    assert robots.allows("/")


def test_only_the_first_500_kib_are_read_and_no_half_rule() -> None:
    head = b"User-agent: *\nDisallow: /x\n"
    long = head + b"#" * (MAX_BYTES - len(head) - len(b"\nDisallow: /ab")) + b"\nDisallow: /abc\n"
    robots = Robots.parse(long, "gossamer")
    assert not robots.allows("/x")
    assert robots.allows("/abc"), "the rule was cut to /ab, and is left out"
    assert not Robots.parse(long.replace(b"#", b"", 1), "gossamer").allows("/abc"), "cut at the end of the line"
    assert not Robots.parse(long.replace(b"#", b"", 2), "gossamer").allows("/abc"), "cut after it"
    assert not Robots.parse(b"\xef\xbb\xbf" + long.replace(b"#", b"", 1), "gossamer").allows("/abc")


def test_statuses() -> None:
    body = b"User-agent: *\nDisallow: /x\n"
    for status in (200, 203, 206):
        assert not robots_from_status(status, body, "gossamer").allows("/x")
        assert robots_from_status(status, body, "gossamer").allows("/y")
    for status in (301, 304, 400, 401, 403, 404, 410, 429, 451, 499):
        assert robots_from_status(status, body, "gossamer") is ALLOW_ALL
    for failed in (None, 0, 100, 500, 503, 599, 999):
        assert robots_from_status(failed, body, "gossamer") is DISALLOW_ALL
    assert ALLOW_ALL.allows("/a")
    assert not DISALLOW_ALL.allows("/a")
    assert DISALLOW_ALL.allows("/robots.txt")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://e.org", "/"),
        ("https://user@e.org:1/a/../b?c#d", "/b?c"),
        ("e.org:80/a", "/a"),
        ("", "/"),
        ("ftp://e.org/a", "/a"),
        ("https://e.org/" + "a" * 20_000, "/" + "a" * 20_000),
    ],
)
def test_path_of(url: str, path: str) -> None:
    assert path_of(url) == path


def test_stored_rules_keep_delay_and_sitemaps() -> None:
    robots = Robots.from_bytes(Robots.parse(GROUPS, "gossamer").to_bytes())
    assert (robots.crawl_delay, robots.sitemaps) == (7.5, ["https://example.org/map.xml", "/map2.xml"])
    assert Robots.from_bytes(ALLOW_ALL.to_bytes()).unrestricted


def test_only_the_rules_that_hold_are_stored() -> None:
    body = b"".join(b"User-agent: bot%c\nDisallow: /%c\n" % (letter, letter) for letter in b"abcdefghij") * 100
    assert len(Robots.parse(body, "gossamer").to_bytes()) < 10


HOSTILE = {
    "many stars": b"Disallow: /" + b"*a" * 8000 + b"b",
    "many stars and an end": b"Disallow: /" + b"*a" * 8000 + b"b$",
    "stars in a row": b"Disallow: /" + b"*" * 16_000 + b"b",
    "many patterns": b"".join(b"Disallow: /*a*a*a*%d\n" % number for number in range(20_000)),
    "a long chain of prefixes": b"".join(b"Disallow: /%s\n" % (b"a" * number) for number in range(1, 970)),
    "many prefixes": b"".join(b"Disallow: /a%d\n" % number for number in range(30_000)),
    "no line ends": b"Disallow: /" + b"a" * 600_000,
    "escapes only": b"Disallow: /" + b"%2a" * 5000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_little(name: str) -> None:
    began = time.process_time()
    robots = Robots.parse(b"User-agent: *\n" + HOSTILE[name], "gossamer")
    parsed = time.process_time()
    robots.allows("/" + "a" * 2000)
    robots.allows("/" + "a%2a" * 500)
    checked = time.process_time()
    # Backtracking would take longer than the universe has; these bounds are ten times what a slow machine takes.
    assert parsed - began < 3.0
    assert checked - parsed < 1.0
