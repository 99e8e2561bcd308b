"""The socket of the service. Loads nothing of it: a crawl binds one, too, for the process beside it."""

from __future__ import annotations

import socket
from ipaddress import IPv6Address, ip_address

from gossamer.errors import ConfigError


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """Bound here and not by uvicorn, so that the port is known before anything is served, also of port 0."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, number)
    except OSError as error:
        raise ConfigError(f"--host: {host!r} is no address of this machine: {error.strerror}") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()  # from here on who asks waits, and is not refused
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"{option}: {host}:{port} cannot be used: {error.strerror}. Choose another port, or 0 for any that is free."
        ) from error
    return listening


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_loopback(address: str) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (mapped or found).is_loopback
