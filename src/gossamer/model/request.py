"""What becomes of a request for a URL."""

from __future__ import annotations

from enum import StrEnum


class RequestOutcome(StrEnum):
    """The answer to a request, as the API and the commands spell it."""

    QUEUED = "queued"  # it was not known
    AGAIN = "queued again"  # it is known, and is visited again
    FRESH = "fresh enough"  # what is stored of it is younger than was asked for
    KNOWN = "known"  # it waits to be visited already, or nobody has asked for another visit
    REFUSED = "refused"
    HANDED_OVER = "handed over"  # to the agent that it belongs to
    KEPT = "kept"  # for the next run, as no crawl runs
