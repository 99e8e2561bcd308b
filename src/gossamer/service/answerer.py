"""A question in bytes, answered in bytes: what goes over the wire between agents.

kind      1 byte: an answer, or why there is none
zstd of   msgpack
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, Final, Literal, TypeVar, Union

import msgspec
from backports import zstd

from gossamer.cluster.questions import MOST_ANSWER
from gossamer.errors import (
    ConfigError,
    ControlError,
    CrawlDirError,
    CursorError,
    GossamerError,
    QueryError,
    SeedError,
)
from gossamer.service.crawl_view import CrawlView
from gossamer.service.problems import Problem
from gossamer.service.questions import KINDS, Question, answer_type

log = logging.getLogger(__name__)

A = TypeVar("A")

_ANSWER: Final = b"a"
_REFUSAL: Final = b"r"
_LEVEL: Final = 1
_WINDOW: Final = 24  # bits
_MOST_RAW: Final = 2 * MOST_ANSWER

Why = Literal["query", "cursor", "stale", "seed", "config", "control", "directory", "problem", "none", "fault"]


class Refusal(msgspec.Struct, frozen=True):
    """`none`: there is no crawl in its directory yet. `fault`: it cannot answer, and others may."""

    why: Why
    text: str
    number: int = 0  # the position in a query, or the status of a problem


class RefusedError(Exception):
    """Another agent could not answer, and it is not for what was asked."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.nothing = refusal.why == "none"


@cache
def _questions() -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(Union[KINDS])  # noqa: UP007 - they are in a tuple


@cache
def _answers(kind: type[Question[Any]]) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(answer_type(kind))


def packed(question: Question[Any]) -> bytes:
    return msgspec.msgpack.encode(question)


def answer(view: CrawlView, data: bytes) -> bytes:
    """Whatever was sent; never fails."""
    try:
        question: Question[Any] = _questions().decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return _packed(_REFUSAL, Refusal("fault", f"this question is not understood: {str(error)[:300]}"))
    try:
        return _packed(_ANSWER, question.answered(view))
    except (GossamerError, Problem) as error:
        return _packed(_REFUSAL, _refusal(error))
    except Exception:
        log.exception("%s failed", type(question).__name__)
        return _packed(_REFUSAL, Refusal("fault", "this is a fault of the agent; its log says more"))


def unpacked(question: Question[A], data: bytes) -> A:
    """What was answered. Raises what the question is refused for, and RefusedError for what is the agent's own."""
    try:
        raw = _unpacked(data[1:])
        if data[:1] == _ANSWER:
            found: A = _answers(type(question)).decode(raw)
            return found
        refusal = msgspec.msgpack.decode(raw, type=Refusal)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, zstd.ZstdError) as error:
        raise RefusedError(Refusal("fault", f"the answer is not understood: {str(error)[:300]}")) from error
    raise _raised(refusal)


def _packed(kind: bytes, value: object) -> bytes:
    raw = msgspec.msgpack.encode(value)
    if len(raw) > _MOST_RAW:
        kind, raw = _REFUSAL, msgspec.msgpack.encode(Refusal("fault", "the answer is too long"))
    return kind + zstd.compress(raw, _LEVEL)


def _unpacked(data: bytes) -> bytes:
    unpacker = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW})
    raw = unpacker.decompress(data, _MOST_RAW)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("it is cut off, or too much comes out of it")
    return raw


_OURS: Final[dict[Why, type[GossamerError]]] = {
    "seed": SeedError,
    "config": ConfigError,
    "control": ControlError,
    "directory": CrawlDirError,
}


def _refusal(error: GossamerError | Problem) -> Refusal:
    if isinstance(error, QueryError):
        return Refusal("query", error.why, error.position)
    if isinstance(error, CursorError):
        return Refusal("stale" if error.stale else "cursor", str(error))
    if isinstance(error, Problem):
        return Refusal("none" if error.status == 404 else "problem", error.detail, error.status)
    return Refusal(next((why for why, kind in _OURS.items() if isinstance(error, kind)), "fault"), str(error))


def _raised(refusal: Refusal) -> Exception:
    if refusal.why == "query":
        return QueryError(refusal.number, refusal.text)
    if refusal.why in ("cursor", "stale"):
        return CursorError(refusal.text, refusal.why == "stale")
    if refusal.why == "problem" and 400 <= refusal.number < 500:
        return Problem(refusal.number, refusal.text)
    kind = _OURS.get(refusal.why)
    return RefusedError(refusal) if kind is None else kind(refusal.text)
