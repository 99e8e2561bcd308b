"""The simulated web's endless places: each without end, alike in text, and seen by the rules where they can."""

from __future__ import annotations

import re
from collections import deque
from datetime import UTC, datetime
from html import unescape

import pytest

from gossamer.model.url import host_of, normalize, split
from gossamer.rules.scope import Scope
from gossamer.testing import World
from gossamer.testing.web.paths import TRAPS, Section, parse_path
from gossamer.testing.web.render import Renderer
from gossamer.testing.web.traps import trap_entrance

WORLD = World(hosts=8, pages=50, profile="hostile", faults=0)
RENDERER = Renderer(WORLD)
HOME = next(host for host in map(WORLD.host, range(8)) if not host.well)
_href = re.compile(rb'<a href="([^"]+)"').findall


def body_of(url: str) -> bytes:
    host = WORLD.find(host_of(url))
    assert host is not None, url
    resource = WORLD.resource(host, split(url)[1].encode())
    assert resource is not None, url
    assert resource.section is Section.TRAP
    return RENDERER.leaf(host, resource)


def links_of(url: str) -> list[str]:
    found = [normalize(unescape(href.decode()), url) for href in _href(body_of(url))]
    return [link for link in found if link is not None]


def entrances() -> list[str]:
    """One URL for each kind of trap."""
    found: dict[bytes, str] = {}
    for page in range(50):
        path = trap_entrance(page, HOME.name.encode())
        kind = next(kind for kind in TRAPS if path.startswith(kind))
        found.setdefault(kind, f"http:{path.decode()}" if kind == b"//" else WORLD.url(HOME.index, path))
    assert len(found) == len(TRAPS) - 1  # hosts are /wild/ and //
    return list(found.values())


def closure(start: str, scope: Scope, most: int) -> set[str]:
    """What a crawl finds from there on, up to `most` URLs."""
    start = normalize(start) or ""
    known, queue = {start}, deque([start])
    while queue and len(known) < most:
        for link in links_of(queue.popleft()):
            if link not in known and not scope.judge(link):
                known.add(link)
                queue.append(link)
    return known


@pytest.mark.parametrize("start", entrances())
def test_every_trap_leads_on_and_on(start: str) -> None:
    seen, url = set(), start
    for _ in range(12):
        seen.add(url)
        url = next(link for link in links_of(url) if link not in seen) if "sid=" not in start else _new_session(url)
    assert len(seen) == 12
    assert body_of(start) == body_of(start)


def _new_session(url: str) -> str:
    """The crawl takes this session id off, so the next URL is taken as it is written."""
    return "http://" + host_of(url) + unescape(_href(body_of(url))[0].decode())


@pytest.mark.parametrize("path", ["/basket?visit=%d", "/lost/%d/help/", "/cart?sid=%d"])
def test_some_show_the_same_page_under_every_url(path: str) -> None:
    words = {
        re.sub(rb"<ul>.*</ul>", b"", body_of(WORLD.url(HOME.index, path % number)), flags=re.S) for number in range(9)
    }
    assert len(words) == 1
    one, other = (body_of(WORLD.url(HOME.index, f"/lost/{number}/help/")) for number in (1, 2))
    assert one == other


def test_a_calendar_says_the_month_and_little_more() -> None:
    body = body_of(WORLD.url(HOME.index, "/calendar/2031/5/"))
    assert b"<h1>May 2031</h1>\n<p>No events this month.</p>" in body
    assert b"/calendar/2031/4/" in body
    assert b"/calendar/2031/6/" in body
    assert b"<h1>December 2030</h1>" in body_of(WORLD.url(HOME.index, "/calendar/2030/12/"))
    for odd in (
        "/calendar/",
        "/calendar/x/y/",
        "/calendar/99999999999999999999/1/",
        "/calendar/1/99/",
        "/calendar/0/0/0",
    ):
        assert b"No events" in body_of(WORLD.url(HOME.index, odd))


def test_endless_hosts_answer_only_where_traps_are() -> None:
    assert WORLD.find(f"u-1f.{HOME.name}") is HOME
    well = next(host for host in map(World(hosts=60, profile="hostile").host, range(60)) if host.well)
    assert World(hosts=60, profile="hostile").find(f"u-1f.{well.name}") is None
    assert World(hosts=8, profile="realistic").find(f"u-1f.{HOME.name}") is None
    assert WORLD.find(f"u-xyz.{HOME.name}") is None
    assert WORLD.find(f"u-1f.u-1f.{HOME.name}") is None
    assert parse_path(b"//u-1f.x.test/wild/1") is None


@pytest.mark.parametrize(
    ("kind", "most"),
    [("/calendar/", 4_000), ("/cart?", 10), ("/lost/", 200), ("/login?", 10)],
)
def test_the_rules_end_these(kind: str, most: int) -> None:
    start = next(url for url in entrances() if kind in url)
    scope = Scope("any", now=datetime(2026, 6, 1, tzinfo=UTC).timestamp())
    assert 1 < len(closure(start, scope, most)) < most
