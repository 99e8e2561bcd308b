"""What is known of a URL or a host, what it waits for, and why: in one sentence or two, then in facts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gossamer.agent.again import visited_again
from gossamer.agent.case import Case, gather
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.ending import FAILED
from gossamer.agent.left_out import FAULTS, left_out, remedy
from gossamer.agent.numbers import span
from gossamer.agent.parts import opened
from gossamer.agent.waiting import host_sentence, soon_left_out, waits_for
from gossamer.frontier.outlook import Outlook
from gossamer.frontier.reader import FrontierReader, HostView
from gossamer.model import Exclusion, State, VisitRecord
from gossamer.model.post import plain
from gossamer.rules.policy import BUSY

_STATUSES = {
    401: "the server lets in only whom it knows",
    403: "the server does not let this crawl in",
    404: "the server has no such page",
    410: "the server says that the page is gone for good",
}


class Explanation(msgspec.Struct):
    url: str
    sentence: str
    known: bool
    visit: VisitRecord | None = None
    host: HostView | None = None
    host_sentence: str = ""  # how the host stands; empty where it is not known
    again: str = (
        ""  # when it is visited again, and why then; empty where it was not visited, or nothing is known of that
    )
    outlook: Outlook | None = None  # what that follows from
    due: float = 0.0  # when that is; 0: it is not, or it waits for that in its host's queue


def explain(home: Path, text: str, now: float | None = None) -> Explanation:
    """As of the last commit; works while the crawl runs. A bare host name is explained as its front page."""
    with opened(home) as parts:
        return best([explain_from(part.frontier, part.directory, text, now) for part in parts])


def best(said: Sequence[Explanation]) -> Explanation:
    """Of what several agents say, what the first says that knows the URL, or its host at least."""
    return max(said, key=lambda each: (each.known, each.host is not None))


def explain_from(reader: FrontierReader, directory: CrawlDir, text: str, now: float | None = None) -> Explanation:
    """For one who has the frontier open."""
    case = gather(reader, directory, text, time.time() if now is None else now)
    sentence = _unknown(case) if case.visit is None else _why(case, case.visit)
    return Explanation(
        case.url,
        sentence,
        case.visit is not None,
        case.visit,
        case.host,
        host_sentence(case),
        visited_again(case),
        case.outlook,
        case.visit.due if case.visit is not None and case.config.fresh.keep_fresh else 0.0,
    )


def seeds_not_visited(home: Path, most: int) -> list[str]:
    """Say of each seed of a crawl without pages why there is none, in a line for each, `most` at most, and one for the
    others. Give nothing where a seed was read for links, or still waits for its first visit.
    """
    found: list[str] = []
    more, now = 0, time.time()
    with opened(home) as parts:
        for part in parts:
            for visit in part.frontier.visits():
                if visit.depth or visit.reason == Exclusion.SITEMAP:
                    continue
                if len(found) >= most:
                    more += 1
                elif why := _why_not_visited(gather(part.frontier, part.directory, visit.url, now), visit):
                    found.append(f"seed {visit.url} was not visited: {why}")
                else:
                    return []
    return [*found, f"{more:,} more seeds were not visited"] if more else found


def _why_not_visited(case: Case, visit: VisitRecord) -> str:
    """Empty where it was, or where nothing speaks against it."""
    if visit.state is State.EXCLUDED and visit.reason != Exclusion.FEED:
        return " ".join(filter(None, (f"{left_out(visit.reason, case)}.", remedy(visit.reason, case))))
    if visit.state is State.DEAD:
        return f"{FAULTS.get(visit.reason, visit.reason)}; it is tried again when it is given again."
    if visit.state is State.QUEUED and case.policy.manners(case.name).blocked:
        return f"its host is on the blocklist ({case.blocked_by!r})."
    if visit.state is State.QUEUED and case.host is not None and case.host.failures:
        return f"{case.name} {FAILED.get(case.host.trouble, 'did not answer')}; it is tried again by the next run."
    return ""


def _unknown(case: Case) -> str:
    reason = case.scope.judge(plain(case.url))
    if reason:
        seed = "As a seed it would be visited all the same (gossamer seeds)."
        return f"This crawl does not know it, and would leave it out: {left_out(reason, case)}. {seed}"
    if later := soon_left_out(case):
        return f"This crawl does not know it, and would leave it out: {left_out(later, case)}."
    deep = case.config.scope.max_depth
    far = (
        ""
        if deep is None
        else f", or only pages {deep} links from the seeds do, whose links are not taken (--max-depth)"
    )
    if case.host is None:
        return f"This crawl does not know it, nor its host {case.name}: no page fetched so far links there{far}."
    pages = f"{case.host.pages:,} pages of its host are known"
    return f"This crawl does not know it: no page fetched so far links to it{far} ({pages})."


def _why(case: Case, visit: VisitRecord) -> str:
    ago = f"{span(max(case.now - visit.fetched_at, 0.0))} ago"
    if visit.state is State.FETCHED:
        return f"It {_last(case)} {ago}, with status {visit.status}{_meaning(visit)}."
    if visit.state is State.DEAD:
        failed = "the one try failed" if visit.tries == 1 else f"all {visit.tries} tries failed, the last"
        why = FAULTS.get(visit.reason, visit.reason)
        return f"It is dead: {why}; {failed} {ago} (gossamer control retry queues it again)."
    if visit.state is State.EXCLUDED:
        return " ".join(filter(None, (f"It is left out: {left_out(visit.reason, case)}.", remedy(visit.reason, case))))
    return waits_for(case)


def _last(case: Case) -> str:
    """What its last visit that found something was."""
    outlook = case.outlook
    if outlook is not None and outlook.missing:
        return "was last to be had"
    return "was visited and found unchanged" if outlook is not None and outlook.unchanged else "was fetched"


def _meaning(visit: VisitRecord) -> str:
    status = visit.status
    if 300 <= status < 400:
        return ": it is a redirect, and where it leads is a visit of its own"
    if status in BUSY:
        return f": the server was too busy each of the {visit.tries} times" if visit.tries > 1 else ": it was too busy"
    if status >= 500:
        return ": the server failed, and what it sent then is stored"
    return f": {words}" if (words := _STATUSES.get(status)) else ""
