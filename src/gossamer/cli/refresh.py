"""`gossamer refresh`: known URLs visited again, and what came of that."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from gossamer.cli import StrictCommand
from gossamer.cli.commanding import control_of, directory_option, json_option
from gossamer.cli.seed_list import Seeds
from gossamer.errors import ConfigError, GossamerError
from gossamer.model import Exclusion, RequestOutcome, State

if TYPE_CHECKING:
    from gossamer.agent import Control, Explanation
    from gossamer.model import VisitRecord
    from gossamer.service.served import Served

_READ: Final = 1.5  # seconds after which whoever reads the crawl sees what was committed before
_ON_ITS_WAY: Final = 30.0  # seconds that a request may take to the agent that it belongs to
_ELSEWHERE: Final = (RequestOutcome.HANDED_OVER, RequestOutcome.KEPT)  # of these it is not known when they are taken up
_SHORTEST, _LONGEST = 0.1, 1.0  # seconds between two looks


class Row(msgspec.Struct):
    """What became of one URL: of the request for it, and, where that was waited for, of the visit. `visited` says that
    its server has answered.
    """

    url: str
    result: str
    why: str = ""
    status: int = 0
    change: str = ""
    visited: bool = False

    @property
    def line(self) -> str:
        if self.visited:
            return f"{self.url}: status {self.status}, {self.change}"
        return f"{self.url}: {self.result}, {self.why}" if self.why else f"{self.url}: {self.result}"


@click.command(cls=StrictCommand)
@directory_option
@click.argument("given", metavar="URL...", nargs=-1, required=True)
@click.option("--max-age", default="0", metavar="TIME", help="Only those whose copy is older, such as 90s, 12h or 7d.")
@click.option("--priority", type=click.IntRange(0, 9), default=4, metavar="N", help="When they come: 0 first, 9 last.")
@click.option("--wait", is_flag=True, help="Wait until the visits are made, and say what came of each.")
@json_option
def refresh(directory: Path, given: tuple[str, ...], max_age: str, priority: int, wait: bool, as_json: bool) -> int:
    """Visit known URLs again.

    A URL may also be @file with one URL a line, or - for stdin. What is not known yet is visited if it belongs to the
    crawl. If no crawl runs, the next run makes the visits. The exit status is 1 if a URL was refused; with --wait also
    if one was not visited, or did not answer.
    """
    seconds = _seconds(max_age)
    urls = list(Seeds(given))
    control = control_of(directory)
    if not wait:
        answer = control.refresh(urls, seconds, priority)
        rows = [Row(**each) for each in answer.facts["each"]]
        fine = all(row.result != RequestOutcome.REFUSED for row in rows)
    else:
        from gossamer.service.served import Served

        served = Served(directory)
        try:
            before = _known(served, urls)
            answer = control.refresh(urls, seconds, priority)
            rows = [Row(**each) for each in answer.facts["each"]]
            if control.running:
                for row in _awaited(served, control, rows, before, seconds):
                    if not as_json:
                        print(row.line, flush=True)
        finally:
            served.close()
        fine = all(row.visited or row.result == RequestOutcome.FRESH for row in rows)
    if as_json:
        said = {"text": answer.text, "later": answer.later, "urls": rows}
        sys.stdout.write(msgspec.json.encode(said).decode() + "\n")
    elif not wait or answer.later:
        print(answer.text[:1].upper() + answer.text[1:] + ".")
        for row in rows:
            if row.result == RequestOutcome.REFUSED and len(rows) > 1:
                print(row.line, file=sys.stderr)
    if answer.later and (most := _all_pages(directory, control)):
        note = f"note: the crawl has all its {most:,} pages; the next run visits nothing without a higher --max-pages"
        print(note, file=sys.stderr)
    return 0 if fine else 1


def _all_pages(directory: Path, control: Control) -> int:
    """Return the limit of pages that the crawl has reached; 0: it has not."""
    from gossamer.agent.reading import read_progress

    with suppress(GossamerError):
        most = control.config().agent.max_pages
        return most if most and read_progress(directory).pages >= most else 0
    return 0


def _seconds(text: str) -> float:
    from gossamer.config.kinds import Duration

    try:
        return Duration(0).parse(text)
    except ValueError as error:
        raise ConfigError(f"--max-age: {text!r} is not {error}") from None


# -- with --wait -------------------------------------------------------------------------------------------------------


def _known(served: Served, urls: Sequence[str]) -> Mapping[str, VisitRecord]:
    """Return what the crawl knows of these, by their normal form; nothing while nobody answers."""
    from gossamer.model.url import seed_url
    from gossamer.service.problems import Problem

    found: Mapping[str, VisitRecord] = {}
    with suppress(Problem):
        found = served.asked().visits([known for url in urls if (known := seed_url(url))])
    return found


def _awaited(
    served: Served, control: Control, rows: Sequence[Row], before: Mapping[str, VisitRecord], max_age: float
) -> Iterator[Row]:
    """Give each row when it is known what came of it, or when no crawl is left that could tell."""
    from gossamer.model.url import seed_url

    began, waits = time.monotonic(), _SHORTEST
    left: list[tuple[Row, str]] = []
    for row in rows:
        url = seed_url(row.url)
        old = None if url is None else before.get(url)
        if (
            row.result == RequestOutcome.HANDED_OVER
            and old is not None
            and old.digest
            and time.time() - old.fetched_at < max_age
        ):
            row.result = RequestOutcome.FRESH  # as its agent says of it
        if url is None or row.result in (RequestOutcome.REFUSED, RequestOutcome.FRESH):
            yield row
        else:
            left.append((row, url))
    while left:
        running = control.running  # asked first: what the last run has done is there then
        now = _known(served, [url for _, url in left])
        passed = time.monotonic() - began
        still = []
        for row, url in left:
            visit, old = now.get(url), before.get(url)
            same_for = _ON_ITS_WAY if row.result in _ELSEWHERE else _READ
            if running and (visit is None or visit.waits or (visit == old and passed < same_for)):
                still.append((row, url))
                continue
            _tell(row, old, _explained(served, url))
            yield row
        left = still
        if left:
            time.sleep(waits)
            waits = min(2 * waits, _LONGEST)


def _explained(served: Served, url: str) -> Explanation | None:
    from gossamer.service.problems import Problem

    try:
        return served.asked().explain(url)
    except (Problem, GossamerError):
        return None


def _tell(row: Row, before: VisitRecord | None, said: Explanation | None) -> None:
    """Say what a visit has found, by what is known before and after it."""
    from gossamer.agent.again import NOT_NOW

    visit = None if said is None else said.visit
    if said is None or visit is None:
        row.why = "nobody says what came of it; gossamer explain does when the crawl can be asked"
        return
    outlook = said.outlook
    missing = outlook is not None and outlook.missing
    is_left_out = visit.state is State.EXCLUDED and visit.reason not in (Exclusion.SITEMAP, Exclusion.FEED)
    is_unasked = before is not None and visit.fetched_at == before.fetched_at and NOT_NOW in said.again
    if visit == before and row.result in _ELSEWHERE:
        row.why = "no visit was made so far; gossamer explain says what it waits for"
        return
    if visit.waits or is_left_out or is_unasked or missing or visit.state is State.DEAD:
        row.result = "not visited" if visit.waits or is_left_out or is_unasked else "no answer"
        row.why = said.sentence
        if is_unasked:
            row.why = said.again[said.again.index(NOT_NOW) :].partition(". ")[0]
        elif missing:
            row.why = "the page was not to be had; its copy stays"
        return
    row.visited, row.status = True, visit.status
    if before is None or before.status == 0:
        row.change = "new"
    elif outlook is not None and outlook.unchanged:
        row.change = "unchanged"
    elif 200 <= before.status < 300 and not 200 <= visit.status < 300:
        row.change = "gone"
    else:
        row.change = "changed"
