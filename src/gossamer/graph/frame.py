"""A frame: what some pages link to, packed together. The link graph on disk is a row of frames.

position, then zstd of msgpack:  URLs, each once, in order · of each page: its number among them, its moment, how
                                 many links · the numbers of the pages linked to, page by page
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Final
from zlib import crc32

import msgspec
from backports import zstd
from xxhash import xxh3_64_intdigest

MAGIC: Final = b"gsL1"
HEAD: Final = struct.Struct("<4sIIIIH")
"""Magic; bytes of the packed content and of the content; a check of position and packed content; pages; bytes of the
position."""
REDIRECT: Final = 0xFFFF_FFFF
"""In place of a number of links: the page is a redirect, which has one target."""
GONE: Final = 0xFFFF_FFFE
"""In place of a number of links: there is no page any more."""
MOST_LINKS: Final = 2000
"""Of one page."""
MOST_RAW: Final = 256 << 20
_LEVEL: Final = 3
_OFFSETS: Final = 30  # bits

_compressor = zstd.ZstdCompressor(level=_LEVEL)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[bytes, bytes, bytes, bytes, bytes]).decode


def key_of(url: str) -> int:
    """64 bits by which a page is known."""
    return int(xxh3_64_intdigest(url.encode("utf-8", "replace")))


def moment_of(fetched_at: float, offset: int) -> int:
    """By what captures of one URL are in order: the second, then the place in the WARC file."""
    return (max(0, int(fetched_at)) << _OFFSETS) | min(max(0, offset), (1 << _OFFSETS) - 1)


class Rows:
    """Pages and their links until they are worth a frame."""

    __slots__ = ("_counts", "_moments", "_numbers", "_sources", "_targets", "size")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sources = array("I")
        self._moments = array("Q")
        self._counts = array("I")
        self._targets = array("I")
        self.size = 0  # bytes of URLs, about

    def __len__(self) -> int:
        return len(self._sources)

    @property
    def links(self) -> int:
        return len(self._targets)

    def add(self, url: str, moment: int, targets: Iterable[str]) -> None:
        """A page as it was at a moment. It is no target of its own, and each other one counts once."""
        number = self._number(url)
        found = {self._number(target) for target in targets}
        found.discard(number)
        self._add(number, moment, sorted(found)[:MOST_LINKS])

    def add_redirect(self, url: str, moment: int, target: str) -> None:
        if url != target:
            self._add(self._number(url), moment, [self._number(target)], REDIRECT)

    def add_gone(self, url: str, moment: int) -> None:
        self._add(self._number(url), moment, (), GONE)

    def _add(self, number: int, moment: int, targets: Sequence[int], count: int = -1) -> None:
        self._sources.append(number)
        self._moments.append(moment)
        self._counts.append(len(targets) if count < 0 else count)
        self._targets.extend(targets)

    def _number(self, url: str) -> int:
        numbers = self._numbers
        number = numbers.get(url)
        if number is None:
            number = numbers[url] = len(numbers)
            self.size += len(url)
        return number

    def pack(self, position: bytes) -> bytes:
        """A whole frame. URLs are put in order, in which they are most alike."""
        urls = sorted(self._numbers)
        places = array("I", bytes(4 * len(urls)))
        for place, url in enumerate(urls):
            places[self._numbers[url]] = place
        targets, at = array("I"), 0
        for count in self._counts:
            end = at + (count if count <= MOST_LINKS else count == REDIRECT)
            targets.extend(differences(sorted([places[number] for number in self._targets[at:end]])))
            at = end
        sources = array("I", [places[number] for number in self._sources])
        texts = "\n".join(urls).encode("utf-8", "replace")
        return packed_frame(position, texts, sources, self._moments, self._counts, targets)


def differences(numbers: Sequence[int]) -> list[int]:
    """The first number, and of each other one how much greater it is than the one before."""
    return [number - before for number, before in zip(numbers, [0, *numbers], strict=False)]


def packed_frame(
    position: bytes, urls: bytes, sources: array[int], moments: array[int], counts: array[int], targets: array[int]
) -> bytes:
    columns = [sources, moments, counts, targets]
    if sys.byteorder == "big":
        for column in columns:
            column.byteswap()
    raw = _encode((urls, *(column.tobytes() for column in columns)))
    content = _compressor.compress(raw, zstd.ZstdCompressor.FLUSH_FRAME)
    check = crc32(content, crc32(position))
    return HEAD.pack(MAGIC, len(content), len(raw), check, len(sources), len(position)) + position + content


class Frame(msgspec.Struct, frozen=True):
    """What was unpacked: the columns as they lie on disk, little-endian."""

    urls: list[bytes]
    sources: bytes  # 4 bytes each
    moments: bytes  # 8 bytes each
    counts: bytes  # 4 bytes each
    targets: bytes  # 4 bytes each: of a page the first is a number, each other one the difference to the one before


def unpacked_frame(content: bytes, raw: int) -> Frame:
    """Raises ValueError where it is none."""
    if raw > MOST_RAW:
        raise ValueError("too large")
    try:
        data = zstd.ZstdDecompressor().decompress(content, raw + 1)
        urls, *columns = _decode(data)
    except (zstd.ZstdError, EOFError, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error
    return Frame(urls.split(b"\n") if urls else [], *columns)
