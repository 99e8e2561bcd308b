"""What the simulated hosts say to robots, and how the truth reads it."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.testing.web.paths import Section, path_of
from gossamer.testing.web.robots import Group, Robots, Rule, product_token, robots_of


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/private/", True),  # the pattern wants .html
        ("/private/1.html", False),
        ("/private/0.html", True),  # as long as the Disallow, and Allow wins
        ("/files/1.pdf", False),
        ("/files/1.pdf?x", False),  # has a query
        ("/files/1.pdfx", True),
        ("/list?page=1", False),
    ],
)
def test_patterns(path: str, allowed: bool) -> None:
    assert robots_of("patterns", 1, 1, ()).allows("gossamer", path) is allowed


def test_the_longest_rule_decides_and_allow_wins_a_tie() -> None:
    robots = Robots("x", (Group(("*",), (Rule(True, "/a"), Rule(False, "/a/b"), Rule(True, "/a/b/c"))),))
    assert [robots.allows("any", path) for path in ("/a", "/a/b", "/a/b/c", "/z")] == [True, False, True, True]
    tie = Robots("x", (Group(("*",), (Rule(False, "/a"), Rule(True, "/a"))),))
    assert tie.allows("any", "/a")


def test_the_group_of_the_name_comes_before_the_star() -> None:
    robots = robots_of("agents", 1, 1, ())
    assert robots.allows("Gossamer/0.1 (+https://example.org/bot)", "/travel/x")
    assert not robots.allows("gossamer", "/files/1.pdf")
    assert not robots.allows("stranger", "/travel/x")
    assert robots.allows("stranger", "/news/x")
    assert product_token("Gossamer/0.1 (x)") == "gossamer"


def test_the_text_says_what_the_structure_does() -> None:
    text = robots_of("agents", 1, 1, ()).text().decode()
    lines = [line.strip() for line in text.splitlines()]
    assert lines.count("User-agent: gossamer") == 1
    assert lines.index("User-agent: badbot") + 1 == lines.index("User-agent: otherbot")
    assert "Allow: /$" in lines
    sitemap = robots_of("sitemap", 1, 1, ("http://a.test/sitemap.xml",)).text()
    assert b"Sitemap: http://a.test/sitemap.xml" in sitemap
    assert b"Crawl-delay: " in robots_of("delay", 1, 1, ()).text()


@pytest.mark.parametrize("kind", ["error", "dropped", "hang"])
def test_unreachable_robots_allow_nothing(kind: str) -> None:
    assert not robots_of(kind, 1, 1, ()).allows("gossamer", "/")


@pytest.mark.parametrize("kind", ["open", "private", "delay", "agents", "patterns", "closed", "sitemap", "huge"])
def test_the_crawlers_own_reading_of_the_text_is_the_same(kind: str) -> None:
    sections = [section for section in Section if section is not Section.TRAP]
    paths = [path_of(section, number).decode() for section in sections for number in range(12)]
    verdicts = set()
    for host in range(8):  # some hosts end lines with CRLF
        robots = robots_of(kind, 1, host, ("http://a.test/sitemap.xml",))
        for agent in ("gossamer", "badbot", "stranger"):
            for path in paths:
                verdict = robots.allows(agent, path)
                assert gossamer.robots_allows(robots.text(), agent, f"http://a.test{path}") == verdict, (agent, path)
                verdicts.add(verdict)
    assert verdicts == {"open": {True}, "closed": {False}}.get(kind, {True, False})


@pytest.mark.parametrize("kind", ["missing", "html", "loop"])
def test_robots_without_rules_allow_everything(kind: str) -> None:
    assert robots_of(kind, 1, 1, ()).allows("gossamer", "/private/1.html")
