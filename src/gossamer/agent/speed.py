"""Caps on pages and bytes a second for the whole crawl, by the hour if wished, changeable while it runs (P11)."""

from __future__ import annotations

import time
from collections.abc import Callable

from gossamer.config import FetchConfig, caps_at, hours

_FIRST_GUESS = 16_384  # bytes of a response, before there was one
_MEMORY = 32  # responses of which the mean is mostly made


class Allowance:
    """A bucket that fills at `rate` a second. Spending may overdraw it; then nothing is allowed until it is refilled.

    Invariant: over any time, what is spent exceeds rate x time by at most one second's worth and one item.
    """

    __slots__ = ("_at", "_level", "rate")

    def __init__(self, rate: float, now: float) -> None:
        self.rate = rate
        self._level = min(rate, 1.0) if rate else 0.0
        self._at = now

    def available(self, now: float) -> float:
        if not self.rate:
            return float("inf")
        # A tenth of a second's worth may be saved up: short pauses of the loop do not lower the speed.
        self._level = min(self._level + (now - self._at) * self.rate, max(self.rate / 10, 1.0))
        self._at = now
        return self._level

    def spend(self, amount: float) -> None:
        if self.rate:
            self._level -= amount

    def wait(self, now: float) -> float:
        """Seconds until one more is allowed."""
        level = self.available(now)
        return 0.0 if not self.rate or level >= 1 else (1 - level) / self.rate

    def change(self, rate: float, now: float) -> None:
        """Another rate from now on. What was overdrawn is still paid back, unless there was or will be no cap."""
        if rate == self.rate:
            return
        level = self.available(now) if self.rate and rate else 0.0
        self.rate, self._level, self._at = rate, min(level, max(rate / 10, 1.0)), now


def local_time(now: float) -> tuple[int, int]:
    """Day of the week (0 is Monday) and minute of the day where this machine is."""
    then = time.localtime(now)
    return then.tm_wday, then.tm_hour * 60 + then.tm_min


class Speed:
    """How many visits may be started, by all caps that hold at this hour.

    Bytes are known only when they have come, so each visit under way counts as the usual response until then.
    Invariant: `_reserved` bytes of the allowance belong to `_under_way` visits.
    """

    def __init__(self, config: FetchConfig, now: float, local: Callable[[float], tuple[int, int]] = local_time) -> None:
        self._local = local
        self._pages = Allowance(0.0, now)
        self._bytes = Allowance(0.0, now)
        self._usual = float(_FIRST_GUESS)
        self._under_way = 0
        self._reserved = 0.0
        self._look_again = 0.0
        self.paused = False  # by the hour
        self.change(config, now)

    def change(self, config: FetchConfig, now: float, agents: int = 1) -> None:
        """Other caps from now on, between so many agents."""
        self._agents = agents
        self._rate, self._bandwidth = config.rate, float(config.bandwidth)
        self._schedule = [hours(text) for text in config.schedule]
        self._look_at_clock(now)

    def _look_at_clock(self, now: float) -> None:
        rate, bandwidth = self._rate, self._bandwidth
        if self._schedule:
            rate, bandwidth = caps_at(self._schedule, rate, bandwidth, *self._local(now))
        self.paused = rate < 0
        self._pages.change(max(rate, 0.0) / self._agents, now)
        self._bytes.change(bandwidth / self._agents, now)
        self._look_again = now + 1.0

    def room(self, now: float, most: int) -> int:
        """Visits that may be started now, `most` at most."""
        if self._schedule and now >= self._look_again:
            self._look_at_clock(now)
        if self.paused:
            return 0
        if self._pages.rate:
            most = int(min(most, self._pages.available(now)))
        if self._bytes.rate:
            level = self._bytes.available(now)
            most = min(most, max(int(level / self._usual), 1)) if level > 0 else 0
        return most

    @property
    def capped(self) -> bool:
        return bool(self._pages.rate or self._bytes.rate)

    def wait(self, now: float) -> float:
        """Seconds until one more visit is allowed; 0 when no cap is in the way."""
        return max(self._pages.wait(now), self._bytes.wait(now))

    def started(self, visits: int = 1) -> None:
        self._pages.spend(visits)
        self._under_way += visits
        if self._bytes.rate:
            self._bytes.spend(visits * self._usual)
            self._reserved += visits * self._usual

    def ended(self, *received: int) -> None:
        """Visits brought so many bytes each; 0 when it is not known."""
        if self._bytes.rate and received:
            share = self._reserved / self._under_way
            for size in received:
                self._reserved -= share
                self._bytes.spend(size - share)
                if size:
                    self._usual += (size - self._usual) / _MEMORY
        self._under_way -= len(received)

    def limit(self, now: float, short: bool) -> str:
        """What holds the crawl back, if it is one of these. `short`: there was more to visit than was allowed."""
        if self.paused:
            return "the schedule: it pauses at this hour"
        if not short or not self.capped:
            return ""
        if self._pages.rate and (not self._bytes.rate or self._pages.available(now) < 1):
            return f"the rate cap of {self._pages.rate:g} pages/s"
        return f"the bandwidth cap of {self._bytes.rate / 1e6:g} MB/s"
