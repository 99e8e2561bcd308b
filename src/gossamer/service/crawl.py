"""The port to the crawl that is served: of one agent, or of several that are asked and make one answer together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from gossamer.agent import Control, Explanation, Progress, StoredPage
from gossamer.agent.audit import Change
from gossamer.agent.changes import ChangedPage, ChangesPart, Wish
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.index_status import IndexStatus
from gossamer.agent.metrics import Metric
from gossamer.agent.results import ResultsPart
from gossamer.config import Config
from gossamer.frontier.outlook import HostEstimate
from gossamer.index import Answer, DomainCount, Hit, IndexSize
from gossamer.model import VisitRecord
from gossamer.service.host_account import HostAccount
from gossamer.service.host_list import HostPage, HostSum, Order
from gossamer.service.host_tables import HostTables
from gossamer.service.look import Look
from gossamer.store import Capture


class Searching(Protocol):
    """What `gossamer.index.Search` does."""

    def answer(
        self,
        query: str,
        *,
        limit: int = 10,
        cursor: str = "",
        site: str = "",
        language: str = "",
        domains: bool = False,
    ) -> Answer: ...

    def size(self) -> IndexSize: ...

    def terms(self, count: int) -> list[str]: ...

    def domains(self, under: str = "") -> list[DomainCount]: ...

    def page(self, url: str) -> Hit | None: ...


class IndexAge(msgspec.Struct):
    """When the index was last written, 0 where there is none, and what its process said last."""

    written_at: float
    status: IndexStatus | None


class Crawl(Protocol):
    """May be asked by several threads at once. A `Problem` (404) where there is no crawl yet.

    Invariant: who did not answer is in `missing`, or in `ended` after a good-bye, and what the others say is given all
    the same.
    """

    directory: CrawlDir  # of the service: keys, and what it commands when nobody else is there
    clock: Callable[[], float]

    def asked(self) -> Crawl:
        """For one request: `missing` and `ended` are of what was asked of it."""

    @property
    def missing(self) -> Sequence[str]: ...

    @property
    def ended(self) -> Sequence[str]: ...

    @property
    def search(self) -> Searching: ...

    @property
    def exists(self) -> bool: ...

    @property
    def running(self) -> bool: ...

    def config(self) -> Config: ...

    def progress(self) -> Progress: ...

    def index_age(self) -> IndexAge: ...

    def looks(self, since: float, longer: bool) -> Mapping[str, Look]:
        """Each agent with samples after a moment, by name; the one of a crawl of one has none."""

    def tables(self) -> HostTables:
        """The heads of all lists of hosts."""

    def hosts(self, order: Order, prefix: str, limit: int, cursor: str, inside: str = "") -> HostPage:
        """Names that begin with `prefix` and have `inside` somewhere."""

    def hosts_blocked(self, patterns: Sequence[str]) -> HostSum:
        """Hosts that a blocklist would have, counted."""

    def freshness(self, hosts: Iterable[str]) -> Mapping[str, HostEstimate]:
        """Of those of these hosts of which something is known; nothing where pages are not visited again."""

    def host(self, text: str) -> HostAccount: ...

    def visit(self, url: str) -> VisitRecord | None: ...

    def visits(self, urls: Sequence[str]) -> Mapping[str, VisitRecord]:
        """What is known of these, of those that are known."""

    def known(self, urls: Sequence[str]) -> int:
        """How many of these are known."""

    def stored(self, visit: VisitRecord) -> StoredPage | None:
        """The page of a visit; None where nothing was stored, or its file is not there."""

    def explain(self, text: str) -> Explanation: ...

    def history(self, url: str) -> tuple[list[Capture], bool]:
        """All captures of a URL, the newest first, and whether all that is stored was looked at."""

    def changes(self, cursor: str, since: float, limit: int, wish: Wish) -> ChangesPart: ...

    def newest_changes(self, limit: int, wish: Wish) -> tuple[list[ChangedPage], bool]: ...

    def results(self, tag: str, cursor: str, limit: int) -> ResultsPart:
        """What became of the requests with a tag."""

    def metrics(self) -> list[Metric]: ...

    def audit(self, limit: int) -> list[Change]:
        """The last changes, the last one last."""

    def control(self, who: str, patience: float) -> Control:
        """To command it. Raises CrawlDirError where there is none."""

    def open(self) -> None:
        """Before anybody asks: it takes a moment."""

    def close(self) -> None: ...
