"""A bar for work whose length is known: redrawn on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from gossamer.cli.numbers import count, rate, share, span

if TYPE_CHECKING:
    from gossamer.report.making import Made

_WIDTH: Final = 30


class Bar:
    """Says nothing of work that is done within a second. Writes to stderr, and ends what it has drawn."""

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._clock = clock
        self._began = clock()
        self._drawn = False
        self._live = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._next = self._began + 1.0
        self._start: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn and self._live:
            print(file=sys.stderr, flush=True)

    def made(self, made: Made) -> None:
        self.update(made.captures, made.done, made.total)

    def update(self, items: int, done: int, total: int) -> None:
        """So many items so far; the length of the work is measured by something else."""
        if self._start is None:
            self._start = done
        now = self._clock()
        if now < self._next or self._start == total:
            return
        self._next = now + (0.2 if self._live else 5.0)
        self._drawn = True
        seconds = now - self._began
        speed = (done - self._start) / seconds
        left = f" · {span((total - done) / speed)} left" if speed > 0 and total > done else ""
        text = f"{self._what} · {share(done, total)} · {count(items)} · {rate(items / seconds)}{left}"
        if self._live:
            full = round(_WIDTH * done / total) if total else 0
            print(f"\r\x1b[K{'█' * full}{'░' * (_WIDTH - full)} {text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)
