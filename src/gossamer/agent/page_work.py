"""What the indexer asks of the processes that read pages for it, and what they answer.

Both are sent as their length and then themselves. An answer is sent as soon as it is there: so the page that a process
is at is the first that it has not answered.
"""

from __future__ import annotations

from typing import Final

import msgspec

from gossamer.index.backlinks import Linked
from gossamer.index.writer import Ready
from gossamer.model import Locator

LENGTH: Final = 4
"""Bytes of a length."""


class Read(msgspec.Struct, frozen=True, array_like=True, tag="read"):
    """A stored page. `payload` is where its body is: in its own record, or in the one that a revisit refers to."""

    url: str
    record: Locator
    payload: Locator
    linked: Linked
    blocked: bool = False  # only its digest is wanted


class WriteAgain(msgspec.Struct, frozen=True, array_like=True, tag="again"):
    """An entry of the index that other pages say other things of now."""

    packed: bytes
    linked: Linked


class ReadLinks(msgspec.Struct, frozen=True, array_like=True, tag="links"):
    """A stored page of which only the links are wanted."""

    url: str
    record: Locator
    payload: Locator


Task = Read | WriteAgain | ReadLinks


class Work(msgspec.Struct, array_like=True):
    """Tasks for one process, and what it must know for them."""

    directories: list[str]  # of WARC files
    most: int  # bytes of a body
    token: str  # by which robots rules name this crawler
    tasks: list[Task]


class Result(msgspec.Struct, array_like=True):
    """What came of a task. No entry: it may not, or cannot, be in the index."""

    is_page: bool = True
    entry: Ready | None = None
    links: list[tuple[str, bool, str]] = []
    digest: bytes = b""
    why: str = ""  # it could not be done


_encode = msgspec.msgpack.Encoder().encode
read_work = msgspec.msgpack.Decoder(Work).decode
read_result = msgspec.msgpack.Decoder(Result).decode


def message(content: Work | Result | None) -> bytes:
    """None is an empty message: a process says so that it is ready."""
    data = b"" if content is None else _encode(content)
    return len(data).to_bytes(LENGTH, "big") + data
