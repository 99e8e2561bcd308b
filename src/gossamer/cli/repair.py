"""`gossamer repair`: look whether a crawl's directory is whole, and make anew what is damaged or lost."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click
import msgspec

from gossamer.cli import StrictCommand
from gossamer.cli.bar import Bar
from gossamer.cli.commanding import directory_option, json_option
from gossamer.cli.leash import Stopped

if TYPE_CHECKING:
    from gossamer.agent.repair import Part

STOPPED = 130


@click.command(cls=StrictCommand)
@directory_option
@click.option("--check", "only_look", is_flag=True, help="Only look: nothing is changed.")
@json_option
def repair(directory: Path, only_look: bool, as_json: bool) -> int:
    """Make anew what of a crawl's directory is damaged or lost.

    All stored pages are read. What follows from them is made again if it does not fit: the lists of captures (CDXJ),
    the frontier and the index. Pages that are damaged themselves are fetched again by the next run. Broken off, the
    same command goes on. The exit status is 1 if anything is damaged, with --check, or could not be repaired.
    """
    from gossamer.agent.repair import Repair

    stopped = Stopped()
    with _Bars() as bars:
        work = Repair(directory, lambda text: print(text, file=sys.stderr, flush=True), bars.update)
        parts = list(_told(work.check() if only_look else work.repair(stopped), as_json))
    if as_json:
        sys.stdout.write(msgspec.json.encode({"parts": parts}).decode() + "\n")
    elif only_look and not all(part.fine for part in parts):
        print(f"To make it whole: gossamer repair --dir {directory}", file=sys.stderr)
    if stopped():
        return STOPPED
    return 0 if all(part.fine for part in parts) else 1


def _told(parts: Iterable[Part], as_json: bool) -> Iterable[Part]:
    for part in parts:
        if not as_json:
            print(f"{part.name:9} {'fine' if part.fine else 'DAMAGED'}: {part.text}", flush=True)
        yield part


class _Bars:
    """One for each step of the work."""

    def __init__(self) -> None:
        self._what = ""
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__()

    def update(self, what: str, items: int, done: int, total: int) -> None:
        if self._bar is None or what != self._what:
            self.__exit__()
            self._what, self._bar = what, Bar(what)
        self._bar.update(items, done, total)
