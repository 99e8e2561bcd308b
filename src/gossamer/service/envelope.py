"""What surrounds every request: its caps before, its time while, its headers after."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.service import limits
from gossamer.service.callers import Gate
from gossamer.service.limits import retry_after
from gossamer.service.origin import Names, is_foreign
from gossamer.service.problems import Problem

log = logging.getLogger(__name__)

# Where an answer says nothing else. Nothing is loaded, framed, embedded elsewhere, guessed or kept.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


# Answers that go on until one side ends them. They have a number of their own, so that they keep nobody from asking.
STREAMS = frozenset({"/api/v1/events", "/dashboard/events"})


class Answer:
    """The way back to the one who asks. Invariant: it has one user; who handed it over can say no more."""

    def __init__(self, send: Send, bare: bool) -> None:
        self._send = send
        self._bare = bare
        self._closed = False
        self.started: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def send(self, message: Message) -> None:
        if self._closed:
            return
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message["headers"]))
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            message = {**message, "headers": headers.raw}
            if not self.started.done():
                self.started.set_result(None)
        elif self._bare and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)

    def handed_over(self) -> Answer:
        """The same way for somebody else; what still comes this way goes nowhere."""
        self._closed = True
        return Answer(self._send, self._bare)

    async def refuse(self, problem: Problem, scope: Scope, receive: Receive) -> None:
        await problem.response()(scope, receive, self.send)


class Envelope:
    """Invariants: never more than `at_once` requests are worked on, those given up included until they have ended, and
    never more than `streams_at_once` streams besides; every answer begins within `seconds`, and has the headers that
    keep a browser from doing more with it.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: Names,
        gate: Gate,
        seconds: float = limits.REQUEST_SECONDS,
        at_once: int = limits.REQUESTS_AT_ONCE,
        streams_at_once: int = limits.STREAMS_AT_ONCE,
    ) -> None:
        self._app = app
        self._names = names
        self._gate = gate
        self._seconds = seconds
        self._most = {False: at_once, True: streams_at_once}  # by whether it is a stream
        self._running = {False: 0, True: 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = Answer(send, bare=scope["method"] == "HEAD")
        streams = scope["path"] in STREAMS
        problem = self._refusal(scope)
        if problem is None and self._running[streams] >= self._most[streams]:
            problem = _too_many(streams)
        if problem is not None:
            await answer.refuse(problem, scope, receive)
            return
        if scope["method"] == "HEAD" and not streams:  # every GET can be asked so that has an end
            scope = {**scope, "method": "GET"}
        await self._work(scope, receive, answer, streams)

    def _refusal(self, scope: Scope) -> Problem | None:
        """By the head of the request alone."""
        if len(scope["raw_path"]) + len(scope["query_string"]) > limits.URL_BYTES:
            return Problem(414, f"The URL is longer than {limits.URL_BYTES:,} bytes.")
        if _size(scope["headers"]) > limits.HEADER_BYTES:
            return Problem(431, f"The headers are longer than {limits.HEADER_BYTES:,} bytes.")
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._names.know(hosts[0]):
            return Problem(
                421,
                "This service is not known by the name in the Host header. "
                "Where a proxy publishes it, name the address with `gossamer serve --origin`.",
            )
        if is_foreign(scope["method"], scope["path"], headers, self._names):
            return Problem(403, "A page of another site asks for this.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > limits.BODY_BYTES:
            return _too_large()
        return self._gate.closed_to(Request(scope))

    async def _work(self, scope: Scope, receive: Receive, answer: Answer, streams: bool) -> None:
        task = asyncio.ensure_future(self._run(scope, receive, answer))
        self._running[streams] += 1
        task.add_done_callback(lambda task: self._ended(task, streams))
        try:
            await asyncio.wait({task, answer.started}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done() or answer.started.done():
                await task
                return
        except asyncio.CancelledError:
            task.cancel()
            raise
        # Cancelling would not end a thread, only forget it. It goes on to its end, and counts until then.
        problem = Problem(503, f"This took longer than {self._seconds:g} s and was given up.", retry_after(5))
        await answer.handed_over().refuse(problem, scope, receive)

    async def _run(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        try:
            body = await _body(scope, receive)
            await self._app(scope, _replayed(body, receive), answer.send)
        except Problem as problem:
            await answer.refuse(problem, scope, receive)
        except Exception:
            log.exception("%s %r failed", scope["method"], scope["path"])
            if answer.started.done():
                raise  # half an answer: the connection is cut, so that it is not taken for a whole one
            await answer.refuse(Problem(500, "This is a fault of the service; its log says more."), scope, receive)

    def _ended(self, task: asyncio.Future[None], streams: bool) -> None:
        self._running[streams] -= 1
        if not task.cancelled():
            task.exception()  # seen: whoever waits for it says so


async def _body(scope: Scope, receive: Receive) -> bytes:
    """All of it, before anything is done: a slow sender keeps no route busy."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limits.BODY_BYTES:
            raise _too_large()
        if not message.get("more_body"):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _too_many(streams: bool) -> Problem:
    if streams:
        return Problem(503, "Too many listen to events at once. Try again when some have left.", retry_after(10))
    return Problem(503, "Too much is asked at once. Try again in a moment.", retry_after(1))


def _too_large() -> Problem:
    return Problem(413, f"The body is larger than {limits.BODY_BYTES:,} bytes.")


def _size(headers: Iterable[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers)
