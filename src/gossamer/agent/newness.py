"""Whether a page brings anything new, and what follows from that for its links (D8, K16)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gossamer.agent.findings import Findings
from gossamer.agent.statistics import Statistics
from gossamer.frontier import Payload
from gossamer.frontier.repeats import Repeats
from gossamer.model import Page, Visit
from gossamer.parse.directory import lists_directory
from gossamer.parse.fingerprint import content_keys, fingerprint, outline
from gossamer.rules.calendars import is_dated
from gossamer.rules.places import leads_elsewhere

_STUB, _STUB_LINKS = 2048, 4  # a page of at most so many bytes and links is little more than where it leads


class Content(msgspec.Struct, gc=False):
    """What a page says, by its hashes, and where that was found before."""

    keys: tuple[bytes, ...]
    digest: bytes  # of the payload
    earlier: Payload | None

    @property
    def stored(self) -> tuple[str, float] | None:
        """URL and moment of the page in the store that has the same payload."""
        earlier = self.earlier
        return (earlier.url, earlier.fetched_at) if earlier is not None and earlier.has_digest(self.digest) else None


class Newness:
    """Asked for every page: first what it says, then, when its links are known, whether that was new."""

    def __init__(self, repeats: Repeats, statistics: Statistics, findings: Findings, max_depth: int | None) -> None:
        self._repeats = repeats
        self._statistics = statistics
        self._findings = findings
        self._max_depth = max_depth

    def content(self, visit: Visit, page: Page, digest: bytes) -> Content:
        """Only a page that is whole and what was asked for is compared with others."""
        if not (200 <= page.status < 300 and page.body) or page.truncated:
            return Content((), digest, None)
        keys = content_keys(page.body, visit.host)
        return Content(keys, digest, self._repeats.earlier(keys))

    def links(self, visit: Visit, page: Page, content: Content, find: Callable[[Page], list[str]]) -> list[str]:
        """Return where a page leads. A copy is read for links like any other page, as relative ones lead elsewhere from
        here; but where that may have no end, only if a few links are all that it has, as in frames and pages that
        forward.
        """
        earlier = content.earlier
        if (
            earlier is None
            or not (earlier.followed and self._repeats.skipped(visit))
            or leads_elsewhere(page.url, earlier.url)
        ):
            return find(page)
        if len(page.body) > _STUB:
            return []
        links = find(page)
        return links if len(links) <= _STUB_LINKS else []

    def is_barren(self, visit: Visit, page: Page, content: Content, links: list[str]) -> bool:
        """Whether it brings nothing new. If so, that may say something of its place, its host or its domain."""
        if not content.keys:
            return visit.suspect  # a redirect leads where it was found to lead
        if visit.before is not None:  # it was judged when it was new
            if content.earlier is None:
                self._repeats.remember(content.keys, Payload(page.url, page.fetched_at, content.digest, bool(links)))
            return False
        repeats, size, earlier = self._repeats, len(page.body), content.earlier
        followed = bool(links) and (self._max_depth is None or visit.depth < self._max_depth)
        if earlier is None:
            repeats.remember(content.keys, Payload(page.url, page.fetched_at, content.digest, followed))
            # Listings of directories say nothing but where they lead, and all look alike: their names are the news.
            if lists_directory(page.body, page.url, links) or not repeats.looks(visit, size, content.digest):
                return False
            mark, other = fingerprint(page.body, is_dated(page.url)), outline(page.body, page.url, links)
            barren, finding = repeats.saw(visit, size, mark, other)
        else:
            self._statistics.duplicates += 1
            if followed and not earlier.followed:
                repeats.remember(content.keys, msgspec.structs.replace(earlier, followed=True))
            barren, finding = repeats.repeated(visit, size, content.digest, earlier.url)
        if finding is not None and self._findings.add(finding):
            self._statistics.count_finding(finding.kind)
        return barren


def into_itself(url: str, links: list[str]) -> list[str]:
    """Links that lead further into what a page is part of, as those of endless places do, whatever it shows: those of a
    program to itself with other parameters, of a directory to what is below it, of a number or a date to others.
    """
    mark = url.find("?")
    if mark > 0:
        return [link for link in links if link.startswith(url[: mark + 1])]
    cut = url.rfind("/") + 1
    own = []
    if cut == len(url) and url.count("/") > 3:  # the front page of a host is part of nothing
        own = [link for link in links if link.startswith(url) and len(link) > cut]
    elif url[cut:].isdigit():
        own = [link for link in links if link.startswith(url[:cut]) and link[cut:].isdigit()]
    return list({*own, *filter(is_dated, links)}) if is_dated(url) else own
