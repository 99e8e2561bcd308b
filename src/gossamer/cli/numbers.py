"""Numbers as people read them, for the commands; pages and reports write them alike."""

from gossamer.agent.numbers import count, moment, rate, share, size, span, times

__all__ = ["count", "moment", "rate", "share", "size", "span", "times"]
