"""Seeds from the command line: URLs, `@file` with one URL a line, `-` for standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gossamer.errors import SeedError


class Seeds:
    """All seeds in order, read as they are asked for: a file may hold millions.

    Files are looked for at once, so that a wrong name is said before a crawl begins.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._total = sum(_size(argument) for argument in arguments if argument.startswith("@"))
        self._read = 0

    def share(self) -> float:
        """How much of the files has been read."""
        return self._read / self._total if self._total else 1.0

    def __iter__(self) -> Iterator[str]:
        for argument in self._arguments:
            if argument == "-":
                yield from _urls(sys.stdin.buffer)
            elif argument.startswith("@"):
                with Path(argument[1:]).open("rb") as lines:
                    yield from _urls(self._counted(lines))
            else:
                yield argument

    def _counted(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            self._read += len(line)
            yield line


def _urls(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        url = line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        if url and not url.startswith("#"):
            yield url


def _size(argument: str) -> int:
    try:
        with Path(argument[1:]).open("rb"):
            return Path(argument[1:]).stat().st_size
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SeedError(
            f"{argument}: the seed file {argument[1:]!r} cannot be read ({reason}); after @ comes the name of a file"
            " with one URL a line"
        ) from None
