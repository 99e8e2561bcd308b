"""A crawl that lives for weeks in seconds: its clock goes on to the next moment at which there is something to do."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gossamer.agent.agent import Agent
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.progress import Progress
from gossamer.config import Config, load
from gossamer.fetch import Resolver
from gossamer.frontier.reader import FrontierReader
from gossamer.model import VisitRecord
from gossamer.testing import FakeClock

HOUR, DAY = 3600.0, 86_400.0


class LongCrawl:
    """Each `run` is a process of its own, so to speak: what it goes on with is what the one before has committed."""

    def __init__(
        self, home: Path, connect: str, clock: FakeClock, file: Path | None = None, **settings: object
    ) -> None:
        self.clock = clock
        self._directory = CrawlDir(home)
        given = {
            "fetch.connect": [f"*={connect}"] if "=" not in connect else [connect],
            "fetch.allow_private": True,
            "policy.delay": 0,
            "fresh.keep_fresh": True,
            "agent.commit_interval": "1h",
        }
        named = {name.replace("__", "."): value for name, value in settings.items()}
        self._config: Config = load(file, {**given, **named})

    def run(self, *seeds: str, seconds: float, crash: bool = False) -> Progress:
        """Crawl for this long; `crash`: without the last commit."""
        return asyncio.run(self._run(seeds, self.clock.now() + seconds, crash))

    async def _run(self, seeds: tuple[str, ...], until: float, crash: bool) -> Progress:
        self._directory.check()
        self._directory.take()
        self._directory.save(self._config)
        try:
            resolver = Resolver(self._config.fetch.connect, self._config.fetch.dns, self.clock)
            agent = Agent(self._config, self._directory, resolver, self.clock)

            def idle(moment: float) -> None:
                self.clock.advance_to(min(moment, until))
                if self.clock.now() >= until:
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
            self._directory.release()

    def visit(self, url: str, scratch: Path) -> VisitRecord:
        """What the frontier knows of a URL, as of the last commit."""
        scratch.mkdir(exist_ok=True)
        reader = FrontierReader(self._directory.frontier, scratch)
        try:
            found = reader.visit(url)
        finally:
            reader.close()
        assert found is not None, url
        return found
