"""One connection: HTTP/1.0 and 1.1 with keep-alive and pipelining, parsed with a few byte searches."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, cast

from gossamer.testing.web.message import End, Reply, Request, find_header, simple_page

if TYPE_CHECKING:
    from gossamer.testing.web.server import Server

_MOST_HEAD = 65_536
_MOST_WAITING = 1 << 20  # bytes of pipelined requests before reading stops
_LINGER_ZERO = struct.pack("ii", 1, 0)


class Connection(asyncio.Protocol):
    """Serves one connection.

    Invariant: at most one response is under way; while it is (`_busy`), what arrives waits in `_buffer`, so answers
    keep the order of the requests.
    """

    __slots__ = (
        "_buffer",
        "_busy",
        "_lost",
        "_server",
        "_task",
        "_transport",
        "_writable",
        "address",
        "number",
        "secure",
    )

    def __init__(self, server: Server, number: int) -> None:
        self.number = number
        self.address = ""
        self.secure = False
        self._server = server
        self._buffer = b""
        self._busy = False
        self._lost = False
        self._task: asyncio.Task[None] | None = None
        self._writable: asyncio.Event | None = None  # there while the client reads slower than we write

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.address = (transport.get_extra_info("peername") or ("",))[0]
        self.secure = transport.get_extra_info("ssl_object") is not None
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._server.connections.discard(self)
        self._server.log.end(self.number)
        if self._task is not None:
            self._task.cancel()

    @property
    def waiting_bytes(self) -> int:
        """What is held in memory for this connection: requests not yet answered, answers not yet read."""
        return len(self._buffer) + self._transport.get_write_buffer_size()

    def abort(self) -> None:
        self._transport.abort()

    def pause_writing(self) -> None:
        self._writable = asyncio.Event()

    def resume_writing(self) -> None:
        if self._writable is not None:
            self._writable.set()
            self._writable = None
        if not self._busy:
            self._go_on()

    def data_received(self, data: bytes) -> None:
        if self._buffer:
            data = self._buffer + data
        if self._busy or self._writable is not None:
            self._buffer = data
            if len(data) > _MOST_WAITING:
                self._transport.pause_reading()
        else:
            self._serve(data)

    def _go_on(self) -> None:
        """Takes up the requests that waited for the last response to end."""
        self._busy = False
        if self._lost or self._transport.is_closing():
            return
        data, self._buffer = self._buffer, b""
        if not self._transport.is_reading():
            self._transport.resume_reading()
        if data:
            self._serve(data)

    def _serve(self, data: bytes) -> None:
        """Answers all whole requests in `data` and keeps the rest."""
        start = 0
        while not self._busy and self._writable is None and not self._transport.is_closing():
            end = data.find(b"\r\n\r\n", start)
            if end < 0:
                if len(data) - start > _MOST_HEAD:
                    self._refuse(431, "Request too large")
                break
            head = data[start : end + 2]
            length = 0
            if b"ontent-" in head or b"ransfer-" in head:
                length = _body_length(head)
                if length < 0:
                    self._refuse(411, "Length required")
                    break
                if len(data) < end + 4 + length:
                    break
            start = end + 4 + length
            self._answer(head, data[end + 4 : start])
        self._buffer = data[start:] if start < len(data) else b""

    def _answer(self, head: bytes, body: bytes) -> None:
        server = self._server
        line = head.find(b"\r\n")
        first, last = head.find(b" "), head.rfind(b" ", 0, line)
        if not 0 < first < last:
            self._refuse(400, "Not a request")
            return
        method, target = head[:first], head[first + 1 : last]
        host = find_header(head, b"Host") or b""
        if target[:7] == b"http://":  # as sent to a proxy
            host, slash, path = target[7:].partition(b"/")
            target = slash + path or b"/"
        answer = server.site.answer(Request(method, host, target, head, body, self.secure))
        status = int(answer[9:12]) if type(answer) is bytes else cast(Reply, answer).status
        agent = find_header(head, b"User-Agent") or b""
        conditional = (b"f-" in head or b"F-" in head) and _is_conditional(head)
        keep = True
        if type(answer) is bytes:
            if method == b"HEAD":
                answer = answer[: answer.find(b"\r\n\r\n") + 4]
            if b"onnection:" in head or head[line - 3 : line] != b"1.1":
                keep = _keeps(head, line)
                answer = answer.replace(b"\r\n", b"\r\nConnection: %b\r\n" % (b"keep-alive" if keep else b"close"), 1)
        size = len(answer) if type(answer) is bytes else cast(Reply, answer).size
        server.log.add((host, target, method, agent, self.number, status, size, conditional, self.address))
        if type(answer) is bytes:
            if server.latency:
                self._busy = True
                server.loop.call_later(server.wait(), self._send, answer, keep)
            else:
                self._transport.write(answer)
                server.log.end(self.number)
                if not keep:
                    self._transport.close()
        else:
            self._busy = True
            self._task = server.loop.create_task(self._play(cast(Reply, answer), _keeps(head, line)))

    def _send(self, answer: bytes, keep: bool) -> None:
        if self._lost:
            return
        self._transport.write(answer)
        self._server.log.end(self.number)
        if keep:
            self._busy = False
            if self._writable is None:
                self._go_on()
        else:
            self._transport.close()

    async def _play(self, reply: Reply, keep: bool) -> None:
        """Sends a reply in parts, never faster than the client reads."""
        server = self._server
        if server.latency:
            await asyncio.sleep(server.wait())
        for part in reply.parts:
            if isinstance(part, bytes):
                self._transport.write(part)
                await asyncio.sleep(0)  # an endless reply must let others run
                if self._writable is not None:
                    await self._writable.wait()
            else:
                await asyncio.sleep(part * server.time_scale)
        self._task = None
        if reply.end is not End.HANG:
            server.log.end(self.number)
        if reply.end is End.RESET:
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
            self._transport.abort()
        elif reply.end is End.CLOSE or (reply.end is End.KEEP and not keep):
            self._transport.close()
        elif reply.end is End.KEEP:
            self._go_on()

    def _refuse(self, status: int, title: str) -> None:
        self._transport.write(simple_page(status, title, "The simulated web did not understand this request."))
        self._transport.close()


def _is_conditional(head: bytes) -> bool:
    return any(find_header(head, name) is not None for name in (b"If-None-Match", b"If-Modified-Since"))


def _keeps(head: bytes, line: int) -> bool:
    wish = (find_header(head, b"Connection") or b"").lower()
    return b"keep-alive" in wish if head[line - 3 : line] == b"1.0" else b"close" not in wish


def _body_length(head: bytes) -> int:
    """Bytes of request body to skip, -1 if that cannot be known."""
    if find_header(head, b"Transfer-Encoding") is not None:
        return -1
    length = find_header(head, b"Content-Length")
    if length is None:
        return 0
    return int(length) if length.isdigit() and len(length) < 10 else -1
