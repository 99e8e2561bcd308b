"""Many small frames to a few large ones: a crawl that goes on for months commits a few pages at a time."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator
from typing import Final

from gossamer.graph.frame import GONE, REDIRECT, Frame, Rows

_MOST_PAGES: Final = 20_000  # of a frame
_MOST_LINKS: Final = 1_000_000

Row = tuple[int, int, list[str]]  # moment, number of links or what stands in its place, targets


def merged(frames: Iterable[tuple[Frame, bytes]]) -> Iterator[bytes]:
    """Frames with their positions, packed anew. Of captures of a page that come together the last one is kept."""
    pages: dict[str, Row] = {}
    links, last = 0, b""
    for frame, position in frames:
        for url, row in rows_of(frame):
            known = pages.get(url)
            if known is None or known[0] < row[0]:
                links += len(row[2]) - (len(known[2]) if known else 0)
                pages[url] = row
        last = position
        if len(pages) >= _MOST_PAGES or links >= _MOST_LINKS:
            yield _packed(pages, last)
            pages, links = {}, 0
    if pages or last:
        yield _packed(pages, last)


def rows_of(frame: Frame) -> Iterator[tuple[str, Row]]:
    urls = [url.decode("utf-8", "replace") for url in frame.urls]
    targets, at = _numbers("I", frame.targets), 0
    columns = (_numbers("I", frame.sources), _numbers("Q", frame.moments), _numbers("I", frame.counts))
    for source, moment, count in zip(*columns, strict=True):
        end = at + (count if count < GONE else count == REDIRECT)
        found, place = [], 0
        for step in targets[at:end]:
            place += step
            found.append(urls[place])
        at = end
        yield urls[source], (moment, count, found)


def _numbers(kind: str, data: bytes) -> array[int]:
    numbers = array(kind, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _packed(pages: dict[str, Row], position: bytes) -> bytes:
    rows = Rows()
    for url, (moment, count, targets) in pages.items():
        if count == REDIRECT:
            rows.add_redirect(url, moment, targets[0])
        elif count == GONE:
            rows.add_gone(url, moment)
        else:
            rows.add(url, moment, targets)
    return rows.pack(position)
