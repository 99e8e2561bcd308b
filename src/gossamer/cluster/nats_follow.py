"""Reading a stream from a place on, without anything about it kept by the broker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, Header

from gossamer.cluster.nats_link import Link, Stored
from gossamer.errors import UnavailableError

_AT_ONCE: Final = 256  # messages
_MOST_BYTES: Final = 8 << 20  # at once, more than any message has
_FORGOTTEN_AFTER: Final = 20.0  # seconds after which the broker drops a consumer that nobody asks
# Seconds to wait where nobody hears: of several servers, this one may not know yet where the new consumer is.
_RESTS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_NOBODY: Final = "503"
_NOTHING: Final = ("404", "408")  # there is nothing more, within the time


class _UnheardError(UnavailableError):
    pass


class _Wanted(msgspec.Struct, omit_defaults=True):
    batch: int
    expires: int = 0  # nanoseconds
    max_bytes: int = 0
    no_wait: bool = False


_ALL: Final = _Wanted(_AT_ONCE, max_bytes=_MOST_BYTES, no_wait=True)


class Follow:
    """Invariant: messages on the subjects from `start` on come in order, each once; or an error, and then again.

    The consumer is in the broker's memory and acknowledges nothing: the position is here, and a new one is made from it
    when the old one is gone. Without `start`, the last message of each subject comes first, then what is new.
    """

    def __init__(self, link: Link, stream: str, subjects: Sequence[str], start: int | None = None) -> None:
        self._link = link
        self._stream = stream
        self._subjects = list(subjects)
        self._next = start
        self._consumer = ""
        self._delivered = 0  # by this consumer
        self._inbox: Subscription | None = None
        self._asked = 0  # times

    async def next(self, patience: float) -> list[Stored]:
        try:
            if not self._consumer:
                await self._begin()
                found = await self._first_pull()
            else:
                found = await self._pull(_ALL, 0.0)
            if not found and patience > 0:
                found = await self._pull(_Wanted(1, expires=int(patience * 1e9)), patience)
        except (NatsError, OSError, TimeoutError, ValueError, UnavailableError) as error:
            self._link.troubles += 1
            await self._give_up()
            await self._drop()
            raise UnavailableError(
                f"the broker does not hand out {self._stream} ({str(error) or type(error).__name__}): try again"
            ) from error
        return found

    async def close(self) -> None:
        name, self._consumer = self._consumer, ""
        with suppress(NatsError, OSError, TimeoutError):
            if name:
                await self._link.js.delete_consumer(self._stream, name)
        await self._drop()

    async def _begin(self) -> None:
        await self._drop()
        policy = DeliverPolicy.LAST_PER_SUBJECT if self._next is None else DeliverPolicy.BY_START_SEQUENCE
        self._inbox = await self._link.client.subscribe(f"{self._link.client.new_inbox()}.*")
        made = await self._link.js.add_consumer(
            self._stream,
            ConsumerConfig(
                deliver_policy=policy,
                opt_start_seq=None if self._next is None else max(1, self._next),
                ack_policy=AckPolicy.NONE,
                filter_subjects=self._subjects,
                inactive_threshold=_FORGOTTEN_AFTER,
                mem_storage=True,
                num_replicas=1,
            ),
        )
        self._consumer, self._delivered = made.name, 0

    async def _first_pull(self) -> list[Stored]:
        for rest in _RESTS:
            with suppress(_UnheardError):
                return await self._pull(_ALL, 0.0)
            await asyncio.sleep(rest)
        return await self._pull(_ALL, 0.0)

    async def _pull(self, wanted: _Wanted, patience: float) -> list[Stored]:
        assert self._inbox is not None
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._consumer}"
        self._asked += 1
        reply = f"{self._inbox.subject[:-1]}{self._asked}"
        await self._link.client.publish(subject, msgspec.json.encode(wanted), reply=reply)
        found: list[Stored] = []
        try:
            while len(found) < wanted.batch:
                message = await self._inbox.next_msg(timeout=patience + self._link.patience)
                status = _status(message)
                if not status:
                    found.append(self._taken(message))
                elif message.subject != reply:
                    continue  # a word on an earlier question, whose messages came before: "batch completed"
                elif status.startswith(_NOTHING) or (found and "MaxBytes" in status):
                    break
                elif status.startswith(_NOBODY):
                    raise _UnheardError("nobody hears")
                else:
                    raise UnavailableError(status)
        except (NatsError, OSError, TimeoutError, ValueError, UnavailableError):
            if not found:
                raise
            self._consumer = ""  # what came is whole, and is not given again; the next call makes another one
        return found

    def _taken(self, message: Msg) -> Stored:
        known = message.metadata  # ValueError if the broker speaks otherwise
        self._delivered += 1
        if known.sequence.consumer != self._delivered:
            raise UnavailableError("a message is missing")
        self._next = known.sequence.stream + 1
        return Stored(known.sequence.stream, message.subject, message.data, message.headers or {})

    async def _give_up(self) -> None:
        """Without waiting for an answer, as the last ones did not come; if it is not heard, it is forgotten in time."""
        if self._consumer and self._link.client.is_connected:
            with suppress(NatsError, OSError, TimeoutError):
                await self._link.client.publish(f"$JS.API.CONSUMER.DELETE.{self._stream}.{self._consumer}", b"")

    async def _drop(self) -> None:
        inbox, self._inbox, self._consumer = self._inbox, None, ""
        if inbox is not None:
            with suppress(NatsError, OSError, TimeoutError, asyncio.InvalidStateError):
                await inbox.unsubscribe()


def _status(message: Msg) -> str:
    """A number and why, if it is no message of the stream."""
    headers = message.headers or {}
    status = "" if message.data else headers.get(Header.STATUS, "")
    return status and f"{status} {headers.get(Header.DESCRIPTION, '')}"
