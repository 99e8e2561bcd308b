"""What a visit to a known page has found: the same, a change, or nothing any more (N13).

A page has changed when its title or main text has, or when it links to URLs that were not known. Only where the bytes
differ is any of that looked at, and only where the main text was never looked at is the stored copy read for it.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.agent.earlier import Earlier, EarlierCopy
from gossamer.agent.statistics import Statistics
from gossamer.frontier import Frontier
from gossamer.model import Before, Change, Page, Visit
from gossamer.rules.revisits import FOR_GOOD, Found, moment_of, said_to_hold

_BROKEN_OFF = ("time", "disconnect")  # why a response has no end
_BELIEVED_AFTER = 2  # visits in a row that find no page where there was one
_FAILURES_BELIEVED_AFTER = 5  # the same, where the server says that the fault is its own


class Revisiting:
    """Asked about every response, first or not, of a crawl that keeps fresh."""

    def __init__(self, frontier: Frontier, earlier: Earlier, statistics: Statistics) -> None:
        self._frontier = frontier
        self._earlier = earlier
        self._statistics = statistics

    def is_missing(self, before: Before, page: Page) -> bool:
        """A page was there, and there is none now; which is not believed before it was looked for once more."""
        if not before.is_page or page.status in FOR_GOOD:
            return False
        if 200 <= page.status < 300:
            return page.truncated in _BROKEN_OFF and before.missing + 1 < _BELIEVED_AFTER
        if page.status >= 500:
            return before.missing + 1 < _FAILURES_BELIEVED_AFTER
        # Where nothing is visited again by itself there is no second look: somebody has asked what is there now.
        return self._frontier.revisits.on and before.missing + 1 < _BELIEVED_AFTER

    def is_as_it_was(self, visit: Visit, page: Page, digest: bytes, links: Callable[[Page], list[str]]) -> bool:
        """Of what was no page, and is none. A redirect may lead to a URL that is new though its payload is the same."""
        before = visit.before
        if before is None or page.status != before.status or not is_same(before, digest):
            return False
        return not (300 <= page.status < 400 and self._frontier.unknown(links(page), visit.depth + 1))

    def first(self, page: Page, is_page: bool = True) -> Found:
        """What is to be noted of a page that was not visited before."""
        if not is_page or not 200 <= page.status < 300:
            return Found(is_page=False)
        return Found(
            holds=said_to_hold(page.header("cache-control")), changed_at=moment_of(page.header("last-modified"))
        )

    def unmodified(self, before: Before) -> tuple[Found, EarlierCopy | None]:
        """The server says that nothing has changed; and what its answer refers to."""
        copy = None if before.stored is None else self._earlier.read(before.stored, with_body=False)
        return Found(Change.SAME, unmodified=True, is_page=before.is_page), copy

    def found(self, visit: Visit, page: Page, digest: bytes, links: list[str]) -> Found:
        """Of a page that came."""
        before = visit.before
        assert before is not None
        if not 200 <= page.status < 300:
            same = not before.is_page and self.is_as_it_was(visit, page, digest, lambda _: links)
            return Found(Change.GONE if before.is_page else Change.SAME if same else Change.CHANGED, is_page=False)
        if not before.is_page:
            return Found(Change.NEW)
        if is_same(before, digest):
            return Found(Change.SAME)
        text = _gist(page.body, page.content_type)
        gained = self._frontier.unknown(links, visit.depth + 1)
        if not gained and text == (before.text or self._stored_gist(before)):
            return Found(Change.SAME, text)
        return Found(Change.CHANGED, text, gained, changed_at=moment_of(page.header("last-modified")))

    def _stored_gist(self, before: Before) -> int:
        """Of the copy in the store; 0 where that cannot be read, so that the page counts as changed."""
        copy = None if before.stored is None else self._earlier.read(before.stored)
        return 0 if copy is None or copy.body is None else _gist(copy.body, copy.content_type)

    def count(self, found: Found) -> None:
        statistics = self._statistics
        statistics.revisits += 1
        statistics.revisits_changed += found.change in (Change.CHANGED, Change.GONE, Change.NEW)
        statistics.revisits_unmodified += found.unmodified
        statistics.gone += found.change is Change.GONE


def _gist(body: bytes, content_type: str | None) -> int:
    from gossamer.parse.gist import gist  # only who visits pages again needs the whole parser

    return gist(body, content_type)


def is_same(before: Before, digest: bytes) -> bool:
    """The payload that came is the one that is stored."""
    return bool(before.digest) and before.digest == digest[:8]
