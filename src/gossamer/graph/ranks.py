"""The ranks of pages, hosts and registered domains, from the frames of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.graph.edges import EdgeSort, distinct
from gossamer.graph.frame import GONE
from gossamer.graph.log import Held
from gossamer.graph.numbering import Numbering, lengths_of
from gossamer.graph.pagerank import DAMPING, MOST_ROUNDS, TOLERANCE, Ranked, pagerank
from gossamer.graph.scores import write_scores
from gossamer.model.domain import registered_domain

PAGES, HOSTS, DOMAINS = "pages", "hosts", "domains"


class How(msgspec.Struct, frozen=True):
    """What to compute with."""

    damping: float = DAMPING
    tolerance: float = TOLERANCE
    most_rounds: int = MOST_ROUNDS


class RankedPage(msgspec.Struct, frozen=True, gc=False):
    url: str
    host: str
    domain: str
    score: float
    links: int  # pages that link to it
    stored: bool


class RankedName(msgspec.Struct, frozen=True, gc=False):
    """A host or a domain."""

    name: str
    score: float
    links: int  # others that link to it
    pages: int  # stored ones


class Level(msgspec.Struct):
    """The ranks of pages, or of hosts, or of domains."""

    ranked: Ranked
    nodes: int
    links: int
    degrees: NDArray[np.uint32]


Watch = Callable[[str, int, int], None]
"""What is being done, and how far: so much of so much."""
_STEPS: Final = {PAGES: "ranking pages", HOSTS: "ranking hosts", DOMAINS: "ranking domains"}


class GraphRanks:
    """Made in one go; what it needs on disk meanwhile is in `scratch`.

    A page is each URL that is stored or linked to, but for redirects, which stand for the page that they lead to. Hosts
    link to each other if a page of one links to a page of the other, once however many do; so do domains.
    """

    def __init__(self, frames: Sequence[Held], scratch: Path, how: How, watch: Watch) -> None:
        self._how = how
        self._watch = watch
        self.numbering = Numbering(frames, scratch, lambda done, total: watch("reading links", done, total))
        numbering = self.numbering
        self.counts = numbering.goes_to == np.arange(len(numbering), dtype=np.uint32)
        self.domains, self._domain_of_host = _domains(numbering.hosts)
        sorts = {
            PAGES: EdgeSort(scratch, PAGES, len(numbering)),
            HOSTS: EdgeSort(scratch, HOSTS, len(numbering.hosts)),
            DOMAINS: EdgeSort(scratch, DOMAINS, len(self.domains)),
        }
        self._read(sorts)
        self.levels = {name: self._ranked(name, sort) for name, sort in sorts.items()}

    def _read(self, sorts: dict[str, EdgeSort]) -> None:
        """Third time over: the links of every page as it was seen last."""
        numbering = self.numbering
        taken = np.zeros(len(numbering), bool)
        for _, counted in numbering.frames(2):
            last = numbering.last_captures(counted, taken) & (counted.counts < GONE)
            lengths = lengths_of(counted.counts)
            wanted = np.repeat(last, lengths)
            sources = np.repeat(counted.sources, lengths)[wanted]
            targets = numbering.goes_to[counted.targets[wanted]]
            sorts[PAGES].add(sources, targets)
            from_hosts, to_hosts = numbering.host_of[sources], numbering.host_of[targets]
            sorts[HOSTS].add(*_once(from_hosts, to_hosts))
            sorts[DOMAINS].add(*_once(self._domain_of_host[from_hosts], self._domain_of_host[to_hosts]))

    def _ranked(self, name: str, sort: EdgeSort) -> Level:
        edges = sort.sorted()
        how = self._how
        counts = self.counts if name == PAGES else None
        ranked = pagerank(
            edges,
            counts,
            damping=how.damping,
            tolerance=how.tolerance,
            most_rounds=how.most_rounds,
            watch=lambda done, _: self._watch(_STEPS[name], done, how.most_rounds),
        )
        edges.path.unlink()
        nodes = edges.nodes if counts is None else int(counts.sum())
        return Level(ranked, nodes, edges.links, np.diff(edges.starts).astype(np.uint32))

    # -- what was found ------------------------------------------------------------------------------------------------

    def pages(self) -> Iterator[list[RankedPage]]:
        """All pages, each once, some at a time, in no order."""
        numbering, level = self.numbering, self.levels[PAGES]
        told = ~self.counts
        scores, degrees = level.ranked.scores, level.degrees
        for frame, counted in numbering.frames():
            numbers = counted.numbers
            places = np.flatnonzero(~told[numbers])
            told[numbers] = True
            chosen = numbers[places]
            hosts = numbering.host_of[chosen]
            columns = (
                places.tolist(),
                hosts.tolist(),
                self._domain_of_host[hosts].tolist(),
                scores[chosen].tolist(),
                degrees[chosen].tolist(),
                numbering.stored[chosen].tolist(),
            )
            yield [
                RankedPage(
                    frame.urls[place].decode("utf-8", "replace"),
                    numbering.hosts[host],
                    self.domains[domain],
                    score,
                    links,
                    stored,
                )
                for place, host, domain, score, links, stored in zip(*columns, strict=True)
            ]

    def hosts(self) -> list[RankedName]:
        return self._named(HOSTS, self.numbering.hosts, self.numbering.host_of)

    def domain_ranks(self) -> list[RankedName]:
        return self._named(DOMAINS, self.domains, self._domain_of_host[self.numbering.host_of])

    def _named(self, name: str, names: list[str], of_page: NDArray[np.uint32]) -> list[RankedName]:
        level = self.levels[name]
        pages = np.bincount(of_page[self.numbering.stored], minlength=len(names))
        columns = (names, level.ranked.scores.tolist(), level.degrees.tolist(), pages.tolist())
        return [RankedName(*row) for row in zip(*columns, strict=True)]

    def write_scores(self, path: Path) -> None:
        """For `RankReader`. A redirect has the score of the page it leads to."""
        level = self.levels[PAGES]
        write_scores(path, self.numbering.keys, level.ranked.scores[self.numbering.goes_to], level.links)


def _once(sources: NDArray[np.uint32], targets: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Pairs of a frame, each once: most links stay on their host."""
    others = sources != targets
    pairs = distinct((targets[others].astype(np.uint64) << np.uint64(32)) | sources[others])
    return (pairs & np.uint64(0xFFFF_FFFF)).astype(np.uint32), (pairs >> np.uint64(32)).astype(np.uint32)


def _domains(hosts: list[str]) -> tuple[list[str], NDArray[np.uint32]]:
    """The registered domains, and which is that of each host."""
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(registered_domain(host), len(numbers)) for host in hosts]
    return list(numbers), np.array(found, np.uint32)
