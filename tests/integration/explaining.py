"""A crawl's directory with a real frontier in it, brought to any state by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from crawling import NAMES

from gossamer.agent import Explanation
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.explain import explain
from gossamer.agent.progress import Progress
from gossamer.config import Config, load
from gossamer.frontier import Frontier
from gossamer.model import Fault, Reason, Visit
from gossamer.rules.policy import Policy
from gossamer.rules.robots import ALLOW_ALL, Robots
from gossamer.rules.scope import Scope

NOW = 1_000_000.0  # a Monday, 13:46:40 UTC


class Small:
    """Invariant: what `explained` says is of what the frontier has been told, all of it committed."""

    def __init__(self, home: Path, scope: Scope | None = None, tables: str = "", **options: Any) -> None:
        file = home / "given.toml"
        file.write_text(tables)
        self.config: Config = load(file, {NAMES[key]: value for key, value in {"scope": "any", **options}.items()})
        file.unlink()
        self.home = home
        self.progress = Progress()
        directory = CrawlDir(home)
        directory.save(self.config)
        self.frontier = Frontier(
            directory.frontier,
            self.config.frontier,
            Policy(self.config.policy, self.config.hosts, self.config.urls),
            scope or Scope.of(self.config.scope, NOW),
            self.config.scope.max_depth,
            NOW,
        )

    def lease(self, robots: Robots | Reason = ALLOW_ALL, now: float = NOW) -> list[Visit]:
        """Pages that may be visited now; robots.txt is answered on the way, or why it failed."""
        pages = []
        for visit in self.frontier.lease(now, 10):
            if visit.robots:
                self.frontier.settle_robots(visit, robots, now, 0.0, now + 86400)
            else:
                pages.append(visit)
        return pages

    def visit(self, robots: Robots | Reason = ALLOW_ALL) -> Visit:
        """The next page, and its robots.txt before it."""
        self.lease(robots)
        (visit,) = self.lease(robots, NOW + 3600)
        return visit

    def settle_fault(self, fault: Fault) -> None:
        self.frontier.settle_fault(self.visit(), fault, NOW)

    def explained(self, url: str, later: float = 0.0) -> Explanation:
        self.frontier.commit({"progress": msgspec.msgpack.encode(self.progress)})
        return explain(self.home, url, now=NOW + later)
