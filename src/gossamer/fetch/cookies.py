"""Cookies, for hosts where they are turned on: RFC 6265 as far as a crawler needs it, and with bounds.

Kept in memory for one run. A host gets back what it set itself; a cookie with Domain also goes to other hosts below
that domain, which is never above the registered one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from gossamer.model.domain import registered_domain, without_port
from gossamer.model.url import host_of
from gossamer.regex import compiled_later

_SET = compiled_later(rb"^set-cookie[ \t]*:[ \t]*([^\r\n]*)", re.I | re.M)
_CONTROL = compiled_later(r"[\x00-\x1f\x7f]")
_MOST_IN_RESPONSE = 50
_MOST_PER_DOMAIN = 50
_MOST_DOMAINS = 10_000
_LONGEST = 4096  # bytes of a name and its value
_LONGEST_HEADER = 8192


class Cookie(msgspec.Struct, gc=False):
    name: str
    value: str
    host: str  # that set it; nothing when it is for all hosts below `domain`
    domain: str
    path: str
    secure: bool
    expires: float  # 0: with the run

    def is_for(self, host: str, path: str, https: bool, now: float) -> bool:
        if (self.secure and not https) or (self.expires and self.expires <= now):
            return False
        return (host == self.host if self.host else _is_below(without_port(host), self.domain)) and (
            path == self.path or path.startswith(self.path if self.path[-1] == "/" else self.path + "/")
        )


class Jar:
    """Invariant: at most 50 cookies of 4 KiB for each registered domain, and 10,000 domains; the oldest go first."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._domains: dict[str, dict[tuple[str, str, str], Cookie]] = {}

    def header(self, url: str) -> str:
        """The value of the Cookie header for a request, nothing when there is none."""
        host = host_of(url)
        cookies = self._domains.get(registered_domain(host))
        if not cookies:
            return ""
        path, https, now = _path(url), url.startswith("https:"), self._clock()
        found = [cookie for cookie in cookies.values() if cookie.is_for(host, path, https, now)]
        found.sort(key=lambda cookie: -len(cookie.path))  # RFC 6265, 5.4: longer paths first, else in order of age
        text = ""
        for cookie in found:
            pair = f"{cookie.name}={cookie.value}" if cookie.name else cookie.value
            if len(text) + len(pair) + 2 <= _LONGEST_HEADER:
                text += f"; {pair}" if text else pair
        return text

    def take(self, url: str, head: bytes) -> None:
        """Keep what a response sets."""
        if b"et-" not in head and b"ET-" not in head:
            return
        for line in _SET.findall(head)[:_MOST_IN_RESPONSE]:
            cookie = _read(line.decode("latin-1"), url, self._clock())
            if cookie is not None:
                self._put(registered_domain(host_of(url)), cookie)

    def _put(self, domain: str, cookie: Cookie) -> None:
        cookies = self._domains.setdefault(domain, {})
        key = (cookie.host or "." + cookie.domain, cookie.path, cookie.name)
        if cookie.expires and cookie.expires <= self._clock():
            cookies.pop(key, None)
            return
        cookies[key] = cookie  # one that is set again keeps its place
        if len(cookies) > _MOST_PER_DOMAIN:
            del cookies[next(iter(cookies))]
        if len(self._domains) > _MOST_DOMAINS:
            del self._domains[next(iter(self._domains))]

    def __len__(self) -> int:
        return sum(map(len, self._domains.values()))


def _read(line: str, url: str, now: float) -> Cookie | None:
    pair, *attributes = line.split(";")
    name, equals, value = pair.partition("=")
    if not equals:
        name, value = "", pair
    name, value = name.strip(), value.strip()
    if not (name or value) or len(name) + len(value) > _LONGEST or _CONTROL.search(name + value) or not line.isascii():
        return None
    given = {}
    for attribute in attributes:
        key, _, text = attribute.partition("=")
        given[key.strip().lower()] = text.strip()
    host, https = host_of(url), url.startswith("https:")
    secure, path = "secure" in given, given.get("path", "")
    domain = _domain(given.get("domain", ""), host)
    if domain is None or (secure and not https) or not _keeps_promise(name, secure, given):
        return None
    if not path.startswith("/"):
        path = _path(url).rpartition("/")[0] or "/"
    return Cookie(name, value, "" if domain else host, domain, path, secure, _expiry(given, now))


def _domain(wanted: str, host: str) -> str | None:
    """The domain a cookie is for, nothing when for its host alone; None when it may not be set."""
    wanted = wanted.lower().removeprefix(".")
    if not wanted:
        return ""
    return wanted if _is_below(without_port(host), wanted) and _is_below(wanted, registered_domain(host)) else None


def _keeps_promise(name: str, secure: bool, given: dict[str, str]) -> bool:
    """Names that begin so promise how they were set."""
    lowered = name.lower()
    if lowered.startswith("__host-"):
        return secure and given.get("path") == "/" and not given.get("domain")
    return secure or not lowered.startswith("__secure-")


def _expiry(given: dict[str, str], now: float) -> float:
    age = given.get("max-age", "")
    if re.fullmatch(r"-?\d+", age):
        return max(now + float(age[:15]), 1.0)
    from email.utils import parsedate_to_datetime  # rarely needed, and many modules

    try:
        return max(parsedate_to_datetime(given["expires"]).timestamp(), 1.0)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return 0.0


def _is_below(name: str, domain: str) -> bool:
    return name == domain or name.endswith("." + domain)


def _path(url: str) -> str:
    return url[url.index("/", url.index("//") + 2) :].partition("#")[0].partition("?")[0]
