"""Connections of those who are slow, on purpose or not."""

from __future__ import annotations

import asyncio
import math
import socket
import struct

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from gossamer.service.envelope import HEADERS
from gossamer.service.limits import CONNECTIONS, IDLE_SECONDS, PEER_CONNECTIONS
from gossamer.service.listening import is_loopback
from gossamer.service.problems import MEDIA_TYPE, Problem

_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: on, for no time


class PatientProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with the limits that it lacks.

    Invariants: a connection is cut that for `patience` seconds neither has a request being answered nor sends the whole
    head of one, or that does not take what was sent to it; there are at most `most`, and of another machine `share`. A
    new one takes the place of one that is idle.
    """

    patience = IDLE_SECONDS
    most = CONNECTIONS
    share = PEER_CONNECTIONS
    peer = ""
    _late: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.peer = peer = self.client[0] if self.client else ""
        same = sum(isinstance(each, PatientProtocol) and each.peer == peer for each in self.connections)
        if (same > self.share and not is_loopback(peer)) or (
            len(self.connections) > self.most and not self._make_room()
        ):
            transport.abort()
        else:
            self._watch()

    def _make_room(self) -> bool:
        """Cut the connection that has been idle for longest, so that those who say nothing keep nobody out."""
        idle = [each for each in self.connections if isinstance(each, PatientProtocol) and each.is_idle]
        if not idle:
            return False
        min(idle, key=lambda each: each.idle_until).transport.abort()
        return True

    @property
    def is_idle(self) -> bool:
        """It waits for a request, and is not being closed."""
        return self._late is not None and not self.transport.is_closing()

    @property
    def idle_until(self) -> float:
        return math.inf if self._late is None else self._late.when()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self.loop.call_later(self.patience, self._cut)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._late, self._stuck):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        body = Problem(400, "This is not an HTTP request that can be read.").body()
        headers = {**HEADERS, "Content-Type": MEDIA_TYPE, "Content-Length": str(len(body)), "Connection": "close"}
        try:
            for event in (
                h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:
            pass  # an answer is under way, or was: it is cut
        self.transport.close()

    def _cut(self) -> None:
        """At once and for the system, too, which would keep what was not taken for minutes."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    def _watch(self) -> None:
        """While nothing is being answered, the time runs from the first such moment on."""
        if self.cycle is not None and not self.cycle.response_complete:
            if self._late is not None:
                self._late.cancel()
                self._late = None
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(self.patience, self.transport.abort)
