"""Links that lead further into what a page is part of."""

from __future__ import annotations

import pytest

from gossamer.agent.newness import into_itself

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
