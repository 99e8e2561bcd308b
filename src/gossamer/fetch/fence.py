"""Connections that end with a lease: who may no longer fetch sends no further byte (docs/cluster.md, Leases).

libcurl closes a connection politely: it says goodbye (TLS, HTTP/2), and the kernel goes on sending what was written
before. Neither may happen after a lease, so connections are not closed through libcurl: the sockets are taken away from
under it.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Callable

import pycurl

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset and nothing that was written before
_OK: int = pycurl.SOCKOPT_OK
_UNANSWERED = 2.0  # seconds in which the other side must acknowledge: what the next owner waits after a deadline


class Fence:
    """Invariant: once it is shut, by whatever part of the process asked, no connection that was open then carries
    another byte; it stays shut until `reopen`, whatever `allowed` says in between.

    Invariant: no descriptor is touched that is not a socket of libcurl. Sockets are known by their inodes: the number
    of one that was closed may be anybody's now.
    """

    def __init__(self, allowed: Callable[[], bool], opened: list[socket.socket]) -> None:
        """`opened`: sockets of which libcurl has a duplicate, and that are not closed yet."""
        self._allowed = allowed
        self._opened = opened
        self._inodes: dict[int, int] = {}  # libcurl's descriptors
        self._dead_end = socket.socket()  # never connected: whoever writes to it gets an error
        self._shut = False

    @property
    def connected(self) -> bool:
        """Whether there may be connections."""
        return bool(self._inodes)

    def is_open(self) -> bool:
        """Whether something may be sent now. All connections are reset before it says no."""
        if not self._shut and not self._allowed():
            self.shut()
        return not self._shut

    def prepare(self, connection: socket.socket) -> None:
        """Before it is connected."""
        if not self.is_open():
            connection.close()
            raise OSError(errno.ECANCELED, "nothing may be fetched now")
        # For a process that is killed: the kernel then closes its sockets, and goes on sending otherwise.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(_UNANSWERED * 1000))

    def took(self, descriptor: int, _: int) -> int:
        """libcurl says which descriptor it uses, before it connects (SOCKOPTFUNCTION)."""
        os.set_inheritable(descriptor, False)  # a child that had it would keep the connection open
        self._inodes[descriptor] = os.fstat(descriptor).st_ino
        return _OK

    def shut(self) -> None:
        """Also while libcurl is at work: all it meets from here on are dead ends."""
        self._shut = True
        for connection in self._opened:
            connection.close()
        for descriptor, inode in self._inodes.items():
            if _inode(descriptor) == inode:
                os.dup2(self._dead_end.fileno(), descriptor, inheritable=False)  # the last one: the kernel resets it

    def reopen(self) -> None:
        """When libcurl has forgotten all its connections."""
        self._inodes.clear()
        self._shut = False

    def close(self) -> None:
        self._dead_end.close()


def _inode(descriptor: int) -> int:
    """0 when it is closed."""
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return 0
