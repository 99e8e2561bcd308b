"""Many small agents for minutes, which join, leave and are killed at random: complete, exact, and nothing leaks."""

from __future__ import annotations

import random
import signal
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import msgspec
from nats.errors import Error as NatsError

from cluster.crew import Agent
from cluster.judge import Fault
from cluster.network import open_network
from cluster.scene import Scene, Size, TrialFailed
from cluster.trial import Row, look
from gossamer.errors import UnavailableError

_EVERY = (3.0, 9.0)  # seconds between two events
_SAMPLE_EVERY = 10.0
_CHECKPOINT_EVERY = 60.0  # seconds; the agents themselves make one after five minutes
_AGAIN = 20.0  # seconds after which one that was killed or left is started again
_HOSTS = 480
_DELAY = 2.0
_MOST_MEMORY = 1.3  # times what it was at first
_MOST_DESCRIPTORS = 20  # more than at first


class Sample(msgspec.Struct):
    """How large everything is at one moment; of agents the mean over those that have run for a while."""

    at: float
    agents: int
    memory: float
    descriptors: float
    consumers: int
    log: int  # bytes in the broker's streams
    checkpoints: int  # files


class Churn:
    """Invariant: never fewer than half of the agents run, so that the crawl goes on."""

    def __init__(self, scene: Scene, agents: int, dice: random.Random) -> None:
        self._scene = scene
        self._agents = agents
        self._dice = dice
        self._away: dict[str, float] = {}  # name -> when it is to be back
        self.events: defaultdict[str, int] = defaultdict(int)
        self.samples: list[Sample] = []
        self.faults: list[Fault] = []
        self._began: dict[str, float] = {}

    def run(self, seconds: float) -> None:
        now = began = time.monotonic()
        event, sample, copies = now + 15.0, now + _SAMPLE_EVERY, now + _CHECKPOINT_EVERY
        for name in self._scene.crew.agents:
            self._began[name] = now
        while now - began < seconds and self._scene.crew.running():
            if now >= sample:
                if (taken := self.sample(now - began)) is not None:
                    self.samples.append(taken)
                sample = now + _SAMPLE_EVERY
            if now >= event:
                self._happen()
                event = now + self._dice.uniform(*_EVERY)
            if now >= copies:
                self._scene.crew.checkpoint()
                copies = now + _CHECKPOINT_EVERY
            self._bring_back(now)
            time.sleep(0.2)
            now = time.monotonic()
        self._bring_back(float("inf"))

    def _happen(self) -> None:
        running = [agent for agent in self._scene.crew.running() if self._settled(agent)]
        if len(running) <= self._agents // 2:
            return
        victim = self._dice.choice(sorted(running, key=lambda agent: agent.name))
        what = self._dice.choice(["killed", "left", "disk lost", "joined"])
        if what == "joined":
            # For one that leaves for good: there are about as many all the time, on so many cores as there are.
            victim.signal(signal.SIGTERM)
            victim.spent = True  # what it had others have; its own copy stays behind
            self._start(f"b{len(self._scene.crew.agents)}")
        elif what == "left":
            victim.signal(signal.SIGTERM)
            self._away[victim.name] = time.monotonic() + _AGAIN
        else:
            self.faults.append(Fault(time.monotonic(), victim.name, time.monotonic() + _AGAIN))
            victim.kill()
            if what == "disk lost":
                self._scene.crew.lose_disk(victim.name)
            self._away[victim.name] = time.monotonic() + _AGAIN
        self.events[what] += 1

    def _bring_back(self, now: float) -> None:
        for name in [name for name, when in self._away.items() if when <= now]:
            del self._away[name]
            if not self._scene.crew.agents[name].running:
                self._start(name)

    def _start(self, name: str) -> None:
        self._scene.crew.start(name)
        self._began[name] = time.monotonic()

    def _settled(self, agent: Agent) -> bool:
        return time.monotonic() - self._began[agent.name] > _AGAIN

    def sample(self, at: float) -> Sample | None:
        """None where the broker has no time for it."""
        scene = self._scene
        sizes = [size for agent in scene.crew.running() if self._settled(agent) and (size := agent.size())]
        try:
            holdings = scene.brokers.holdings()
        except (NatsError, UnavailableError, TimeoutError):
            self.events["not answered by the broker"] += 1
            return None
        return Sample(
            at,
            len(scene.crew.running()),
            mean([size.memory for size in sizes] or [0]),
            mean([size.descriptors for size in sizes] or [0]),
            holdings.consumers,
            holdings.bytes,
            scene.crew.checkpoint_files,
        )


def run(seed: int, minutes: float, agents: int, home: Path, kept: Path | None) -> Row:
    dice = random.Random(f"churn {seed}")
    seconds = 60 * minutes
    # A host with more pages than can be visited in that time keeps the crawl from its end before.
    size = Size(_HOSTS, int(seconds / _DELAY), _DELAY, 0.05, agents, limit=seconds + 180.0)
    scene = Scene(size, seed, home, open_network())
    row = Row("churn", seed, type(scene.network).__name__.lower(), agents, 1, len(scene.truth))
    began = time.monotonic()
    with scene.staged():
        churn = Churn(scene, agents, dice)
        try:
            scene.start_agents()
            churn.run(seconds)
            scene.wait_for_end()
        except TrialFailed as failure:
            row.broken.append(str(failure))
        row.seconds = time.monotonic() - began
        look(row, scene, None, faults=churn.faults)
        row.events = dict(churn.events)
        row.samples = [msgspec.to_builtins(sample) for sample in churn.samples]
        row.broken += leaks(churn.samples)
        if kept is not None and row.broken:
            scene.keep(kept / f"churn-{seed}")
    return row


def leaks(samples: Sequence[Sample]) -> list[str]:
    """What grew from the second quarter to the last: by then all sizes that depend on the crawl's have been reached."""
    if len(samples) < 8:
        return ["too few samples to see a leak"]
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]

    def grown(name: str) -> tuple[float, float]:
        return mean(getattr(each, name) for each in early), mean(getattr(each, name) for each in late)

    found = []
    was, now = grown("memory")
    if now > _MOST_MEMORY * was:
        found.append(f"memory of an agent grew from {was / 1e6:.0f} to {now / 1e6:.0f} MB")
    was, now = grown("descriptors")
    if now > was + _MOST_DESCRIPTORS:
        found.append(f"descriptors of an agent grew from {was:.0f} to {now:.0f}")
    was, now = grown("consumers")
    agents = grown("agents")[1] / max(grown("agents")[0], 1)
    if now > 1.5 * was * agents:
        found.append(f"consumers of the broker grew from {was:.0f} to {now:.0f}")
    was, now = grown("checkpoints")
    if was and now > 2 * was:
        found.append(f"files in checkpoints grew from {was:.0f} to {now:.0f}")
    return found
