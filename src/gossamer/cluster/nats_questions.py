"""Questions to agents in NATS: requests on `q.TOPIC.NAME`, whose answers come in pieces that fit into messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from struct import Struct
from typing import Final

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeoutError

from gossamer.cluster.nats_link import Link
from gossamer.cluster.questions import MOST_ANSWER, MOST_QUESTION, Answer
from gossamer.cluster.session import session_key
from gossamer.errors import UnavailableError

_PIECE: Final = 512 << 10  # bytes; a message may have twice as many
_AT_ONCE: Final = 64  # questions that are answered or wait for it; who asks more is not answered
_HEAD: Final = Struct(">HH")  # the number of a piece, and how many there are
_MOST_PIECES: Final = -(-MOST_ANSWER // _PIECE)
_NOBODY: Final = "503"  # says the broker where nobody listens


class NatsQuestions:
    """Invariant: an answer is whole, or it is none. Those on different topics do not hear each other."""

    def __init__(self, link: Link, topic: str = "ask") -> None:
        self._link = link
        self._topic = topic
        self._answering: list[Subscription] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, asked: Mapping[str, bytes], patience: Callable[[str], float]) -> dict[str, bytes]:
        client = self._link.client
        if not client.is_connected:
            # The client would send it later, when nobody waits for the answer any more.
            raise UnavailableError("the broker is not connected, so that other agents cannot be asked: try again")
        names = list(asked)
        inbox = client.new_inbox()
        try:
            replies = await client.subscribe(f"{inbox}.*")
            try:
                for number, name in enumerate(names):
                    await client.publish(self._subject(name), asked[name], reply=f"{inbox}.{number}")
                return await _gathered(replies, names, patience)
            finally:
                with suppress(NatsError, OSError):
                    await replies.unsubscribe()
        except (NatsError, OSError) as error:
            raise UnavailableError(f"other agents cannot be asked ({error}): try again") from error

    async def answer(self, name: str, answer: Answer) -> None:
        async def on_message(message: Msg) -> None:
            if message.reply and len(message.data) <= MOST_QUESTION and len(self._tasks) < _AT_ONCE:
                task = asyncio.create_task(self._reply(message, answer))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

        try:
            listening = await self._link.client.subscribe(self._subject(name), queue="answer", cb=on_message)
            self._answering.append(listening)
            await self._link.client.flush(max(1, int(self._link.patience)))  # from here on it is heard
        except (NatsError, OSError) as error:
            raise UnavailableError(f"questions to {name} cannot be heard ({error}): try again") from error

    async def close(self) -> None:
        for listening in self._answering:
            with suppress(NatsError, OSError):
                await listening.unsubscribe()
        for task in self._tasks:
            task.cancel()

    def _subject(self, name: str) -> str:
        return f"q.{self._topic}.{session_key(name).partition('.')[2]}"

    async def _reply(self, message: Msg, answer: Answer) -> None:
        said = await answer(message.data)
        with suppress(NatsError, OSError):  # who asked is told nothing, and says so
            for piece in _pieces(said):
                await message.respond(piece)


class _Pieces:
    """The answer of one, as far as it has come."""

    def __init__(self) -> None:
        self._found: list[bytes] = []

    def add(self, data: bytes) -> bytes | None:
        """The answer, with its last piece. ValueError for what is none: pieces of one sender come in order."""
        if not _HEAD.size <= len(data) <= _HEAD.size + _PIECE:
            raise ValueError("no piece of an answer")
        number, pieces = _HEAD.unpack_from(data)
        if number != len(self._found) or not number < pieces <= _MOST_PIECES:
            raise ValueError("no piece that comes next")
        self._found.append(data[_HEAD.size :])
        return b"".join(self._found) if number + 1 == pieces else None


async def _gathered(replies: Subscription, names: list[str], patience: Callable[[str], float]) -> dict[str, bytes]:
    clock = asyncio.get_running_loop().time
    begun = clock()
    until = {number: begun + patience(name) for number, name in enumerate(names)}
    pieces = {number: _Pieces() for number in until}
    found: dict[str, bytes] = {}
    while until and (left := max(until.values()) - clock()) > 0:
        try:
            message = await replies.next_msg(timeout=left)
        except NatsTimeoutError:
            break
        number = int(message.subject.rpartition(".")[2])
        if number not in until:
            continue
        try:
            if (message.headers or {}).get("Status") == _NOBODY:
                raise ValueError("nobody listens")
            whole = pieces[number].add(message.data)
        except ValueError:
            del until[number]
            continue
        if whole is not None:
            found[names[number]] = whole
            del until[number]
    return found


def _pieces(said: bytes) -> Iterator[bytes]:
    """None of what is too long."""
    if len(said) <= MOST_ANSWER:
        cuts = range(0, len(said) or 1, _PIECE)
        for number, start in enumerate(cuts):
            yield _HEAD.pack(number, len(cuts)) + said[start : start + _PIECE]
