"""How a crawl has ended, in words: whether all was visited, and if not, what was not and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gossamer.agent.numbers import count
from gossamer.agent.progress import Summary
from gossamer.agent.statistics import OTHER
from gossamer.model import Exclusion, Reason
from gossamer.rules.yields import REPEATS

WHY: Final[dict[str, str]] = {
    "complete": "nothing is left that can be visited now",
    "max_pages": "the limit of pages is reached",
    "time_limit": "the time limit is reached",
    "stopped": "stopped on request",
}
"""The reasons to end. That of `complete` says no more than what it is: `ending` says what was not visited."""

FAILED: Final[dict[str, str]] = {
    Reason.DNS: "could not be found in DNS",
    Reason.CONNECT: "refused the connection",
    Reason.PROXY: "could not be asked through the proxy",
    Reason.TIMEOUT: "did not answer in time",
    Reason.TLS: "failed at TLS",
    Reason.CLOSED: "closed the connection",
    Reason.PROTOCOL: "sent no HTTP",
    Reason.TOO_LARGE: "sent too long headers",
    Reason.BUSY: "asked to be left alone (429, 503)",
    Reason.UNANSWERED: "gave no answer to a form",
    Reason.ROBOTS_5XX: "answered robots.txt with a server error",
    Reason.ROBOTS_UNREACHABLE: "gave no robots.txt",
    OTHER: "for other reasons",
}
"""What one or several hosts or URLs did that were not visited, to follow their number or name."""


def ending(summary: Summary) -> str:
    """Return how a run has ended: `complete` only where every URL in scope was visited."""
    if summary.reason != "complete":
        return WHY.get(summary.reason, summary.reason)
    if missed := list(_missed(summary)):
        return f"ended: {', '.join(missed)}; {_remedy(summary)}"
    if summary.strategy != "breadth-first" and not summary.strategy_error:
        return "complete: nothing that the strategy wants is left"
    return f"complete: every URL in scope has been visited{_but_for(summary)}"


def _missed(summary: Summary) -> Iterator[str]:
    """What belongs to the crawl and was not visited, each as a clause with its number and causes."""
    if not summary.pages:
        yield "no page was stored"
    if hosts := unreached(summary):
        whole = max(summary.hosts, sum(hosts.values()))
        yield f"{count(sum(hosts.values()))} of {_many(whole, 'host')} could not be reached ({_causes(hosts)})"
    if summary.given_up:
        number = sum(summary.given_up.values())
        yield f"{_many(number, 'URL')} {_is(number, 'was', 'were')} given up ({_causes(summary.given_up)})"
    if summary.lost:
        names, pages = " and ".join(summary.lost), sum(summary.lost.values())
        yield f"{_many(pages, 'page')} of the agent{'s' * (len(summary.lost) > 1)} {names} {_is(pages)} not at hand"


def unreached(summary: Summary) -> dict[str, int]:
    """Return how many hosts with URLs that wait do not answer, by the reason of their last fault."""
    return {why: number for why, number in summary.hosts_left.items() if why in FAILED}


def _remedy(summary: Summary) -> str:
    """What to do next."""
    wishes = []
    if unreached(summary):
        wishes.append(
            "run the same command again later to try them again"
            + (", with gossamer control retry for the URLs" if summary.given_up else "")
        )
    elif summary.given_up:
        wishes.append("gossamer control retry has them tried again")
    if summary.lost:
        it = "it" if len(summary.lost) == 1 else "them"
        wishes.append(
            f"start {it} with {'its directory' if it == 'it' else 'their directories'}, or go on with "
            "--keep-fresh to visit those pages again"
        )
    return "; ".join(wishes) or "gossamer explain URL says why it was not visited"


def _but_for(summary: Summary) -> str:
    """What is kept on purpose."""
    kept = []
    if blocked := summary.hosts_left.get(Exclusion.BLOCKLIST):
        kept.append(f"those of {_many(blocked, 'host')} on the blocklist")
    if summary.hosts_left.get(REPEATS):
        kept.append("those that only repeat what is known (gossamer status --findings)")
    queued: int = getattr(summary, "queued", 0)
    if queued and not kept:
        kept.append(f"{_many(queued, 'URL')} that stay{'s' * (queued == 1)} queued")
    return f", but for {' and '.join(kept)}" if kept else ""


def _causes(numbers: Mapping[str, int]) -> str:
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count(number)} {FAILED.get(reason, reason)}" for reason, number in ordered)


def _many(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def _is(number: int, one: str = "is", several: str = "are") -> str:
    return one if number == 1 else several
