"""Reserved strings: what a page must not contain (N8)."""

from __future__ import annotations

from collections.abc import Iterable


class Reserved:
    """Texts that are looked for without regard to case, and to how many spaces or lines are between words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [_folded(text) for text in texts]

    def found_in(self, *sources: str) -> bool:
        """Whether one of them is in one of these."""
        return any(text in source for source in map(_folded, sources) for text in self._texts)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
