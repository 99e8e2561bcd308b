"""A Visit: one URL with its state and its history. It is never forgotten (S4)."""

from __future__ import annotations

from enum import Enum, IntEnum

import msgspec

from gossamer.model.locator import Locator


class State(IntEnum):
    """Where a URL stands. The names are those of `gossamer urls --state`."""

    QUEUED = 0  # known, waiting for its turn
    FETCHED = 1  # a response was stored, whatever its status
    DEAD = 2  # faults only, tries used up
    EXCLUDED = 3  # will not be fetched, for the reason given


class Method(Enum):
    """How a URL is asked for."""

    GET = b"GET"
    HEAD = b"HEAD"  # the headers only: a GET follows if they say that it is wanted
    POST = b"POST"  # a form (`model/post.py`)


class Before(msgspec.Struct, frozen=True, gc=False):
    """What is known of a URL that is visited again."""

    state: State
    status: int
    fetched_at: float
    digest: bytes = b""  # of the payload, its first 8 bytes
    stored: Locator | None = None  # the record that has the payload
    validators: tuple[bytes, bytes] = (b"", b"")  # ETag and Last-Modified as they came with it
    changes: int = 0  # times it was seen changed
    reason: str = ""
    seen: bytes = bytes(5)  # how often it changes: `Seen` of rules/change_rate.py, packed
    text: int = 0  # a hash of its main text; 0: not known
    gained: int = 0  # URLs that were new on it, at one change; as a mean, in eighths
    unchanged: int = 0  # visits in a row that found it so
    missing: int = 0  # visits in a row that found nothing

    @property
    def is_new(self) -> bool:
        """It was visited once only."""
        return not (self.changes or self.unchanged)

    @property
    def is_page(self) -> bool:
        return self.state is State.FETCHED and 200 <= self.status < 300


class Visit(msgspec.Struct, gc=False):
    """A visit in hand: leased from the frontier, to be settled there.

    `number` is the request number: the order in which URLs were found (P2).
    """

    url: str
    host: str
    depth: int
    priority: int
    number: int
    tries: int = 0
    robots: bool = False  # this is the host's robots.txt, which is no visit of the crawl's
    hops: int = 0  # redirects that led here, one after the other
    suspect: bool = False  # found on a page that brought nothing new
    source: bool = False  # a sitemap that is to be read for links
    listed: bool = False  # it was named by a sitemap index, and names no others
    method: Method = Method.GET
    before: Before | None = None  # it was visited before, and this was found
    validators: tuple[bytes, bytes] = (b"", b"")  # ETag and Last-Modified to ask with; each empty: is not asked with

    @property
    def revisit(self) -> bool:
        return self.before is not None


class VisitRecord(msgspec.Struct, frozen=True, gc=False):
    """What the frontier remembers of a URL; one line of `gossamer urls`."""

    url: str
    state: State
    depth: int
    status: int = 0
    fetched_at: float = 0.0
    tries: int = 0
    reason: str = ""
    digest: str = ""  # of the payload, its first 8 bytes in hex
    changes: int = 0  # times it was seen changed
    etag: str = ""
    last_modified: str = ""
    stored: Locator | None = None
    due: float = 0.0  # when it is to be visited again; 0: it is not, or waits for that in its host's queue
    seen: bytes = b""  # how often it changes, as `Before` has it; empty: it is not visited again

    @property
    def waits(self) -> bool:
        """Return whether it is in the queue of its host, to be visited for the first time or again."""
        return self.state is State.QUEUED or (bool(self.seen) and not self.due)
