"""The fence over sockets: what it resets, and what it must leave alone."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.cluster.lease import Terms
from gossamer.fetch.fence import Fence


class Lease:
    def __init__(self) -> None:
        self.over = False

    def __call__(self) -> bool:
        return not self.over


@pytest.fixture
def lease() -> Lease:
    return Lease()


@pytest.fixture
def fence(lease: Lease) -> Iterator[Fence]:
    fence = Fence(lease, [])
    yield fence
    fence.close()


def connected(fence: Fence) -> tuple[int, socket.socket]:
    """A descriptor such as libcurl has, and the server's end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.socket()
        fence.prepare(ours)
        ours.connect(listener.getsockname())
        theirs, _ = listener.accept()
    descriptor = ours.detach()
    os.set_inheritable(descriptor, True)
    fence.took(descriptor, 0)
    return descriptor, theirs


def until_reset(connection: socket.socket) -> int:
    received = 0
    try:
        while data := connection.recv(1 << 20):
            received += len(data)
    except ConnectionResetError:
        return received
    raise AssertionError("ended without a reset")


def test_sockets_are_reset_when_they_are_closed_and_wait_for_seconds_only(fence: Fence) -> None:
    with socket.socket() as connection:
        fence.prepare(connection)
        linger = connection.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)
        unanswered = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) / 1000
    assert struct.unpack("ii", linger) == (1, 0)
    assert 1 <= unanswered < Terms().own


def test_what_is_not_sent_yet_is_never_sent(fence: Fence) -> None:
    descriptor, theirs = connected(fence)
    with theirs:
        sent = 0
        os.set_blocking(descriptor, False)
        while True:  # until their side takes no more, and the kernel has some to send
            try:
                sent += os.write(descriptor, bytes(1 << 20))
            except BlockingIOError:
                break
        fence.shut()
        received = until_reset(theirs)
        with pytest.raises(BrokenPipeError):
            os.write(descriptor, b"more")
    os.close(descriptor)
    assert received < sent


def test_a_copy_of_our_own_does_not_keep_a_connection_open(lease: Lease) -> None:
    opened: list[socket.socket] = []
    fence = Fence(lease, opened)
    descriptor, theirs = connected(fence)
    opened.append(socket.socket(fileno=os.dup(descriptor)))
    fence.shut()
    with theirs:
        assert until_reset(theirs) == 0
    os.close(descriptor)
    fence.close()


def test_a_closed_socket_s_number_is_left_to_who_has_it_now(fence: Fence, tmp_path: Path) -> None:
    descriptor, theirs = connected(fence)
    theirs.close()
    with (tmp_path / "file").open("wb") as file:
        os.dup2(file.fileno(), descriptor)
    fence.shut()
    os.write(descriptor, b"still a file")
    os.close(descriptor)
    assert (tmp_path / "file").read_bytes() == b"still a file"


def test_another_socket_of_the_same_number_is_left_alone(fence: Fence) -> None:
    descriptor, theirs = connected(fence)
    theirs.close()
    one, other = socket.socketpair()
    with other:
        os.dup2(one.fileno(), descriptor)
        one.close()
        fence.shut()
        os.write(descriptor, b"still connected")
        assert other.recv(100) == b"still connected"
        os.close(descriptor)


def test_a_child_does_not_keep_a_connection_open(fence: Fence) -> None:
    descriptor, theirs = connected(fence)
    assert not os.get_inheritable(descriptor)
    fence.shut()
    assert not os.get_inheritable(descriptor)
    theirs.close()
    os.close(descriptor)


def test_it_stays_shut_until_all_is_forgotten(fence: Fence, lease: Lease) -> None:
    assert fence.is_open()
    lease.over = True
    assert not fence.is_open()
    lease.over = False
    assert not fence.is_open()
    with pytest.raises(OSError, match="nothing may be fetched now"):
        fence.prepare(socket.socket())
    fence.reopen()
    assert fence.is_open()
