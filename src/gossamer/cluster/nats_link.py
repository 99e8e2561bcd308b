"""The connection to the broker, and its errors as ours. nats-py is used here and in the other `nats_` files only."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar
from urllib.parse import urlsplit

import msgspec
from nats.aio.client import Client, Srv
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError

from gossamer.cluster.ending import ended
from gossamer.errors import ConfigError, LogFullError, UnavailableError

PATIENCE: Final = 3.0  # seconds for an answer; an agent must know early that it does not hear from the broker
_WRONG_SEQUENCE: Final = 10071
_RACE: Final = 10164
_NAME_IN_USE: Final = 10058
_STORE_FAILED: Final = 10077  # of which one reason is the limit
_PING_EVERY: Final = 2  # seconds: a connection that is cut without a word is noticed after twice that
_FAREWELL: Final = 1.0  # seconds for a broker to close its side
_AGAIN_AFTER: Final = 0.2  # seconds between attempts to reconnect
_UNHEARD: Final = (0.05, 0.1, 0.2, 0.4)  # seconds

T = TypeVar("T")


class Credentials(msgspec.Struct, frozen=True):
    user: str
    password: str


class RefusedError(Exception):
    """The subject's last sequence is not the expected one. Of this folder only: callers decide what that means."""

    def __init__(self, race: bool) -> None:
        super().__init__("a race" if race else "wrong last sequence")
        self.race = race


class Stored(msgspec.Struct, frozen=True, gc=False):
    """A message of a stream."""

    sequence: int
    subject: str
    data: bytes
    headers: Mapping[str, str] = {}


class Message(msgspec.Struct, frozen=True, gc=False):
    """To be written together with others. `expected`: the sequence of the last message on `expected_on`."""

    subject: str
    data: bytes
    expected: int | None = None
    expected_on: str = ""


class _Refusal(msgspec.Struct):
    err_code: int = 0
    description: str = ""


class _Ack(msgspec.Struct):
    seq: int = 0
    error: _Refusal | None = None


class _Client(Client):
    """The client of nats-py, which does not wait for a farewell from a server that it has lost.

    Over TLS closing a connection waits half a minute for the other side to agree, also if that side is gone; only then
    does the client look for another server. And it forgets to close the connections of attempts that failed.
    """

    async def _attempt_reconnect(self) -> None:
        self.hang_up()
        await super()._attempt_reconnect()

    async def _connect_to_server(self, s: Srv) -> None:
        self.hang_up()
        await super()._connect_to_server(s)

    def hang_up(self) -> None:
        """End the connection at once and without a word, if there is one."""
        for name in ("_io_writer", "_bare_io_writer"):  # over TLS there are two, one in the other
            writer = getattr(self._transport, name, None)
            if writer is not None:
                writer.transport.abort()


class Link:
    """Invariant: whatever the broker or the network does, callers see an error of ours, in bounded time.

    What was not answered may have been done, now or later: all that is sent is safe to be done late, or twice.
    """

    def __init__(self, client: _Client, patience: float) -> None:
        self.client = client
        self.js = client.jetstream(timeout=patience)
        self.patience = patience
        self.troubles = 0
        """Counts up whenever the connection was lost, or an answer did not come."""

    @classmethod
    async def open(
        cls,
        addresses: Sequence[str],
        credentials: Credentials | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        name: str = "gossamer",
        patience: float = PATIENCE,
    ) -> Link:
        """`addresses` are those of any servers of the cluster: `nats://10.0.0.1:4222`, or `tls://`."""
        check_addresses(addresses, credentials)
        client = _Client()
        link = cls(client, patience)
        connecting = asyncio.create_task(
            client.connect(
                servers=list(addresses),
                name=name,
                user=credentials.user if credentials else None,
                password=credentials.password if credentials else None,
                tls=tls,
                error_cb=link._trouble,
                disconnected_cb=link._trouble,
                connect_timeout=max(1, int(patience)),
                max_reconnect_attempts=-1,
                reconnect_time_wait=_AGAIN_AFTER,  # type: ignore[arg-type]  # it sleeps that long
                ping_interval=_PING_EVERY,
                max_outstanding_pings=1,
            )
        )
        try:
            # It goes on for ever where it is not let in, and does not always hear that it is to end.
            if not (await asyncio.wait([connecting], timeout=patience))[0]:
                await ended([connecting])
                raise TimeoutError
            await connecting
        except (NatsError, OSError, TimeoutError) as error:
            await link.close()
            raise UnavailableError(
                f"no broker answers at {', '.join(addresses)} ({str(error) or type(error).__name__}):"
                " is it running, and are user and password right?"
            ) from error
        except asyncio.CancelledError:
            await ended([connecting])
            raise
        return link

    async def close(self) -> None:
        """Say good-bye, and hang up where nobody answers to that."""
        closing = asyncio.ensure_future(self.client.close())
        if not (await asyncio.wait([closing], timeout=_FAREWELL))[0]:
            self.client.hang_up()
        with suppress(NatsError, OSError):
            await closing
        self.client.hang_up()  # also an attempt to reconnect that was broken off
        await asyncio.sleep(0)  # the event loop closes the socket in its next turn

    async def publish(
        self,
        subject: str,
        data: bytes,
        *,
        expected: int | None = None,
        expected_on: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> int:
        """Append to the stream of `subject`, and give the sequence when that is durable.

        `expected` is the sequence of the last message on `expected_on`, which is `subject` if nothing else is said.
        """
        # Never publish_async: the future of a refused message does not resolve.
        sent = dict(headers or {})
        if expected is not None:
            sent["Nats-Expected-Last-Subject-Sequence"] = str(expected)
        if expected_on is not None:
            sent["Nats-Expected-Last-Subject-Sequence-Subject"] = expected_on
        if not self.client.is_connected:
            # The client would keep it and send it later, when its sender has long given up.
            raise self._unavailable(subject, ConnectionError("not connected"))
        try:
            ack = await _heard(
                lambda: self.js.publish(subject, data, timeout=self.patience, headers=sent or None),
            )
        except APIError as error:
            raise self._refused(subject, error.err_code or 0, error.description or "") from error
        except (NatsError, OSError, TimeoutError) as error:
            raise self._unavailable(subject, error) from error
        return ack.seq

    def _refused(self, subject: str, code: int, why: str) -> Exception:
        if code in (_WRONG_SEQUENCE, _RACE):
            return RefusedError(code == _RACE)
        if code == _STORE_FAILED and "maximum" in why:
            return LogFullError(f"the log of {subject} is full: it takes more when it has been trimmed")
        return self._unavailable(subject, OSError(f"{why} ({code})"))

    async def publish_all(self, messages: Sequence[Message]) -> int:
        """Append all of these to the stream that they share, one after the other, or none; the sequence of the last."""
        if not messages:
            raise ValueError("nothing to write")
        batch, last = secrets.token_hex(8), len(messages)
        for number, message in enumerate(messages, 1):
            headers = {"Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(number)}
            if message.expected is not None:
                headers["Nats-Expected-Last-Subject-Sequence"] = str(message.expected)
                headers["Nats-Expected-Last-Subject-Sequence-Subject"] = message.expected_on
            if number == last:
                headers["Nats-Batch-Commit"] = "1"
            if not self.client.is_connected:
                raise self._unavailable(message.subject, ConnectionError("not connected"))
            try:
                if 1 < number < last:
                    await self.client.publish(message.subject, message.data, headers=headers)
                    continue
                # The first is answered, so that all is not sent in vain, and the last, which decides.
                ask = partial(
                    self.client.request, message.subject, message.data, timeout=self.patience, headers=headers
                )
                answer = await (_heard(ask) if number == 1 else ask())
                ack = msgspec.json.decode(answer.data, type=_Ack) if answer.data else _Ack()
            except (NatsError, OSError, TimeoutError, msgspec.MsgspecError) as error:
                raise self._unavailable(message.subject, error) from error
            if ack.error is not None:
                raise self._refused(message.subject, ack.error.err_code, ack.error.description)
        if not ack.seq:
            raise self._unavailable(message.subject, OSError("no sequence in the answer"))
        return ack.seq

    async def make_stream(self, name: str, config: Mapping[str, object]) -> None:
        """One that is there stays as it is."""
        for rest in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 0.0):
            answer = await self.ask(f"$JS.API.STREAM.CREATE.{name}", config)
            try:
                error = msgspec.json.decode(answer, type=_Ack).error
            except msgspec.MsgspecError as wrong:
                raise self._unavailable(name, wrong) from wrong
            if error is None or error.err_code == _NAME_IN_USE:
                return
            await asyncio.sleep(rest)  # files of one that was of this name may not be gone yet
        assert error is not None
        raise self._unavailable(name, OSError(f"{error.description} ({error.err_code})"))

    async def last(self, stream: str, subject: str) -> Stored | None:
        """The last message on `subject`, asked of the stream's leader: a follower may be behind."""
        try:
            found = await self.js.get_last_msg(stream, subject)
        except NotFoundError:
            return None
        except (NatsError, OSError, TimeoutError) as error:
            raise self._unavailable(subject, error) from error
        return Stored(found.seq or 0, subject, found.data or b"", found.headers or {})

    async def ask(self, subject: str, question: object = None) -> bytes:
        """A question to the broker itself, in JSON. Its own errors are in the answer."""
        data = b"" if question is None else msgspec.json.encode(question)
        try:
            return (await self.client.request(subject, data, timeout=self.patience)).data
        except (NatsError, OSError, TimeoutError) as error:
            raise self._unavailable(subject, error) from error

    def _unavailable(self, what: str, error: Exception) -> UnavailableError:
        self.troubles += 1
        return UnavailableError(f"the broker did not do it ({what}: {str(error) or type(error).__name__}): try again")

    async def _trouble(self, error: Exception | None = None) -> None:
        self.troubles += 1


async def _heard(ask: Callable[[], Awaitable[T]]) -> T:
    """Once more, while nobody there listens: a stream that has just been made, or got another leader, is known to all
    servers a moment later, and who was not heard may ask again.
    """
    for rest in _UNHEARD:
        try:
            return await ask()
        except (NoRespondersError, NoStreamResponseError):
            await asyncio.sleep(rest)
    return await ask()


def check_addresses(addresses: Sequence[str], credentials: Credentials | None) -> None:
    """Whoever can write to the broker commands the crawl: without a password only this machine may be one's broker."""
    if not addresses:
        raise ConfigError("a cluster has at least one address: nats://HOST:PORT")
    for address in addresses:
        try:
            parts = urlsplit(address)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host = None
        if not host or parts.scheme not in ("nats", "tls"):
            raise ConfigError(f"{address!r} is no address of a broker: write nats://HOST:PORT or tls://HOST:PORT")
        if credentials is None and parts.username is None and not _is_loopback(host):
            raise ConfigError(f"{host} is another machine: its broker is used with a user and a password only")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
