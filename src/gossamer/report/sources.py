"""A crawl as the report sees it, of one agent or of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.findings import KeptFinding
from gossamer.agent.parts import readable_parts, shares, visit_in
from gossamer.agent.statistics import Statistics
from gossamer.agent.together import merge
from gossamer.model import State, VisitRecord
from gossamer.report.figures import Figures
from gossamer.report.others import Other
from gossamer.report.source import CrawlSource


class CrawlSources:
    """Invariant: a URL is counted once, though its partition has moved from one agent to another here. `others` are
    agents elsewhere; where one has lost a partition by dying, its URLs count twice until it is there again.
    """

    def __init__(self, home: Path, others: Sequence[Other] = ()) -> None:
        self.home = home
        self.others = others
        with ExitStack() as open_:
            found = [open_.enter_context(CrawlSource(part.home)) for part in readable_parts(home)]
            self._close = open_.pop_all().close
        agents: list[CrawlSource | Figures] = [*found, *(other.figures for other in others)]
        self.parts = sorted(found, key=lambda source: -source.progress.updated_at)  # of two who know it, the first
        self._frontiers = [source.frontier for source in self.parts]
        for source in self.parts:
            source.elsewhere = visit_in(self._frontiers)
        self.config = self.parts[0].config
        self.running = CrawlDir(home).in_use() or any(each.running for each in agents)
        progress = [each.progress for each in agents]
        self.progress = merge(progress) if len(progress) > 1 else progress[0]
        self.statistics = _added([each.statistics for each in agents])
        self.hosts = sum(each.hosts for each in agents)
        self.urls = sum(each.urls for each in agents)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def findings(self) -> list[KeptFinding]:
        here = [found for source in self.parts for found in source.findings()]
        return [*here, *(found for other in self.others for found in other.figures.findings)]

    def freshness(self, hosts: Iterable[str]) -> dict[str, tuple[float, float]]:
        names, found = list(hosts), dict[str, tuple[float, float]]()
        for source in reversed(self.parts):
            found |= source.freshness(names)
        return found

    def outcomes(self) -> Counter[tuple[State, int, int, str]]:
        """How many visits there are of each state, depth, status and reason."""
        found: Counter[tuple[State, int, int, str]] = Counter()
        for frontier, partitions in shares(self._frontiers):
            found.update(frontier.outcomes(partitions))
        for other in self.others:
            found.update(other.outcomes())
        return found

    def visits(self, state: State | None = None) -> Iterator[VisitRecord]:
        for frontier, partitions in shares(self._frontiers):
            yield from frontier.visits(state, partitions)


def _added(found: Sequence[Statistics]) -> Statistics:
    whole: dict[str, Any] = {}
    for name in Statistics.__struct_fields__:
        values = [getattr(each, name) for each in found]
        whole[name] = dict(sum(map(Counter, values), Counter())) if isinstance(values[0], dict) else sum(values)
    return Statistics(**whole)
