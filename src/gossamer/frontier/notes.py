"""What is kept of contents and hosts that repeat others."""

from __future__ import annotations

import struct

import msgspec

from gossamer.rules.yields import Barren

_PAYLOAD = struct.Struct("<d?8s")

AGREE = 24
"""Pages that a host must have in common with another one to be its mirror."""

_AGREE_FOR_EACH_THAT_DIFFERS = 4  # pages change between two visits
_MOST_TWINS = 4  # hosts that one is compared with


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
    agree: int = 0  # pages that were the same on both hosts when it was found
    barren: dict[str, Barren] = {}  # by place
    front: str = ""  # the host whose front page is the same as its own, and was there first
    trouble: str = ""  # the reason of its last failure


read_notes = msgspec.msgpack.Decoder(Notes).decode
pack_notes = msgspec.msgpack.Encoder().encode


class Twins:
    """Hosts whose pages were seen under the same paths on this one, and how often the pages agreed and differed.

    Invariant: at most _MOST_TWINS hosts are compared with.
    """

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, int]] = {}

    def compared(self, other: str, same: bool) -> bool:
        """A page of the same path was the same on both hosts, or was not; true when this makes the host a mirror."""
        if other not in self.counts and len(self.counts) >= _MOST_TWINS:
            return False
        agree, differ = self.counts.get(other, (0, 0))
        agree, differ = agree + same, differ + (not same)
        self.counts[other] = agree, differ
        return agree >= AGREE and agree >= _AGREE_FOR_EACH_THAT_DIFFERS * differ
