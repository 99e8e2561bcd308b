"""Sitemaps and feeds: which sitemaps are visited, and which of the URLs that they list are taken.

A sitemap is visited because the robots.txt of a host in scope names it, or an index does that was visited. It speaks
for its own host and for the hosts whose robots.txt name it, and for no others (sitemaps.org). A feed may lead anywhere,
as a page may.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from gossamer.agent.statistics import Statistics
from gossamer.frontier import Frontier
from gossamer.model import Page, Visit
from gossamer.model.url import host_of, normalize
from gossamer.rules.link_sources import FEEDS, XML, named_as_sitemap
from gossamer.rules.robots_tag import robots_tag
from gossamer.rules.scope import Scope

if TYPE_CHECKING:
    from gossamer.parse.listing import Listed
    from gossamer.parse.source import Source

_VOUCHED = "sitemap "  # before the URL, in the frontier's notes: the hosts that it speaks for besides its own
_MOST_VOUCHERS = 100
_MOST_ELSEWHERE = 100  # sitemaps on other hosts that one robots.txt may name: those hosts have not asked for it
_MOST_CHILDREN = 5_000  # sitemaps of an index
_A_FEW, _MOST_CHANGED = 20, 0.5  # pages of a list, and their share, that may have changed since it was read
_USUAL, _SOONER, _LATER = 4, 3, 5  # priorities: hints of a publisher move a URL by one


class Sources:
    """Invariant: a sitemap on another host than those it speaks for is noted in the same commit that has it queued."""

    def __init__(self, frontier: Frontier, scope: Scope, token: str, nofollow: bool, statistics: Statistics) -> None:
        self._frontier = frontier
        self._scope = scope
        self._token = token
        self._obeys = nofollow
        self._statistics = statistics
        self._unsaved: dict[str, list[str]] = {}

    def named(self, visit: Visit, sitemaps: Iterable[str]) -> None:
        """The robots.txt of a host names these."""
        if not self._scope.has_host(visit.host):
            return  # it was asked only because of a sitemap of somebody else
        base = f"{visit.url.partition(':')[0]}://{visit.host}/robots.txt"
        elsewhere = 0
        for text in sitemaps:
            target = normalize(text, base if text[:1] == "/" else None)  # `Sitemap: none` is no path
            if target is None:
                continue
            elsewhere += host_of(target) != visit.host
            if host_of(target) == visit.host or elsewhere <= _MOST_ELSEWHERE:
                self._add(target, visit, 0, False, {visit.host})

    def _add(self, url: str, visit: Visit, hops: int, listed: bool, hosts: set[str]) -> None:
        if self._frontier.is_away(url):
            self._frontier.send_source(url, visit.depth, hops, listed, hosts)
        else:
            self.sent(url, visit.depth, hops, listed, hosts)

    def sent(self, url: str, depth: int, hops: int, listed: bool, hosts: set[str]) -> None:
        """A sitemap of ours that speaks for these, whoever has found it."""
        again = self._vouch(url, hosts)
        self._frontier.add_source(url, depth, hops, listed, again)

    def read(self, visit: Visit, page: Page) -> str:
        """Take in what a response lists, and say what it is: "sitemap", "feed", or nothing."""
        if not 200 <= page.status < 300:
            if 300 <= page.status < 400:
                target = page.header("location")
                target = normalize(target, page.url) if target else None
                if target is not None:
                    self._add(target, visit, visit.hops + 1, visit.listed, self._hosts(page.url))
            return "sitemap"
        source = self._source(page, visit.source)
        if not source.kind or self._forbidden(page):
            return source.kind
        urls, sitemaps = source.listing.urls, source.listing.sitemaps
        if source.kind == "sitemap" or visit.source:
            hosts = self._hosts(page.url)
            urls = [listed for listed in urls if host_of(listed.url) in hosts]
            if not visit.listed:
                for child in sitemaps[:_MOST_CHILDREN]:
                    if host_of(child.url) in hosts:
                        self._add(child.url, visit, 0, True, hosts)
        self._take(urls, visit.depth + 1)
        if visit.before is not None:
            self._hint(urls, visit.before.fetched_at, page.fetched_at)
        return source.kind

    def _hint(self, urls: list[Listed], since: float, now: float) -> None:
        """Pages that have changed, as a list says that was read before, are visited again soon. Lists that say so of
        most pages each time they are read say nothing.
        """
        changed = [(listed.url, moment) for listed in urls if (moment := listed.lastmod) is not None and moment > since]
        if len(changed) > max(_A_FEW, len(urls) * _MOST_CHANGED):
            return
        for url, moment in changed:
            self._frontier.hint(url, min(moment, now), now)

    def links(self, page: Page) -> list[str]:
        """Where a page leads that is of no type with links in it, if it is a sitemap or a feed all the same."""
        essence = (page.content_type or "").partition(";")[0]
        if not (essence in FEEDS or essence in XML or named_as_sitemap(page.url)) or self._forbidden(page):
            return []
        source = self._source(page, False)
        found = [listed.url for listed in (*source.listing.urls, *source.listing.sitemaps)]
        if source.kind == "sitemap":
            hosts = self._hosts(page.url)
            found = [url for url in found if host_of(url) in hosts]
        self._statistics.links += len(found)
        return found

    def _source(self, page: Page, named: bool) -> Source:
        from gossamer.parse.source import read_source  # loaded by the first that there is: it takes 20 ms

        return read_source(page.body, page.url, page.content_type, named or named_as_sitemap(page.url))

    def _forbidden(self, page: Page) -> bool:
        return self._obeys and robots_tag(page.head, self._token)[1]

    def _take(self, urls: list[Listed], depth: int) -> None:
        self._statistics.links += len(urls)
        for priority in (_SOONER, _USUAL, _LATER):
            chosen = [listed.url for listed in urls if _priority(listed) == priority]
            if chosen:
                self._frontier.add(chosen, depth, priority)

    # -- for whom a sitemap speaks -----------------------------------------------------------------------------------

    def _hosts(self, url: str) -> set[str]:
        return {host_of(url), *self._vouchers(url)}

    def _vouchers(self, url: str) -> list[str]:
        found = self._unsaved.get(url)
        if found is not None:
            return found
        stored = self._frontier.meta(_VOUCHED + url)
        return [] if stored is None else msgspec.msgpack.decode(stored, type=list[str])

    def _vouch(self, url: str, hosts: set[str]) -> bool:
        """Whether it speaks for more hosts than it did."""
        if hosts <= {host_of(url)}:
            return False
        known = self._vouchers(url)
        new = sorted(hosts - {host_of(url), *known})[: _MOST_VOUCHERS - len(known)]
        if new:
            self._unsaved[url] = known + new
        return bool(new)

    def unsaved(self) -> dict[str, bytes]:
        """What the next commit must hold; asked for once."""
        notes = {_VOUCHED + url: msgspec.msgpack.encode(hosts) for url, hosts in self._unsaved.items()}
        self._unsaved.clear()
        return notes


def _priority(listed: Listed) -> int:
    if listed.priority is None or 0.2 < listed.priority < 0.8:
        return _USUAL
    return _SOONER if listed.priority >= 0.8 else _LATER
