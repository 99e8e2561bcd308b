"""Important pages first, by what leads to them: on-line importance (OPIC; Abiteboul, Preda and Cobena, 2003)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import islice
from math import log2
from typing import ClassVar, Final
from zlib import crc32

from gossamer.config.kinds import Whole
from gossamer.rules.strategy import Pick, SeenPage, Strategy, StrategyOption

_FIRST, _LAST, _MIDDLE = 1, 8, 4  # priorities
_OWN: Final = 1.0  # what every page gives away, whatever it was given
_MOST: Final = 64.0  # what one page gives away at most, in means
_FADE: Final = 1.0 / 50_000  # of what was given before, lost with each page
_ENOUGH: Final = 1e6  # a unit from which numbers are made smaller again
_SMOOTH: Final = 0.002  # weight of one link in the mean
_PENDING: Final = 20_000
_AT_ONCE: Final = 500  # raised in one commit
_SAVE_EVERY: Final = 5_000  # pages
_PIECES: Final = 64


class Importance(Strategy):
    """Each page divides what it was given, and a little of its own, among its links; who has more comes earlier.

    Invariant: memory is that of the table, whatever the number of URLs. URLs that share a place in it share what they
    are given. What was given fades, so that what leads somewhere now counts more than what did long ago.
    """

    raises: ClassVar[bool] = True
    options: ClassVar = {
        "places": StrategyOption(
            Whole(1024, 1 << 28),
            1 << 20,
            "Places of the table in which URLs gather importance, five bytes each; about as many as URLs queued.",
        )
    }

    def __init__(self, places: int = 1 << 20) -> None:
        size = 1 << (places - 1).bit_length()
        self._mask = size - 1
        self._given = array("f", bytes(4 * size))
        self._visited = bytearray(size)
        self._unit = 1.0  # what 1 is now: it grows, instead of everything else becoming less
        self._mean = 1.0  # of what a link has, in units of now
        self._raised: dict[str, Pick] = {}
        self._pages = self._saved = self._raises = 0

    def order(self, page: SeenPage) -> list[int | None]:
        given, mask, unit = self._given, self._mask, self._unit
        place = crc32(page.url.encode()) & mask
        has = given[place] / unit
        given[place] = 0.0
        self._visited[place] = 1
        self._pages += 1
        self._unit = unit * (1 + _FADE)
        if self._unit > _ENOUGH:
            self._shrink()
            unit = self._unit
        links, ranked = page.links, self.ranked
        if not links:
            return []
        part = min(has + _OWN, _MOST * max(self._mean, 1.0)) / len(links)
        found: list[int | None] = []
        for link in links:
            place = crc32(link.encode()) & mask
            before = given[place] / unit
            after = before + part
            given[place] = after * unit
            self._mean += _SMOOTH * (after - self._mean)
            rank = 0.0 if ranked is None else ranked(link) or 0.0  # which it has before anything leads to it here
            priority = self._priority(after, rank)
            found.append(priority)
            if before and not self._visited[place] and priority < self._priority(before, rank):
                self._raise(link, priority, page.depth + 1)
        return found

    def _priority(self, has: float, rank: float) -> int:
        """`rank` is in means, too."""
        return min(_LAST, max(_FIRST, _MIDDLE - int(log2(max(has / self._mean, rank, 1e-9)))))

    def _raise(self, url: str, priority: int, depth: int) -> None:
        if len(self._raised) < _PENDING:
            self._raised[url] = Pick(url, priority, depth)

    def requests(self, now: float, idle: bool) -> Iterable[Pick]:
        chosen = list(islice(self._raised.items(), _AT_ONCE))
        for url, _ in chosen:
            del self._raised[url]
        self._raises += len(chosen)
        return [] if idle else [request for _, request in chosen]

    def _shrink(self) -> None:
        self._given = array("f", [value / self._unit for value in self._given])
        self._unit = 1.0

    # -- what is kept ------------------------------------------------------------------------------------------------

    def unsaved(self, last: bool) -> Mapping[str, bytes]:
        """The table now and then: after a crash it is some thousand pages behind, which changes little."""
        raised = {"raised": str(self._raises).encode()}
        if not (last or self._pages - self._saved >= _SAVE_EVERY):
            return raised
        self._saved = self._pages
        if self._unit > 1:
            self._shrink()
        given, visited = self._given.tobytes(), bytes(self._visited)
        pieces = {"numbers": array("d", [self._mean, self._pages]).tobytes()}
        for name, data in (("given", given), ("visited", visited)):
            step = max(1, len(data) // _PIECES)
            pieces |= {f"{name}-{start // step:03d}": data[start : start + step] for start in range(0, len(data), step)}
        return {**pieces, **raised}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        self._raises = int(saved.get("raised", b"0"))
        given = b"".join(saved[name] for name in sorted(saved) if name.startswith("given-"))
        visited = b"".join(saved[name] for name in sorted(saved) if name.startswith("visited-"))
        if len(visited) != len(self._visited) or len(given) != 4 * len(visited):
            return  # another number of places: it begins anew
        self._given = array("f", given)
        self._visited = bytearray(visited)
        self._mean, pages = array("d", saved["numbers"])
        self._pages = self._saved = int(pages)

    def figures(self) -> Mapping[str, float]:
        return {"raised": self._raises}
