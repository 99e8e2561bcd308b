"""What is done with the response to a visit: parse -> store -> links back -> settle, in this order.

The flow of the loop closes here: what the fetcher brought goes to parser, store and frontier, none of which knows of
the others.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from gossamer.agent.earlier import Earlier
from gossamer.agent.findings import Findings
from gossamer.agent.newness import Content, Newness, into_itself
from gossamer.agent.page_links import PageLinks
from gossamer.agent.revisiting import Revisiting, is_same
from gossamer.agent.sources import Sources
from gossamer.agent.statistics import Meter, Statistics
from gossamer.config import Config
from gossamer.fetch import Fetcher
from gossamer.frontier import Frontier
from gossamer.model import Before, Change, Exclusion, Fault, Locator, Method, Page, Reason, State, Visit
from gossamer.parse.directory import lists_directory
from gossamer.parse.fingerprint import shows_nothing
from gossamer.rules.head_first import HeadFirst
from gossamer.rules.places import is_part
from gossamer.rules.policy import BUSY, USUAL_PRIORITY, retry_after
from gossamer.rules.reserved import Reserved
from gossamer.rules.revisits import FIRST, Found
from gossamer.store import Store, payload_digest

if TYPE_CHECKING:
    from gossamer.agent.ordering import Ordering

_REFRESH = b"refresh"
_EXCLUSIONS = frozenset({Reason.UNWANTED_TYPE, Reason.ADDRESS, Reason.FORM})


class Responses:
    """Invariant: a visit is settled last, when what is kept of it is in the store and its links are in the frontier."""

    def __init__(
        self,
        config: Config,
        frontier: Frontier,
        fetcher: Fetcher,
        store: Store,
        sources: Sources,
        findings: Findings,
        statistics: Statistics,
        meter: Meter,
        token: str,
    ) -> None:
        self.change(config)
        self._frontier = frontier
        self._scope = frontier.scope
        self._fetcher = fetcher
        self._store = store
        self._sources = sources
        self._statistics = statistics
        self._meter = meter
        self._links = PageLinks(config.parse, sources, token, statistics)
        self._newness = Newness(frontier.repeats, statistics, findings, config.scope.max_depth)
        self._earlier = Earlier(store.directories, config.fetch.max_body, frontier.stored)
        self._revisiting = Revisiting(frontier, self._earlier, statistics)
        self.on_page: Callable[[Visit, Page], None] | None = None
        self.ordering: Ordering | None = None  # breadth-first needs none

    def change(self, config: Config) -> None:
        """The settings from now on."""
        self._config = config
        self._reserved = Reserved(config.scope.reserved) if config.scope.reserved else None

    def close(self) -> None:
        self._earlier.close()

    def visited(self, pages: list[tuple[Visit, Page]]) -> None:
        """Pages that came at one moment. Each step is made for all of them before the next one: what a step needs is in
        the processor's cache then.
        """
        kept = [each for each in pages if not self._is_settled(*each)]
        self._keep([each for each in kept if each[0].before is None])
        for each in kept:
            if each[0].before is not None:  # what counts as new on it is what those before have not led to
                self._keep([each])

    def _is_settled(self, visit: Visit, page: Page) -> bool:
        """Whether nothing of a response is to be kept, and it is settled."""
        wait = 0.0
        if page.status in BUSY:
            wait = self._wait_of(page)
            if self._frontier.may_try_again(visit):
                self._statistics.count_failure(Reason.BUSY)
                fault = Fault(Reason.BUSY, True, "", page.fetched_at, page.status)
                self._frontier.settle_fault(visit, fault, page.fetched_at, wait)
                return True
        if self._reserved is not None and self._reserved.found_in(*_texts(page)):
            fault = Fault(Reason.RESERVED, False, "", page.fetched_at, page.status)
            self._statistics.left_out += 1
            self._frontier.settle_excluded(visit, fault, page.fetched_at)
            return True
        return visit.before is not None and self._stays(visit, page, visit.before, wait)

    @staticmethod
    def _wait_of(page: Page) -> float:
        return retry_after(page.header("retry-after"), page.fetched_at) if page.status in BUSY else 0.0

    def _keep(self, pages: list[tuple[Visit, Page]]) -> None:
        stages, newness, append = self._meter.stages, self._newness, self._store.append
        started = perf_counter()
        digests = [payload_digest(page.raw) for _, page in pages]
        digested = perf_counter()
        kept: list[tuple[Visit, Page, bytes, Content]] = []
        repeats: list[tuple[Visit, Page]] = []
        met: set[bytes] = set()
        for (visit, page), digest in zip(pages, digests, strict=True):
            content = newness.content(visit, page, digest)
            if met.isdisjoint(content.keys):
                met.update(content.keys)
                kept.append((visit, page, digest, content))
            else:  # says what another one of these says, which must be known first
                repeats.append((visit, page))
        looked_up = perf_counter()
        read = [self._read(*each) for each in kept]
        parsed = perf_counter()
        places = [
            append(page, digest, content.stored, "" if visit.before is None else found.change)
            for (visit, page, digest, content), (_, found) in zip(kept, read, strict=True)
        ]
        appended = perf_counter()
        for (visit, page, digest, content), (links, found), place in zip(kept, read, places, strict=True):
            self._settle(visit, page, digest, content, links, found, place)
        self._statistics.count_pages([page.status for _, page, _, _ in kept])
        stages["frontier"] += perf_counter() - appended + looked_up - digested
        stages["store"] += appended - parsed + digested - started
        stages["parse"] += parsed - looked_up
        for each in repeats:
            self._keep([each])

    def _read(self, visit: Visit, page: Page, digest: bytes, content: Content) -> tuple[list[str], Found]:
        """Where a page leads, and what was found of it."""
        before = visit.before
        if before is None:
            links = self._newness.links(visit, page, content, self._links.of)
            return links, self._revisiting.first(page) if self._config.fresh.keep_fresh else FIRST
        links = [] if _is_same(before, page, digest) else self._links.of(page)
        found = self._revisiting.found(visit, page, digest, links)
        self._revisiting.count(found)
        return links, found

    def _settle(
        self,
        visit: Visit,
        page: Page,
        digest: bytes,
        content: Content,
        links: list[str],
        found: Found,
        place: tuple[int, int, int],
    ) -> None:
        stored: tuple[int, int, int] | Locator = place
        before = visit.before
        if before is not None and before.stored is not None and _is_same(before, page, digest):
            stored = before.stored  # where the payload is
        barren = self._newness.is_barren(visit, page, content, links)
        if self.ordering is not None:
            found = self._add_in_order(self.ordering, visit, page, links, barren, found)
        elif links:
            self._add(visit, page, links, barren)
        status, moment = page.status, page.fetched_at
        address = self._fetcher.own_address(visit.host, page)
        wait = self._wait_of(page) if status in BUSY else 0.0
        self._frontier.settle_page(
            visit, status, moment, page.seconds, stored, address, digest, page.validators, wait, found
        )
        if self.on_page is not None and found.change != Change.SAME:
            self.on_page(visit, page)

    def _stays(self, visit: Visit, page: Page, before: Before, wait: float) -> bool:
        """Whether what is stored of a page that was visited again stays as it is."""
        revisiting = self._revisiting
        unmodified = page.status == 304 and any(visit.validators)
        if not unmodified and revisiting.is_missing(before, page):
            found = Found(Change.SAME, missing=before.missing + 1)
            self._frontier.settle_missing(visit, found, page.fetched_at, page.seconds, wait)
            revisiting.count(found)
            return True
        if unmodified:
            found, copy = revisiting.unmodified(before)
            if copy is not None:
                self._store.append(page, copy.digest, copy.refers_to, found.change)
                self._statistics.count_pages([page.status])
        elif before.is_page or not revisiting.is_as_it_was(visit, page, payload_digest(page.raw), self._links.of):
            return False
        else:  # an error or a redirect as it was
            found = Found(Change.SAME, is_page=False)
        revisiting.count(found)
        etag, modified = page.validators
        validators = etag or before.validators[0], modified or before.validators[1]
        address = self._fetcher.own_address(visit.host, page)
        if before.state is State.EXCLUDED:
            self._frontier.settle_source(
                visit, Exclusion(before.reason), before.status, page.fetched_at, page.seconds, before.stored,
                before.digest, validators, found,
            )  # fmt: skip
        else:
            self._frontier.settle_page(
                visit, before.status, page.fetched_at, page.seconds, before.stored, address, before.digest, validators,
                wait, found,
            )  # fmt: skip
        return True

    def _add(self, visit: Visit, page: Page, links: list[str], barren: bool) -> None:
        hops = _hops(visit, page, links)
        # What a server lists of its own directories has an end.
        if not barren and is_part(page.url) and not lists_directory(page.body, page.url, links):
            own = into_itself(page.url, links)
        else:
            own = []
        if own:
            self._frontier.add(own, visit.depth + 1, USUAL_PRIORITY, hops, suspect=True)
            known = set(own)
            links = [link for link in links if link not in known]
        self._frontier.add(links, visit.depth + 1, USUAL_PRIORITY, hops, suspect=barren)

    def _add_in_order(
        self, ordering: Ordering, visit: Visit, page: Page, links: list[str], barren: bool, found: Found
    ) -> Found:
        """The same, each link with the priority that the strategy gives it; and when it wants to see the page again."""
        asked = ordering.order(visit, page, links)
        hops = _hops(visit, page, links)
        own = set() if barren or lists_directory(page.body, page.url, links) else set(into_itself(page.url, links))
        for priority, chosen in asked.links.items():
            inner = [link for link in chosen if link in own] if own else []
            if inner:
                self._frontier.add(inner, visit.depth + 1, priority, hops, suspect=True)
                chosen = [link for link in chosen if link not in own]
            self._frontier.add(chosen, visit.depth + 1, priority, hops, suspect=barren)
        return msgspec.structs.replace(found, again=asked.again) if asked.again is not None else found

    def source_visited(self, visit: Visit, page: Page) -> None:
        """Not a page of the crawl, but perhaps a sitemap or a feed: stored as robots.txt is, and read for links."""
        if page.status in BUSY and self._frontier.may_try_again(visit):
            self.visited([(visit, page)])  # that is: tried again
            return
        if visit.before is not None and self._stays(visit, page, visit.before, 0.0):
            return
        kind = self._sources.read(visit, page)
        if not kind and visit.source and page.wanted and not self._scope.judge(visit.url):
            visit.depth += 1  # robots.txt calls a page a sitemap: its host's front page has one more link
            self.visited([(visit, page)])
            return
        if not kind and not visit.source:
            fault = Fault(Reason.UNWANTED_TYPE, False, page.content_type or "", page.fetched_at, page.status)
            self._statistics.left_out += 1
            self._frontier.settle_excluded(visit, fault, page.fetched_at)
            return
        self._statistics.sources += 1
        digest = payload_digest(page.raw)
        found = Found(is_page=False)
        if visit.before is not None:
            same = is_same(visit.before, digest)
            found = Found(Change.SAME if same else Change.CHANGED, is_page=False)
        stored = self._store.append(page, digest)
        self._frontier.settle_source(
            visit, Exclusion(kind or "sitemap"), page.status, page.fetched_at, page.seconds, stored, digest,
            page.validators, found,
        )  # fmt: skip

    def links_of_stored(self, place: Locator) -> list[str]:
        """Return where a stored page leads; nothing if it cannot be read."""
        page = self._earlier.page(place)
        if page is None:
            return []
        counted = self._statistics.links, self._statistics.full_parses
        links = self._links.of(page)
        self._statistics.links, self._statistics.full_parses = counted  # they were counted when the page came
        return links

    def failed(self, visit: Visit, fault: Fault) -> None:
        if _excludes(fault):
            self._statistics.left_out += 1
            self._frontier.settle_excluded(visit, fault, fault.fetched_at)
            return
        self._statistics.count_failure(fault.reason)
        dead = self._frontier.counts.dead
        self._frontier.settle_fault(visit, fault, fault.fetched_at)
        self._statistics.give_up(fault.reason, self._frontier.counts.dead - dead)

    def goes_on(self, visit: Visit, outcome: Page | Fault, head_first: HeadFirst) -> bool:
        """Whether this was a HEAD that a GET must follow, after the host's pause. Servers that know no HEAD answer with
        an error, or not at all: the GET will show what there is.
        """
        if isinstance(outcome, Page):
            settled = outcome.status in BUSY and self._frontier.may_try_again(visit)
        else:
            settled = _excludes(outcome)
        if visit.method is Method.HEAD and not settled:
            head_first.answered(visit)
            return True
        head_first.settled(visit)
        return False


def _texts(page: Page) -> tuple[str, ...]:
    """The source of a page that is text, and the same with what is written as `&amp;` in plain letters."""
    kind = (page.content_type or "text/html").partition(";")[0]
    if not kind.startswith("text/") and not kind.endswith(("xml", "json", "javascript")):
        return ()
    from gossamer.parse.charset import decode  # only who reserves strings needs them
    from gossamer.parse.references import unescape

    source, _ = decode(page.body, page.content_type)
    return source, unescape(source)


def _hops(visit: Visit, page: Page, links: list[str]) -> int:
    """Return how many redirects in a row have led where a page leads. A page that shows nothing and sends its reader on
    to the only place that it leads to is a redirect, too.
    """
    return visit.hops + 1 if 300 <= page.status < 400 or (len(links) == 1 and _only_forwards(page)) else 0


def _only_forwards(page: Page) -> bool:
    if page.header("refresh") is None and _REFRESH not in page.body.lower():
        return False
    return shows_nothing(page.body)


def _is_same(before: Before, page: Page, digest: bytes) -> bool:
    """Of a redirect the head says more than the body."""
    return is_same(before, digest) and not 300 <= page.status < 400


def _excludes(fault: Fault) -> bool:
    """Not wanted, rather than failed. Too large with a status: the headers came, and said that the body is."""
    return fault.reason in _EXCLUSIONS or (fault.reason is Reason.TOO_LARGE and fault.status > 0)
