"""The frontier as of its last commit, read from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import ReadOnlyDatabase
from gossamer.model import State, VisitRecord


class FrontierReader:
    """Takes no lock and changes nothing; `scratch` is a directory for RocksDB's own notes."""

    def __init__(self, path: Path, scratch: Path) -> None:
        self._database = ReadOnlyDatabase(path, scratch)

    def meta(self, name: str) -> bytes | None:
        return self._database.get(keys.META + name.encode())

    def counts(self) -> Counts:
        stored = self.meta("counts")
        return msgspec.msgpack.decode(stored, type=Counts) if stored else Counts()

    def visits(self, state: State | None = None) -> Iterator[VisitRecord]:
        for partition in range(self.counts().partitions):
            for key, value in self._database.scan(keys.partition_prefix(partition) + b"v"):
                if state is None or value[0] == state:
                    yield keys.read_visit(key, value)

    def close(self) -> None:
        self._database.close()
