"""One site after the other: what is begun is finished first."""

from __future__ import annotations

from typing import ClassVar

from gossamer.config.kinds import Whole
from gossamer.rules.policy import USUAL_PRIORITY
from gossamer.rules.strategy import SeenPage, Strategy, StrategyOption


class SiteBySite(Strategy):
    """The frontier keeps to the number of hosts; those that wait come in the order in which they were found."""

    options: ClassVar = {
        "hosts": StrategyOption(Whole(1, 100_000), 8, "Hosts that are visited at a time, before others are begun.")
    }

    def __init__(self, hosts: int = 8) -> None:
        self.hosts_at_once = hosts

    def order(self, page: SeenPage) -> list[int | None]:
        return [USUAL_PRIORITY] * len(page.links)
