"""A DNS server of a few names, on real UDP and TCP sockets of loopback.

with TinyDNS() as dns:
    dns.add("a.test", "127.0.0.1", "::1", ttl=60)
    dns.misbehave("b.test", Manner.SILENT)
    ...  # crawl with --dns, dns.address
"""

from __future__ import annotations

import asyncio
import ipaddress
import struct
import threading
from collections import Counter
from concurrent.futures import Future
from contextlib import suppress
from enum import Enum
from typing import Final, NamedTuple, Self, cast

A: Final = 1
AAAA: Final = 28
_CNAME: Final = 5
_NXDOMAIN, _SERVFAIL, _REFUSED = 3, 2, 5
_HEADER = struct.Struct(">6H")
_ANSWER, _TRUNCATED = 0x8180, 0x0200


class Manner(Enum):
    """How a name, or the whole server, is answered instead of well."""

    WELL = "well"
    SILENT = "silent"
    SERVFAIL = "servfail"
    REFUSED = "refused"
    TRUNCATED = "truncated"  # by UDP; all is said by TCP
    GARBAGE = "garbage"  # bytes that are no message
    WRONG_ID = "wrong id"  # a message that answers another question


class Question(NamedTuple):
    name: str
    kind: int
    tcp: bool


class TinyDNS:
    """Answers A and AAAA from a table; a name that is not in it does not exist.

    Invariant: `questions` holds every question that arrived, in order, answered or not.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.host = host
        self.port = 0
        self.questions: list[Question] = []
        self.most_waiting = 0  # questions that waited at the same time; one that was asked again meanwhile counts once
        self.delay = 0.0  # seconds before each answer
        self.manner = Manner.WELL
        self._records: dict[tuple[str, int], list[tuple[bytes, int]]] = {}
        self._aliases: dict[str, tuple[str, int]] = {}
        self._manners: dict[tuple[str, int], Manner] = {}
        self._waiting: Counter[tuple[str, int]] = Counter()
        self._loop: asyncio.AbstractEventLoop
        self._done: asyncio.Event
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="tiny-dns", daemon=True)
        self._ready: Future[None] = Future()

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()

    @property
    def address(self) -> str:
        """For `--dns`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def add(self, name: str, *addresses: str, ttl: int = 300) -> None:
        """What `name` resolves to from now on; none at all is a name without addresses."""
        for kind, version in ((A, 4), (AAAA, 6)):
            packed = [ipaddress.ip_address(address) for address in addresses]
            self._records[name.lower(), kind] = [(one.packed, ttl) for one in packed if one.version == version]

    def alias(self, name: str, target: str, ttl: int = 300) -> None:
        """`name` is where `target` is: answers have both."""
        self._aliases[name.lower()] = (target.lower(), ttl)

    def misbehave(self, name: str, manner: Manner, *kinds: int) -> None:
        """How questions for `name` are answered, those of some kinds or all."""
        for kind in kinds or (A, AAAA):
            self._manners[name.lower(), kind] = manner

    def asked(self, name: str, kind: int = A) -> int:
        """How often."""
        return sum(question[:2] == (name.lower(), kind) for question in self.questions)

    # -- the sockets -------------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()
        while True:  # until one number is free for both
            try:
                listener = await asyncio.start_server(self._on_stream, self.host, 0)
            except OSError as error:
                self._ready.set_exception(error)
                return
            self.port = listener.sockets[0].getsockname()[1]
            with suppress(OSError):
                transport, _ = await self._loop.create_datagram_endpoint(
                    lambda: _Datagrams(self), local_addr=(self.host, self.port)
                )
                break
            listener.close()
        self._ready.set_result(None)
        await self._done.wait()
        transport.close()
        listener.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports close in a turn of their own

    async def on_datagram(self, transport: asyncio.DatagramTransport, message: bytes, sender: tuple[str, int]) -> None:
        answer = await self._answer(message, tcp=False)
        if answer:
            transport.sendto(answer, sender)

    async def _on_stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                (length,) = struct.unpack(">H", await reader.readexactly(2))
                answer = await self._answer(await reader.readexactly(length), tcp=True)
                if answer:
                    writer.write(struct.pack(">H", len(answer)) + answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()

    # -- the messages ------------------------------------------------------------------------------------------------

    async def _answer(self, message: bytes, tcp: bool) -> bytes:
        name, kind, end = _question(message)
        self.questions.append(Question(name, kind, tcp))
        self._waiting[name, kind] += 1
        self.most_waiting = max(self.most_waiting, len(self._waiting))
        try:
            await asyncio.sleep(self.delay)
        finally:
            self._waiting[name, kind] -= 1
            if not self._waiting[name, kind]:
                del self._waiting[name, kind]
        manner = self._manners.get((name, kind), self.manner)
        if manner is Manner.SILENT:
            return b""
        if manner is Manner.GARBAGE:
            return message[:2] + b"\xff" * 40
        return self._message(message, name, kind, end, manner, tcp)

    def _message(self, message: bytes, name: str, kind: int, end: int, manner: Manner, tcp: bool) -> bytes:
        code = {Manner.SERVFAIL: _SERVFAIL, Manner.REFUSED: _REFUSED}.get(manner, 0)
        records = [] if code else self._chain(name, kind)
        if not records and not code and (name, A) not in self._records:
            code = _NXDOMAIN
        flags = _ANSWER | code
        if manner is Manner.TRUNCATED and not tcp:
            flags, records = flags | _TRUNCATED, []
        number = int.from_bytes(message[:2], "big") ^ (manner is Manner.WRONG_ID)
        question = message[_HEADER.size : end]
        return _HEADER.pack(number, flags, 1, len(records), 0, 0) + question + b"".join(records)

    def _chain(self, name: str, kind: int) -> list[bytes]:
        """Aliases from one to the next, and the addresses where they end."""
        records = []
        while name in self._aliases:
            target, ttl = self._aliases[name]
            records.append(_record(name, _CNAME, ttl, _labels(target)))
            name = target
        return records + [_record(name, kind, ttl, data) for data, ttl in self._records.get((name, kind), [])]


def _record(name: str, kind: int, ttl: int, data: bytes) -> bytes:
    return _labels(name) + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


def _labels(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode("latin-1") for label in name.split(".")) + b"\0"


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, server: TinyDNS) -> None:
        self._server = server
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        task = asyncio.ensure_future(self._server.on_datagram(self._transport, data, addr))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _question(message: bytes) -> tuple[str, int, int]:
    """Name in lower case, kind, and where the question ends."""
    labels, at = [], _HEADER.size
    while length := message[at]:
        labels.append(message[at + 1 : at + 1 + length].decode("latin-1").lower())
        at += 1 + length
    (kind,) = struct.unpack_from(">H", message, at + 1)
    return ".".join(labels), kind, at + 5
