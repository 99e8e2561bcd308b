"""The frontier as of its last commit, read from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import ReadOnlyDatabase
from gossamer.model import State, VisitRecord
from gossamer.model.domain import partition_of, registered_domain
from gossamer.model.url import host_of, split
from gossamer.rules.policy import Manners


class HostView(msgspec.Struct):
    """What is known of a host, for people."""

    name: str
    pages: int
    queued: int
    failures: int
    due: float
    crawl_delay: float
    delay: float  # in force
    robots_known: bool
    robots_until: float


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

    def visit(self, url: str) -> VisitRecord | None:
        name = host_of(url)
        origin, path = split(url)
        key = keys.visit_prefix(self._partition(name), name, origin.partition(":")[0]) + path.encode()
        value = self._database.get(key)
        return None if value is None else keys.read_visit(key, value)

    def host(self, name: str, manners: Manners, origin: str) -> HostView | None:
        partition = self._partition(name)
        stored = self._database.get(keys.host_key(partition, name))
        if stored is None:
            return None
        record = keys.HostRecord.unpack(stored)
        rules = self._database.get(keys.robots_key(partition, name, origin.partition(":")[0]))
        return HostView(
            name,
            record.pages,
            sum(queued for _, queued in record.levels),
            record.failures,
            record.due,
            record.crawl_delay,
            manners.delay_of(record.crawl_delay),
            rules is not None,
            keys.read_robots(rules)[0] if rules else 0.0,
        )

    def _partition(self, host: str) -> bytes:
        return keys.partition_prefix(partition_of(registered_domain(host), self.counts().partitions))

    def close(self) -> None:
        self._database.close()
