"""When a HEAD goes first."""

from __future__ import annotations

import pytest

from gossamer.model import Before, State, Visit
from gossamer.rules.head_first import HeadFirst, extension


def visit(url: str, tries: int = 0, robots: bool = False) -> Visit:
    return Visit(url, "a.test", 0, 0, 1, tries, robots)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://a.test/", ""),
        ("http://a.test/page", ""),
        ("http://a.test/page.HTML", "html"),
        ("http://a.test/v1.2/page", ""),
        ("http://a.test/x.php?file=y.pdf", "php"),
        ("http://a.test/a.tar.gz", "gz"),
        ("http://a.test/ends.", ""),
    ],
)
def test_extensions(url: str, kind: str) -> None:
    assert extension(url) == kind


def test_unknown_asks_where_the_url_says_no_type() -> None:
    rule = HeadFirst("unknown")
    assert rule.asks(visit("http://a.test/"))
    assert rule.asks(visit("http://a.test/x.php"))
    assert not rule.asks(visit("http://a.test/x.html"))
    assert not rule.asks(visit("http://a.test/x.pdf?y"))
    assert not rule.asks(visit("http://a.test/robots.txt", robots=True))
    assert not rule.asks(visit("http://a.test/x.php", tries=1))
    rule.answered(visit("http://a.test/"))
    rule.settled(visit("http://a.test/"))
    assert rule.asks(visit("http://a.test/unknownpic")), "what another URL of the host has sent says nothing of it"


@pytest.mark.parametrize("policy", ["unknown", "always"])
@pytest.mark.parametrize("state", [State.FETCHED, State.DEAD, State.EXCLUDED])
def test_none_goes_before_a_visit_that_is_made_again(policy: str, state: State) -> None:
    again = visit("http://a.test/x")
    again.before = Before(state, 200, 1.0)
    assert not HeadFirst(policy).asks(again)


@pytest.mark.parametrize("policy", ["unknown", "always"])
def test_once_for_a_url(policy: str) -> None:
    rule = HeadFirst(policy)
    first = visit("http://a.test/x")
    assert rule.asks(first)
    rule.answered(first)
    assert not rule.asks(first)
    assert not rule.asks(first)  # given back, and leased again
    rule.settled(first)
    assert not rule.asks(visit("http://a.test/x", tries=1))


def test_always_asks_whatever_is_known() -> None:
    rule = HeadFirst("always")
    assert rule.asks(visit("http://a.test/x.html"))
    assert rule.asks(visit("http://a.test/y.html"))
    assert not rule.asks(visit("http://a.test/robots.txt", robots=True))
