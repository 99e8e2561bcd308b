"""A page as the index keeps it."""

from __future__ import annotations

from typing import Final

import msgspec
from backports import zstd

_LEVEL: Final = 3
_encoder = msgspec.msgpack.Encoder()


class Entry(msgspec.Struct):
    """What is searched and shown of one URL. `url` is its key: writing it again replaces it."""

    url: str
    fetched_at: float
    title: str = ""
    description: str = ""
    body: str = ""  # all text
    main: str = ""  # the main text, from which snippets are cut; `body` where it is empty
    anchors: list[str] = []  # the texts of links from other pages
    inlinks: int = 0  # how many pages link here
    language: str = ""
    type: str = "text/html"
    digest: bytes = b""  # of the payload; the same digest is shown once


_decoder = msgspec.msgpack.Decoder(Entry)


def pack(entry: Entry) -> bytes:
    try:
        plain = _encoder.encode(entry)
    except UnicodeEncodeError:
        plain = _encoder.encode(_scalar(entry))
    return zstd.compress(plain, _LEVEL)


def _scalar(entry: Entry) -> Entry:
    """The same without halves of surrogate pairs, which no encoding has."""
    texts = {
        name: _readable(getattr(entry, name))
        for name in ("url", "title", "description", "body", "main", "language", "type")
    }
    return msgspec.structs.replace(entry, anchors=[_readable(anchor) for anchor in entry.anchors], **texts)


def _readable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def unpack(data: bytes) -> Entry:
    return _decoder.decode(zstd.decompress(data))
