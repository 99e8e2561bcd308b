"""Records of visits and entries of queues, packed for every page: `keys` says what they are for."""

from __future__ import annotations

import struct

from gossamer.model import Locator, State

# state, depth, status, fetched_at, tries; file, offset and length in the store; digest, changes seen
HISTORY = struct.Struct("<BBHIBHII8sH")
ELSEWHERE = 0xFFFF  # instead of the number of a file: another agent has stored it
DEPTH_0 = 32  # depth and tries are written as characters, none of them a line feed
_LONGEST = 200  # bytes of a validator; longer ones are useless anyway
_SMALL = [chr(DEPTH_0 + number) for number in range(512)]


def pack_history(
    state: State,
    depth: int,
    status: int,
    fetched_at: float,
    tries: int,
    stored: tuple[int, int, int] | Locator | None = None,
    digest: bytes = b"",
    changes: int = 0,
    reason: str = "",
    validators: tuple[bytes, bytes] = (b"", b""),
    again: bytes = b"",
) -> bytes:
    """`stored` is (file number, offset, length) of the WARC record; a page of which there is only the `digest` is
    stored elsewhere. `validators` are ETag and Last-Modified as sent; `again` is what `pack_again` made, of a visit
    that is to be made again.
    """
    if isinstance(stored, Locator):
        stored = stored.file, stored.offset, stored.length
    file, offset, length = stored or ((ELSEWHERE, 0, 1) if digest else (0, 0, 0))
    depth, tries, changes = min(depth, 255), min(tries, 255), min(changes, 65535)
    packed = HISTORY.pack(state, depth, status, int(fetched_at), tries, file, offset, length, digest[:8], changes)
    etag, modified = validators
    if again:
        return b"%b%b\0%b\0%b\0%b" % (packed, reason.encode(), _plain(etag), _plain(modified), again)
    if etag or modified:
        return b"%b%b\0%b\0%b" % (packed, reason.encode(), _plain(etag), _plain(modified))
    return packed + reason.encode() if reason else packed


def _plain(validator: bytes) -> bytes:
    """One that was cut would fit nothing."""
    return b"" if len(validator) > _LONGEST or validator.find(b"\0") >= 0 else validator


def pack_page_here(
    state: State,
    depth: int,
    status: int,
    fetched_at: float,
    tries: int,
    stored: tuple[int, int, int] | None,
    digest: bytes,
    changes: int,
    validators: tuple[bytes, bytes],
    again: bytes,
) -> bytes:
    """The same, of a visit that brought a page."""
    return pack_history(state, depth, status, fetched_at, tries, stored, digest, changes, "", validators, again)


def pack_entry_here(depth: int, tries: int, hops: int, scheme: str, path: str) -> str:
    """`hops`: redirects that led here, one after the other, and marks beside them (SUSPECT and the like)."""
    return f"{_SMALL[depth if depth < 256 else 255]}{_SMALL[tries if tries < 256 else 255]}{_SMALL[hops]}{scheme}{path}"


def read_entry_here(packed: str) -> tuple[int, int, int, str, str]:
    """Depth, tries, hops with their marks, scheme, path."""
    return (
        ord(packed[0]) - DEPTH_0,
        ord(packed[1]) - DEPTH_0,
        ord(packed[2]) - DEPTH_0,
        packed[3],
        packed[4:],
    )


try:
    from gossamer.frontier._packing import pack_entry as pack_entry
    from gossamer.frontier._packing import pack_page as pack_page
    from gossamer.frontier._packing import read_entry as read_entry
except ImportError:  # no compiler was at hand when it was installed
    pack_page, pack_entry, read_entry = pack_page_here, pack_entry_here, read_entry_here
