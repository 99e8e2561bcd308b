"""New, changed and gone pages of a crawl in the order in which they were found: what applications poll for."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, cast, get_args
from zlib import crc32

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.indexing import Verdict, judge
from gossamer.config import load
from gossamer.errors import CursorError
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Change, Exclusion, Locator, State, VisitRecord
from gossamer.model.url import host_of
from gossamer.rules.policy import Policy
from gossamer.store import Capture, Captures, Place, StorePosition, newest_first, places_since
from gossamer.store.cdxj import REVISIT

Kind = Literal["new", "changed", "gone"]  # those of `Change` that are told
_KINDS: Final = get_args(Kind)
MOST: Final = 1000  # changes of one answer
_SECONDS: Final = 2.0  # that lines are read for: most visits of an old crawl find nothing new
_LOOK: Final = 1024  # lines between two looks at the clock
_LATEST: Final = 253_402_300_800.0  # the end of the year 9999


class ChangedPage(msgspec.Struct, frozen=True):
    """A page that is new, has changed or is gone, and the response that shows it. `content_type` is empty where the
    list of captures does not say it.
    """

    url: str
    change: Kind
    fetched_at: Annotated[datetime, msgspec.Meta(tz=True)]
    status: int
    content_type: str
    digest: str


class ChangesPart(msgspec.Struct):
    """`next` is the cursor of what comes after these, now or later; where `more` is false, that is nothing yet."""

    changes: list[ChangedPage]
    next: str
    more: bool


class Wish(msgspec.Struct, frozen=True):
    """What is asked for: one kind of change or all, one host or all."""

    kind: Kind | None = None
    site: str = ""

    def has(self, capture: Capture) -> bool:
        """By what its line says alone."""
        kind = capture.change or "new"
        if kind not in _KINDS or (self.kind and kind != self.kind):
            return False
        if self.site and host_of(capture.url) != self.site:
            return False
        return kind == Change.GONE or judge(capture) is Verdict.READ


class Changes:
    """Reads the captures of a crawl as of its last commit.

    Invariant: whoever goes on with each cursor he is given sees every change that he wishes for, and each once.
    """

    def __init__(
        self,
        frontier: FrontierReader,
        directory: CrawlDir,
        clock: Callable[[], float] = time.monotonic,
        elsewhere: Callable[[str], VisitRecord | None] = lambda url: None,
    ) -> None:
        """`elsewhere`: what other agents know of a URL whose partition has moved to them."""
        self._frontier = frontier
        self._elsewhere = elsewhere
        self._home = directory.warc
        self._policy = Policy(load(directory.settings, resumed=True).policy)
        self._clock = clock
        stored = frontier.meta("store")
        self._committed = msgspec.msgpack.decode(stored, type=StorePosition) if stored else StorePosition()

    def after(self, cursor: str, since: float, limit: int, wish: Wish) -> ChangesPart:
        """Those behind a cursor, or where that is empty those fetched since a moment; the first of them."""
        if cursor:
            at = self._cursor(cursor)
        else:
            at = _Cursor(int(since), int(since), places_since(self._home, self._committed, since))
        found: list[ChangedPage] = []
        more = False
        for capture in self._bounded(Captures(self._home).after(at.places, self._committed)):
            if capture is None:
                more = True
                break
            if capture.fetched_at >= at.since and wish.has(capture) and self._is_page(capture):
                if len(found) >= limit:
                    more = True
                    break
                found.append(_changed(capture))
            at.places[capture.directory], at.last = capture.after, capture.fetched_at
        return ChangesPart(found, at.written(), more)

    def newest(self, limit: int, wish: Wish) -> tuple[list[ChangedPage], bool]:
        """The last ones, the newest first, and whether all that is stored was looked at."""
        found: list[ChangedPage] = []
        for capture in self._bounded(newest_first(self._home, self._committed)):
            if capture is None or len(found) >= limit:
                return found, False
            if wish.has(capture) and self._is_page(capture):
                found.append(_changed(capture))
        return found, True

    def _is_page(self, capture: Capture) -> bool:
        """Not one of those that only look so: a sitemap or feed under any name, where a robots.txt was redirected to;
        and none that an operator does not want to be seen.
        """
        visit = own = self._frontier.visit(capture.url)
        if own is None:
            if capture.url.endswith("/robots.txt") or self._frontier.holds_host(host_of(capture.url)):
                return False
            visit = self._elsewhere(capture.url)  # its partition has moved: only its new agent knows what it is now
        if visit is not None and visit.state is State.EXCLUDED and not _ended(capture, visit):
            return False
        if not capture.change and own is not None and own.stored and self._is_behind(capture.stored, own.stored):
            return False  # the page was stored before, and no visit to it made this line: a robots.txt led there
        return not self._policy.blocks(capture.url, host_of(capture.url))

    def _is_behind(self, place: Locator, other: Locator) -> bool:
        """As far as that can be known: several directories are written at a time."""
        if len(self._committed.writers) > 1 and place.file != other.file:
            return False
        return (place.file, place.offset) > (other.file, other.offset)

    def _bounded(self, captures: Iterable[Capture]) -> Iterator[Capture | None]:
        """None when the time is over."""
        until = self._clock() + _SECONDS
        for number, capture in enumerate(captures, 1):
            if number % _LOOK == 0 and self._clock() > until:
                yield None
                return
            yield capture

    def _cursor(self, text: str) -> _Cursor:
        """Where it leads, if what is before it is still what it was."""
        since, last, packed = _read_cursor(text)
        names = {_name(name): name for name in ("", *self._committed.writers)}
        places = {names.get(key): Place(*place) for key, *place in packed}
        known = {name: place for name, place in places.items() if name is not None}
        if len(known) < len(packed) or self._checked(known) != known:
            begin = datetime.fromtimestamp(last, UTC).isoformat().replace("+00:00", "Z")
            raise CursorError(
                "what was read up to this cursor is no longer stored, or is another crawl. Begin again "
                f"with since={begin} and no cursor",
                stale=True,
            )
        return _Cursor(since, last, known)

    def _checked(self, places: dict[str, Place]) -> dict[str, Place]:
        checked = Captures(self._home).checked(places, self._committed)
        return {name: place for name, place in checked.items() if name in places}


class _Cursor(msgspec.Struct):
    """How far somebody has read, from which moment on, and when the last capture that he passed was fetched."""

    since: int
    last: int
    places: dict[str, Place]

    def written(self) -> str:
        packed = [(_name(name), *msgspec.structs.astuple(place)) for name, place in sorted(self.places.items())]
        data = msgspec.msgpack.encode((self.since, self.last, packed))
        return base64.urlsafe_b64encode(crc32(data).to_bytes(4, "big") + data).decode().rstrip("=")


_Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Moment = Annotated[int, msgspec.Meta(ge=0, lt=int(_LATEST))]
_Packed = tuple[_Moment, _Moment, list[tuple[_Number, Annotated[int, msgspec.Meta(ge=-1)], _Number, _Number]]]
_packed = msgspec.msgpack.Decoder(_Packed)


def _read_cursor(text: str) -> _Packed:
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
        if int.from_bytes(packed[:4], "big") == crc32(packed[4:]):
            found: _Packed = _packed.decode(packed[4:])
            return found
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        pass
    raise CursorError("this is none that a list of changes gave")


def _ended(capture: Capture, visit: VisitRecord) -> bool:
    """What was a page may be excluded for what it has become, and is gone; not for being unwanted."""
    return capture.change == Change.GONE and visit.reason not in (Exclusion.PURGED, Exclusion.BLOCKLIST)


def _name(directory: str) -> int:
    """A directory without saying where it is."""
    return crc32(directory.encode("utf-8", "surrogateescape"))


def _changed(capture: Capture) -> ChangedPage:
    return ChangedPage(
        capture.url,
        cast(Kind, capture.change or "new"),
        datetime.fromtimestamp(capture.fetched_at, UTC),
        capture.status,
        "" if capture.mime in (REVISIT, "unk") else capture.mime,
        capture.digest,
    )


def read_moment(text: str) -> float:
    """Seconds since 1970, as a number or in ISO 8601, where nothing else is said in UTC; ValueError otherwise."""
    text = text.strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _iso(text)
    if not 0 <= seconds < _LATEST:
        raise ValueError("it is not between 1970 and 9999")
    return seconds


def _iso(text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        # In an address a plus sign is a space.
        day, _, zone = text.rpartition(" ")
        try:
            found = datetime.fromisoformat(f"{day}+{zone}")
        except ValueError:
            raise ValueError("it is neither seconds since 1970 nor a time such as 2026-01-31T12:00:00Z") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
