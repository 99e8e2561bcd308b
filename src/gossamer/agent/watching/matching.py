"""Watches matched against pages as they are indexed, in the process that indexes.

before a commit of the index its pages are noted -> the index commits -> the watches are asked, and what matched and
that nothing is noted any more are one transaction
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from sqlite3 import Connection
from time import monotonic
from typing import Final

from gossamer.agent.parts import is_part
from gossamer.agent.spool import Command, Spool
from gossamer.agent.watching.book import WatchBook, has_watches, is_shared
from gossamer.agent.watching.keeping import Keeping, keeping_of
from gossamer.agent.watching.records import Match
from gossamer.agent.watching.watch import MOST_EARLIER_STARTS, MOST_HITS, MOST_STARTS, START_PRIORITY, Watch
from gossamer.errors import ControlError, CrawlDirError, DamagedError, GossamerError
from gossamer.index.snapshot import Snapshot
from gossamer.index.standing import Found, FreshPages, StandingQuery
from gossamer.index.writer import Ready

MOST_FRESH: Final = 2_000
"""Pages after which the index should commit: they are in memory until then."""
MOST_EARLIER: Final = 1_000
"""Pages found in the index already that are listed, the best; the others are only known not to be new."""
_TAKING_UP: Final = 1.0  # seconds for new watches at a time
_UNUSABLE: Final = (CrawlDirError, DamagedError)
_LONGEST: Final = 1_000  # characters of a title


class Matching:
    """Invariants: a page that the index has committed was matched against every watch taken up before, or is noted to
    be; a watch taken up was asked of all pages that the index had then.
    """

    def __init__(self, home: Path, part: bytes, notice: Callable[[str], None], clock: Callable[[], float]) -> None:
        """`part` names the index: each that a crawl has, and each that was made anew, has a name of its own."""
        self._home = home
        self._part = part.hex()
        self._notice = notice
        self._clock = clock
        self._book: WatchBook | None = None
        self._keeping: Keeping | None = None
        self._version = -1
        self._broken = False
        self._agent = home.name if is_part(home) else ""  # of several on one machine, which have one book
        self._spool = Spool(home)
        self._starts = True  # there may be pages from which the crawl is to go on: the last process may have left some
        self._watches: list[tuple[Watch, StandingQuery]] = []
        self._new: list[tuple[Watch, StandingQuery]] = []
        self._fresh = FreshPages()
        self.hits = 0  # found in this run, those of earlier pages aside

    @property
    def on(self) -> bool:
        """Whether pages are to be given: there is a watch."""
        return bool(self._watches)

    @property
    def calls(self) -> bool:
        """Whether this process is to call webhooks: not where several agents see to that together."""
        return not is_shared(self._home) and any(watch.webhook for watch, _ in (*self._watches, *self._new))

    @property
    def is_full(self) -> bool:
        return len(self._fresh.urls) >= MOST_FRESH

    # -- which watches there are ---------------------------------------------------------------------------------------

    def look(self) -> bool:
        """Whether there are watches to take up. That is for a moment when nothing waits for a commit of the index."""
        if self._broken or (self._book is None and not has_watches(self._home)):
            return False
        try:
            if self._book is None:
                self._book = WatchBook(self._home)
                self._keeping = keeping_of(self._book)
            if (version := self._book.version) != self._version:
                self._version = version
                self._load(self._book)
        except _UNUSABLE as error:
            self._give_up(error)
        return bool(self._new)

    def _load(self, book: WatchBook) -> None:
        taken = {row[0] for row in book.rows("SELECT watch FROM taken_up WHERE part = ?", (self._part,))}
        known = {watch.number: (watch, query) for watch, query in (*self._watches, *self._new)}
        book.forget_old(self._clock())
        watches: list[tuple[Watch, StandingQuery]] = []
        new: list[tuple[Watch, StandingQuery]] = []
        for watch in book.all():
            pair = known.get(watch.number) or self._understood(watch)
            if pair is not None:
                (watches if watch.number in taken else new).append(pair)
        self._watches, self._new = watches, new

    def _understood(self, watch: Watch) -> tuple[Watch, StandingQuery] | None:
        try:
            return watch, StandingQuery(watch.query)
        except GossamerError as error:  # it was understood when it was added, by another version
            self._notice(f"watch {watch.name}: its query is not understood any more: {error}")
            return None

    def take_up(self, snapshot: Snapshot) -> None:
        """Ask new watches of all that the index has; some at a time."""
        until = monotonic() + _TAKING_UP
        try:
            while self._new and monotonic() < until:
                self._take_up(*self._new[0], snapshot)
                self._watches.append(self._new.pop(0))
        except _UNUSABLE as error:
            self._give_up(error)

    def _take_up(self, watch: Watch, query: StandingQuery, snapshot: Snapshot) -> None:
        assert self._book is not None
        assert self._keeping is not None
        found = query.found_in(snapshot)
        with self._book.changing() as base:
            if base.execute("SELECT 1 FROM watches WHERE number = ?", (watch.number,)).fetchone() is None:
                return
            self._add(base, watch, query, snapshot, found, earlier=True)
            self._keeping.take_up(base, watch, self._part)

    # -- pages ---------------------------------------------------------------------------------------------------------

    def put(self, made: Ready) -> None:
        self._fresh.put(made)

    def drop(self, url: str) -> None:
        self._fresh.drop(url)

    def prepare(self) -> None:
        """The index is about to commit."""
        if self._book is None or not self._fresh.urls:
            return
        try:
            with self._book.changing() as base:
                noted = ((self._part, url) for url in self._fresh.urls)
                base.executemany("INSERT OR IGNORE INTO pending VALUES (?, ?)", noted)
        except _UNUSABLE as error:
            self._give_up(error)

    def match(self) -> int:
        """The index has committed. Gives the number of hits."""
        if self._book is None or not self._fresh.urls:
            return 0
        try:
            found = self._matched(self._book)
        except _UNUSABLE as error:
            self._give_up(error)
            return 0
        self._fresh.clear()
        self.hits += found
        return found

    def _matched(self, book: WatchBook) -> int:
        found = 0
        with book.changing() as base:
            alive = {row[0] for row in base.execute("SELECT number FROM watches")}
            live = [(watch, query) for watch, query in self._watches if watch.number in alive]
            for number, snapshot, pages in self._fresh.matches([query for _, query in live]):
                found += self._add(base, *live[number], snapshot, pages, earlier=False)
            base.execute("DELETE FROM pending WHERE part = ?", (self._part,))
        return found

    def recover(self, packed: Callable[[str], bytes | None]) -> None:
        """What was committed and not matched when the last process ended."""
        self.look()
        if self._book is None:
            return
        try:
            for (url,) in self._book.rows("SELECT url FROM pending WHERE part = ?", (self._part,)):
                entry = packed(url)
                if entry is not None:
                    self._fresh.put_packed(entry)
            if not self.match():
                with self._book.changing() as base:
                    base.execute("DELETE FROM pending WHERE part = ?", (self._part,))
        except _UNUSABLE as error:
            self._give_up(error)

    def _add(
        self,
        base: Connection,
        watch: Watch,
        query: StandingQuery,
        snapshot: Snapshot,
        pages: Sequence[Found],
        earlier: bool,
    ) -> int:
        """Those that are new to the watch become hits of it."""
        assert self._keeping is not None
        fresh = [page for page in pages if self._keeping.is_new(base, watch, page.key)]
        if not fresh:
            return 0
        now = self._clock()
        room = MOST_HITS - int(base.execute("SELECT count(*) FROM hits WHERE watch = ?", (watch.number,)).fetchone()[0])
        room = max(0, min(room, MOST_EARLIER) if earlier else room)
        matches = []
        for page in fresh[:room]:
            hit = query.hit(snapshot, page.address)
            before = earlier and hit.fetched_at < watch.created_at
            tell = bool(watch.webhook) and (watch.notify_earlier or not before)
            title, language = hit.title[:_LONGEST], hit.language[:40]
            matches.append(Match(page.key, hit.url, title, hit.snippet, language, hit.fetched_at, now, before, tell))
        if watch.crawl:
            self._note_starts(base, watch, matches, earlier)
        if earlier:
            matches.reverse()  # the newest are listed first, and the best of those there were
        self._keeping.keep(base, watch, matches, [page.key for page in fresh[room:]])
        return len(matches)

    # -- where the crawl goes on ---------------------------------------------------------------------------------------

    def _note_starts(self, base: Connection, watch: Watch, matches: Sequence[Match], earlier: bool) -> None:
        """Keep the pages whose links are to be visited next, within the change that makes the pages hits."""
        found = "SELECT count(*) FROM hits WHERE watch = ? AND earlier = 0"
        room = MOST_STARTS - int(base.execute(found, (watch.number,)).fetchone()[0])
        starts = matches[: max(0, min(room, MOST_EARLIER_STARTS) if earlier else room)]
        self._starts = True
        note = "INSERT INTO onward (part, watch, url) VALUES (?, ?, ?)"
        base.executemany(note, ((self._agent, watch.number, each.url) for each in starts))

    def lead_on(self) -> None:
        """Tell the crawl to visit next what the pages link to that were kept for it; said twice, it is done once."""
        if self._book is None or self._broken or not self._starts:
            return
        ask = (
            "SELECT o.number, o.url, w.name FROM onward o JOIN watches w ON w.number = o.watch WHERE o.part = ?"
            " ORDER BY o.number"
        )
        self._starts = False  # what goes wrong is tried again with the next page, or by the next process
        try:
            rows = self._book.rows(ask, (self._agent,))
            for name in dict.fromkeys(row[2] for row in rows):
                urls = [row[1] for row in rows if row[2] == name]
                about = {"urls": urls, "priority": START_PRIORITY, "links": True}
                self._spool.send(Command("seeds", f"watch {name}", self._clock(), about))
            with self._book.changing() as base:
                base.executemany("DELETE FROM onward WHERE number = ?", ((row[0],) for row in rows))
        except ControlError as error:
            self._notice(f"watches: the crawl cannot be told where to go on: {error}")
        except _UNUSABLE as error:
            self._give_up(error)

    def _give_up(self, error: GossamerError) -> None:
        """Pages can be found all the same."""
        self._broken = True
        self._watches, self._new = [], []
        self._fresh.clear()
        self._notice(f"watches: {error} Until the next run none are matched; pages are indexed all the same.")

    def close(self) -> None:
        if self._book is not None:
            self._book.close()
