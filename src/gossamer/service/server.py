"""The service on a socket, until it is told to stop."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from gossamer.errors import ConfigError
from gossamer.service import limits
from gossamer.service.app import create_app
from gossamer.service.callers import is_loopback
from gossamer.service.keys import KeyFile
from gossamer.service.protocol import PatientProtocol

_KEEP_ALIVE = 5  # seconds
_STOPPING = 3  # seconds that requests under way have left


class _Server(uvicorn.Server):
    """SIGINT and SIGTERM are how it ends, not a failure: nothing is raised again afterwards."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(home: Path, host: str, port: int, origins: Iterable[str], announce: Callable[[str, bool], None]) -> None:
    """Serve the crawl in `home`. `announce` is told the address, and whether a key is needed."""
    keys = KeyFile(home).read()
    listening = listen(host, port)
    address = listening.getsockname()[0]
    if not keys and not is_loopback(address):
        listening.close()
        raise ConfigError(
            f"--host: {host} can be reached from other machines, and there is no key yet. Make one with "
            f"`gossamer keys add NAME --role search --dir {home}`, or leave --host out to serve this machine only."
        )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # what strangers send wrong is no news
    server = _Server(settings(create_app(home, host=host, origins=origins)))
    shown = f"[{address}]" if ":" in address else address
    announce(f"http://{shown}:{listening.getsockname()[1]}/", bool(keys))
    server.run(sockets=[listening])


def settings(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        loop="uvloop",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # whoever is connected is the peer, whatever they say
        limit_concurrency=limits.CONNECTIONS,
        h11_max_incomplete_event_size=2 * limits.HEADER_BYTES,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_STOPPING,
    )


def listen(host: str, port: int) -> socket.socket:
    """Bound here and not by uvicorn, so that the port is known before anything is served, also of port 0."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, number)
    except OSError as error:
        raise ConfigError(f"--host: {host!r} is no address of this machine: {error.strerror}") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"--port: {host}:{port} cannot be used: {error.strerror}. Choose another port, or 0 for any that is free."
        ) from error
    return listening
