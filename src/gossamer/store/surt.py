"""SURT, the sort key by which web archives look up a URL: `http://www.Example.org/A/?b&a` is `org,example)/a?a&b`.

There is no standard. What counts is what the tools of the field compute, so this follows the Python package `surt` 0.3,
which pywb and cdxj-indexer call, with all its habits: tests/contract/test_surt.py compares the two. That package is not
used here because its licence (AGPL) is not ours, and because it takes several times as long.

Where that package fails with an exception (a port that is no number, say), cdxj-indexer takes the URL itself as the
key, and so does this.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from urllib.parse import unquote_to_bytes

from gossamer.regex import compiled_later

_SCHEME = compiled_later(rb"[a-zA-Z][a-zA-Z0-9+.-]*:")
_REPEATED = compiled_later(rb"(https?://)+")
_PARTS = compiled_later(rb"([^:]*):(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?")
_BREAKS = compiled_later(rb"[\n\r\t]")
_ESCAPED = compiled_later(rb"[^!\"$&-~]")
_PORTS = {b"http": 80, b"https": 443}

_WWW = compiled_later(rb"www\d*\.")
_ADDRESS = compiled_later(rb"(?:[1-9][0-9]*(?:\.[0-9]+){0,3}|0[0-7]*(?:\.[0-7]+){0,3})$")

# Session ids of servers that were common once. Each pattern is tried once, and `.*` has the last place count.
_PATH_SESSIONS = [
    compiled_later(rb"(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)"),
    compiled_later(rb"(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)"),
]
_MAY_BE_SESSION = compiled_later(rb"sid=|sessionid|cftoken=")
_QUERY_SESSIONS = [
    compiled_later(rb"(.*)" + session + rb"(?:&(.*))?")
    for session in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
]


def surt_here(url: str) -> str:
    """Return the key of any URL, of any scheme."""
    if not url:
        return "-"
    if url.startswith("filedesc"):
        return url
    try:
        return _key(url.encode()).decode()
    except ValueError:
        return url


def _key(url: bytes) -> bytes:
    url = _BREAKS.sub(b"", url.strip())
    if not url:
        raise ValueError("nothing but spaces")
    if not _SCHEME.match(url):
        url = b"http://" + url
    url = _REPEATED.sub(rb"\1", url, count=1) if url.startswith(b"http") else url
    parts = _PARTS.match(url)
    if parts is None:
        raise ValueError("no URL")
    scheme, place, path, query = parts.group(1, 2, 3, 4)
    host, port = _host_and_port(place or b"")
    if not host and path and scheme.startswith(b"http"):
        host, _, path = path.lstrip(b"/").partition(b"/")
        path = b"/" + path
    host = _plain_host(host)
    path = _unescaped(path)
    path = _plain_path(_escaped(_joined(path) if host else path).lower())
    if host and scheme != b"dns":
        host = _without_www(host)
    if host:
        number = b"" if port in (0, _PORTS.get(scheme.lower(), 0)) else b":%d" % port
        start = b",".join(reversed(host.split(b"."))) + number + b")"
    else:
        start = scheme + b":"
    query = _plain_query(_escaped(_unescaped(query)).lower()) if query else b""
    return start + (path or b"/") + b"?" + query if query else start + path


def _host_and_port(place: bytes) -> tuple[bytes, int]:
    """Split what stands before the path; the port is 0 where there is none."""
    place = place.rstrip(b":").rpartition(b"@")[2]
    before, bracket, rest = place.partition(b"[")
    if bracket:
        host, _, rest = rest.partition(b"]")
        port = rest.partition(b":")[2] if b":" in rest else None
    else:
        host, colon, number = before.partition(b":")
        port = number if colon else None
    if port is None:
        return host, 0
    if not port.isdigit() or int(port) > 65535:
        raise ValueError("no port")
    return host, int(port)


def _plain_host(host: bytes) -> bytes:
    host = _unescaped(host)
    if not host.isascii():
        with suppress(ValueError):  # it stays as it is then, and is escaped
            host = host.decode("utf-8", "ignore").encode("idna")
    host = host.replace(b"..", b".").strip(b".")
    if host.isdigit():
        return socket.inet_ntoa((int(host) & 0xFFFFFFFF).to_bytes(4, "big")).encode()
    if _ADDRESS.match(host):
        with suppress(OSError):  # a number in it is too large
            return socket.inet_ntoa(socket.inet_aton(host.decode())).encode()
    return _escaped(host.lower()).lower()


def _without_www(host: bytes) -> bytes:
    found = _WWW.match(host)
    return host[found.end() :] if found else host


def _joined(path: bytes) -> bytes:
    """Take dot segments and empty segments out of a path."""
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".." and kept:
            kept.pop()
        elif segment != b".":
            kept.append(segment)
    return b"/" + b"/".join([*filter(None, kept[:-1]), *kept[-1:]])


def _plain_path(path: bytes) -> bytes:
    for pattern in _PATH_SESSIONS if b".aspx" in path else ():
        found = pattern.fullmatch(path)
        if found:
            path = found[1] + found[2]
    return path[:-1] if path.endswith(b"/") and len(path) > 1 else path


def _plain_query(query: bytes) -> bytes:
    for pattern in _QUERY_SESSIONS if _MAY_BE_SESSION.search(query) else ():
        found = pattern.fullmatch(query)
        if found:
            query = found[1] + (found[2] or b"")
    parameters = sorted(query.split(b"&"), key=lambda parameter: parameter.split(b"=", 1))
    return b"&".join(parameters)


def _unescaped(text: bytes) -> bytes:
    """Decode escapes, and those that come of it, until none is left."""
    while b"%" in text:
        decoded = unquote_to_bytes(text)
        if decoded == text:
            break
        text = decoded
    return text


def _escaped(text: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: b"%%%02X" % found[0][0], text)


try:  # it is done for every page
    from gossamer.store._records import surt as _usual
except ImportError:  # no compiler was at hand when it was installed
    surt = surt_here
else:

    def surt(url: str) -> str:
        """Return the key of any URL, of any scheme."""
        return _usual(url) or surt_here(url)
