"""One libcurl handle, used for one response after another.

For most responses a compiled module (`_transfer.c`) does what the methods of `Transfer` do. They serve for what is
unusual, and for everything where it was not built.
"""

from __future__ import annotations

import errno
import re
import socket
from collections import deque
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pycurl

from gossamer.fetch.access import FORM_TYPE, HEADERS, Access
from gossamer.fetch.conditions import NONE, condition_lines, usable
from gossamer.fetch.decode import decoded
from gossamer.fetch.fence import Fence
from gossamer.fetch.guard import Guard
from gossamer.fetch.route import Route
from gossamer.fetch.sniff import sniffed
from gossamer.model import Fault, Method, Page, Reason, Visit
from gossamer.model.heads import values
from gossamer.model.media_type import media_type_of
from gossamer.model.post import body_of
from gossamer.model.url import host_of
from gossamer.rules.link_sources import may_be_source

_SHORTAGE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_LENGTH = re.compile(rb"\ncontent-length:[ \t]*(\d+)", re.I).search
_STATUS_LINE = re.compile(rb"HTTP/[12](?:\.\d)? ([1-9]\d\d)[ \t\r\n]").match
_FINAL = re.compile(rb"\n\r?\n(?=HTTP/)").finditer
_MOST_LINES = 6_000  # of heads in memory: libcurl stops a response with more than 5,000, and others may come before it
_BLANK_LINES = (b"\r\n\r\n", b"\n\n", b"\n\r\n")
_OK: int = pycurl.PREREQFUNC_OK
_ABORT: int = pycurl.PREREQFUNC_ABORT
_FEW = 16  # pieces of a body that are kept as they come
_LONGEST_LENGTH = 2**63 - 1  # longer ones libcurl takes for none

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
    92: (Reason.CLOSED, True),  # CURLE_HTTP2_STREAM: the server broke off this one response
    100: (Reason.TOO_LARGE, False),  # CURLE_TOO_LARGE: headers over libcurl's own caps, 300 KB or 5,000 lines
}


class Limits:
    """What a response may be."""

    __slots__ = ("_match", "_types", "max_body", "max_headers", "max_length", "sources")

    def __init__(
        self, max_body: int, max_headers: int, types: tuple[str, ...], max_length: int = 0, sources: bool = False
    ) -> None:
        """`sources`: sitemaps and feeds may come too, though they are of no wanted type."""
        self.max_body = max_body
        self.max_headers = max_headers
        self.max_length = max_length
        self.sources = sources
        patterns = [re.escape(kind).replace(r"\*", r"[^/]*") for kind in types]
        self._match = re.compile("|".join(patterns), re.I).fullmatch
        self._types: dict[bytes, tuple[str | None, bool]] = {}

    def content_type(self, head: bytes) -> tuple[str | None, bool]:
        """What a head says, and whether that is wanted; None when it says nothing that can be understood, which its
        first bytes must decide.
        """
        found = values(head, b"content-type")
        key = found[0] if len(found) == 1 else b"\n".join(found)
        known = self._types.get(key)
        if known is None:
            if len(self._types) > 1000:
                self._types.clear()
            media_type = media_type_of([value.decode("latin-1") for value in found])
            known = (None, True) if media_type is None else (str(media_type), self._wants(media_type.essence))
            self._types[key] = known
        return known

    def wants_undeclared(self, body: bytes) -> bool:
        """Whether a body without a type is wanted. Text is: it may be HTML that begins in an unusual way."""
        kind = sniffed(body)
        return kind.startswith("text/") or self._wants(kind)

    def too_long(self, head: bytes) -> bool:
        """A body in chunks has no length, whatever else is said (RFC 9112, 6.3)."""
        found = _LENGTH(head)
        return found is not None and _number(found[1]) > self.max_length and b"\ntransfer-encoding:" not in head.lower()

    def _wants(self, essence: str) -> bool:
        return self._match(essence) is not None


class Transfer:
    """Invariant: between `begin` and `end` the handle is one visit's, holds at most `max_body` bytes of its body, and
    sends one request at most. The request is conditional iff the visit has validators then.

    libcurl asks a second time by itself, on a new connection, when the server closes a kept one instead of answering.
    It offers no way to turn that off, so each request is announced (PREREQFUNCTION), and the second one stopped.

    A form goes over a connection of its own, as a kept one may be closed instead of answered, and nobody could tell
    whether it was received. `may_post` is asked at the last moment, when it stands.
    """

    __slots__ = (
        "_asked", "_asks_with", "_chunks", "_fence", "_guard", "_kept", "_limits", "_lines", "_may_post", "_method",
        "_more", "_opened", "_size", "_status", "_stopped", "_type", "_wanted", "_watch", "_withheld", "access",
        "asked_with", "cookie", "curl", "head", "refused", "repeated", "route", "started", "starved", "target", "visit",
    )  # fmt: skip

    def __init__(
        self,
        guard: Guard,
        limits: Limits,
        watch: Callable[[socket.socket], None],
        options: dict[int, Any],
        fence: Fence | None = None,
        may_post: Callable[[Visit], Reason | None] = lambda _: Reason.FORM,
    ) -> None:
        """`may_post`: None when a form may be sent now, or why not."""
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
        self.asked_with = b""  # lines that make the request conditional, or tell of its body, as they were sent
        self.repeated = False
        self._guard = guard
        self._limits = limits
        self._watch = watch
        self._fence = fence
        self._asked = self._opened = self._kept = False
        self._asks_with = NONE
        self._method: Method | None = Method.GET  # None: the next visit needs other settings, whatever it is
        self._may_post = may_post
        self._withheld: Reason | None = None  # why a form was not sent
        self._lines: deque[bytes] = deque(maxlen=_MOST_LINES)
        self._chunks: list[bytes] = []
        self._more: BytesIO | None = None
        self._size = 0
        self._status = 0  # of the head
        self._stopped = ""
        self._type: str | None = None
        self._wanted = True
        setopt = self.curl.setopt
        for option, value in options.items():
            setopt(option, value)
        setopt(pycurl.HEADERFUNCTION, self._lines.append)
        setopt(pycurl.WRITEFUNCTION, self._on_body if compiled is None else compiled.body_taker(self))
        setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        setopt(pycurl.PREREQFUNCTION, self._announced())
        if fence is not None:
            setopt(pycurl.SOCKOPTFUNCTION, fence.took)

    def use(self, access: Access, cookie: str) -> None:
        """How to speak to the host of the next visit; not asked for where all hosts are spoken to in the usual way."""
        if access is self.access and cookie == self.cookie:
            return
        self.access, self.cookie = access, cookie
        self.curl.setopt(pycurl.PROXY, access.proxy)
        for option, value in access.patience.items():
            self.curl.setopt(option, value)
        self._ask_with(NONE)

    def begin(self, visit: Visit, route: Route, now: float) -> None:
        self.visit = visit
        self.route = route
        self.started = now
        self._asked = self._opened = False
        self.refused = ""
        self.curl.setopt(pycurl.URL, visit.url)
        if visit.method is not self._method:
            self._ask_by(visit)
        if visit.validators != self._asks_with:
            visit.validators = usable(visit.validators)
            self._ask_with(visit.validators)
        target = route.target
        if target != self.target:
            self.target = target
            if target:
                self.curl.setopt(pycurl.CONNECT_TO, [f"::{target}"])
            else:
                self.curl.unsetopt(pycurl.CONNECT_TO)
        if route.several:
            self.curl.setopt(pycurl.RESOLVE, route.resolve(visit.url))

    def _ask_by(self, visit: Visit) -> None:
        """Another method than with the visit before, or another body."""
        setopt = self.curl.setopt
        if self._method is None:
            setopt(pycurl.FRESH_CONNECT, 0)
            setopt(pycurl.PREREQFUNCTION, self._announced())
            self.asked_with = b""
        self._method = visit.method
        if visit.method is Method.POST:
            self._method = None
            body = body_of(visit.url).encode()
            setopt(pycurl.POST, 1)
            setopt(pycurl.POSTFIELDS, body)
            setopt(pycurl.FRESH_CONNECT, 1)
            setopt(pycurl.PREREQFUNCTION, self._before_post)
            self._ask_with(NONE)
            self.asked_with = b"Content-Length: %d\r\nContent-Type: %b\r\n" % (len(body), FORM_TYPE)
        else:
            setopt(pycurl.NOBODY if visit.method is Method.HEAD else pycurl.HTTPGET, 1)

    def _ask_with(self, validators: tuple[bytes, bytes]) -> None:
        """Set all headers of requests: what is not said here is no longer sent."""
        access, cookie = self.access, self.cookie
        lines: list[str | bytes] = [*(HEADERS if access is None else access.lines)]
        if cookie:
            lines.append(f"Cookie: {cookie}")
        asked = condition_lines(validators)
        self.curl.setopt(pycurl.HTTPHEADER, lines + asked)
        self.asked_with = b"".join(b"%b\r\n" % line for line in asked)
        self._asks_with = validators

    def end(self, error: int, detail: str, request: bytes, now: float) -> Page | Fault:
        """What came of it; the handle is free for the next visit after this."""
        visit = self.visit
        assert visit is not None
        if self._lines and not self.head:
            self._end_of_headers()
        chunks, more = self._chunks, self._more
        raw = more.getvalue() if more is not None else chunks[0] if len(chunks) == 1 else b"".join(chunks)
        head, status, stopped, truncated = self.head, self._status, self._stopped, ""
        self.visit, self.head, self._status, self._stopped, self._size, self._more = None, b"", 0, "", 0, None
        self._lines.clear()
        chunks.clear()
        if status == 304 and not stopped and head.endswith(_BLANK_LINES):
            # Whatever its headers say of a body, there is none (RFC 9110, 15.4.5); one that comes may break HTTP/2.
            return self._page(visit, status, head, b"", b"", "", request, now)
        if error or stopped:
            truncated = stopped if stopped == "length" else self._cut_short(error, head, raw)
            if stopped != "length" and (stopped or not truncated):
                return self._fault(error, detail, stopped, head, now)
        if status < 200 or not head.endswith(_BLANK_LINES):
            return self._no_response(head, now)
        body, chunked = raw, False
        if head.lower().find(b"-encoding") >= 0:
            content = decoded(head, raw, self._limits.max_body)
            body, chunked = content.body, content.end >= 0
            raw = raw[: content.end] if chunked else raw
            truncated = truncated or ("length" if content.cut else "")
        if not truncated and not chunked and self.curl.getinfo(pycurl.CONTENT_LENGTH_DOWNLOAD_T) < 0:
            truncated = self._cut_unnoticed(head)
        if self._type is None and self._unwanted(visit, status, body):
            return Fault(Reason.UNWANTED_TYPE, False, sniffed(body), now, status)
        return self._page(visit, status, head, raw, body, truncated, request, now)

    def _page(
        self,
        visit: Visit,
        status: int,
        head: bytes,
        raw: bytes,
        body: bytes,
        truncated: str,
        request: bytes,
        now: float,
    ) -> Page:
        protocol = b""
        if head.startswith(b"HTTP/2 "):
            head, protocol = b"HTTP/1.1" + head[6:], b"h2"
        return Page(
            visit.url, status, head, raw, body, now, now - self.started,
            self.curl.getinfo(pycurl.PRIMARY_IP), request, truncated, self._type, protocol, self._wanted,
        )  # fmt: skip

    def _unwanted(self, visit: Visit, status: int, body: bytes) -> bool:
        """Of a response without a type."""
        if visit.robots or visit.source:
            return False
        return bool(body) and status < 300 and not self._limits.wants_undeclared(body)

    def _fault(self, error: int, detail: str, stopped: str, head: bytes, now: float) -> Fault:
        refused, repeated = self.refused, self.repeated
        self.repeated = False
        withheld, self._withheld = self._withheld, None
        if withheld is not None:
            return Fault(withheld, False, "the form was not sent", now)
        if refused:
            return Fault(Reason.ADDRESS, False, f"connecting to {refused} is not allowed", now)
        if repeated:
            kept = "a kept connection was closed" if self._kept else "closed"
            return Fault(Reason.CLOSED, True, f"{kept} instead of answered", now, stale=self._kept)
        if stopped == "type":
            return Fault(Reason.UNWANTED_TYPE, False, self._type or "", now, _status(head))
        if stopped == "long":
            return Fault(Reason.TOO_LARGE, False, "Content-Length over max_length", now, _status(head))
        if stopped == "headers":
            return Fault(Reason.TOO_LARGE, False, "response headers over max_headers", now)
        reason, retry = _REASONS.get(error, (Reason.PROTOCOL, False))
        if head and reason is Reason.CLOSED and not _status(head):
            return self._nonsense("no HTTP status line", now)
        return self._nonsense(detail, now) if reason is Reason.PROTOCOL else Fault(reason, retry, detail, now)

    def _nonsense(self, detail: str, now: float) -> Fault:
        """What is no HTTP may be the rest of an earlier response on the same connection; not so on a new one."""
        return Fault(Reason.PROTOCOL, self._kept, detail, now)

    def _no_response(self, head: bytes, now: float) -> Fault:
        """For what libcurl took for a response and is none."""
        if _status(head) < 200:
            return self._nonsense("no HTTP response", now)
        if head[head.rfind(b"\n", 0, -1) + 1 :].startswith(b"\r"):
            return self._nonsense("a carriage return within the headers", now)
        return Fault(Reason.CLOSED, True, "closed within the headers", now)

    @staticmethod
    def _cut_short(error: int, head: bytes, raw: bytes) -> str:
        """WARC-Truncated for a response whose body began and did not end; nothing when there is none worth keeping."""
        if not head or not raw:
            return ""
        return "time" if error == pycurl.E_OPERATION_TIMEDOUT else "disconnect"

    @staticmethod
    def _cut_unnoticed(head: bytes) -> str:
        """A length beyond 63 bits means nothing to libcurl, which then reads until the connection is closed."""
        found = _LENGTH(head)
        return "disconnect" if found is not None and _number(found[1]) > _LONGEST_LENGTH else ""

    def _end_of_headers(self) -> None:
        head = b"".join(self._lines)
        if len(head) > self._limits.max_headers or len(self._lines) == _MOST_LINES:
            self._stopped = "headers"
        status = _status(head)
        if 100 <= status < 200:  # 100 Continue and 103 Early Hints come before the response
            head = head[max((found.end() for found in _FINAL(head)), default=0) :]
            status = _status(head)
        self.head, self._status = head, status
        if self._stopped:
            return
        self._type, wanted = self._limits.content_type(head)
        self._wanted = True
        if self.visit is None or self.visit.robots or not 200 <= status < 300:
            return
        self._wanted = wanted
        if not wanted and not self._may_be_source(self.visit):
            self._stopped = "type"
        elif self._limits.max_length and self._limits.too_long(head):
            self._stopped = "long"

    def _may_be_source(self, visit: Visit) -> bool:
        return self._limits.sources and self._type is not None and may_be_source(visit, self._type)

    def _on_body(self, data: bytes) -> int | None:
        if not self.head:
            self._end_of_headers()
            if self._stopped:
                return 0
        self._size += len(data)
        if self._size > self._limits.max_body:
            self._stopped = "length"
            self._keep(data[: len(data) - (self._size - self._limits.max_body)])
            return 0
        if len(self._chunks) < _FEW and self._more is None:
            self._chunks.append(data)
        else:
            self._keep(data)
        return None

    def _keep(self, data: bytes) -> None:
        """In one buffer when there are many pieces, which may be of a byte each."""
        if self._more is not None:
            self._more.write(data)
        elif len(self._chunks) < _FEW:
            self._chunks.append(data)
        else:
            self._more = BytesIO()
            self._more.writelines(self._chunks)
            self._more.write(data)
            self._chunks.clear()

    def _announced(self) -> Callable[..., int]:
        if self._fence is not None:
            return self._before_fenced_request
        return self._before_request if compiled is None else compiled.announcer(self)

    def _before_request(self, *_: object) -> int:
        if self._asked:
            self.repeated = True
            return _ABORT
        self._asked = True
        self._kept = not self._opened
        return _OK

    def _before_fenced_request(self, *_: object) -> int:
        assert self._fence is not None
        return self._before_request() if self._fence.is_open() else _ABORT

    def _before_post(self, *_: object) -> int:
        if self._fence is not None and not self._fence.is_open():
            return _ABORT
        if not self._asked:
            assert self.visit is not None
            self._withheld = self._may_post(self.visit)
            if self._withheld is not None:
                return _ABORT
        return self._before_request()

    def _open_socket(self, purpose: int, address: Any) -> Any:
        family, kind, protocol, where = address
        host = host_of(self.visit.url) if self.visit is not None else ""
        # Through a proxy this is the proxy's address, which the operator named; the fetcher judged the host's.
        if not (self.access is not None and self.access.proxy) and not self._guard.allows(where[0], host):
            self.refused = where[0]
            return pycurl.SOCKET_BAD
        self._opened = True
        try:
            connection = socket.socket(family, kind, protocol)
            self._watch(connection)
        except OSError as error:
            self.starved = error.errno in _SHORTAGE
            return pycurl.SOCKET_BAD
        self.starved = False
        return connection


_statuses: dict[bytes, int] = {}  # by the beginnings of status lines, of which there are some thousands at most


def _status(head: bytes) -> int:
    """0 when it does not begin with a status line."""
    status = _statuses.get(head[:13])
    if status is None:
        found = _STATUS_LINE(head)
        if found is None:
            return 0
        status = int(found[1])
        if found.end() == 13:
            _statuses[head[:13]] = status
    return status


def _number(digits: bytes) -> int:
    """Exact up to 20 digits, and of a longer number its first 20: large enough for every question here."""
    return int(digits) if len(digits) < 20 else int(digits.lstrip(b"0")[:20] or b"0")


try:
    from gossamer.fetch import _transfer

    compiled = _transfer
    compiled.bind(Transfer, Limits, Route, Visit, Page, pycurl.URL, pycurl.PRIMARY_IP)
except ImportError:  # no compiler was at hand when it was installed
    compiled = None  # type: ignore[assignment]
