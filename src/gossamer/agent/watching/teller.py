"""Webhooks called by agents on several machines: whoever says so first in the log of all makes a call."""

from __future__ import annotations

import random
import secrets
import time
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from gossamer.agent.watching.calls import MOST_TOGETHER, TO_TELL, Call, Calls, after_try, new_call_id
from gossamer.agent.watching.delivery import HOST_AT_ONCE, sealed
from gossamer.agent.watching.records import Tried, Trying
from gossamer.agent.watching.replica import Replica
from gossamer.agent.watching.watch import Watch
from gossamer.config import FetchConfig
from gossamer.fetch.webhook import Webhooks

LOST_AFTER: Final = 12.0
"""Seconds after which a call of which nothing is heard is made again by another one; it has 10 itself."""
AFTER_OTHERS: Final = 3.0
"""Seconds that who has found a hit has for telling it, before others do."""


class _Flight(NamedTuple):
    call: Call
    since: int  # the record by which it is ours
    host: str


class Teller:
    """Invariants: a call is made only when the log has given back that we make it, and nothing after it; one call of a
    watch is on its way at a time, over all agents.
    """

    def __init__(
        self,
        replica: Replica,
        config: FetchConfig,
        clock: Callable[[], float] = time.time,
        chance: random.Random | None = None,
        after_others: float = AFTER_OTHERS,
    ) -> None:
        self._replica = replica
        self._book = replica.book
        self._chance = chance or random.Random()  # noqa: S311 - only spreads the tries
        self._calls = Calls(self._book, self._chance)
        self._webhooks = Webhooks(config)
        self._clock = clock
        self._after_others = after_others
        self._by = f"{replica.name} {secrets.token_hex(8)}"
        self._flying: dict[str, _Flight] = {}  # by the ids of their watches
        self._met: dict[str, float] = {}  # since when there is something to tell that others may be about to
        self.told = 0  # calls taken
        self.failed = 0  # tries

    @property
    def in_flight(self) -> bool:
        return bool(self._flying)

    @property
    def has_work(self) -> bool:
        """Whether something is due, here or at another agent."""
        ask = "SELECT (SELECT count(*) FROM calls WHERE due <= ?) + (SELECT count(*) FROM telling WHERE by != '')"
        return self.in_flight or bool(self._book.rows(TO_TELL)) or bool(self._book.rows(ask, (self._clock(),))[0][0])

    def wanted(self) -> list[Trying]:
        """What is due and nobody is at: to be said, and begun when it comes back."""
        room = self._webhooks.room
        hosts = Counter(flight.host for flight in self._flying.values())
        found: list[Trying] = []
        due: dict[int, str] = {}  # numbers of watches, and their calls
        ask = "SELECT watch, id FROM calls WHERE due <= ? ORDER BY due"
        for number, call in (
            *self._book.rows(ask, (self._clock(),)),
            *((row[0], "") for row in self._book.rows(TO_TELL)),
        ):
            due.setdefault(number, call)
        watches = {watch.number: watch for watch in self._book.all()} if due else {}
        self._met = {
            watches[number].id: self._met.get(watches[number].id, self._clock())
            for number in due.keys() & watches.keys()
        }
        for number, call in due.items():
            watch = watches.get(number)
            host = urlsplit(watch.webhook).netloc if watch else ""
            if watch is None or not room or hosts[host] >= HOST_AT_ONCE or watch.id in self._flying:
                continue
            if (trying := self._claim(watch, call)) is not None:
                found.append(trying)
                hosts[host] += 1
                room -= 1
        return found

    def _claim(self, watch: Watch, call: str) -> Trying | None:
        now, id_ = self._clock(), watch.id
        rows = self._book.rows("SELECT last, call, by, seen FROM telling WHERE watch = ?", (watch.number,))
        last, tried, by, seen = rows[0] if rows else (0, "", "", 0.0)
        if by:
            # Whoever was at it has been killed, or is cut off: it is the same call, however often it is made.
            return Trying(id_, tried, last, self._by, now) if abs(now - seen) >= LOST_AFTER else None
        if id_ not in self._replica.own and abs(now - self._met[id_]) < self._after_others:
            return None
        if call:
            return Trying(id_, call, last, self._by, now)
        hits = self._book.rows(
            "SELECT number FROM hits WHERE watch = ? AND tell = 1 AND call IS NULL ORDER BY number LIMIT ?",
            (watch.number, MOST_TOGETHER),
        )
        return Trying(id_, new_call_id(), last, self._by, now, tuple(number for (number,) in hits))

    def begin(self) -> None:
        """What the log says is ours."""
        for id_, since, name in self._book.rows(
            "SELECT w.id, t.last, t.call FROM telling t JOIN watches w ON w.number = t.watch WHERE t.by = ?",
            (self._by,),
        ):
            call = None if id_ in self._flying or not self._webhooks.room else self._calls.by_id(name)
            if call is None:
                continue
            self._replica.own.add(id_)  # who has told it tells it again
            self._flying[id_] = _Flight(call, since, urlsplit(call.watch.webhook).netloc)
            self._webhooks.send(id_, call.watch.webhook, sealed(self._book, call, self._clock()), call.body)

    def ended(self, seconds: float) -> list[Tried]:
        """What became of calls that have ended, after so long at most. `settled` is to be told when it was said."""
        found = []
        for id_, outcome in self._webhooks.wait(seconds):
            call, since, _ = self._flying[id_]
            state, due = after_try(call, outcome, self._clock(), self._chance.random())
            self.told += state == "done"
            self.failed += state != "done"
            found.append(
                Tried(id_, call.id, state, call.tries + 1, self._clock(), due, outcome.status, outcome.why, since)
            )
        return found

    def settled(self, tried: Tried) -> None:
        self._flying.pop(tried.watch, None)

    def close(self) -> None:
        self._webhooks.close()
