"""TLS in front of a server on loopback, with a certificate of its own authority."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import trustme
from proxying import relay


@contextmanager
def tls_front(scratch: Path, name: str, upstream: int) -> Iterator[tuple[int, Path]]:
    """The port where `name` answers, and the file with the authority to trust."""
    authority = trustme.CA()
    file = scratch / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))

    def handle(client: socket.socket) -> None:
        with suppress(OSError), context.wrap_socket(client, server_side=True) as inner:
            relay(inner, upstream, b"")

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], file
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
