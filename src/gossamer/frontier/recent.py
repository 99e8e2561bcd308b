"""URLs seen a moment ago: most links of a page were (Mercator measured 85 %)."""

from __future__ import annotations


class Recent:
    """A bounded set of URL fingerprints in two generations.

    Invariant: at most `limit` fingerprints are held. Answering "fresh" for a known URL is allowed (the database
    decides then); answering "known" for a new one happens only when two 64-bit hashes collide.
    """

    __slots__ = ("_half", "_old", "_young")

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._young: set[int] = set()
        self._old: set[int] = set()

    def fresh(self, urls: list[str]) -> list[str]:
        """Those of `urls` not met lately, each once; they count as met from now on."""
        young, old = self._young, self._old
        # Nearly all of a page's links fall here, so that the loop below is short.
        unmet = [url for url in urls if hash(url) not in young]
        found = []
        for url in unmet:
            mark = hash(url)
            if mark not in old and mark not in young:
                found.append(url)
            young.add(mark)
        if len(young) > self._half:
            self._old, self._young = young, set()
        return found

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
