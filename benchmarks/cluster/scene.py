"""The scene of a trial: a simulated web, brokers and agents, and what the web's log says when all is over."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cluster.brokers import Brokers
from cluster.crew import Agent, Crew
from cluster.judge import ROBOTS, Request
from cluster.network import Network
from gossamer.cluster.lease import Terms
from gossamer.cluster.shared import Facts
from gossamer.testing.web import MemoryLog, SimServer, World, reachable
from gossamer.testing.web.paths import Section

_LOOK_EVERY = 0.1  # seconds
_SEEDS = 8
_MOST_DEATHS = 5  # of one agent: what is wrong with it is not the fault of a trial
_SETTINGS = """\
[scope]
scope = "any"
[policy]
delay = {delay}
[fetch]
allow_private = true
[index]
on = false
"""


@dataclass(frozen=True)
class Size:
    """Of a trial. `delay` is the crawl's, `latency` the web's, both in seconds."""

    hosts: int
    pages: int  # of each host
    delay: float
    latency: float
    agents: int = 4
    brokers: int = 1
    limit: float = 150.0  # seconds in which it must end
    terms: Terms | None = None  # of leases, if they are to be others than usual


class TrialFailed(Exception):
    """It did not come to its end; the message says what it was at."""


class Scene:
    """Invariant: nothing runs any more once `staged` is left."""

    def __init__(self, size: Size, seed: int, home: Path, network: Network) -> None:
        self.size = size
        self.home = home
        self.network = network
        self.world = World(seed, size.hosts, size.pages)
        step = max(size.hosts // _SEEDS, 1)
        self.seeds = [self.world.url(host) for host in range(0, size.hosts, step)]
        self.truth = frozenset(url for url, expected in reachable(self.world, self.seeds).items() if expected.fetched)
        self.log = MemoryLog()
        self.web = SimServer(self.world, host=network.web, log=self.log, latency=size.latency)
        self.brokers = Brokers(network, home / "brokers", size.brokers)
        self.crew: Crew
        self._read = 0
        self._asked: set[str] = set()

    @contextmanager
    def staged(self) -> Iterator[None]:
        with self.web.in_thread():
            self.crew = Crew(self.network, self.brokers, self.web.port, self.home / "agents")
            try:
                self.brokers.start()
                if self.size.terms is not None:
                    self.brokers.make(Facts(terms=self.size.terms, replicas=len(self.brokers.servers)))
                self.crew.make_crawl(_SETTINGS.format(delay=self.size.delay))
                yield
            finally:
                self.crew.end()
                self.brokers.stop()
                self.network.close()

    def start_agents(self, number: int | None = None) -> None:
        for each in range(1, (number or self.size.agents) + 1):
            self.crew.start(f"a{each}", *self.seeds)

    # -- while it runs

    def progress(self) -> float:
        """The share of the pages that somebody has asked for."""
        fresh = self.log.since(self._read)
        self._read += len(fresh)
        self._asked.update(arrival.url for arrival in fresh)
        return len(self._asked & self.truth) / len(self.truth)

    def wait(self, until: Callable[[], bool], limit: float, what: str) -> None:
        end = time.monotonic() + limit
        while not until():
            if agent := next((each for each in self.crew.running() if each.deaths >= _MOST_DEATHS), None):
                raise TrialFailed(f"{what}: {agent.name} dies again and again: {self.crew.last_words(agent, 4)}")
            if time.monotonic() > end:
                raise TrialFailed(f"{what}: not after {limit:g} s, {self.progress():.1%} of the pages were asked for")
            time.sleep(_LOOK_EVERY)

    def wait_for_progress(self, share: float) -> None:
        self.wait(lambda: self.progress() >= share, self.size.limit, f"{share:.0%} of the pages")

    def wait_for_end(self) -> None:
        self.wait(lambda: not self.crew.running(), self.size.limit, "the end of the crawl")

    # -- afterwards

    def requests(self) -> list[Request]:
        names = {agent.machine.address: agent.machine.name for agent in self.crew.agents.values()}
        return [
            Request(
                each.time, each.ended, each.host, each.path, names.get(each.address, each.address), each.status
            )
            for each in self.log.arrivals
        ]  # fmt: skip

    def links(self, url: str) -> Iterable[str]:
        """Pages that a page leads to, of those that may be fetched."""
        _, _, name, path = url.split("/", 3)
        host = self.world.find(name)
        assert host is not None
        resource = self.world.resource(host, f"/{path}".encode())
        if resource is None or resource.section is not Section.PAGE:
            return []
        found = (self.world.url(other, there) for other, there in self.world.links(host, resource))
        return [link for link in found if link in self.truth]

    def keep(self, folder: Path) -> None:
        """What is needed to understand a failure: the log of the web and the words of agents and brokers."""
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "requests.jsonl", "w") as file:
            for request in self.requests():
                file.write(json.dumps(request._asdict()) + "\n")
        for source in self._logs():
            (folder / "-".join(source.relative_to(self.home).parts)).write_bytes(source.read_bytes())

    def _logs(self) -> Iterable[Path]:
        for pattern in ("agents/*.log", "agents/*/logs/*", "brokers/*/*.log", "agents/*/gossamer.toml"):
            yield from (path for path in self.home.glob(pattern) if path.is_file())

    def statuses(self) -> dict[str, int | None]:
        return {agent.name: agent.poll() for agent in self._started()}

    def _started(self) -> list[Agent]:
        return [agent for agent in self.crew.agents.values() if agent.process is not None]


def pages_of(requests: Sequence[Request]) -> int:
    return sum(request.path != ROBOTS for request in requests)
