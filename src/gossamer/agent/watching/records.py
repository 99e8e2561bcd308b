"""What agents on several machines say to each other of watches: records of one log, which all of them read.

    "GW" version        3 bytes
    zstd of             msgpack

What comes is judged as if its sender meant harm: all is bounded, and a snippet has no tag but `<mark>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from backports import zstd

from gossamer.errors import BatchError

MOST_MATCHES: Final = 100
"""Of one record."""
MOST_KEYS: Final = 50_000
_START: Final = b"GW\x01"
_MOST_RAW: Final = 8 << 20  # bytes that come out of a record
_WINDOW: Final = 23  # bits
_LEVEL: Final = 3

T = TypeVar("T")

Id = Annotated[str, msgspec.Meta(pattern=r"^w[0-9a-f]{12}\Z")]
CallId = Annotated[str, msgspec.Meta(pattern=r"^msg_[0-9a-f]{24}\Z")]
Short = Annotated[str, msgspec.Meta(max_length=200)]
Text = Annotated[str, msgspec.Meta(max_length=5_000)]
Number = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class _Record(msgspec.Struct, frozen=True, tag=True):
    watch: Id


class Added(_Record, frozen=True):
    """`given`: the name was chosen by somebody, so that it is refused where it is taken."""

    name: Short
    given: bool
    query: Text
    webhook: Text
    secret: Short
    notify_earlier: bool
    created: float
    crawl: bool = False
    remembered: bool = False


class Removed(_Record, frozen=True):
    pass


class Match(msgspec.Struct, frozen=True):
    """A page that matched. `number` and `call` are of one that was a hit already, when all is said again."""

    key: Number
    url: Text
    title: Text
    snippet: Text
    language: Short
    fetched: float
    found: float
    earlier: bool
    tell: bool
    number: Number = 0
    call: Short = ""


class Found(_Record, frozen=True):
    """`by` has found these. `seen` are pages that matched and are not to be listed. `part` is the index that was looked
    at when the watch was taken up there, or empty.
    """

    by: Short
    hits: Annotated[tuple[Match, ...], msgspec.Meta(max_length=MOST_MATCHES)] = ()
    seen: Annotated[tuple[Number, ...], msgspec.Meta(max_length=MOST_KEYS)] = ()
    part: Short = ""


class Trying(_Record, frozen=True):
    """`by` is about to make a call, which begins with these hits if it is new. It counts only if `since` is the last
    record of this kind or the next that counted for the watch: so of several who want to, one does.
    """

    call: CallId
    since: Number
    by: Short
    made: float
    hits: Annotated[tuple[Number, ...], msgspec.Meta(max_length=MOST_MATCHES)] = ()


class _CallState(_Record, frozen=True):
    call: CallId
    state: Literal["waiting", "done", "dead"]
    tries: Number
    tried: float
    due: float | None
    status: Number
    why: Text


class Tried(_CallState, frozen=True):
    """What became of it. `since` is the record that said that it was begun."""

    since: Number


class Revived(_Record, frozen=True):
    """Calls that wait or are dead are to be tried again."""

    at: float


class CallWas(_CallState, frozen=True):
    """A call as it was, when all is said again."""

    made: float


Record = Added | Removed | Found | Trying | Tried | Revived | CallWas

_pack = msgspec.msgpack.Encoder().encode
_reader: Final[msgspec.msgpack.Decoder[Record]] = msgspec.msgpack.Decoder(Record)


def about(record: Record) -> str:
    """Under what it is kept: what is said of a watch goes with it, but not that it was there."""
    return "" if isinstance(record, Added | Removed) else record.watch


def encode(record: Record) -> bytes:
    return _START + zstd.compress(_pack(record), _LEVEL)


def decode(data: bytes) -> Record:
    """BatchError for what is none."""
    if data[: len(_START)] != _START:
        raise BatchError("not a record of watches, or one of another version")
    try:
        unpacker = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW})
        raw = unpacker.decompress(data[len(_START) :], _MOST_RAW)
        if not unpacker.eof or unpacker.unused_data:
            raise BatchError("it is cut off, or too much comes out of it")
        record = _reader.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, zstd.ZstdError) as error:
        raise BatchError(f"not a record of watches ({str(error)[:200]})") from error
    if isinstance(record, Found) and any(_has_tags(each.snippet) for each in record.hits):
        raise BatchError("a snippet with other tags than those of words that were sought")
    return record


def _has_tags(snippet: str) -> bool:
    return "<" in snippet.replace("<mark>", "").replace("</mark>", "")


def in_parts(items: Iterable[T], most: int) -> Iterator[tuple[T, ...]]:
    """As many as one record may have."""
    left = iter(items)
    while some := tuple(islice(left, most)):
        yield some
