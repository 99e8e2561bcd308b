"""A crawl of several agents as its service sees it: all are asked, and their answers made one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gossamer.agent import Control, Explanation, Progress, StoredPage
from gossamer.agent.audit import Change
from gossamer.agent.changes import ChangedPage, ChangesPart, Wish
from gossamer.agent.changes_together import Share, changes_together, newest_together
from gossamer.agent.control_of_all import ControlOfAll, control_of
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.explain import best
from gossamer.agent.index_status import status_of_all
from gossamer.agent.metrics import Metric
from gossamer.agent.order import parts_of
from gossamer.agent.results import ResultsPart, TaggedPart, results_together
from gossamer.agent.together import merge
from gossamer.config import Config, load
from gossamer.frontier.outlook import HostEstimate
from gossamer.index import Search
from gossamer.model import State, VisitRecord
from gossamer.service import questions as ask
from gossamer.service.agents import Agents, Gathered
from gossamer.service.cluster_control import RemoteAgents
from gossamer.service.cluster_search import ClusterSearch
from gossamer.service.crawl import IndexAge, Searching
from gossamer.service.host_account import HostAccount
from gossamer.service.host_list import HostPage, HostSum, Order
from gossamer.service.host_tables import HostTables
from gossamer.service.host_together import hosts_together, tables_together
from gossamer.service.look import Look
from gossamer.service.metrics_together import metrics_together
from gossamer.service.problems import Problem
from gossamer.service.questions import Question
from gossamer.store import Capture

A = TypeVar("A")


class ClusterView:
    """Invariant: what is given is of all that answered; the others are in `missing` or, where they have said good-bye,
    in `ended`, and are waited for once.

    One is for all requests, and gives each its own by `asked`.
    """

    def __init__(self, home: Path, agents: Agents, clock: Callable[[], float] = time.time) -> None:
        self.directory = CrawlDir(home)
        self.clock = clock
        self._agents = agents
        self._search = Search([view.directory.index for view in agents.local.values()])
        self._missing: dict[str, None] = {}
        self._ended: dict[str, None] = {}
        self._owners: dict[str, str] = {}  # of URLs that were asked for: the agent that knows them

    def asked(self) -> ClusterView:
        fresh = object.__new__(ClusterView)
        fresh.__dict__.update(self.__dict__, _missing={}, _ended={}, _owners={})
        return fresh

    @property
    def missing(self) -> Sequence[str]:
        return list(self._missing)

    @property
    def ended(self) -> Sequence[str]:
        return list(self._ended)

    @property
    def search(self) -> Searching:
        """Indexes that are all here are searched as one: then even copies of a page are seen over all of them."""
        if len(self._agents.names()) > len(self._agents.local):
            return ClusterSearch(self._ask, self._ask_each)
        self._missing.update(dict.fromkeys(self._agents.unknown()))
        return self._search

    @property
    def exists(self) -> bool:
        return any(view.exists for view in self._agents.local.values()) or bool(self._agents.beats())

    @property
    def running(self) -> bool:
        at_work = any(not beat.over for beat in self._agents.beats().values())
        return at_work or self.directory.in_use() or any(view.running for view in self._agents.local.values())

    def config(self) -> Config:
        return load(self.directory.settings, resumed=True)

    def progress(self) -> Progress:
        progress = merge(list(self._some(ask.AskProgress()).values()))
        progress.running = progress.running or self.running
        return progress

    def index_age(self) -> IndexAge:
        found = list(self._ask(ask.AskIndexAge()).values())
        written_at = max((each.written_at for each in found), default=0.0)
        return IndexAge(written_at, status_of_all(each.status for each in found))

    def looks(self, since: float, longer: bool) -> Mapping[str, Look]:
        return self._some(ask.AskLook(since, longer))

    def tables(self) -> HostTables:
        return tables_together(list(self._ask(ask.AskTables()).values()))

    def hosts(self, order: Order, prefix: str, limit: int, cursor: str, inside: str = "") -> HostPage:
        found = self._some(ask.AskHosts(order, prefix, limit, cursor, inside))
        return hosts_together(list(found.values()), order, limit)

    def hosts_blocked(self, patterns: Sequence[str]) -> HostSum:
        found = list(self._ask(ask.AskBlocked(tuple(patterns))).values())
        return HostSum(
            sum(each.hosts for each in found),
            sum(each.pages for each in found),
            sum(each.queued for each in found),
            all(each.complete for each in found) and not self._unheard,
        )

    def freshness(self, hosts: Iterable[str]) -> Mapping[str, HostEstimate]:
        whole: dict[str, HostEstimate] = {}
        for found in self._ask(ask.AskFreshness(tuple(hosts))).values():
            whole |= found
        return whole

    def host(self, text: str) -> HostAccount:
        found = list(self._some(ask.AskHost(text)).values())
        # Of two who know it, its partition was with one: who has visited it last.
        return max(found, key=lambda each: (each.host is not None, each.last[0].fetched_at if each.last else 0.0))

    def visit(self, url: str) -> VisitRecord | None:
        known = {name: visits[0] for name, visits in self._some(ask.AskVisits((url,))).items() if visits}
        found = {name: visit for name, visit in known.items() if visit is not None}
        if not found:
            return None
        owner = max(found, key=lambda name: _telling(found[name]))
        self._owners[url] = owner
        return found[owner]

    def _known_best(self, urls: Sequence[str]) -> dict[str, tuple[str, VisitRecord]]:
        """Which agent knows each, and what. Of two who do, its partition was with one: who has visited or judged it."""
        best: dict[str, tuple[str, VisitRecord]] = {}
        for part in parts_of(urls, len):
            for name, visits in self._ask(ask.AskVisits(tuple(part))).items():
                for url, visit in zip(part, visits, strict=False):
                    if visit is not None and (url not in best or _telling(visit) > _telling(best[url][1])):
                        best[url] = name, visit
        return best

    def visits(self, urls: Sequence[str]) -> dict[str, VisitRecord]:
        return {url: visit for url, (_, visit) in self._known_best(urls).items()}

    def known(self, urls: Sequence[str]) -> int:
        found = self._ask(ask.AskVisits(tuple(urls))).values()
        return sum(any(each) for each in zip_longest(*found))

    def stored(self, visit: VisitRecord) -> StoredPage | None:
        if visit.stored is not None:
            owner = self._owners.get(visit.url, "")
            return self._copy({owner: ask.AskCopy(visit.url)}) if owner else None
        if visit.state is not State.FETCHED:
            return None
        # Another agent has stored it, before the partition moved.
        return self._copy(dict.fromkeys(self._agents.names(), ask.AskCopy(visit.url, moved=True)))

    def explain(self, text: str) -> Explanation:
        return best(list(self._some(ask.AskExplain(text)).values()))

    def history(self, url: str) -> tuple[list[Capture], bool]:
        found = list(self._some(ask.AskHistory(url)).values())
        captures = sorted((one for each, _ in found for one in each), key=lambda one: one.fetched_at, reverse=True)
        return captures, all(complete for _, complete in found) and not self._unheard

    def changes(self, cursor: str, since: float, limit: int, wish: Wish) -> ChangesPart:
        def ask_each(shares: Mapping[str, Share]) -> Mapping[str, ChangesPart]:
            asked = {
                name: ask.AskChanges(share.cursor, share.since, share.limit, wish) for name, share in shares.items()
            }
            return self._ask_each(asked)

        return changes_together(ask_each, self._agents.names(), cursor, since, limit, self._agents.ended())

    def newest_changes(self, limit: int, wish: Wish) -> tuple[list[ChangedPage], bool]:
        return newest_together(list(self._some(ask.AskNewest(limit, wish)).values()), limit)

    def results(self, tag: str, cursor: str, limit: int) -> ResultsPart:
        def ask_each(after: Mapping[str, int]) -> Mapping[str, TaggedPart]:
            return self._ask_each({name: ask.AskTagged(tag, number, limit) for name, number in after.items()})

        found = results_together(ask_each, self._known_best, self._agents.names(), cursor, limit)
        self._missing.update(dict.fromkeys(self._agents.unknown()))
        return found

    def metrics(self) -> list[Metric]:
        found = self._some(ask.AskMetrics())
        return metrics_together(self.progress(), list(found.values()), len(self._missing), len(self._ended))

    def audit(self, limit: int) -> list[Change]:
        found = (change for each in self._ask(ask.AskAudit(limit)).values() for change in each)
        return sorted(found, key=lambda change: change.at)[-limit:]

    def control(self, who: str, patience: float) -> Control:
        if self._agents.wire is None or len(self._agents.local) > 1:
            return control_of(self.directory.home, who, patience, patience)
        return ControlOfAll(RemoteAgents(self._agents, self.directory, who, patience))

    def open(self) -> None:
        for view in self._agents.local.values():
            view.open()

    def close(self) -> None:
        """What it was made of is closed by who has made that."""
        self._search.close()
        self._agents.close()

    def _ask(self, question: Question[A]) -> dict[str, A]:
        """What those say who answer."""
        found = self._agents.ask(question, self._unheard)
        self._note(found)
        return found.answers

    def _some(self, question: Question[A]) -> dict[str, A]:
        """The same, of at least one."""
        answers = self._ask(question)
        if not answers:
            if self._unheard:
                raise Problem(503, "No agent of the crawl answers now. Try again in a moment.", {"Retry-After": "5"})
            raise Problem(404, "There is no crawl in the directory of this service yet.")
        return answers

    def _ask_each(self, asked: Mapping[str, Question[A]]) -> dict[str, A]:
        found = self._agents.ask_each({name: each for name, each in asked.items() if name not in self._unheard})
        self._note(found)
        return found.answers

    @property
    def _unheard(self) -> dict[str, None]:
        return self._missing | self._ended

    def _note(self, found: Gathered[A]) -> None:
        self._missing.update(dict.fromkeys(found.missing))
        self._ended.update(dict.fromkeys(found.ended))

    def _copy(self, asked: Mapping[str, ask.AskCopy]) -> StoredPage | None:
        """The newest, put together from its pieces."""
        found = {name: piece for name, piece in self._ask_each(asked).items() if piece is not None}
        if not found:
            return None
        owner = max(found, key=lambda name: found[name].page.fetched_at)
        page, size = found[owner].page, found[owner].size
        most = self.config().fetch.max_body
        body = bytearray(page.body)
        while len(body) < min(size, most):
            question = msgspec.structs.replace(asked[owner], start=len(body))
            more: Any = self._ask_each({owner: question}).get(owner)
            if more is None or more.page.digest != page.digest or not more.page.body:
                return None  # it was stored anew at this moment, or the agent has gone
            body += more.page.body
        return msgspec.structs.replace(page, body=bytes(body[:most]))


def _telling(visit: VisitRecord) -> tuple[float, bool]:
    return visit.fetched_at, visit.state is not State.QUEUED
