"""The queue of calls: hits put together into calls, each tried until it is taken or a day has passed."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from gossamer.agent.watching.book import WatchBook, hit_id
from gossamer.agent.watching.watch import Watch
from gossamer.fetch.webhook import Outcome

MOST_TOGETHER: Final = 100
"""Hits in one call."""
FIRST_REST: Final = 5.0
"""Seconds before a call is tried again; twice as long each time."""
LONGEST_REST: Final = 3600.0
GIVEN_UP_AFTER: Final = 86_400.0
"""Seconds after which a call is dead."""
_GONE: Final = 410  # by which a receiver says that it wants no more
TO_TELL: Final = (
    "SELECT DISTINCT watch FROM hits WHERE tell = 1 AND call IS NULL "
    "AND watch NOT IN (SELECT watch FROM calls WHERE due IS NOT NULL)"
)
"""Watches with hits that are in no call yet, and no call on its way."""

State = Literal["waiting", "done", "dead"]


class Call(msgspec.Struct, frozen=True):
    """`id` and body are the same each time it is tried."""

    number: int
    id: str
    watch: Watch
    tries: int
    made_at: float
    body: bytes


class ToldHit(msgspec.Struct):
    id: str
    url: str
    title: str
    snippet: str
    fetched_at: datetime
    found_at: datetime
    language: str
    earlier: bool


class ToldWatch(msgspec.Struct):
    id: str
    name: str
    query: str


class Told(msgspec.Struct):
    """What is sent. `type` is watch.hits or watch.test."""

    id: str
    type: str
    watch: ToldWatch
    hits: list[ToldHit]


def body_of(id_: str, watch: Watch, hits: Sequence[ToldHit], kind: str = "watch.hits") -> bytes:
    return msgspec.json.encode(Told(id_, kind, ToldWatch(watch.id, watch.name, watch.query), list(hits)))


def new_call_id() -> str:
    return "msg_" + secrets.token_hex(12)


def rest_after(tries: int, chance: float) -> float:
    """Seconds before the next try; `chance` from 0 to 1 spreads those of many calls."""
    return min(FIRST_REST * 2.0 ** min(tries - 1, 30), LONGEST_REST) * (0.5 + chance / 2)


def after_try(call: Call, outcome: Outcome, now: float, chance: float) -> tuple[State, float | None]:
    """The state that a call is in then, and when it is tried again."""
    if outcome.ok:
        return "done", None
    if now - call.made_at >= GIVEN_UP_AFTER or outcome.status == _GONE:
        return "dead", None
    return "waiting", now + rest_after(call.tries + 1, chance)


class Calls:
    """Invariants: a hit is in one call for ever; a call waits, was taken, or is dead, so that what is told again is
    told with the same id; one call of a watch waits at a time, and what comes meanwhile goes together in the next.
    """

    def __init__(self, book: WatchBook, chance: random.Random) -> None:
        self._book = book
        self._chance = chance

    def make(self, now: float) -> int:
        """Calls of hits that are in none yet, one for each watch that has none on its way; how many."""
        if not self._book.rows(TO_TELL):
            return 0
        with self._book.changing() as base:
            watches = base.execute(TO_TELL).fetchall()
            for (watch,) in watches:
                call = base.execute(
                    "INSERT INTO calls (id, watch, made, due) VALUES (?, ?, ?, ?)", (new_call_id(), watch, now, now)
                ).lastrowid
                base.execute(
                    "UPDATE hits SET call = ? WHERE number IN (SELECT number FROM hits "
                    "WHERE watch = ? AND tell = 1 AND call IS NULL ORDER BY number LIMIT ?)",
                    (call, watch, MOST_TOGETHER),
                )
        return len(watches)

    def due(self, now: float, most: int, without: Sequence[int]) -> list[Call]:
        """To be tried now, the longest due first; not those whose number is in `without`."""
        rows = self._book.rows(
            "SELECT number, id, watch, tries, made FROM calls WHERE due <= ? ORDER BY due LIMIT ?",
            (now, most + len(without)),
        )
        watches = {watch.number: watch for watch in self._book.all()} if rows else {}
        chosen = [row for row in rows if row[0] not in without and row[2] in watches][:most]
        return [
            Call(number, id_, watches[watch], tries, made, self._body(id_, number, watches[watch]))
            for number, id_, watch, tries, made in chosen
        ]

    def by_id(self, id_: str) -> Call | None:
        rows = self._book.rows(
            "SELECT c.number, w.id, c.tries, c.made FROM calls c JOIN watches w ON w.number = c.watch WHERE c.id = ?",
            (id_,),
        )
        number, name, tries, made = rows[0] if rows else (0, "", 0, 0.0)
        watch = self._book.find(name) if rows else None
        if watch is None:
            return None
        return Call(number, id_, watch, tries, made, self._body(id_, number, watch))

    def _body(self, id_: str, number: int, watch: Watch) -> bytes:
        hits = [
            ToldHit(hit_id(watch, hit), url, title, snippet, _moment(fetched), _moment(found), language, bool(earlier))
            for hit, url, title, snippet, fetched, found, language, earlier in self._book.rows(
                "SELECT number, url, title, snippet, fetched, found, language, earlier FROM hits WHERE call = ? "
                "ORDER BY number",
                (number,),
            )
        ]
        return body_of(id_, watch, hits)

    def next_due(self) -> float | None:
        found = self._book.rows("SELECT min(due) FROM calls WHERE due IS NOT NULL")
        return None if found[0][0] is None else float(found[0][0])

    def settle(self, call: Call, outcome: Outcome, now: float) -> State:
        """Note what became of a try; gives the state that the call is in."""
        tries = call.tries + 1
        state, due = after_try(call, outcome, now, self._chance.random())
        with self._book.changing() as base:
            base.execute(
                "UPDATE calls SET tries = ?, due = ?, state = ?, tried = ?, status = ?, why = ? WHERE number = ?",
                (tries, due, state, now, outcome.status, outcome.why, call.number),
            )
        return state

    def left(self, watch: Watch) -> int:
        """Calls that wait or are dead."""
        ask = "SELECT count(*) FROM calls WHERE watch = ? AND state != 'done'"
        return int(self._book.rows(ask, (watch.number,))[0][0])

    def revive(self, watch: Watch, now: float) -> int:
        """Dead calls of a watch are tried again for a day; how many, and with them those that wait."""
        with self._book.changing() as base:
            return base.execute(
                "UPDATE calls SET state = 'waiting', due = ?, made = ?, tries = 0 WHERE watch = ? AND state != 'done'",
                (now, now, watch.number),
            ).rowcount


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
