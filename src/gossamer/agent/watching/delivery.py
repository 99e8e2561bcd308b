"""Delivery: calls that are due are sent, beside the process that indexes, or alone (`gossamer watch deliver`)."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gossamer.agent.watching.book import WatchBook
from gossamer.agent.watching.calls import Call, Calls, body_of, new_call_id
from gossamer.agent.watching.signing import headers
from gossamer.agent.watching.watch import Watch
from gossamer.config import FetchConfig
from gossamer.fetch.webhook import Outcome, Webhooks
from gossamer.lock import taken

HOST_AT_ONCE: Final = 2  # calls to one host
_LOOKED_AT: Final = 200  # calls that are due, among which those are whose host has room


class Delivery:
    """Sends what is due.

    Invariant: of all processes of a crawl one delivers at a time, and a call is in flight once.
    """

    def __init__(
        self,
        home: Path,
        config: FetchConfig,
        clock: Callable[[], float] = time.time,
        chance: random.Random | None = None,
    ) -> None:
        self._book = WatchBook(home)
        self._calls = Calls(self._book, chance or random.Random())  # noqa: S311 - only spreads the tries
        self._webhooks = Webhooks(config)
        self._clock = clock
        self._flying: dict[int, str] = {}  # numbers of calls, and their hosts
        self._lock: int | None = None
        self.told = 0  # calls taken
        self.failed = 0  # tries

    def step(self, seconds: float) -> bool:
        """Send what is due and take answers for so long at most; whether something is in flight or due now."""
        if not self._may_deliver():
            return False
        self._calls.make(self._clock())
        self._begin()
        for call, outcome in self._webhooks.wait(seconds):
            del self._flying[call.number]
            done = self._calls.settle(call, outcome, self._clock()) == "done"
            self.told += done
            self.failed += not done
            self._calls.make(self._clock())
        due = self._calls.next_due()
        return bool(self._flying) or (due is not None and due <= self._clock())

    def _begin(self) -> None:
        room = self._webhooks.room
        if not room:
            return
        hosts = Counter(self._flying.values())
        for call in self._calls.due(self._clock(), _LOOKED_AT, list(self._flying)):
            host = urlsplit(call.watch.webhook).netloc
            if hosts[host] >= HOST_AT_ONCE:
                continue
            hosts[host] += 1
            self._send(call, host)
            room -= 1
            if not room:
                return

    def _send(self, call: Call, host: str) -> None:
        self._flying[call.number] = host
        self._webhooks.send(call, call.watch.webhook, sealed(self._book, call, self._clock()), call.body)

    def test(self, watch: Watch) -> Outcome:
        """A call that tells of no page; not tried again."""
        id_ = new_call_id()
        body = body_of(id_, watch, [], "watch.test")
        signed = headers(self._book.secret(watch), id_, int(self._clock()), body)
        self._webhooks.send(None, watch.webhook, signed, body)
        while True:  # a call has its own time
            for _, outcome in self._webhooks.wait(1.0):
                return outcome

    def next_due(self) -> float | None:
        return self._calls.next_due()

    def close(self) -> None:
        self._webhooks.close()
        self._book.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _may_deliver(self) -> bool:
        """Whether this is the process that delivers; the first is, until it ends."""
        if self._lock is None:
            self._lock = hold(self._book.folder)
        return self._lock is not None


def hold(folder: Path) -> int | None:
    """What makes this the process that delivers, until it is closed; None where another one is."""
    return taken(folder / "delivering", 0o600)


def sealed(book: WatchBook, call: Call, now: float) -> list[str]:
    """The headers of a call that is made now."""
    return headers(book.secret(call.watch), call.id, int(now), call.body)
