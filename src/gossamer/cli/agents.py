"""`gossamer crawl --agents N`: several processes on one crawl, shown as one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gossamer.agent.fleet import WRONG_USAGE
from gossamer.agent.index_process import IndexProcess
from gossamer.agent.index_status import IndexStatus, read_status
from gossamer.agent.one_machine import OneMachine, check_layout, names_of
from gossamer.agent.progress import Progress
from gossamer.agent.together import summary_of
from gossamer.agent.warc_links import agent_homes
from gossamer.cli.crawl import FRUITLESS, conclude, notes, patience_of, progress_of, service_beside
from gossamer.cli.plain import waiting_line
from gossamer.cli.seed_list import Seeds
from gossamer.config import Config

if TYPE_CHECKING:
    from gossamer.cli.plain import PlainProgress
    from gossamer.cli.view import LiveView

_REPEATED: Final = 5.0  # seconds in which what one agent says is not said again by another


def crawl_together(
    arguments: Sequence[str], seeds: Seeds, settings: Config, kept: Config | None, directory: Path, as_json: bool
) -> int:
    check_layout(directory)
    with progress_of(directory) as progress:
        for note in notes(settings):
            progress.notice(note)
        with service_beside(settings, directory, progress) as service:
            shown = Shown(directory, progress, settings.index.on)
            crawl = OneMachine(
                settings,
                directory,
                seeds,
                progress.notice,
                Heard(progress.notice),
                kept=kept,
                beside=[service] if service else [],
                watch=shown,
                every=progress.every,
            )
            status, whole = asyncio.run(crawl.run())
            if status != WRONG_USAGE and settings.index.on:
                _catch_up(directory, settings.cluster.agents, whole, progress, settings.agent.time_limit)
    if status == WRONG_USAGE:  # an agent has said what was wrong
        return status
    if settings.index.on:
        whole.searchable = index_status(agent_homes(directory)).pages
    good = conclude(whole, summary_of(whole), directory, arguments, as_json, settings.index.on)
    return status if good else FRUITLESS


def _catch_up(directory: Path, agents: int, whole: Progress, progress: PlainProgress | LiveView, limit: float) -> None:
    """Agents of earlier runs have nobody beside them: what they left is indexed now, one after the other."""
    for home in agent_homes(directory):
        there = read_status(home / "index")
        if home.name in names_of(agents) or (there is not None and there.caught_up) or whole.reason == "stopped":
            continue
        index = IndexProcess(home, progress.notice)
        patience = patience_of(limit, whole.seconds)
        index.finish(lambda status: progress.say(waiting_line(status)), progress.every, patience)
        whole.index_cpu_seconds += index.cpu_seconds


class Shown:
    """Progress as of one crawl; when all agents have ended it, how far their indexes are."""

    def __init__(self, directory: Path, progress: PlainProgress | LiveView, indexed: bool) -> None:
        self._directory = directory
        self._progress = progress
        self._indexed = indexed

    def __call__(self, whole: Progress) -> None:
        if self._indexed and not whole.running:
            self._progress.say(waiting_line(index_status(agent_homes(self._directory))))
        else:
            self._progress.update(whole)


class Heard:
    """What agents say, with their names; what several say at once is said once."""

    def __init__(self, notice: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._notice = notice
        self._clock = clock
        self._said: dict[str, float] = {}

    def __call__(self, name: str, line: str) -> None:
        now = self._clock()
        self._said = {text: at for text, at in self._said.items() if at > now - _REPEATED}
        if line not in self._said:
            self._said[line] = now
            self._notice(f"{name}: {line}")


def index_status(homes: Sequence[Path]) -> IndexStatus:
    """Of all agents together."""
    found = [status for home in homes if (status := read_status(home / "index")) is not None]
    return IndexStatus(
        pages=sum(each.pages for each in found),
        done=sum(each.done for each in found),
        total=sum(each.total for each in found),
        stale=any(each.stale for each in found),
        skipped=sum(each.skipped for each in found),
        taken=sum(each.taken for each in found),
        updated_at=max((each.updated_at for each in found), default=0.0),
    )
