"""The book of an agent among others on several machines: what the log of watches says, applied in its order.

A page is a hit of a watch by the first record that names it, whoever has found it. Of those who want to make a call,
the first who says so makes it. So nobody has to be asked, and all agents come to the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from sqlite3 import Connection
from typing import Any, Final

from gossamer.agent.watching.book import WatchBook
from gossamer.agent.watching.records import (
    MOST_KEYS,
    MOST_MATCHES,
    Added,
    CallWas,
    Found,
    Match,
    Record,
    Removed,
    Revived,
    Tried,
    Trying,
    about,
    decode,
    encode,
    in_parts,
)
from gossamer.agent.watching.watch import MOST_HITS, MOST_WATCHES, REMEMBERED_FOR
from gossamer.cluster.watch_log import Said
from gossamer.errors import BatchError
from gossamer.index.schema import key_of

_BITS: Final = 10  # of a hit's number: which it is of its record
_OF_A_LOG: Final = 1 << 40  # numbers of hits that a log has given are higher


class Replica:
    """Invariant: what the book says of watches is what the log says up to `position`. For one thread; several processes
    may apply the same.
    """

    def __init__(
        self,
        book: WatchBook,
        name: str,
        notice: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`name` is that of the agent."""
        self.book = book
        self.name = name
        self.own: set[str] = set()  # ids of watches of which this agent has found hits in this run
        self._notice = notice
        self._clock = clock

    @property
    def position(self) -> int:
        return int(self._note("position") or 0)

    def join(self, identity: str, end: int) -> None:
        """Before anything of this log is applied. What the book has from before, when its directory was alone or the
        broker had another log, is said to all, and comes back from there.
        """
        if self._note("log") == identity and self.position <= end:
            return
        with self.book.changing() as base:
            waiting = base.execute("SELECT about, data FROM outbox ORDER BY number").fetchall()
            known = [(about(record), encode(record)) for record in self._all()]
            # All that is of a watch goes with it, but for its hits.
            for table in ("outbox", "hits", "watches"):
                base.execute(f"DELETE FROM {table}")  # noqa: S608
            base.executemany("INSERT INTO outbox (about, data) VALUES (?, ?)", [*known, *waiting])
            _set_note(base, "log", identity)
            _set_note(base, "position", "0")

    def apply(self, said: Sequence[Said]) -> None:
        if not said:
            return
        with self.book.changing() as base:
            position = int(self._note("position") or 0)
            for each in said:
                if each.sequence > position:
                    self._take(base, each)
            _set_note(base, "position", str(max(position, said[-1].sequence)))

    def _take(self, base: Connection, said: Said) -> None:
        try:
            record = decode(said.data)
        except BatchError as error:
            self._notice(f"watches: record {said.sequence} is left out: {error}")
            return
        if isinstance(record, Added):
            self._add(base, record)
            return
        row = base.execute("SELECT number FROM watches WHERE id = ?", (record.watch,)).fetchone()
        if row is None:
            return  # it was removed
        if isinstance(record, Found):
            self._find(base, row[0], record, said.sequence)
        elif isinstance(record, Removed):
            base.execute("DELETE FROM hits WHERE watch = ?", row)
            base.execute("DELETE FROM watches WHERE number = ?", row)
        elif isinstance(record, Trying):
            self._begin(base, row[0], record, said.sequence)
        elif isinstance(record, Tried):
            self._settle(base, row[0], record, said.sequence)
        elif isinstance(record, Revived):
            base.execute(
                "UPDATE calls SET state = 'waiting', due = ?, made = ?, tries = 0 WHERE watch = ? AND state != 'done'",
                (record.at, record.at, row[0]),
            )
        else:
            _keep_call(base, row[0], record)

    def _add(self, base: Connection, record: Added) -> None:
        """Refused where it is one too many, or somebody has chosen a name that is taken."""
        if base.execute("SELECT 1 FROM watches WHERE id = ?", (record.watch,)).fetchone():
            return
        taken = "SELECT 1 FROM watches WHERE name = ?"
        name, number = record.name, 1
        while base.execute(taken, (name,)).fetchone():
            if record.given:
                return
            number += 1
            name = f"{record.name}-{number}"
        if base.execute("SELECT count(*) FROM watches").fetchone()[0] >= MOST_WATCHES:
            return
        if record.remembered and record.created < self._clock() - REMEMBERED_FOR:
            return
        base.execute(
            "INSERT INTO watches (id, name, query, webhook, secret, notify_earlier, created, crawl, remembered) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.watch, name, record.query, record.webhook, record.secret, record.notify_earlier, record.created,
                record.crawl, record.remembered,
            ),
        )  # fmt: skip

    def _find(self, base: Connection, watch: int, record: Found, sequence: int) -> None:
        note = "INSERT OR IGNORE INTO seen VALUES (?, ?)"
        room = MOST_HITS - int(base.execute("SELECT count(*) FROM hits WHERE watch = ?", (watch,)).fetchone()[0])
        for at, hit in enumerate(record.hits):
            if base.execute(note, (watch, hit.key)).rowcount and room > 0:
                room -= 1
                self._list(base, watch, hit, hit.number or sequence << _BITS | at)
        base.executemany(note, ((watch, key) for key in record.seen))
        keys = (*(hit.key for hit in record.hits), *record.seen)
        base.executemany("DELETE FROM claimed WHERE watch = ? AND key = ?", ((watch, key) for key in keys))
        if record.part:
            base.execute("INSERT OR IGNORE INTO taken_up VALUES (?, ?)", (watch, record.part))
        if record.by == self.name:
            self.own.add(record.watch)

    def _list(self, base: Connection, watch: int, hit: Match, number: int) -> None:
        call = base.execute("SELECT number FROM calls WHERE id = ?", (hit.call,)).fetchone() if hit.call else None
        base.execute(
            "INSERT OR IGNORE INTO hits (number, watch, url, title, snippet, language, fetched, found, earlier, tell,"
            " call) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number, watch, hit.url, hit.title, hit.snippet, hit.language, hit.fetched, hit.found, hit.earlier,
                hit.tell, call[0] if call else None,
            ),
        )  # fmt: skip

    def _begin(self, base: Connection, watch: int, record: Trying, sequence: int) -> None:
        if record.since != _last(base, watch):
            return  # another one was first
        known = base.execute("SELECT number FROM calls WHERE id = ?", (record.call,)).fetchone()
        if known is None:
            made = base.execute(
                "INSERT INTO calls (id, watch, made, due) VALUES (?, ?, ?, ?)",
                (record.call, watch, record.made, record.made),
            ).lastrowid
            base.executemany(
                "UPDATE hits SET call = ? WHERE number = ? AND watch = ? AND tell = 1 AND call IS NULL",
                ((made, number, watch) for number in record.hits),
            )
        base.execute(
            "INSERT OR REPLACE INTO telling VALUES (?, ?, ?, ?, ?)",
            (watch, sequence, record.call, record.by, self._clock()),
        )

    def _settle(self, base: Connection, watch: int, record: Tried, sequence: int) -> None:
        if record.since != _last(base, watch):
            return  # it took too long, and another one has begun it again
        base.execute(
            "UPDATE calls SET tries = ?, due = ?, state = ?, tried = ?, status = ?, why = ? WHERE id = ? AND watch = ?",
            (
                record.tries, record.due, record.state, record.tried, record.status, record.why, record.call, watch,
            ),
        )  # fmt: skip
        base.execute("UPDATE telling SET last = ?, by = '' WHERE watch = ?", (sequence, watch))

    # -- all that is known -------------------------------------------------------------------------------------------

    def _all(self) -> Iterator[Record]:
        for watch in self.book.all():
            secret = self.book.secret(watch)
            yield Added(
                watch.id, watch.name, False, watch.query, watch.webhook, secret, watch.notify_earlier, watch.created_at,
                watch.crawl, watch.remembered,
            )  # fmt: skip
            calls = "SELECT id, state, tries, tried, due, status, why, made FROM calls WHERE watch = ? ORDER BY number"
            yield from (CallWas(watch.id, *row) for row in self.book.rows(calls, (watch.number,)))
            hits = [
                _match(row)
                for row in self.book.rows(
                    "SELECT h.number, h.url, h.title, h.snippet, h.language, h.fetched, h.found, h.earlier, h.tell, "
                    "coalesce(c.id, '') FROM hits h LEFT JOIN calls c ON c.number = h.call WHERE h.watch = ? "
                    "ORDER BY h.number",
                    (watch.number,),
                )
            ]
            yield from (Found(watch.id, "", tuple(some)) for some in in_parts(hits, MOST_MATCHES))
            listed = {hit.key for hit in hits}
            seen = (key for (key,) in self.book.rows("SELECT key FROM seen WHERE watch = ?", (watch.number,)))
            others = (key for key in seen if key not in listed)
            yield from (Found(watch.id, "", (), tuple(some)) for some in in_parts(others, MOST_KEYS))

    def _note(self, name: str) -> str:
        found = self.book.rows("SELECT value FROM notes WHERE name = ?", (name,))
        return str(found[0][0]) if found else ""


def _last(base: Connection, watch: int) -> int:
    row = base.execute("SELECT last FROM telling WHERE watch = ?", (watch,)).fetchone()
    return int(row[0]) if row else 0


def _keep_call(base: Connection, watch: int, record: CallWas) -> None:
    if base.execute("SELECT 1 FROM calls WHERE id = ?", (record.call,)).fetchone() is None:
        base.execute(
            "INSERT INTO calls (id, watch, made, tries, due, state, tried, status, why) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.call, watch, record.made, record.tries, record.due, record.state, record.tried, record.status,
                record.why,
            ),
        )  # fmt: skip


def _match(row: Any) -> Match:
    number, url, title, snippet, language, fetched, found, earlier, tell, call = row
    return Match(
        key_of(url), url, title, snippet, language, fetched, found, bool(earlier), bool(tell),
        number if number >= _OF_A_LOG else 0, call,
    )  # fmt: skip


def _set_note(base: Connection, name: str, value: str) -> None:
    base.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))
