"""A proxy on loopback, for tests: HTTP with CONNECT, and SOCKS5. Whatever it is asked for, it goes to one server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Proxy:
    """`asked` is what clients wanted: request heads (the first of each connection), or (name or address, port)."""

    def __init__(self, upstream: int, connect_status: int = 200, login: str = "") -> None:
        self.asked: list[bytes] = []
        self.logins: list[bytes] = []
        self._upstream = upstream
        self._connect_status = connect_status
        self._login = login.encode()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(client,), daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _handle(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            first = client.recv(65_536)
            if first[:1] == b"\x05":
                self._socks(client, first)
            elif first.startswith(b"CONNECT "):
                self.asked.append(first)
                client.sendall(b"HTTP/1.1 %d Said\r\n%b\r\n" % (self._connect_status, b"Via: here\r\n"))
                if self._connect_status == 200:
                    relay(client, self._upstream, b"")
            else:
                self.asked.append(first)
                relay(client, self._upstream, first)

    def _socks(self, client: socket.socket, greeting: bytes) -> None:
        if self._login:
            assert 2 in greeting[2:]
            client.sendall(b"\x05\x02")
            given = client.recv(1024)
            name = given[2 : 2 + given[1]]
            self.logins.append(name + b":" + given[3 + given[1] :])
            client.sendall(b"\x01\x00" if self.logins[-1] == self._login else b"\x01\x01")
        else:
            client.sendall(b"\x05\x00")
        request = client.recv(1024)
        named = request[3] == 3
        end = 5 + request[4] if named else 8
        self.asked.append(request[5:end] if named else b".".join(b"%d" % part for part in request[4:end]))
        client.sendall(b"\x05\x00\x00\x01" + bytes(6))
        relay(client, self._upstream, b"")


def relay(client: socket.socket, port: int, first: bytes) -> None:
    """`first` and what the client sends to a server on loopback, and what that answers back, until one of them ends."""
    with socket.create_connection(("127.0.0.1", port)) as server:
        server.sendall(first)
        back = threading.Thread(target=_copy, args=(server, client), daemon=True)
        back.start()
        _copy(client, server)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(upstream: int, connect_status: int = 200, login: str = "") -> Iterator[Proxy]:
    server = Proxy(upstream, connect_status, login)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
