"""`gossamer crawl` as a supervisor: the crawl itself is another process, started again when it dies."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from gossamer.agent import IndexProcess
from gossamer.agent.progress import Progress, Summary
from gossamer.agent.supervisor import Supervisor
from gossamer.cli.crawl import FRUITLESS, catch_up, conclude, service_beside
from gossamer.cli.plain import PlainProgress
from gossamer.config import Config, load
from gossamer.report.beside import FactProcess


def crawl_supervised(
    arguments: Sequence[str], seeds: Sequence[str], settings: Config, directory: Path, as_json: bool
) -> int:
    """`arguments` are those of this command, `seeds` are among them."""
    progress = PlainProgress()
    index = IndexProcess(directory, progress.notice) if settings.index.on else None
    facts = FactProcess(directory, progress.notice)

    def command(after: float) -> list[str]:
        words = again(seeds, directory, after) if after else []
        return [sys.executable, "-m", "gossamer", *(words or arguments)]

    # It is stopped last: what it has not made then, the next report makes.
    with ExitStack() as ending, service_beside(settings, directory, progress) as service:
        ending.callback(facts.stop)
        beside = [each for each in (index, facts, service) if each is not None]

        async def supervise() -> tuple[int, bytes]:
            return await Supervisor(directory, command, beside, progress.notice).run()

        try:
            status, printed = asyncio.run(supervise())
        except BaseException:
            if index is not None:
                index.stop()
            raise
        if not printed:  # it has said itself what was wrong
            if index is not None:
                index.stop()
            return status if status >= 0 else 1
        whole = msgspec.msgpack.decode(printed, type=Progress)
        summary = Summary(**{name: getattr(whole, name) for name in Summary.__struct_fields__})
        if index is not None:
            catch_up(index, summary, progress, settings.agent.time_limit)
            # Of the processes that this one started the agent was one.
            summary.index_cpu_seconds = max(0.0, summary.index_cpu_seconds - summary.cpu_seconds)
    return status if conclude(whole, summary, directory, arguments, as_json, index is not None) else FRUITLESS


def again(seeds: Sequence[str], directory: Path, after: float) -> list[str]:
    """The arguments of a start after the first: with the settings that were in force, whatever was first asked for, and
    what is left of the limits of one run. Standard input is not there a second time. None, if the crawl had not begun.
    """
    kept = directory / "gossamer.toml"
    if not kept.is_file():
        return []
    limits = load(kept).agent
    found = ["crawl", *(seed for seed in seeds if seed != "-"), "--dir", str(directory)]
    if limits.max_pages:
        found += ["--max-pages", str(limits.max_pages)]
    if limits.time_limit:
        found += ["--time-limit", f"{max(limits.time_limit - after, 0.001):.3f}s"]
    return found
