"""What a fetch gives: a Page (bytes as received) or a Fault (why there is none)."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from gossamer.model.heads import validators as validators_in
from gossamer.regex import compiled_later

# Lines whose name is none (spaces in it, nothing before the colon) are no headers; spaces before the colon are borne.
_HEADER = compiled_later(rb"^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?$", re.M)


class Reason(StrEnum):
    """The closed list of why there is no page. Counted, kept in the visit, shown by `explain`."""

    DNS = "dns"  # the name does not resolve
    CONNECT = "connect"  # refused or unreachable
    PROXY = "proxy"  # the proxy cannot be used, which says nothing of the host
    TIMEOUT = "timeout"  # took longer than allowed, in all or per byte
    TLS = "tls"  # certificate or handshake
    CLOSED = "closed"  # the server closed before a whole response
    PROTOCOL = "protocol"  # not HTTP, or broken HTTP
    ADDRESS = "address"  # the address may not be connected to
    TOO_LARGE = "too_large"  # headers over max_headers, or a Content-Length over max_length
    UNWANTED_TYPE = "unwanted_type"  # stopped after the headers: not a wanted type
    RESERVED = "reserved"  # it contains a text of scope.reserved
    BUSY = "busy"  # the server asks to be left alone for a while (429, 503)
    FORM = "form"  # to be sent with POST, and nobody may, or may any more
    UNANSWERED = "unanswered"  # a form that was sent before; nobody knows what came of it, so it is not sent again
    ROBOTS = "robots"  # robots.txt says no
    ROBOTS_5XX = "robots_5xx"  # robots.txt: the server failed, so nothing is allowed yet
    ROBOTS_UNREACHABLE = "robots_unreachable"  # robots.txt is on another host, which cannot be visited


class Page(msgspec.Struct, gc=False):
    """A response as received. `head` and `raw` are the exact bytes that go into WARC; `body` is decoded."""

    url: str
    status: int
    head: bytes  # status line and header lines, with the blank line that ends them
    raw: bytes  # body as sent: still chunked, still compressed
    body: bytes  # transfer and content encodings taken off
    fetched_at: float
    seconds: float
    address: str
    request: bytes = b""  # the request as sent
    truncated: str = ""  # WARC-Truncated: length, time, disconnect
    content_type: str | None = None
    protocol: bytes = b""  # WARC-Protocol: h2 for HTTP/2, whose head is written as HTTP/1.1 would have sent it
    wanted: bool = True  # its type is; otherwise it is here to be read for links, if it is a sitemap or a feed

    @property
    def validators(self) -> tuple[bytes, bytes]:
        """ETag and Last-Modified as sent, each empty where there is none."""
        return validators_in(self.head)

    @property
    def headers(self) -> list[tuple[str, str]]:
        start = self.head.find(b"\n") + 1
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in _HEADER.findall(self.head[start:])]

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return None


class Fault(msgspec.Struct, frozen=True, gc=False):
    """Why there is no page, and whether trying again may help."""

    reason: Reason
    retry: bool
    detail: str = ""
    fetched_at: float = 0.0
    status: int = 0  # where the headers came and were enough
    stale: bool = False  # a kept connection was closed instead of answered, which says nothing about the page
    lasting: bool = False  # to ask again soon would bring the same: there is no such name
