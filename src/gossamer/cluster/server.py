"""nats-server as a process of ours: on loopback only, with passwords made for it, every acknowledged byte on disk."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from gossamer.cluster import leashed
from gossamer.cluster.engine import find_engine
from gossamer.cluster.nats_link import Credentials, Link
from gossamer.errors import EngineError, UnavailableError

_LOOPBACK: Final = "127.0.0.1"
_START: Final = 30.0  # seconds in which it must be ready: several servers elect a leader first, which takes up to 9
_STOP: Final = 5.0
_LOOK_EVERY: Final = 0.02  # seconds between attempts to connect
_OWNER_ONLY: Final = 0o600


class _JetStream(msgspec.Struct):
    sync_always: bool = False


class _Status(msgspec.Struct):
    config: _JetStream = msgspec.field(default_factory=_JetStream)


class _Answer(msgspec.Struct):
    data: _Status = msgspec.field(default_factory=_Status)


class _ApiError(msgspec.Struct):
    description: str = ""


class _ApiAnswer(msgspec.Struct):
    error: _ApiError | None = None


class Server:
    """Invariants: it listens on loopback and nowhere else, and knows two users, both with passwords of 192 random bits:
    the crawl's, and one that may ask how the server is. It is ready only if it syncs each write before it says so. It
    dies with the process that started it.

    `peers` are ports of all servers that make up one cluster, this one's included.
    """

    def __init__(
        self,
        home: Path,
        *,
        engine: Path | None = None,
        name: str = "gossamer",
        credentials: Credentials | None = None,
        routes: Credentials | None = None,
        route: int = 0,
        peers: tuple[int, ...] = (),
    ) -> None:
        self.home = home
        self.name = name
        self.port = free_port()
        self.credentials = credentials or new_credentials("crawl")
        self._status = new_credentials("status")
        self._routes = routes or new_credentials("route")
        self._route = route
        self._peers = peers
        self._engine = engine or find_engine()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"nats://{_LOOPBACK}:{self.port}"

    @property
    def log(self) -> Path:
        return self.home / "nats-server.log"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self.running and self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def command(self) -> tuple[str, ...]:
        """What starts it as a child of this very process."""
        shim = [sys.executable, "-I", "-S", leashed.__file__, str(os.getpid())]
        return (*shim, str(self._engine), "-c", str(self.home / "nats-server.conf"))

    def start(self) -> None:
        """Again, too: with the same port, passwords and streams. From a thread that stays, see `leashed`."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        written = self.home / "nats-server.conf"
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(self.settings())
        written.chmod(_OWNER_ONLY)
        with open(self.log, "ab") as output:  # it writes there itself; this is for what it says before
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0
            )

    async def ready(self, patience: float = _START) -> None:
        """Until it answers, and takes writes if the other servers of its cluster let it."""
        until = monotonic() + patience
        while True:
            try:
                await self._check()
            except UnavailableError as error:
                if not self.running:
                    raise EngineError(
                        f"nats-server ended at its start ({self._last_words()}): see {self.log}"
                    ) from None
                if monotonic() > until:
                    raise EngineError(
                        f"nats-server is not ready after {patience:g} s ({error}): see {self.log}"
                    ) from error
                await asyncio.sleep(_LOOK_EVERY)
            else:
                return

    def stop(self) -> None:
        """In seconds, whatever state it is in."""
        if self._process is None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP)
        self.kill()

    def kill(self) -> None:
        """As a failure would: what was acknowledged is on disk."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def settings(self) -> str:
        """The file that it runs with. Words that may hold anything are quoted as JSON strings, which it understands."""
        lines = [
            f"server_name: {_quoted(self.name)}",
            f"listen: {_quoted(f'{_LOOPBACK}:{self.port}')}",
            f"log_file: {_quoted(str(self.log.resolve()))}",
            "logfile_size_limit: 10000000",
            "logfile_max_num: 3",
            "max_payload: 1048576",
            # The default, two minutes between syncs, loses what it has acknowledged when the power fails. Durations
            # need quotes: without them 2m is read as two million seconds.
            f'jetstream {{ store_dir: {_quoted(str((self.home / "streams").resolve()))}, sync_interval: "always" }}',
            "accounts {",
            f"  CRAWL {{ jetstream: enabled, users: [{_user(self.credentials)}] }}",
            f"  STATUS {{ users: [{_user(self._status)}] }}",
            "}",
            "system_account: STATUS",
        ]
        if self._peers:
            user, password = _quoted(self._routes.user), _quoted(self._routes.password)
            others = [f"nats://{self._routes.user}:{self._routes.password}@{_LOOPBACK}:{port}" for port in self._peers]
            lines += [
                "cluster {",
                '  name: "gossamer"',
                f"  listen: {_quoted(f'{_LOOPBACK}:{self._route}')}",
                f"  authorization {{ user: {user}, password: {password} }}",
                f"  routes: [{', '.join(_quoted(each) for each in others)}]",
                "}",
            ]
        return "\n".join(lines) + "\n"

    async def _check(self) -> None:
        link = await Link.open([self.address], self._status, patience=1.0)
        try:
            answer = await link.ask("$SYS.REQ.SERVER.PING.JSZ", {"server_name": self.name, "exact_match": True})
            if not msgspec.json.decode(answer, type=_Answer).data.config.sync_always:
                self.stop()
                raise EngineError("nats-server does not sync what it acknowledges: use another version")
        finally:
            await link.close()
        link = await Link.open([self.address], self.credentials, patience=1.0)
        try:
            answer = await link.ask("$JS.API.INFO")
            if error := msgspec.json.decode(answer, type=_ApiAnswer).error:
                raise UnavailableError(error.description)
        finally:
            await link.close()

    def _last_words(self) -> str:
        try:
            lines = self.log.read_text("utf-8", "replace").strip().splitlines()
        except OSError:
            return "without a word"
        return lines[-1][:300] if lines else "without a word"


def cluster_on_loopback(home: Path, servers: int = 3, engine: Path | None = None) -> list[Server]:
    """Servers that keep streams together, all on one machine: for tests of what happens if one dies."""
    routes = tuple(free_port() for _ in range(servers))
    credentials, between = new_credentials("crawl"), new_credentials("route")
    engine = engine or find_engine()
    return [
        Server(
            home / f"n{number}",
            engine=engine,
            name=f"n{number}",
            credentials=credentials,
            routes=between,
            route=route,
            peers=routes,
        )
        for number, route in enumerate(routes)
    ]


def new_credentials(user: str) -> Credentials:
    return Credentials(user, secrets.token_urlsafe(24))


def free_port() -> int:
    """Of this moment: servers of one cluster must know each other's before the first of them starts."""
    with socket.socket() as found:
        found.bind((_LOOPBACK, 0))
        port: int = found.getsockname()[1]
        return port


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def _user(credentials: Credentials) -> str:
    return f"{{ user: {_quoted(credentials.user)}, password: {_quoted(credentials.password)} }}"
