"""The service on a socket, until it is told to stop."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from gossamer.errors import ConfigError
from gossamer.service import limits
from gossamer.service.app import create_app
from gossamer.service.keys import KeyFile
from gossamer.service.listening import address_of, is_loopback, listen
from gossamer.service.protocol import PatientProtocol

_KEEP_ALIVE = 5  # seconds
_STOPPING = 3  # seconds that requests under way have left


class _Server(uvicorn.Server):
    """SIGINT and SIGTERM are how it ends, not a failure: nothing is raised again afterwards. Streams of events, which
    have no end of their own, end first.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.app.state.live.end()  # type: ignore[union-attr]
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    home: Path,
    host: str,
    port: int,
    origins: Iterable[str],
    announce: Callable[[str, bool], None],
    given: int | None = None,
) -> None:
    """Serve the crawl in `home` until a signal comes. `announce` is told the address, and whether a key is needed.

    `given` is the descriptor of a socket that a crawl has bound for us; when our standard input ends, the crawl has.
    """
    keys = KeyFile(home).read()
    listening = listen(host, port) if given is None else socket.socket(fileno=given)
    if not keys and not is_loopback(listening.getsockname()[0]):
        listening.close()
        raise ConfigError(
            f"--host: {host} can be reached from other machines, and there is no key yet. Make one with "
            f"`gossamer keys add NAME --role search --dir {home}`, or leave --host out to serve this machine only."
        )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # what strangers send wrong is no news
    server = _Server(settings(create_app(home, host=host, origins=origins)))
    if given is not None:
        threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
    announce(address_of(listening), bool(keys))
    server.run(sockets=[listening])


def _end_with_input(server: uvicorn.Server) -> None:
    sys.stdin.buffer.read()
    server.should_exit = True


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
        h11_max_incomplete_event_size=2 * limits.HEADER_BYTES,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_STOPPING,
    )
