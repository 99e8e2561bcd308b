"""Endless places: calendars, session ids, directories. Finite truth does not exist for them."""

from __future__ import annotations

import xxhash


def trap_entrance(page: int) -> bytes:
    """Where a page's link into a trap goes."""
    kind = page % 3
    if kind == 0:
        return b"/calendar/%d/%d/" % (2000 + page % 50, 1 + page % 12)
    if kind == 1:
        return b"/cart?sid=%016x&item=%d" % (xxhash.xxh3_64_intdigest(b"%d" % page), page)
    return b"/deep/a/"


def trap_links(path: bytes) -> list[bytes]:
    """What a trap page links to: further into the trap, each time under new URLs."""
    if path.startswith(b"/calendar/"):
        return _calendar(path)
    if path.startswith(b"/cart?"):
        state = xxhash.xxh3_64_intdigest(path)
        return [b"/cart?sid=%016x&item=%d" % (state + turn & (1 << 64) - 1, turn) for turn in range(8)]
    deeper = path if path.endswith(b"/") else path + b"/"
    return [deeper + name for name in (b"a/", b"b/", b"archive/", b"a/b/")]


def _calendar(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    try:
        month = int(parts[2]) * 12 + int(parts[3]) - 1
    except (IndexError, ValueError):
        month = 2000 * 12
    near = [month - 1, month + 1, month + 12, month + 120]
    days = [b"/calendar/%d/%d/%d" % (month // 12, month % 12 + 1, day) for day in (1, 10, 20)]
    return [b"/calendar/%d/%d/" % (other // 12, other % 12 + 1) for other in near] + days
