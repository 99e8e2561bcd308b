"""The ranks of a crawl while it goes on: `gossamer rank` may put others in their place at any moment."""

from __future__ import annotations

from pathlib import Path

from gossamer.errors import DamagedError
from gossamer.graph.scores import SCORES, RankReader, identity_of


class Ranks:
    """Invariant: `worth` answers from one result until `look` is called. Without ranks it knows nothing of any page."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._path = home / "rank" / SCORES
        self._reader: RankReader | None = None
        self._identity: tuple[int, int, int] | None = None
        self.look()

    @property
    def name(self) -> bytes:
        """By which this result is told from others; empty where there is none."""
        return repr(self._identity).encode() if self._reader is not None else b""

    def look(self) -> bytes:
        """Take up the newest result; its name. A file that is none is as no ranks."""
        try:
            identity = identity_of(self._path)
        except OSError:
            identity = None
        if identity != self._identity:
            self.close()
            self._identity = identity
            try:
                self._reader = RankReader.of(self._home)
            except DamagedError:
                self._reader = None
        return self.name

    def worth(self, key: int) -> int | None:
        return None if self._reader is None else self._reader.worth(key)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
            self._identity = None
