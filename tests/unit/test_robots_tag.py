from __future__ import annotations

import pytest

from gossamer.rules.robots_tag import robots_tag


@pytest.mark.parametrize(
    ("lines", "noindex", "nofollow"),
    [
        ([], False, False),
        (["Content-Type: text/html"], False, False),
        (["X-Robots-Tag: noindex"], True, False),
        (["x-robots-tag:nofollow"], False, True),
        (["X-ROBOTS-TAG: NOINDEX, NoFollow"], True, True),
        (["X-Robots-Tag: none"], True, True),
        (["X-Robots-Tag: noarchive, nosnippet"], False, False),
        (["X-Robots-Tag: noindex", "X-Robots-Tag: nofollow"], True, True),
        (["X-Robots-Tag: otherbot: none"], False, False),
        (["X-Robots-Tag: Gossamer: nofollow"], False, True),
        (["X-Robots-Tag: unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"], False, True),
        (["X-Robots-Tag: max-snippet: 20"], False, False),
        (["X-Not-X-Robots-Tag: nofollow"], False, False),
    ],
)
def test_what_headers_forbid(lines: list[str], noindex: bool, nofollow: bool) -> None:
    head = "HTTP/1.1 200 OK\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n"
    assert robots_tag(head.encode(), "gossamer") == (noindex, nofollow)
