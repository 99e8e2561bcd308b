"""A crawl that lives for weeks in seconds."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gossamer.agent.progress import Progress
from gossamer.agent.simulated import crawl_until
from gossamer.config import Config, load
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
        self._home = home
        given = {
            "fetch.connect": [connect],
            "fetch.allow_private": True,
            "policy.delay": 0,
            "fresh.keep_fresh": True,
            "agent.commit_interval": "1h",
        }
        named = {name.replace("__", "."): value for name, value in settings.items()}
        self._config: Config = load(file, {**given, **named})

    def run(self, *seeds: str, seconds: float, crash: bool = False) -> Progress:
        """Crawl for this long; `crash`: without the last commit."""
        until = self.clock.now() + seconds
        return asyncio.run(crawl_until(self._config, self._home, seeds, self.clock, until, crash))

    def visit(self, url: str, scratch: Path) -> VisitRecord:
        """What the frontier knows of a URL, as of the last commit."""
        scratch.mkdir(exist_ok=True)
        reader = FrontierReader(self._home / "frontier", scratch)
        try:
            found = reader.visit(url)
        finally:
            reader.close()
        assert found is not None, url
        return found
