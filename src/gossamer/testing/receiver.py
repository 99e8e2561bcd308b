"""A receiver of webhooks on loopback, which notes what it is called with and when.

with Receiver() as receiver:
    ...  # gossamer watch add QUERY --webhook receiver.url
    receiver.wait(lambda calls: len(calls) == 1)
"""

from __future__ import annotations

import hmac
import json
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

_LONGEST = 8 << 20  # bytes of a body


class Received(NamedTuple):
    """One call. `headers` have names in small letters."""

    at: float
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers.get("webhook-id", "")

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def hits(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.content["hits"]
        return found

    def is_signed_with(self, secret: str) -> bool:
        """As a receiver checks it, written down here once more."""
        signed = f"{self.id}.{self.headers.get('webhook-timestamp', '')}.".encode() + self.body
        made = b64encode(hmac.new(b64decode(secret.removeprefix("whsec_")), signed, sha256).digest()).decode()
        given = self.headers.get("webhook-signature", "").split()
        return any(hmac.compare_digest(each, f"v1,{made}") for each in given)


class Receiver:
    """Invariant: a call is noted before it is answered. It is answered with `status`, or with what `answer` says."""

    def __init__(self, status: int = 204) -> None:
        self.status = status
        self.answer: Callable[[Received], int] = lambda _: self.status
        self.headers: dict[str, str] = {}
        self.calls: list[Received] = []
        self._came = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def wait(self, enough: Callable[[list[Received]], bool], seconds: float = 30.0) -> bool:
        """Whether there were enough calls in time."""
        with self._came:
            return self._came.wait_for(lambda: enough(self.calls), seconds)

    def _note(self, call: Received) -> int:
        with self._came:
            self.calls.append(call)
            self._came.notify_all()
        return self.answer(call)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = min(int(self.headers.get("content-length", "0")), _LONGEST)
                headers = {name.lower(): value for name, value in self.headers.items()}
                status = receiver._note(Received(time.time(), self.path, headers, self.rfile.read(length)))
                self.send_response(status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nobody reads it."""

        return Handler
