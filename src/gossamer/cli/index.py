"""`gossamer index`: make the index of a crawl, keep it up to date, or make it again."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictCommand
from gossamer.cli.leash import Stopped, wait_for_input, waiting
from gossamer.errors import ConfigError, IndexDamagedError

if TYPE_CHECKING:
    from gossamer.agent.follower import Follower
    from gossamer.agent.index_status import IndexStatus

STOPPED = 130
_LOW_PRIORITY = 10  # nice: the crawl comes first
_MOST_LINES = 10_000  # of notices in one run


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option("--rebuild", is_flag=True, help="Make it again from the stored pages; the old one is searched meanwhile.")
@click.option("--follow", is_flag=True, help="Go on as the crawl does, until Ctrl-C.")
@click.option("--leash", is_flag=True, hidden=True, help="With --follow: catch up and end when standard input does.")
def index(directory: Path, rebuild: bool, follow: bool, leash: bool) -> int:
    """Bring the index of a crawl up to date.

    A crawl does that by itself, unless it was started with --no-index.
    """
    if rebuild and follow:
        raise ConfigError("--rebuild and --follow: give one of them; a rebuilt index is followed by the next run")
    from gossamer.agent.index_status import IndexStatus, status_of_all
    from gossamer.agent.parts import parts

    os.nice(_LOW_PRIORITY)
    stopped = Stopped()
    homes = [part.home for part in parts(directory)]
    if follow and len(homes) > 1:
        raise ConfigError(f"--follow: each agent does that itself; give --dir one of those in {directory / 'agents'}")
    made = [_brought_up(home, rebuild, follow, leash, stopped) for home in homes]
    status = status_of_all(made) or IndexStatus()
    if not leash:
        from gossamer.cli.numbers import count

        skipped = f", {count(status.skipped)} could not be read" if status.skipped else ""
        print(f"{count(status.pages)} pages can be searched{skipped}: gossamer search QUERY --dir {directory}")
    return STOPPED if stopped() and not follow else 0


def _brought_up(directory: Path, rebuild: bool, follow: bool, leash: bool, stopped: Stopped) -> IndexStatus:
    """The index of one agent."""
    from gossamer.agent import follower as work

    notice = _notice()
    with _Bar(directory, shown=not follow) as bar:
        if rebuild:
            return work.rebuild(directory, notice, bar.update, stopped)
        if not leash:
            return _worked(work.by_itself(directory, notice, bar.update, stopped), follow, waiting(stopped), stopped)
        try:
            follower = work.beside_a_crawl(directory, notice, bar.update, stopped, wait_for_input)
            return _worked(follower, follow, wait_for_input, stopped)
        except (IndexDamagedError, sqlite3.DatabaseError) as error:  # which showed only when that part of it was read
            if isinstance(error, sqlite3.OperationalError):  # a full disk, or one that fails
                raise
            work.make_again(directory, notice, bar.update, stopped, error)
            follower = work.beside_a_crawl(directory, notice, bar.update, stopped, wait_for_input)
            return _worked(follower, follow, wait_for_input, stopped)


def _worked(
    follower: Follower, follow: bool, wait: Callable[[float], bool], stopped: Callable[[], bool]
) -> IndexStatus:
    try:
        return follower.follow(wait, stopped) if follow else follower.catch_up(stopped)
    finally:
        follower.close()


def _notice() -> Callable[[str], None]:
    told = 0

    def notice(text: str) -> None:
        nonlocal told
        told += 1
        if told <= _MOST_LINES:
            print(text, file=sys.stderr, flush=True)

    return notice


class _Bar:
    """How far it is: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, directory: Path, shown: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        console = Console(file=sys.stderr, highlight=False)
        self._shown, self._terminal = shown, console.is_terminal
        self._told = time.monotonic()
        self._bar = Progress(
            TextColumn("index"),
            BarColumn(bar_width=40, complete_style="green", finished_style="green"),
            TaskProgressColumn(),
            TextColumn("{task.fields[pages]} pages · {task.fields[speed]}/s"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not (shown and self._terminal),
        )
        self._task = self._bar.add_task("", total=None, pages="0", speed="0")
        self._began = time.monotonic()

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, status: IndexStatus) -> None:
        from gossamer.cli.numbers import count, share

        speed = status.taken / max(0.1, time.monotonic() - self._began)
        pages = count(status.pages)
        self._bar.update(self._task, total=status.total, completed=status.done, pages=pages, speed=f"{speed:,.0f}")
        if self._shown and not self._terminal and time.monotonic() - self._told >= 5:
            self._told = time.monotonic()
            print(f"index: {share(status.done, status.total)}, {pages} pages", file=sys.stderr, flush=True)
