"""Links that lead further into what a page is part of, and what is told of places that repeat others."""

from __future__ import annotations

import pytest

from gossamer.agent.findings import Findings
from gossamer.agent.newness import into_itself
from gossamer.frontier import Finding

HOST = "http://a.test"


@pytest.mark.parametrize(
    ("page", "links", "inside"),
    [
        ("/shop?color=red", ["/shop?color=blue", "/shop", "/shop/?x", "/other?color=red"], ["/shop?color=blue"]),
        ("/docs/", ["/docs/a.html", "/docs/b/", "/docs/", "/doc", "/"], ["/docs/a.html", "/docs/b/"]),
        ("/docs/a.html", ["/docs/b.html", "/docs/a.html/x"], []),
        ("/", ["/a", "/b/"], []),
        ("/room/17", ["/room/18", "/room/19/", "/room/hall", "/18"], ["/room/18"]),
        ("/calendar/2026/5/", ["/calendar/2026/6/", "/calendar/2026/5/7", "/news/"],
         ["/calendar/2026/5/7", "/calendar/2026/6/"]),
        ("/events/2026-05-07", ["/events/2026-05-08", "/events/fair", "/show?month=5"],
         ["/events/2026-05-08", "/show?month=5"]),
    ],
)  # fmt: skip
def test_into_itself(page: str, links: list[str], inside: list[str]) -> None:
    found = into_itself(HOST + page, [HOST + link for link in links])
    assert sorted(found) == sorted(HOST + link for link in inside)


def test_a_finding_is_told_once_and_many_are_not_all_told() -> None:
    told: list[str] = []
    findings = Findings(told.append)
    found = Finding("barren", "a.test/d/", "a.test/d/1", 6)
    assert findings.add(found)
    assert not findings.add(found)
    assert len(told) == 2, "what was found, and what to do about it"
    for number in range(100):
        findings.add(Finding("mirror", f"h{number}.test", "a.test", 24))
    assert len(told) == 2 + 19 + 1
    assert "status --findings" in told[-1]
    assert len(findings.taken(1.0)) == 101
    assert findings.taken(2.0) == {}
