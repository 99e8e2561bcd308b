"""A service for tests: in this process, or on a socket of its own thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from gossamer.service.app import create_app
from gossamer.service.listening import listen
from gossamer.service.protocol import PatientProtocol
from gossamer.service.server import settings

ELSEWHERE = "198.51.100.7"  # an address that is not of this machine


@contextmanager
def client(home: Path, peer: str = "127.0.0.1", key: str = "", **options: Any) -> Iterator[TestClient]:
    """Asks as one who is connected from `peer`."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with TestClient(
        create_app(home, **options), "http://localhost", headers=headers, client=(peer, 50000), follow_redirects=False
    ) as found:
        yield found


class _Signalled(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def served(app: FastAPI, host: str = "127.0.0.1", **limits: float) -> Iterator[int]:
    """The port on which the app answers over real sockets; `limits` are those of connections."""
    config = settings(app)
    config.http = type("Patient", (PatientProtocol,), limits)
    listening = listen(host, 0)
    server = _Signalled(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        assert server.ready.wait(20)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
