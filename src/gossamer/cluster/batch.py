"""Many URLs as one message, from the agent that found them to the one that owns them.

    "GU" version                         3 bytes, so that another version is told from garbage
    zstd of: for each group              what `Frontier.add` takes at a time
        depth priority hops marks        2, 1, 1, 1 bytes; the upper four bits of the priority are the party whose it
                                         is. Of known URLs that are asked for, depth and hops say how many seconds old
                                         a copy may be: the depth, doubled as often as the hops say
        length                           4 bytes, of what follows
        URLs with a line feed between    normalised, so that none holds one; after a sitemap and a space, the hosts
                                         for which it speaks, with commas between

Messages that mean harm do none: all is bounded before it is done, and a URL that is not in its normal form is no URL of
an agent's. That of a form, which no link can have, is one only in a group that says so; whether it is sent the receiver
judges by its own settings.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from backports import zstd

from gossamer.errors import BatchError
from gossamer.model.post import body_of, plain, posted
from gossamer.model.url import MAX_LENGTH, normalize

LONGEST: Final = 1_000_000
"""Bytes of a message: the broker takes 1,048,576 with its headers."""

MOST_URLS: Final = 50_000  # in a message
_VERSION: Final = 1
_START: Final = b"GU" + bytes([_VERSION])
_GROUP: Final = struct.Struct(">HBBBI")
_RAW: Final = 960_000  # bytes in a message before compression: should they be random, they still fit
_MOST_RAW: Final = 4 * _RAW  # that are read
_WINDOW: Final = 23  # 8 MB, as a power of two
_LEVEL: Final = 3
_MOST_DEPTH, _MOST_PRIORITY, _MOST_HOPS = 0xFFFF, 9, 15
_DEPTH_BITS: Final = 16
_PARTY: Final = 4  # bits of a priority below those of its party
_MOST_PARTY: Final = 14
_SUSPECT, _SOURCE, _LISTED, _ASKED, _POST, _AGAIN = 1, 2, 4, 8, 16, 32  # marks
_KINDS: Final = frozenset(
    {0, _SUSPECT, _SOURCE, _SOURCE | _LISTED, _ASKED, _ASKED | _POST, _ASKED | _AGAIN}
)  # of groups
_compressor = zstd.ZstdCompressor(level=_LEVEL)  # a new one takes as long as what is mostly given to it
_MOST_HOSTS: Final = 100  # for which a sitemap speaks


class Group(msgspec.Struct, frozen=True, gc=False):
    """URLs that were found in the same way."""

    urls: tuple[str, ...]
    depth: int
    priority: int  # and above it whose they are
    hops: int = 0
    suspect: bool = False
    source: bool = False  # sitemaps; then `hosts` has, for each, those that it speaks for
    listed: bool = False  # named by a sitemap index
    hosts: tuple[tuple[str, ...], ...] = ()
    asked: bool = False  # for, by an application or another program
    post: bool = False  # forms that are to be sent
    max_age: int | None = None  # seconds; what is known is to be visited again, unless its copy is younger

    @property
    def marks(self) -> int:
        found = _SUSPECT * self.suspect | _SOURCE * self.source | _LISTED * self.listed
        return found | _ASKED * self.asked | _POST * self.post | _AGAIN * (self.max_age is not None)

    def lines(self) -> tuple[str, ...]:
        if not self.source:
            return self.urls
        return tuple(f"{url} {','.join(hosts[:_MOST_HOSTS])}" for url, hosts in zip(self.urls, self.hosts, strict=True))


def encode(groups: Iterable[Group]) -> list[bytes]:
    """As few messages as they fit in. The order stays; a group may be cut in two."""
    messages: list[bytes] = []
    parts: list[bytes] = []
    size = number = 0
    for depth, priority, hops, marks, urls in _pieces(groups):
        packed = "\n".join(urls).encode()
        if parts and (size + _GROUP.size + len(packed) > _RAW or number + len(urls) > MOST_URLS):
            messages.append(_packed(parts))
            parts, size, number = [], 0, 0
        parts += (_GROUP.pack(depth, priority, hops, marks, len(packed)), packed)
        size += _GROUP.size + len(packed)
        number += len(urls)
    if parts:
        messages.append(_packed(parts))
    return messages


def decode(message: bytes) -> list[Group]:
    """BatchError, whatever is wrong with it; nothing of it is taken then."""
    if len(message) > LONGEST:
        raise BatchError(f"a batch of URLs is too long: {len(message)} bytes")
    if message[: len(_START)] != _START:
        kind = f"of version {message[2]}" if message[:2] == _START[:2] and len(message) > 2 else "none"
        raise BatchError(f"a batch of URLs is {kind}: are all agents of one version?")
    raw = _unpacked(message[len(_START) :])
    groups, at, number = [], 0, 0
    while at < len(raw):
        if at + _GROUP.size > len(raw):
            raise BatchError("a batch of URLs is cut off")
        depth, priority, hops, marks, length = _GROUP.unpack_from(raw, at)
        at += _GROUP.size
        if length > len(raw) - at:
            raise BatchError("a batch of URLs is cut off")
        party, rank = divmod(priority, 1 << _PARTY)
        if (
            max(rank - _MOST_PRIORITY, party - _MOST_PARTY, hops - _MOST_HOPS) > 0
            or marks not in _KINDS
            or (marks & _ASKED and depth and not marks & _AGAIN)
            or (party and not marks & _ASKED)
        ):
            raise BatchError("a batch of URLs has numbers that no agent writes")
        urls, hosts = _urls(raw[at : at + length], bool(marks & _SOURCE), bool(marks & _POST))
        at += length
        number += len(urls)
        if number > MOST_URLS:
            raise BatchError(f"a batch has more than {MOST_URLS} URLs")
        suspect, source, listed = bool(marks & _SUSPECT), bool(marks & _SOURCE), bool(marks & _LISTED)
        asked, post = bool(marks & _ASKED), bool(marks & _POST)
        max_age = depth << hops if marks & _AGAIN else None
        if max_age is not None:
            depth = hops = 0
        groups.append(Group(urls, depth, priority, hops, suspect, source, listed, hosts, asked, post, max_age))
    return groups


def _urls(packed: bytes, sources: bool, forms: bool) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    try:
        urls = tuple(packed.decode("ascii").split("\n"))
    except UnicodeDecodeError as error:
        raise BatchError("a batch of URLs is no text") from error
    hosts: tuple[tuple[str, ...], ...] = ()
    if sources:
        cut = [line.partition(" ") for line in urls]
        urls = tuple(url for url, _, _ in cut)
        hosts = tuple(tuple(names.split(",")) if names else () for _, _, names in cut)
        for name in {name for names in hosts for name in names}:
            if normalize(f"http://{name}/") != f"http://{name}/":
                raise BatchError(f"a batch has a host that is none: {name[:200]!r}")
        if any(len(names) > _MOST_HOSTS for names in hosts):
            raise BatchError("a batch has a sitemap that speaks for too many hosts")
    for url in urls:
        if _in_normal_form(url, forms) != url:
            raise BatchError(f"a batch has a URL that is not in its normal form: {url[:200]!r}")
    return urls, hosts


def _in_normal_form(url: str, form: bool) -> str | None:
    """As an agent would write it."""
    address = plain(url) if form else url
    if len(address) > MAX_LENGTH or normalize(address) != address:
        return None
    return posted(address, body_of(url)) if form else address


def _pieces(groups: Iterable[Group]) -> Iterator[tuple[int, int, int, int, list[str]]]:
    """Groups that fit in a message, with numbers that fit in their bytes."""
    for group in groups:
        depth, priority = min(group.depth, _MOST_DEPTH), group.priority
        if not group.asked:
            priority = min(max(priority, 0), _MOST_PRIORITY)
        hops = min(group.hops, _MOST_HOPS)
        if group.max_age is not None:
            hops = min(max(group.max_age.bit_length() - _DEPTH_BITS, 0), _MOST_HOPS)
            depth = min(group.max_age >> hops, _MOST_DEPTH)
        piece: list[str] = []
        room = _RAW - _GROUP.size
        for url in group.lines():
            if piece and (room < len(url) + 1 or len(piece) == MOST_URLS):
                yield depth, priority, hops, group.marks, piece
                piece, room = [], _RAW - _GROUP.size
            piece.append(url)
            room -= len(url) + 1
        if piece:
            yield depth, priority, hops, group.marks, piece


def _packed(parts: list[bytes]) -> bytes:
    return _START + _compressor.compress(b"".join(parts), zstd.ZstdCompressor.FLUSH_FRAME)


def _unpacked(data: bytes) -> bytes:
    unpacker = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW})
    try:
        raw = unpacker.decompress(data, _MOST_RAW)
    except zstd.ZstdError as error:
        raise BatchError(f"a batch of URLs cannot be unpacked ({error})") from error
    if not unpacker.eof or unpacker.unused_data:
        raise BatchError("a batch of URLs is cut off, or too much comes out of it")
    return raw
