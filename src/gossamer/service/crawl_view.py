"""The crawl in a directory as its service sees it: frontier, stored pages and index, whatever there is of them yet."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import msgspec

from gossamer.agent import Control, Explanation, PageReader, Progress, StoredPage, read_index_status
from gossamer.agent.audit import Change, read_changes
from gossamer.agent.case import gather
from gossamer.agent.changes import ChangedPage, Changes, ChangesPart, Wish
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.explain import explain_from
from gossamer.agent.held import HELD, Moved
from gossamer.agent.metrics import Metric, metrics_of
from gossamer.agent.parts import progress_of
from gossamer.agent.results import ResultsPart, TaggedPart, read_results, tagged_after
from gossamer.config import Config, load
from gossamer.errors import GossamerError
from gossamer.frontier.outlook import HostEstimate
from gossamer.frontier.reader import FrontierReader
from gossamer.index import Search
from gossamer.model import VisitRecord
from gossamer.rules.blocklist import Blocklist
from gossamer.service.crawl import IndexAge
from gossamer.service.host_account import HostAccount, account_of
from gossamer.service.host_list import HostList, HostPage, HostSum, Order
from gossamer.service.host_tables import HostTables
from gossamer.service.look import Look, Looker
from gossamer.service.problems import Problem
from gossamer.store import Capture, StorePosition, captures_of


class CrawlView:
    """For any number of threads. Invariant: one reader is open at most, and it is of the crawl that is there now."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.directory = CrawlDir(home)
        self.clock = clock
        self.search = Search([self.directory.index])
        self._hosts = HostList(self.frontier)
        self._looker = Looker(self.directory)
        self._moved = Moved(self.config)
        self._reader: PageReader | None = None
        self._opened: tuple[int, int, bool] | None = None
        self._lock = Lock()

    def asked(self) -> CrawlView:
        return self

    @property
    def missing(self) -> Sequence[str]:
        return ()

    @property
    def ended(self) -> Sequence[str]:
        return ()

    @property
    def exists(self) -> bool:
        return self.directory.settings.is_file() and self.directory.frontier.is_dir()

    @property
    def running(self) -> bool:
        return self.directory.in_use()

    def config(self) -> Config:
        return load(self.directory.settings, resumed=True)

    def frontier(self) -> FrontierReader:
        return self._pages().frontier

    def progress(self) -> Progress:
        return progress_of(self.directory, self.frontier())

    def index_age(self) -> IndexAge:
        try:
            written_at = (self.directory.index / "meta.json").stat().st_mtime
        except OSError:
            return IndexAge(0.0, None)
        return IndexAge(written_at, read_index_status(self.directory.index))

    def looks(self, since: float, longer: bool) -> dict[str, Look]:
        return {"": self._looker.look(self.frontier(), self.progress(), since, longer)}

    def tables(self) -> HostTables:
        return self._hosts.tables()

    def hosts(self, order: Order, prefix: str, limit: int, cursor: str, inside: str = "") -> HostPage:
        return self._hosts.part(order, prefix, limit, cursor, inside)

    def hosts_blocked(self, patterns: Sequence[str]) -> HostSum:
        return self._hosts.those(Blocklist(patterns).blocks)

    def freshness(self, hosts: Iterable[str]) -> dict[str, HostEstimate]:
        """Of those of these hosts of which something is known; nothing where pages are not visited again."""
        return self.frontier().freshness(hosts, self.clock()) if self.progress().keep_fresh else {}

    def visit(self, url: str) -> VisitRecord | None:
        return self.frontier().visit(url)

    def visits(self, urls: Sequence[str]) -> dict[str, VisitRecord]:
        return {url: visit for url in urls if (visit := self.visit(url)) is not None}

    def moved_hosts(self) -> frozenset[str]:
        """Those in the index that are in no partition of this agent's; none where it is alone."""
        stored = self.frontier().meta(HELD) if self.exists else None
        return frozenset() if stored is None else self._moved.among(self.search.hosts(), stored)

    def stored(self, visit: VisitRecord) -> StoredPage | None:
        """The page of a visit; None where nothing was stored, or its file is not there."""
        return None if visit.stored is None else self._pages().by_place(visit.stored)

    def explain(self, text: str) -> Explanation:
        return explain_from(self.frontier(), self.directory, text, self.clock())

    def host(self, text: str) -> HostAccount:
        case = gather(self.frontier(), self.directory, text, self.clock())
        fresh = self.freshness([case.name]).get(case.name)
        return account_of(case, self.frontier().visits_of(case.name), fresh)

    def known(self, urls: Sequence[str]) -> int:
        return sum(self.visit(url) is not None for url in urls)

    def history(self, url: str) -> tuple[list[Capture], bool]:
        """All captures of a URL, the newest first, and whether all that is stored was looked at."""
        stored = self.frontier().meta("store")
        position = msgspec.msgpack.decode(stored, type=StorePosition) if stored else StorePosition()
        return captures_of(url, self.directory.warc, position)

    def changes(self, cursor: str, since: float, limit: int, wish: Wish) -> ChangesPart:
        return Changes(self.frontier(), self.directory).after(cursor, since, limit, wish)

    def newest_changes(self, limit: int, wish: Wish) -> tuple[list[ChangedPage], bool]:
        return Changes(self.frontier(), self.directory).newest(limit, wish)

    def last_copy(self, url: str) -> StoredPage | None:
        """The newest that is stored here, of a URL that may be another agent's by now."""
        pages = self._pages()
        found = (pages.by_place(capture.stored) for capture in self.history(url)[0])
        return next((page for page in found if page is not None and page.url == url), None)

    def results(self, tag: str, cursor: str, limit: int) -> ResultsPart:
        return read_results(self.frontier(), tag, cursor, limit)

    def tagged(self, tag: str, after: int, limit: int) -> TaggedPart:
        """What was asked for beside this agent."""
        return tagged_after(self.frontier(), tag, after, limit)

    def metrics(self) -> list[Metric]:
        return metrics_of(self.directory, self.frontier())

    def audit(self, limit: int) -> list[Change]:
        return read_changes(self.directory.home, limit)

    def control(self, who: str, patience: float) -> Control:
        return Control(self.directory.home, who, patience, patience)

    def open(self) -> None:
        """Before anybody asks: it takes a moment."""
        with suppress(Problem, GossamerError):  # those who ask are told
            self._pages()

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
