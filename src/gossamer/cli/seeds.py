"""Seeds from the command line: URLs, `@file` with one URL a line, `-` for standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gossamer.errors import SeedError


def read_seeds(arguments: Sequence[str]) -> Iterator[str]:
    """All seeds in order, read as they are asked for: a file may hold millions.

    Files are looked for at once, so that a wrong name is said before a crawl begins.
    """
    for argument in arguments:
        if argument.startswith("@"):
            _check_readable(argument)
    return _seeds(arguments)


def _seeds(arguments: Sequence[str]) -> Iterator[str]:
    for argument in arguments:
        if argument == "-":
            yield from _urls(line.decode("utf-8", "replace") for line in sys.stdin.buffer)
        elif argument.startswith("@"):
            with Path(argument[1:]).open(encoding="utf-8-sig", errors="replace") as lines:
                yield from _urls(lines)
        else:
            yield argument


def _urls(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        url = line.strip().removeprefix("\ufeff")
        if url and not url.startswith("#"):
            yield url


def _check_readable(argument: str) -> None:
    try:
        with Path(argument[1:]).open("rb"):
            pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SeedError(
            f"{argument}: the seed file {argument[1:]!r} cannot be read ({reason}); after @ comes the name of a file"
            " with one URL a line"
        ) from None
