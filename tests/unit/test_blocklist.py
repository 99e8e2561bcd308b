"""Which hosts and pages a blocklist means."""

from __future__ import annotations

import pytest

from gossamer.config import PolicyConfig
from gossamer.rules.policy import Policy


@pytest.mark.parametrize(
    ("pattern", "url", "blocked"),
    [
        ("example.org", "https://example.org/x", True),
        ("example.org", "https://www.example.org/x", True),
        ("example.org", "https://example.org:8080/", True),
        ("EXAMPLE.org", "https://example.org/", True),
        ("https://example.org/", "http://example.org/x", True),
        ("example.org", "https://anexample.org/x", False),
        ("example.org", "https://example.org.evil.test/x", False),
        ("*.example.org", "https://www.example.org/", True),
        ("*.example.org", "https://example.org/", False),
        ("www?.example.org", "https://www2.example.org/", True),
        ("example.org:8080", "https://example.org:8080/", True),
        ("example.org:8080", "https://example.org/", False),
        ("[::1]", "http://[::1]/", True),
        ("[::1]", "http://[::2]/", False),
        ("192.0.2.7", "http://192.0.2.7/a", True),
        ("example.org/forum/", "https://example.org/forum/1", True),
        ("example.org/forum/", "https://www.example.org/forum/", True),
        ("example.org/forum/", "https://example.org/forums", False),
        ("example.org/forum/", "https://other.org/forum/", False),
        ("example.org/*/print", "https://example.org/a/b/print?x", True),
        ("example.org/a[1]", "https://example.org/a[1]", True),
        ("example.org/a[1]", "https://example.org/a1", False),
        ("*/cgi-bin/", "https://any.test/cgi-bin/x", True),
    ],
)
def test_what_a_pattern_means(pattern: str, url: str, blocked: bool) -> None:
    host = url.split("/")[2]
    assert Policy(PolicyConfig(blocklist=(pattern,))).blocks(url, host) is blocked
