"""A crawl in simulated time: its clock goes on to the next moment at which there is something to do, so that weeks
take seconds. Everything else is real: the web that is asked over sockets, and what is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from gossamer.agent.agent import Agent
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.progress import Progress
from gossamer.config import Config
from gossamer.fetch import Resolver


class SettableClock(Protocol):
    def __call__(self) -> float: ...

    def advance_to(self, moment: float) -> None: ...


async def crawl_until(
    config: Config,
    home: Path,
    seeds: Iterable[str],
    clock: SettableClock,
    until: float,
    crash: bool = False,
) -> Progress:
    """Begin a crawl, or go on with one, up to a moment; `crash`: without the commit at its end."""
    directory = CrawlDir(home)
    directory.check()
    directory.take()
    try:
        directory.save(config)
        agent = Agent(config, directory, Resolver(config.fetch.connect, config.fetch.dns, clock), clock)

        def idle(moment: float) -> None:
            clock.advance_to(min(moment, until))
            if clock() >= until:
                agent.stop()

        agent.idle = idle
        try:
            agent.add_seeds(list(seeds))
            reason = await agent.run()
            if not crash:
                agent.commit(reason)
            return agent.progress(reason)
        finally:
            await agent.close()
    finally:
        directory.release()
