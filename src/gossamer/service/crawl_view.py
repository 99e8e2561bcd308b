"""The crawl in a directory as its service sees it: frontier, stored pages and index, whatever there is of them yet."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock

import msgspec

from gossamer.agent import Explanation, PageReader, Progress, StoredPage
from gossamer.agent.case import Case, gather
from gossamer.agent.changes import Changes
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.explain import explain_from
from gossamer.errors import GossamerError
from gossamer.frontier.outlook import HostEstimate
from gossamer.frontier.reader import FrontierReader
from gossamer.index import Search
from gossamer.model import VisitRecord
from gossamer.service.host_list import HostList
from gossamer.service.problems import Problem
from gossamer.store import Capture, StorePosition, captures_of


class CrawlView:
    """For any number of threads. Invariant: one reader is open at most, and it is of the crawl that is there now."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.directory = CrawlDir(home)
        self.clock = clock
        self.search = Search([self.directory.index])
        self.hosts = HostList(self.frontier)
        self._reader: PageReader | None = None
        self._opened: tuple[int, int, bool] | None = None
        self._lock = Lock()

    @property
    def exists(self) -> bool:
        return self.directory.settings.is_file() and self.directory.frontier.is_dir()

    def frontier(self) -> FrontierReader:
        return self._pages().frontier

    def progress(self) -> Progress:
        stored = self.frontier().meta("progress")
        progress = msgspec.msgpack.decode(stored, type=Progress) if stored else Progress()
        progress.running = self.directory.in_use()
        return progress

    def freshness(self, hosts: Iterable[str]) -> dict[str, HostEstimate]:
        """Of those of these hosts of which something is known; nothing where pages are not visited again."""
        return self.frontier().freshness(hosts, self.clock()) if self.progress().keep_fresh else {}

    def visit(self, url: str) -> VisitRecord | None:
        return self.frontier().visit(url)

    def stored(self, visit: VisitRecord) -> StoredPage | None:
        """The page of a visit; None where nothing was stored, or its file is not there."""
        return None if visit.stored is None else self._pages().by_place(visit.stored)

    def explain(self, text: str) -> Explanation:
        return explain_from(self.frontier(), self.directory, text, self.clock())

    def case(self, text: str) -> Case:
        """A URL or host, and all of the crawl that bears on it."""
        return gather(self.frontier(), self.directory, text, self.clock())

    def history(self, url: str) -> tuple[list[Capture], bool]:
        """All captures of a URL, the newest first, and whether all that is stored was looked at."""
        stored = self.frontier().meta("store")
        position = msgspec.msgpack.decode(stored, type=StorePosition) if stored else StorePosition()
        return captures_of(url, self.directory.warc, position)

    def changes(self) -> Changes:
        """To be asked which pages are new, changed and gone."""
        return Changes(self.frontier(), self.directory)

    def open(self) -> None:
        """Before anybody asks: it takes a moment."""
        with suppress(Problem, GossamerError):  # those who ask are told
            self._pages()

    def indexed_at(self) -> float:
        """When the index was last written; 0 where there is none."""
        try:
            return (self.directory.index / "meta.json").stat().st_mtime
        except OSError:
            return 0.0

    def close(self) -> None:
        with self._lock:
            if self._reader is not None:
                self._reader.close()
            self._reader = None
        self.search.close()

    def _pages(self) -> PageReader:
        """Opened when first needed, which is slow; again when another crawl is there under the same name, and when one
        begins or ends.
        """
        try:
            found = os.stat(self.directory.frontier / "IDENTITY")
        except OSError:
            raise Problem(
                404, "There is no crawl in the directory of this service yet. Start one with `gossamer crawl`."
            ) from None
        # When a crawl ends, RocksDB writes its log into tables and removes it. A secondary that has read half of that
        # log does not see the rest in the tables, behind what it has in memory; one that is opened then does.
        stamp = found.st_ino, found.st_mtime_ns, self.directory.in_use()
        with self._lock:
            if self._reader is None or stamp != self._opened:
                # One that is replaced is closed by being let go: others may be reading from it.
                self._reader = PageReader(self.directory.home)
                self._opened = stamp
            return self._reader
