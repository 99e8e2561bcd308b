"""What is kept of contents and hosts that repeat others."""

from __future__ import annotations

import struct

import msgspec

from gossamer.rules.yields import Barren

_PAYLOAD = struct.Struct("<d?8s")

AGREE = 24
"""Pages that a host must have in common with another one to be its mirror, and as many more for each that differs."""


class Payload(msgspec.Struct, gc=False):
    """Where a content was first found. `digest` is the beginning of that of the bytes as sent: who asks has found the
    same content already.
    """

    url: str
    fetched_at: float
    digest: bytes
    followed: bool  # the links of that page were

    def has_digest(self, digest: bytes) -> bool:
        return digest[:8] == self.digest[:8]

    def pack(self) -> bytes:
        return _PAYLOAD.pack(self.fetched_at, self.followed, self.digest) + self.url.encode()

    @classmethod
    def unpack(cls, value: bytes) -> Payload:
        fetched_at, followed, digest = _PAYLOAD.unpack_from(value)
        return cls(value[_PAYLOAD.size :].decode(), fetched_at, digest, followed)


class Finding(msgspec.Struct, frozen=True):
    """Something that the crawl leaves from now on, and why: a `mirror` of a host, a `barren` place of one."""

    kind: str
    what: str  # the host, or host and place
    like: str  # the host that it mirrors, or a page that it repeats
    pages: int  # that showed it


class Notes(msgspec.Struct):
    """What a host was found to repeat, and why it failed, kept across restarts. Most hosts have none."""

    mirror_of: str = ""
    barren: dict[str, Barren] = {}  # by place
    front: str = ""  # the host whose front page is the same as its own, and was there first
    trouble: str = ""  # the reason of its last failure


read_notes = msgspec.msgpack.Decoder(Notes).decode
pack_notes = msgspec.msgpack.Encoder().encode


class Likeness(msgspec.Struct, gc=False):
    """How many pages two hosts have under the same paths that are the same, and that are not."""

    agree: int = 0
    differ: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether one of the two is a mirror, as far as these pages say."""
        return self.agree >= AGREE * (1 + self.differ)
