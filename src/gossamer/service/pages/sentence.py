"""The one sentence at the top of the dashboard: what the crawl does, and what limits it."""

from __future__ import annotations

from typing import Final

from gossamer.agent import numbers
from gossamer.agent.ending import ending
from gossamer.agent.progress import Progress
from gossamer.service.pages import words
from gossamer.service.picture import Picture

_LATE: Final = 15.0  # seconds without a commit after which something is wrong


def sentence(picture: Picture) -> str:
    progress = picture.progress
    if picture.trouble:
        return f"The crawl cannot be read: {picture.trouble}"
    if not progress.updated_at:
        none = "There is no crawl here yet. Start one with gossamer crawl."
        return "A crawl is starting." if progress.running else none
    if not progress.running:
        return _at_rest(progress, picture.at)
    if progress.reason:  # of the run before: there was no commit yet in this one
        return "Starting again."
    if progress.seeds_share < 1:
        return f"Reading seeds: {numbers.count(progress.seeds_read)} so far, {numbers.share(progress.seeds_share, 1)}."
    if picture.at - progress.updated_at > _LATE:
        return f"Running, but silent: the last commit was {words.ago(progress.updated_at, picture.at)}."
    if progress.paused:
        return f"Paused. {_urls(progress.queued)} wait{'s' if progress.queued == 1 else ''}."
    return _at_work(progress)


def _at_work(progress: Progress) -> str:
    doing = f"Crawling {numbers.rate(progress.pages_per_s).removesuffix('/s')} pages/s."
    if progress.limit.startswith("the schedule"):
        return "Resting: the schedule pauses it at this hour."
    if progress.limit.startswith("the pages"):
        return "Waiting: no page is due to be visited again yet."
    return f"{doing} Limited by {progress.limit}." if progress.limit else doing


def _at_rest(progress: Progress, now: float) -> str:
    if progress.reason:
        if progress.reason == "stopped":
            return "Stopped. Run the same command to continue."
        end = ending(progress)
        whole = end.startswith("complete: ") or progress.reason in ("max_pages", "time_limit")
        return f"{'Finished' if whole else 'Ended'}: {end.removeprefix('complete: ').removeprefix('ended: ')}."
    since = words.moment(progress.updated_at)
    return f"Not running since {since}: it ended without a last commit. Run the same command to continue."


def _urls(number: int) -> str:
    return f"{numbers.count(number)} {'URL' if number == 1 else 'URLs'}"
