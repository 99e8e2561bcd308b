"""A web made of stored responses: what a crawl once received is answered again, byte by byte."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from gossamer.model.post import METHOD, posted
from gossamer.model.url import normalize
from gossamer.testing.web.conditional import not_modified
from gossamer.testing.web.message import End, Reply, Request, find_header, simple_page

_FORM = "application/x-www-form-urlencoded"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_HEAD_END = re.compile(rb"\r?\n\r?\n\Z")
_VERSION = re.compile(rb"HTTP/[0-9.]+")


class StoredResponse(NamedTuple):
    """The status line and header lines as they came, with the empty line, and the body as it was sent."""

    status: int
    head: bytes
    raw: bytes


class StoredSite:
    """Answers for every URL of which `find` knows a response, and 404 for all others.

    `find` gets URLs in the spelling of the crawl. A response whose end the crawl did not receive, or whose length its
    head does not say, is answered as it was sent and ended by closing the connection.
    """

    def __init__(self, find: Callable[[str], StoredResponse | None], welcome: str) -> None:
        """`welcome` is the sentence that a visitor reads who came by the address of the server."""
        self._find = find
        self._welcome = welcome

    def answer(self, request: Request) -> bytes | Reply:
        if request.method not in (b"GET", b"HEAD", b"POST"):
            return simple_page(405, "Method not allowed", "A stored web answers GET, HEAD and the forms it has seen.")
        asked = _url_of(request)
        found = asked and self._find(asked)
        if not found and asked and request.method != b"POST":
            usual = normalize(asked)
            found = self._find(usual) if usual and usual != asked else None
        if found:
            return _as_sent(found, request)
        host = request.host.decode("latin-1").partition(":")[0]
        if request.target == b"/" and (host == "localhost" or host.replace(".", "").isdigit()):
            return simple_page(200, "A stored web", self._welcome)
        return simple_page(404, "Not stored", "The crawl behind this web has no response for this address.")


def _url_of(request: Request) -> str | None:
    scheme = "https" if request.secure else "http"
    host = request.host.decode("latin-1").lower().removesuffix(_DEFAULT_PORTS[scheme])
    url = f"{scheme}://{host}{request.target.decode('latin-1')}"
    if request.method != b"POST":
        return None if METHOD in url else url
    if (request.header("Content-Type") or "").partition(";")[0].strip().lower() != _FORM:
        return None
    return posted(url, request.body.decode("latin-1"))


def _as_sent(found: StoredResponse, request: Request) -> bytes | Reply:
    head = _VERSION.sub(b"HTTP/1.1", found.head, count=1)
    head = _HEAD_END.sub(b"\r\n\r\n", head)
    if request.method == b"HEAD":
        return head
    whole = head + found.raw
    if not _ends_by_itself(head, found):
        return Reply((whole,), End.CLOSE, found.status)
    return not_modified(request, whole) or whole


def _ends_by_itself(head: bytes, found: StoredResponse) -> bool:
    """Return whether a client can tell where the response ends while the connection stays open."""
    if found.status in (204, 304):
        return True
    if b"chunked" in (find_header(head, b"Transfer-Encoding") or b"").lower():
        return found.raw.endswith(b"0\r\n\r\n")
    return find_header(head, b"Content-Length") == str(len(found.raw)).encode()
