"""A web server over TLS, for HTTP/1.1 and HTTP/2, that writes down what each connection was."""

from __future__ import annotations

import asyncio
import ssl
import threading
from contextlib import suppress
from typing import NamedTuple, Self

import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded
from h2.exceptions import StreamClosedError


class Seen(NamedTuple):
    """One request."""

    connection: int
    protocol: str | None  # what ALPN agreed on
    resumed: bool  # an earlier TLS session was taken up again
    path: str


class TlsWeb:
    """Answers every path with `body` until the `with` block ends. What is sent to it over HTTP/2 it keeps in `sent`.

    Who asks with an If-None-Match that is `etag` is told that nothing has changed, with `late` as a body.
    `closing`: each connection ends after one response. `refuse`: streams are reset instead of answered.
    """

    def __init__(
        self, certificate: trustme.LeafCert, *, http2: bool = True, closing: bool = False, refuse: bool = False
    ) -> None:
        self.body = b"<p>hello"
        self.headers = [("content-type", "text/html"), ("x-twice", "a"), ("x-twice", "b")]
        self.etag = b""
        self.late = b""
        self.seen: list[Seen] = []
        self.conditions: list[tuple[bytes | None, bytes | None]] = []  # If-None-Match, If-Modified-Since
        self.sent: list[bytes] = []
        self.port = 0
        self._closing, self._refuse = closing, refuse
        self._connections = 0
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(self._context)
        self._context.set_alpn_protocols(["h2", "http/1.1"] if http2 else ["http/1.1"])
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)

    @property
    def connect(self) -> str:
        return f"*=127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()
        self._loop.set_exception_handler(lambda *_: None)  # broken connections are what is tested
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._done.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        number = self._connections
        tls = writer.get_extra_info("ssl_object")
        protocol = tls.selected_alpn_protocol()

        def note(path: str) -> None:
            self.seen.append(Seen(number, protocol, tls.session_reused, path))

        with suppress(ConnectionError, ssl.SSLError):
            await (self._http2 if protocol == "h2" else self._http1)(reader, writer, note)
            writer.close()

    async def _http1(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, note: object) -> None:
        while head := await _head(reader):
            note(head.split()[1].decode())  # type: ignore[operator]
            lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers)
            lines += "Connection: close\r\n" if self._closing else ""
            writer.write(f"HTTP/1.1 200 OK\r\n{lines}Content-Length: {len(self.body)}\r\n\r\n".encode() + self.body)
            await writer.drain()
            if self._closing:
                return

    async def _http2(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, note: object) -> None:
        connection = H2Connection(H2Configuration(client_side=False))
        connection.initiate_connection()
        posting: set[int] = set()
        writer.write(connection.data_to_send())
        while data := await reader.read(65536):
            for event in connection.receive_data(data):
                if isinstance(event, RequestReceived):
                    headers = dict(event.headers)
                    note(headers[b":path"].decode())  # type: ignore[operator]
                    condition = headers.get(b"if-none-match")
                    self.conditions.append((condition, headers.get(b"if-modified-since")))
                    if headers[b":method"] == b"POST":
                        posting.add(event.stream_id)
                    elif self.etag and condition == self.etag:
                        self._not_modified(connection, event.stream_id)
                    else:
                        self._answer(connection, event.stream_id)
                elif isinstance(event, DataReceived):
                    assert event.stream_id in posting, "a GET has no body"
                    self.sent.append(event.data)
                elif isinstance(event, StreamEnded) and event.stream_id in posting:
                    self._answer(connection, event.stream_id)
            writer.write(connection.data_to_send())
            await writer.drain()

    def _not_modified(self, connection: H2Connection, stream: int) -> None:
        connection.send_headers(stream, [(":status", "304"), ("content-length", "8")], end_stream=not self.late)
        if self.late:
            with suppress(StreamClosedError):
                connection.send_data(stream, self.late, end_stream=True)

    def _answer(self, connection: H2Connection, stream: int) -> None:
        if self._refuse:
            connection.reset_stream(stream, error_code=7)  # REFUSED_STREAM
            return
        length = [("content-length", str(len(self.body)))]
        connection.send_headers(stream, [(":status", "200"), *self.headers, *length])
        with suppress(StreamClosedError):
            for at in range(0, len(self.body), 16_000):
                connection.send_data(stream, self.body[at : at + 16_000])
            connection.end_stream(stream)
        if self._closing:
            connection.close_connection()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
