"""DIR/logs/crawl.log: one event a line, for people or for programs, of bounded size. An event a commit, none a URL."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gossamer.agent.progress import Progress, Summary

_MOST_BYTES = 10_000_000  # of a file
_OLDER_FILES = 2
_QUIET = 60.0  # seconds between commits that are told although nothing happened
_KEPT = 100  # events from before the file is there

# Of a commit: what changes from one to the next.
_TOLD = (
    "pages", "ok", "faults", "urls", "excluded", "queued", "hosts", "bytes", "in_flight", "hosts_ready",
    "hosts_waiting", "hosts_held", "hosts_down", "duplicates",
)  # fmt: skip


class CrawlLog:
    """Invariants: a line is written whole; the files together have at most three times _MOST_BYTES. A log that cannot
    be written is no reason to end a crawl.
    """

    def __init__(self, file: Path, form: str, clock: Callable[[], float], most: int = _MOST_BYTES) -> None:
        self._path = file
        self._json = form == "json"
        self._clock = clock
        self._most = most
        self._descriptor: int | None = None
        self._size = 0
        self._before: list[bytes] = []
        self._told: tuple[object, ...] = ()
        self._told_at = 0.0

    def open(self) -> None:
        """The folder is there."""
        with suppress(OSError):
            self._open()
        for line in self._before:
            self._append(line)
        self._before.clear()

    def event(self, name: str, **facts: Any) -> None:
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._json:
            line = msgspec.json.encode({"at": at, "event": name, **facts})
        else:
            line = " ".join([at, name, *(f"{key}={_word(value)}" for key, value in facts.items())]).encode()
        if self._descriptor is not None:
            self._append(line + b"\n")
        elif len(self._before) < _KEPT:
            self._before.append(line + b"\n")

    def notice(self, text: str) -> None:
        self.event("notice", text=text)

    def commit(self, progress: Progress, seconds: float) -> None:
        """`seconds` that the commit took. Where nothing happened it is told only now and then."""
        facts = {name: getattr(progress, name) for name in _TOLD}
        failures = sum(progress.reasons.values())
        told = (*facts.values(), failures, progress.paused)
        now = self._clock()
        if told == self._told and now < self._told_at + _QUIET:
            return
        self._told, self._told_at = told, now
        self.event(
            "commit",
            **facts,
            failures=failures,
            pages_per_s=round(progress.pages_per_s, 1),
            bytes_per_s=round(progress.bytes_per_s),
            commit_ms=round(seconds * 1000, 1),
            limit=progress.limit,
        )

    def end(self, summary: Summary) -> None:
        self.event("end", **{name: _rounded(getattr(summary, name)) for name in Summary.__struct_fields__})

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _append(self, line: bytes) -> None:
        if self._descriptor is None:
            return
        with suppress(OSError):
            if self._size + len(line) > self._most:
                self._rotate()
            self._size += os.write(self._descriptor, line)

    def _rotate(self) -> None:
        self.close()
        for number in range(_OLDER_FILES, 0, -1):
            older = self._path.with_name(f"{self._path.name}.{number}")
            newer = self._path.with_name(f"{self._path.name}.{number - 1}") if number > 1 else self._path
            with suppress(FileNotFoundError):
                newer.replace(older)
        self._open()

    def _open(self) -> None:
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._size = os.fstat(self._descriptor).st_size


def _rounded(value: object) -> object:
    return round(value, 3) if isinstance(value, float) else value


def _word(value: object) -> str:
    """On one line, quoted where it has spaces."""
    text = str(value)
    if text.isprintable() and text and not any(letter in text for letter in ' "='):
        return text
    return msgspec.json.encode(text).decode()
