"""URLs that nobody of this crawl is to visit, kept for a later one (S5): `later.txt` in the directory of an agent.

One URL a line, so that `gossamer crawl @later.txt` takes them. What was written before a crash may be there twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gossamer.errors import DiskFullError

NAME = "later.txt"


class Later:
    """Invariant: what `add` was given is on disk when it returns."""

    def __init__(self, home: Path) -> None:
        self._path = home / NAME

    def add(self, urls: Iterable[str]) -> None:
        text = "".join(f"{url}\n" for url in urls)
        if not text:
            return
        try:
            with open(self._path, "a", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fdatasync(file.fileno())
        except OSError as error:
            raise DiskFullError(f"{self._path} cannot be written: {error.strerror}. Free disk, then go on.") from error
