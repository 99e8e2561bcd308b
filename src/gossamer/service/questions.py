"""What one agent can be asked about its own directory: each question says how it is answered.

A question has words, numbers and URLs, and no path: nothing outside the directory can be asked for.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Generic, TypeVar, get_args

import msgspec

from gossamer.agent import Explanation, Progress, StoredPage
from gossamer.agent.audit import Change
from gossamer.agent.changes import ChangedPage, ChangesPart, Wish
from gossamer.agent.metrics import Metric
from gossamer.agent.order import Order as Command
from gossamer.agent.results import TaggedPart
from gossamer.agent.speed_limits import Limits
from gossamer.agent.spool import Answer as Done
from gossamer.frontier.outlook import HostEstimate
from gossamer.index import Answer, DomainCount, Elsewhere, Hit, IndexSize
from gossamer.model import VisitRecord
from gossamer.service.crawl import IndexAge
from gossamer.service.crawl_view import CrawlView
from gossamer.service.host_account import HostAccount
from gossamer.service.host_list import HostPage, HostSum, Order
from gossamer.service.host_tables import HostTables
from gossamer.service.look import Look
from gossamer.store import Capture

A = TypeVar("A")

PIECE: Final = 8 << 20  # bytes of a stored page in one answer
DEEPEST: Final = 1000  # results of a search that an agent gives
MOST_MOVED: Final = 1000  # hosts of which versions are compared
_PAGE: Final = 100  # of these that its index gives at a time
_PATIENCE: Final = 4.0  # seconds that a command waits for the agent's own answer

Text = Annotated[str, msgspec.Meta(max_length=5000)]
Texts = Annotated[tuple[Text, ...], msgspec.Meta(max_length=1000)]
Number = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


class Question(msgspec.Struct, Generic[A], frozen=True, tag=True):
    """Each names the type of its answer where it is declared."""

    def answered(self, view: CrawlView) -> A:
        raise NotImplementedError(f"{type(self).__name__} has no method `answered`: write one that asks the view")

    def patience(self) -> float:
        """Seconds that its answer may take; 0: as many as usual."""
        return 0.0


class AskProgress(Question[Progress], frozen=True):
    def answered(self, view: CrawlView) -> Progress:
        return view.progress()


class AskIndexAge(Question[IndexAge], frozen=True):
    def answered(self, view: CrawlView) -> IndexAge:
        return view.index_age()


class AskLook(Question[Look], frozen=True):
    since: float
    longer: bool

    def answered(self, view: CrawlView) -> Look:
        return view.looks(self.since, self.longer)[""]


class SearchPart(msgspec.Struct):
    """What one agent found. `moved` are hosts of it that are another's by now, who may have newer versions; None if
    there are too many.
    """

    answer: Answer
    moved: list[str] | None


class AskSearch(Question[SearchPart], frozen=True):
    """The first `upto` results. `next` of the answer is empty where there are no more. Without what is `elsewhere`."""

    query: Text
    upto: Annotated[int, msgspec.Meta(ge=1, le=DEEPEST)]
    site: Text = ""
    language: Text = ""
    elsewhere: Elsewhere | None = None
    domains: bool = False

    def patience(self) -> float:
        return 3.0 + self.upto / 200 if self.upto > _PAGE else 0.0

    def answered(self, view: CrawlView) -> SearchPart:
        whole: Answer | None = None
        cursor = ""
        while whole is None or (cursor and len(whole.results) < self.upto):
            left = self.upto - (len(whole.results) if whole else 0)
            part = view.search.answer(
                self.query, limit=min(_PAGE, left), cursor=cursor, site=self.site, language=self.language,
                elsewhere=self.elsewhere, domains=self.domains,
            )  # fmt: skip
            if whole is None:
                whole = part
            else:
                whole.results += part.results
            cursor = whole.next = part.next
        moved = view.moved_hosts() if whole.total and self.elsewhere is None else frozenset()
        hosts = view.search.hosts_with(self.query, moved, self.site, self.language) if moved else []
        return SearchPart(whole, hosts if len(hosts) <= MOST_MOVED else None)


class AskVersions(Question[dict[int, int] | None], frozen=True):
    """How new each page of these hosts is that is in the index, by what pages are told apart by: of those that were
    fetched in the same second, that of the agent whose host it is. None if there are too many.
    """

    hosts: Texts

    def answered(self, view: CrawlView) -> dict[int, int] | None:
        moved = view.moved_hosts()
        gone = view.search.versions([host for host in self.hosts if host in moved])
        own = view.search.versions([host for host in self.hosts if host not in moved])
        if gone is None or own is None:
            return None
        return {key: 2 * at for key, at in gone.items()} | {key: 2 * at + 1 for key, at in own.items()}


class AskSize(Question[IndexSize], frozen=True):
    def answered(self, view: CrawlView) -> IndexSize:
        return view.search.size()


class AskTerms(Question[list[str]], frozen=True):
    count: Annotated[int, msgspec.Meta(ge=1, le=100)]

    def answered(self, view: CrawlView) -> list[str]:
        return view.search.terms(self.count)


class AskDomains(Question[list[DomainCount]], frozen=True):
    under: Text

    def answered(self, view: CrawlView) -> list[DomainCount]:
        return view.search.domains(self.under)


class AskHit(Question[Hit | None], frozen=True):
    url: Text

    def answered(self, view: CrawlView) -> Hit | None:
        return view.search.page(self.url)


class AskTables(Question[HostTables], frozen=True):
    def answered(self, view: CrawlView) -> HostTables:
        return view.tables()


class AskHosts(Question[HostPage], frozen=True):
    order: Order
    prefix: Text
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    cursor: Text
    inside: Text

    def answered(self, view: CrawlView) -> HostPage:
        return view.hosts(self.order, self.prefix, self.limit, self.cursor, self.inside)


class AskBlocked(Question[HostSum], frozen=True):
    patterns: Texts

    def answered(self, view: CrawlView) -> HostSum:
        return view.hosts_blocked(self.patterns)


class AskFreshness(Question[dict[str, HostEstimate]], frozen=True):
    hosts: Texts

    def answered(self, view: CrawlView) -> dict[str, HostEstimate]:
        return view.freshness(self.hosts)


class AskHost(Question[HostAccount], frozen=True):
    text: Text

    def answered(self, view: CrawlView) -> HostAccount:
        return view.host(self.text)


class AskVisits(Question[list[VisitRecord | None]], frozen=True):
    urls: Texts

    def answered(self, view: CrawlView) -> list[VisitRecord | None]:
        return [view.visit(url) for url in self.urls]


class AskTagged(Question[TaggedPart], frozen=True):
    tag: Text
    after: Number
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)]

    def answered(self, view: CrawlView) -> TaggedPart:
        return view.tagged(self.tag, self.after, self.limit)


class CopyPiece(msgspec.Struct):
    """A stored page whose body is the piece that was asked for, of so many bytes in all."""

    page: StoredPage
    size: int


class AskCopy(Question[CopyPiece | None], frozen=True):
    """`moved`: the URL is another agent's by now, so that only the store is looked in."""

    url: Text
    start: Number = 0
    moved: bool = False

    def answered(self, view: CrawlView) -> CopyPiece | None:
        visit = None if self.moved else view.visit(self.url)
        page = view.last_copy(self.url) if self.moved else None if visit is None else view.stored(visit)
        if page is None:
            return None
        piece = page.body[self.start : self.start + PIECE]
        return CopyPiece(msgspec.structs.replace(page, body=piece), len(page.body))


class AskExplain(Question[Explanation], frozen=True):
    text: Text

    def answered(self, view: CrawlView) -> Explanation:
        return view.explain(self.text)


class AskHistory(Question[tuple[list[Capture], bool]], frozen=True):
    url: Text

    def answered(self, view: CrawlView) -> tuple[list[Capture], bool]:
        return view.history(self.url)


class AskChanges(Question[ChangesPart], frozen=True):
    cursor: Text
    since: float
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    wish: Wish

    def answered(self, view: CrawlView) -> ChangesPart:
        return view.changes(self.cursor, self.since, self.limit, self.wish)


class AskNewest(Question[tuple[list[ChangedPage], bool]], frozen=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    wish: Wish

    def answered(self, view: CrawlView) -> tuple[list[ChangedPage], bool]:
        return view.newest_changes(self.limit, self.wish)


class AskMetrics(Question[list[Metric]], frozen=True):
    def answered(self, view: CrawlView) -> list[Metric]:
        return view.metrics()


class AskAudit(Question[list[Change]], frozen=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)]

    def answered(self, view: CrawlView) -> list[Change]:
        return view.audit(self.limit)


class Settings(msgspec.Struct):
    """What an operator sees of them."""

    limits: Limits
    blocklist: tuple[str, ...]
    priority: int | None  # of the host that was asked about


class AskSettings(Question[Settings], frozen=True):
    host: Text = ""

    def answered(self, view: CrawlView) -> Settings:
        control = view.control("", _PATIENCE)
        return Settings(control.limits(), control.blocklist(), control.priority(self.host) if self.host else None)


class GiveOrder(Question[Done], frozen=True):
    """A command, on behalf of `who`."""

    who: Text
    order: Command

    def answered(self, view: CrawlView) -> Done:
        return self.order.given_to(view.control(self.who, _PATIENCE))


KINDS: Final[tuple[type[Question[Any]], ...]] = tuple(Question.__subclasses__())


def answer_type(kind: type[Question[Any]]) -> Any:
    return get_args(kind.__orig_bases__[0])[0]  # type: ignore[attr-defined]
