"""Agents that answer over a real broker, for tests of a service that asks them."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gossamer.agent.broker_file import save_broker
from gossamer.cluster.broker import Broker, open_keys
from gossamer.cluster.coordinator import Entry
from gossamer.cluster.nats_questions import NatsQuestions
from gossamer.cluster.server import Server
from gossamer.cluster.session import Beat, Over, session_key
from gossamer.service.answering import answer_for

PATIENCE = 20.0


def broker_of(server: Server, name: str = "") -> Broker:
    credentials = server.credentials
    return Broker(addresses=(server.address,), user=credentials.user, password=credentials.password, name=name)


def joined(server: Server, home: Path, name: str) -> None:
    """The directory is that of an agent from now on."""
    save_broker(broker_of(server, name), home)
    beat(server, name)


def beat(server: Server, name: str, over: Over = Over.NOT) -> None:
    """As an agent of this name would say it of itself."""

    async def say() -> None:
        link = await broker_of(server).connect()
        try:
            keys = await open_keys(link)
            entry = await keys.get(session_key(name))
            said = msgspec.json.encode(Beat(secrets.token_hex(8), 1, over=over))
            assert await keys.compare_and_set(session_key(name), said, entry.revision if entry else 0)
        finally:
            await link.close()

    asyncio.run(say())


def key(server: Server, name: str) -> Entry | None:
    async def get() -> Entry | None:
        link = await broker_of(server).connect()
        try:
            return await (await open_keys(link)).get(name)
        finally:
            await link.close()

    return asyncio.run(get())


@contextmanager
def answering(home: Path, others: Mapping[str, Callable[[bytes], bytes]] | None = None) -> Iterator[None]:
    """As the process beside an agent does it."""
    with _in_thread(lambda stopped, ready: answer_for(home, stopped, ready, others)):
        yield


@contextmanager
def saying(server: Server, name: str, answer: Callable[[bytes], Awaitable[bytes]]) -> Iterator[None]:
    """An agent of another kind."""

    async def run(stopped: Callable[[], bool], ready: Callable[[], None]) -> None:
        link = await broker_of(server).connect()
        questions = NatsQuestions(link)
        await questions.answer(name, answer)
        ready()
        while not stopped():  # noqa: ASYNC110 - of another thread
            await asyncio.sleep(0.02)
        await questions.close()
        await link.close()

    with _in_thread(run):
        yield


@contextmanager
def _in_thread(run: Callable[[Callable[[], bool], Callable[[], None]], Awaitable[None]]) -> Iterator[None]:
    ready, over = threading.Event(), threading.Event()

    async def main() -> None:
        await run(over.is_set, ready.set)

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield
    finally:
        over.set()
        thread.join(PATIENCE)
