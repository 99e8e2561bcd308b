"""robots.txt, as RFC 9309 has it, for one crawler.

Beyond the RFC, as Google's parser does: a missing colon and common misspellings are understood, a byte order mark may
be cut short, and what is over `_MAX_LINE` in a line is not read. `Crawl-delay` and `Sitemap` are read besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from gossamer.model.url import MAX_LENGTH, resolve
from gossamer.regex import compiled_later
from gossamer.rules.path_rules import PathRules, canonical_pattern

MAX_BYTES: Final = 500 * 1024
"""What is read of a robots.txt: the least that RFC 9309 section 2.5 demands."""
MAX_REDIRECTS: Final = 5
"""Redirects to follow before a robots.txt counts as unavailable (section 2.3.1.2)."""
MAX_AGE: Final = 24 * 3600.0
"""Seconds for which a robots.txt may be used, unless it cannot be reached (section 2.4)."""

_MAX_LINE = 8 * MAX_LENGTH - 1
_MAX_SITEMAPS = 1000

_USER_AGENT, _ALLOW, _DISALLOW, _SITEMAP, _DELAY = range(5)
_FIELDS = {
    b"user-agent": _USER_AGENT,
    b"useragent": _USER_AGENT,
    b"user agent": _USER_AGENT,
    b"allow": _ALLOW,
    b"disallow": _DISALLOW,
    b"dissallow": _DISALLOW,
    b"dissalow": _DISALLOW,
    b"disalow": _DISALLOW,
    b"diasllow": _DISALLOW,
    b"disallaw": _DISALLOW,
    b"sitemap": _SITEMAP,
    b"site-map": _SITEMAP,
    b"sitemaps": _SITEMAP,
    b"crawl-delay": _DELAY,
    b"crawldelay": _DELAY,
    b"crawl delay": _DELAY,
}
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef")
_identifier = re.compile(rb"[A-Za-z_-]+")
_number = compiled_later(rb"[0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9}")
_product = re.compile(r"([A-Za-z_-]+)(?:/| \(|\Z)")


class Robots:
    """What one robots.txt means for one crawler: its own groups together, or else the groups for all (`*`).

    Invariant: `from_bytes(to_bytes())` answers every question alike.
    """

    __slots__ = ("_rules", "crawl_delay", "sitemaps", "unrestricted")

    def __init__(
        self, patterns: Mapping[str, bool], crawl_delay: float | None = None, sitemaps: Iterable[str] = ()
    ) -> None:
        """`patterns`: canonical pattern -> whether it allows."""
        self._rules = PathRules(patterns)
        self.crawl_delay = crawl_delay
        self.sitemaps = list(sitemaps)
        self.unrestricted = all(patterns.values())

    @classmethod
    def parse(cls, body: bytes, agent: str) -> Robots:
        """`agent` is a product token ("gossamer") or a whole User-Agent that begins with one. Nothing raises."""
        reader = _Reader(product_token(agent).lower().encode("utf-8", "replace"))
        start = next((len(mark) for mark in _BYTE_ORDER_MARKS if body.startswith(mark)), 0)
        end = start + MAX_BYTES
        lines = body[start:end].splitlines()
        if len(body) > end and not {body[end - 1], body[end]} & {10, 13}:
            lines.pop()  # half a rule is another rule
        for line in lines:
            reader.read(line)
        group = reader.own if reader.own.named else reader.all
        return cls(group.patterns, group.delay, reader.sitemaps)

    def allows(self, path: str) -> bool:
        """`path` with its query, as in a normalised URL. /robots.txt itself is always allowed (section 2.2.2)."""
        return self.unrestricted or self._rules.allows(path) or path == "/robots.txt"

    def line(self, path: str) -> str:
        """The line that decides on a path, for people; empty where there is none."""
        pattern = self._rules.deciding(path)
        return f"{'Allow' if self._rules.patterns[pattern] else 'Disallow'}: {pattern}" if pattern else ""

    @property
    def patterns(self) -> Mapping[str, bool]:
        """Whether each allows."""
        return self._rules.patterns

    def to_bytes(self) -> bytes:
        patterns = self._rules.patterns.items()
        allowed = [pattern for pattern, allow in patterns if allow]
        disallowed = [pattern for pattern, allow in patterns if not allow]
        return msgspec.msgpack.encode((allowed, disallowed, self.crawl_delay, self.sitemaps))

    @classmethod
    def from_bytes(cls, data: bytes) -> Robots:
        allowed, disallowed, delay, sitemaps = _stored.decode(data)
        return cls({**dict.fromkeys(disallowed, False), **dict.fromkeys(allowed, True)}, delay, sitemaps)


_stored = msgspec.msgpack.Decoder(tuple[list[str], list[str], float | None, list[str]])


class _Group:
    """All rules for one product token, over all the groups that name it."""

    __slots__ = ("delay", "named", "patterns")

    def __init__(self) -> None:
        self.named = False
        self.patterns: dict[str, bool] = {}
        self.delay: float | None = None


class _Reader:
    """Reads line by line, and keeps only what is for `agent` and for all.

    Invariant: `_current` are the kept groups that the user-agent lines of the present group name; rules belong to all
    of them. A user-agent line after a rule begins a new group; lines that are not rules do not (section 2.2.4).
    """

    def __init__(self, agent: bytes) -> None:
        self.own, self.all = _Group(), _Group()
        self.sitemaps: list[str] = []
        self._agent = agent
        self._current: list[_Group] = []
        self._in_rules = False

    def read(self, line: bytes) -> None:
        line = line[:_MAX_LINE].partition(b"#")[0].strip()
        name, colon, value = line.partition(b":")
        if not colon:
            words = line.split()
            if len(words) != 2:
                return
            name, value = words
        field = _FIELDS.get(name.strip().lower())
        value = value.strip()
        if field is None:
            return
        if field == _USER_AGENT:
            self._begin(value)
        elif field in (_ALLOW, _DISALLOW):
            self._in_rules = True
            if value and self._current:
                self._add(value, field == _ALLOW)
        elif field == _SITEMAP:
            if value and len(self.sitemaps) < _MAX_SITEMAPS:
                self.sitemaps.append(value.decode("utf-8", "replace"))
        else:
            self._slow_down(value)

    def _begin(self, value: bytes) -> None:
        if self._in_rules:
            self._current, self._in_rules = [], False
        name = _identifier.match(value)
        if name is not None and name[0].lower() == self._agent:
            group = self.own
        elif value[:1] == b"*" and not value[1:2].strip():
            group = self.all
        else:
            return
        group.named = True
        if group not in self._current:
            self._current.append(group)

    def _add(self, value: bytes, allow: bool) -> None:
        pattern = canonical_pattern(value)
        if pattern:
            for group in self._current:
                group.patterns[pattern] = allow or group.patterns.get(pattern, False)

    def _slow_down(self, value: bytes) -> None:
        number = _number.match(value)
        if number is not None:
            for group in self._current:
                group.delay = max(float(number[0]), group.delay or 0.0)


def product_token(user_agent: str) -> str:
    """The name that robots.txt knows a crawler by: "gossamer" of "gossamer/1.0 (+https://…)".

    A string that does not begin with a product token is returned whole, and no group of a robots.txt names it.
    """
    found = _product.match(user_agent)
    return found[1] if found else user_agent


ALLOW_ALL: Final = Robots({})
DISALLOW_ALL: Final = Robots({"/": False})


def robots_from_status(status: int | None, body: bytes, agent: str) -> Robots:
    """What an answer to /robots.txt means (section 2.3.1); `status` None is no answer at all.

    A redirect as last answer is one too many, and counts as unavailable, as 4xx does: everything is allowed. Servers
    that fail or cannot be reached allow nothing, until they answer.
    """
    if status is None or not 200 <= status < 500:
        return DISALLOW_ALL
    return Robots.parse(body, agent) if status < 300 else ALLOW_ALL


_after_authority = compiled_later(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)?[^/?;#]*([^#]*)")


def path_of(url: str) -> str:
    """Path and query of any URL, or of what looks like one ("example.org/a"), as robots.txt rules see them."""
    href = resolve(url) if len(url) <= 8 * MAX_LENGTH else None
    text = href if href is not None and href.startswith(("http://", "https://")) else url
    found = _after_authority.match(text)
    assert found is not None, "every part of the pattern may be empty"
    path = found[1]
    return path if path[:1] == "/" else "/" + path


def robots_allows(robots_txt: bytes, user_agent: str, url: str) -> bool:
    """Whether `robots_txt` lets `user_agent` fetch `url`. To ask often, keep `Robots.parse(robots_txt, user_agent)`."""
    return Robots.parse(robots_txt, user_agent).allows(path_of(url))
