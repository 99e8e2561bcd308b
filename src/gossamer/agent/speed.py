"""Caps on pages and bytes a second for the whole crawl."""

from __future__ import annotations


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
