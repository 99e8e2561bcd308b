"""One libcurl handle, used for one response after another."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Callable
from typing import Any

import pycurl

from gossamer.fetch.access import Access
from gossamer.fetch.decode import decoded
from gossamer.fetch.guard import Guard
from gossamer.fetch.route import Route
from gossamer.model import Fault, Page, Reason, Visit

_LENGTH = re.compile(rb"\ncontent-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.I)
_SHORTAGE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_TYPE = re.compile(rb"\ncontent-type[ \t]*:[ \t]*([^\r\n]*)", re.I).search

# libcurl's errors, as reasons from our list and whether another try may help.
_REASONS: dict[int, tuple[Reason, bool]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: (Reason.DNS, True),
    pycurl.E_COULDNT_CONNECT: (Reason.CONNECT, True),
    pycurl.E_OPERATION_TIMEDOUT: (Reason.TIMEOUT, True),
    pycurl.E_SSL_CONNECT_ERROR: (Reason.TLS, True),
    pycurl.E_PEER_FAILED_VERIFICATION: (Reason.TLS, False),
    pycurl.E_SSL_CERTPROBLEM: (Reason.TLS, False),
    pycurl.E_SSL_CIPHER: (Reason.TLS, False),
    pycurl.E_GOT_NOTHING: (Reason.CLOSED, True),
    pycurl.E_RECV_ERROR: (Reason.CLOSED, True),
    pycurl.E_SEND_ERROR: (Reason.CLOSED, True),
    pycurl.E_PARTIAL_FILE: (Reason.CLOSED, True),
}


class Limits:
    """What a response may be."""

    __slots__ = ("_match", "_types", "max_body", "max_headers")

    def __init__(self, max_body: int, max_headers: int, types: tuple[str, ...]) -> None:
        self.max_body = max_body
        self.max_headers = max_headers
        patterns = [re.escape(kind).replace(r"\*", r"[^/]*") for kind in types]
        self._match = re.compile("|".join(patterns), re.I).fullmatch
        self._types: dict[bytes, tuple[str, bool]] = {}

    def content_type(self, head: bytes) -> tuple[str | None, bool]:
        """What a head says, and whether that is wanted; a response that does not say is."""
        found = _TYPE(head)
        if found is None:
            return None, True
        known = self._types.get(found[1])
        if known is None:
            if len(self._types) > 1000:
                self._types.clear()
            text = found[1].decode("latin-1").strip()
            kind = text.partition(";")[0].strip()
            known = self._types[found[1]] = (text, not kind or self._match(kind) is not None)
        return known


class Transfer:
    """Invariant: between `begin` and `end` the handle is one visit's, and holds at most `max_body` bytes of it."""

    __slots__ = (
        "_chunks", "_guard", "_limits", "_lines", "_size", "_stopped", "_type", "_watch",
        "access", "cookie", "curl", "head", "refused", "route", "started", "starved", "target", "visit",
    )  # fmt: skip

    def __init__(
        self, guard: Guard, limits: Limits, watch: Callable[[socket.socket], None], options: dict[int, Any]
    ) -> None:
        self.curl = pycurl.Curl()
        self.visit: Visit | None = None
        self.route: Route
        self.target = ""
        self.started = 0.0
        self.head = b""
        self.refused = ""
        self.starved = False  # there was no file descriptor for a socket
        self.access: Access | None = None
        self.cookie = ""
        self._guard = guard
        self._limits = limits
        self._watch = watch
        self._lines: list[bytes] = []
        self._chunks: list[bytes] = []
        self._size = 0
        self._stopped = ""
        self._type: str | None = None
        setopt = self.curl.setopt
        for option, value in options.items():
            setopt(option, value)
        setopt(pycurl.HEADERFUNCTION, self._lines.append)
        setopt(pycurl.WRITEFUNCTION, self._on_body)
        setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)

    def use(self, access: Access, cookie: str) -> None:
        """How to speak to the host of the next visit; not asked for where all hosts are spoken to in the usual way."""
        if access is self.access and cookie == self.cookie:
            return
        self.access, self.cookie = access, cookie
        self.curl.setopt(pycurl.PROXY, access.proxy)
        self.curl.setopt(pycurl.HTTPHEADER, [*access.lines, f"Cookie: {cookie}"] if cookie else access.lines)

    def begin(self, visit: Visit, route: Route, now: float) -> None:
        self.visit = visit
        self.route = route
        self.started = now
        self.curl.setopt(pycurl.URL, visit.url)
        target = route.target
        if target != self.target:
            self.target = target
            if target:
                self.curl.setopt(pycurl.CONNECT_TO, [f"::{target}"])
            else:
                self.curl.unsetopt(pycurl.CONNECT_TO)
        if route.several:
            self.curl.setopt(pycurl.RESOLVE, route.resolve(visit.url))

    def end(self, error: int, detail: str, request: bytes, now: float) -> Page | Fault:
        """What came of it; the handle is free for the next visit after this."""
        visit = self.visit
        assert visit is not None
        if self._lines and not self.head:
            self._end_of_headers()
        raw = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        head, stopped, refused = self.head, self._stopped, self.refused
        self.visit, self.head, self._stopped, self.refused, self._size = None, b"", "", "", 0
        self._lines.clear()
        self._chunks.clear()
        truncated = ""
        if error or stopped:
            if refused:
                return Fault(Reason.ADDRESS, False, f"connecting to {refused} is not allowed", now)
            if stopped == "type":
                status = self.curl.getinfo(pycurl.RESPONSE_CODE)
                return Fault(Reason.UNWANTED_TYPE, False, self._type or "", now, status)
            if stopped == "headers":
                return Fault(Reason.TOO_LARGE, False, "response headers over max_headers", now)
            truncated = stopped or self._cut_short(error, head, raw)
            if not truncated:
                reason, retry = _REASONS.get(error, (Reason.PROTOCOL, False))
                return Fault(reason, retry, detail, now)
        status = self.curl.getinfo(pycurl.RESPONSE_CODE)
        if not head or not status:
            return Fault(Reason.PROTOCOL, False, "no HTTP response", now)
        if not head.endswith((b"\r\n\r\n", b"\n\n", b"\n\r\n")):
            return Fault(Reason.CLOSED, True, "closed within the headers", now)
        body, whole = decoded(head, raw, self._limits.max_body)
        if not whole and not truncated and len(body) >= self._limits.max_body:
            truncated = "length"
        return Page(
            visit.url, status, head, raw, body, now, now - self.started, self.curl.getinfo(pycurl.PRIMARY_IP),
            request, truncated, self._type,
        )  # fmt: skip

    @staticmethod
    def _cut_short(error: int, head: bytes, raw: bytes) -> str:
        """WARC-Truncated for a response whose body began and did not end; nothing when there is none worth keeping."""
        if not head or not raw:
            return ""
        return "time" if error == pycurl.E_OPERATION_TIMEDOUT else "disconnect"

    def _end_of_headers(self) -> None:
        head = b"".join(self._lines)
        final = head.rfind(b"\r\n\r\nHTTP/")  # 100 Continue and 103 Early Hints come before the response
        self.head = head[final + 4 :] if final >= 0 else head
        if len(head) > self._limits.max_headers:
            self._stopped = "headers"
            return
        self._type, wanted = self._limits.content_type(self.head)
        if not wanted and self.visit is not None and not self.visit.robots and _is_success(self.head):
            self._stopped = "type"

    def _on_body(self, data: bytes) -> int | None:
        if not self.head:
            self._end_of_headers()
            if self._stopped:
                return 0
        self._size += len(data)
        if self._size > self._limits.max_body:
            self._stopped = "length"
            self._chunks.append(data[: len(data) - (self._size - self._limits.max_body)])
            return 0
        self._chunks.append(data)
        return None

    def _open_socket(self, purpose: int, address: Any) -> Any:
        family, kind, protocol, where = address
        # Through a proxy this is the proxy's address, which the operator named; the fetcher judged the host's.
        if not (self.access is not None and self.access.proxy) and not self._guard.allows(where[0]):
            self.refused = where[0]
            return pycurl.SOCKET_BAD
        try:
            connection = socket.socket(family, kind, protocol)
            self._watch(connection)
        except OSError as error:
            self.starved = error.errno in _SHORTAGE
            return pycurl.SOCKET_BAD
        self.starved = False
        return connection


def _is_success(head: bytes) -> bool:
    space = head.find(b" ")
    return head[space + 1 : space + 2] == b"2"
