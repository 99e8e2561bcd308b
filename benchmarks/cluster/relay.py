"""Relays of TCP on loopback that can stop passing on without closing anything: a network that fails."""

from __future__ import annotations

import asyncio
import threading

_CHUNK = 65_536


class _Way:
    """From one machine to one server. What comes while a direction is stopped waits, as in a kernel."""

    def __init__(self, source: str, target: tuple[str, int]) -> None:
        self._source = source
        self._target = target
        self.forth = asyncio.Event()
        self.back = asyncio.Event()
        self.forth.set()
        self.back.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.forth.wait()  # a new connection does not come through either
        try:
            there, to = await asyncio.open_connection(*self._target, local_addr=(self._source, 0))
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(_pass(reader, to, self.forth), _pass(there, writer, self.back))


class Relays:
    """All relays of a trial, in a thread of their own. Each machine's ask from its own address."""

    def __init__(self) -> None:
        self._ways: dict[tuple[str, str], tuple[_Way, asyncio.Server]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relays", daemon=True)
        self._thread.start()

    def way(self, source: str, name: str, target: tuple[str, int]) -> str:
        """Where the machine `source` finds the server of that name."""
        if (source, name) not in self._ways:
            self._ways[source, name] = asyncio.run_coroutine_threadsafe(self._open(source, target), self._loop).result()
        host, port = self._ways[source, name][1].sockets[0].getsockname()
        return f"{host}:{port}"

    def stop(self, source: str, name: str | None, both: bool) -> None:
        for way in self._of(source, name):
            self._loop.call_soon_threadsafe(way.forth.clear)
            if both:
                self._loop.call_soon_threadsafe(way.back.clear)

    def go_on(self, source: str) -> None:
        for way in self._of(source, None):
            self._loop.call_soon_threadsafe(way.forth.set)
            self._loop.call_soon_threadsafe(way.back.set)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        for _, server in self._ways.values():
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _of(self, source: str, name: str | None) -> list[_Way]:
        return [way for (of, to), (way, _) in self._ways.items() if of == source and name in (None, to)]

    async def _open(self, source: str, target: tuple[str, int]) -> tuple[_Way, asyncio.Server]:
        way = _Way(source, target)
        return way, await asyncio.start_server(way.serve, source, 0, backlog=1024)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, open_: asyncio.Event) -> None:
    """Until one side ends. What was held up when its sender reset the connection never arrives: nobody sends it again,
    as on a network that fails.
    """
    try:
        while data := await reader.read(_CHUNK):
            if not open_.is_set():
                await open_.wait()
                if reader.at_eof() or reader.exception():
                    writer.transport.abort()
                    return
            writer.write(data)
            await writer.drain()
        await open_.wait()
        writer.close()
    except (OSError, asyncio.CancelledError):
        writer.transport.abort()
