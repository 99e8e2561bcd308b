"""One trial: a crawl by several agents with a fault in its middle, and the verdict on it."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import msgspec
from judge import captures
from machine import load

from cluster import judge
from cluster.faults import GAP, Kind
from cluster.judge import Fault, Request
from cluster.network import Network, open_network
from cluster.scene import Scene, Size, TrialFailed, pages_of

TAKEOVER = 10.0  # seconds in which others must have come
_CHECKPOINT = 0.1
_FAULT = (0.2, 0.45)  # shares of the pages between which the fault comes
_EXPOSED = 5.0  # seconds before a fault whose pages may be fetched again
_IN_FLIGHT = 64  # requests that are broken off and made again when all agents stop


class Row(msgspec.Struct):
    """What came of a trial. Times are in seconds. `broken` names what is not as promised: it must be empty."""

    kind: str
    seed: int
    network: str = ""
    agents: int = 0
    brokers: int = 0
    pages: int = 0
    requests: int = 0
    seconds: float = 0.0  # all of it
    load: float = 0.0  # processes that wanted a core over the last minute, at its end
    fault: float | None = None  # after the first request
    victim: str = ""
    checkpoints: int = 0  # files, when it came
    lost: int = 0
    again: int = 0
    bound: int = 0  # what `again` may be
    met: int = 0
    closest: float | None = None  # of two agents at one host
    hosts: int = 0  # that were waiting for somebody to come
    first: float | None = None
    median: float | None = None
    takeover: float | None = None  # the last of these hosts
    stopped: float | None = None  # when the victim asked last
    joined: float | None = None  # when a new one asked first
    pause: float | None = None  # longest time without any request after the fault
    deaths: dict[str, int] = {}  # of agents whose supervisors started them again
    statuses: dict[str, int | None] = {}
    missing: int = 0  # in the agents' books
    twice: int = 0
    waiting: int = 0
    unstored: int = 0  # pages in nobody's WARC files
    events: dict[str, int] = {}  # of churn
    samples: list[dict[str, float]] = []
    broken: list[str] = []


def run(kind: Kind, seed: int, size: Size, home: Path, kept: Path | None, network: Network | None = None) -> Row:
    """A trial of its own seed: the web, the moment and the victim come from it."""
    dice = random.Random(f"{kind.name} {seed}")
    size = replace(size, brokers=kind.brokers, agents=size.agents - kind.newcomers)
    scene = Scene(size, seed, home, network or open_network())
    row = Row(kind.name, seed, type(scene.network).__name__.lower(), size.agents, size.brokers, len(scene.truth))
    began = time.monotonic()
    fault: Fault | None = None
    with scene.staged():
        try:
            scene.start_agents()
            if seed % 2 == 0:  # who takes over has a checkpoint and the log after it, else the log alone
                scene.wait_for_progress(_CHECKPOINT)
                scene.crew.checkpoint()
            scene.wait_for_progress(dice.uniform(*_FAULT))
            row.checkpoints = scene.crew.checkpoint_files
            fault = kind.act(scene, dice)
            scene.wait_for_end()
        except TrialFailed as failure:
            row.broken.append(str(failure))
            for agent in scene.crew.running():
                row.broken.append(f"{agent.name} still runs: {scene.crew.last_words(agent, 3)}")
        row.seconds = time.monotonic() - began
        look(row, scene, fault, kind)
        if kept is not None and row.broken:
            scene.keep(kept / f"{kind.name}-{seed}")
    return row


def complete(seed: int, size: Size, home: Path, kept: Path | None) -> Row:
    """Nothing happens to it."""
    scene = Scene(size, seed, home, open_network())
    name = f"complete-{size.brokers}"
    row = Row(name, seed, type(scene.network).__name__.lower(), size.agents, size.brokers, len(scene.truth))
    began = time.monotonic()
    with scene.staged():
        try:
            scene.start_agents()
            scene.wait_for_end()
        except TrialFailed as failure:
            row.broken.append(str(failure))
        row.seconds = time.monotonic() - began
        look(row, scene, None)
        if kept is not None and row.broken:
            scene.keep(kept / f"{name}-{seed}")
    return row


def look(row: Row, scene: Scene, fault: Fault | None, kind: Kind | None = None, faults: Sequence[Fault] = ()) -> None:
    """Fills in what the web's log and the agents' books say. `faults` are many, of which only the sum is judged."""
    requests = scene.requests()
    row.load = load()
    row.requests = pages_of(requests)
    _look_at_distance(row, requests)
    lost, strange = judge.lost(requests, scene.truth), judge.strange(requests, scene.truth)
    row.lost = len(lost)
    if lost:
        row.broken.append(f"{len(lost)} pages lost: {', '.join(sorted(lost)[:5])}")
    if strange:
        row.broken.append(f"{len(strange)} asked for that are none: {', '.join(sorted(strange)[:5])}")
    row.again = judge.again(requests).total()
    row.bound = _bound(requests, fault, kind) + sum(judge.exposed(requests, each, _EXPOSED) for each in faults)
    if row.again > row.bound:
        row.broken.append(f"{row.again} requests beyond one a page, {row.bound} at most: {_repeats(requests)}")
    if fault is not None:
        _look_at_takeover(row, requests, scene, fault, kind)
    row.deaths = {agent.name: agent.deaths for agent in scene.crew.agents.values() if agent.deaths}
    if others := row.deaths.keys() - {fault.victim if fault is not None else ""}:
        row.broken.append(f"died without a reason: {', '.join(sorted(others))}")
    row.statuses = scene.statuses()
    wrong = {name: status for name, status in row.statuses.items() if status and not scene.crew.agents[name].spent}
    if wrong:
        row.broken.append(f"ended with an error: {wrong}")
    _look_at_books(row, scene)


def _look_at_distance(row: Row, requests: Sequence[Request]) -> None:
    changes = judge.changes_of_hands(requests)
    met = [change for change in changes if change.gap < GAP]
    row.met = len(met)
    row.closest = changes[0].gap if changes else None
    if met:
        first, second = met[0].first, met[0].second
        row.broken.append(
            f"{len(met)} times two agents at one host, {met[0].gap:.3f} s apart: {first.agent} {first.url} "
            f"{first.start:.3f} to {first.end:.3f}, {second.agent} {second.url} {second.start:.3f}"
        )


def _bound(requests: Sequence[Request], fault: Fault | None, kind: Kind | None) -> int:
    if fault is None or kind is None or kind.exposed is None:
        return 0
    return judge.exposed(requests, fault, kind.exposed) if kind.brokers == 1 else _IN_FLIGHT


def _repeats(requests: Sequence[Request]) -> str:
    """One page that was asked for again, with who asked when."""
    url = next(iter(judge.again(requests)))
    return f"{url} by {', '.join(f'{each.agent} {each.start:.2f}' for each in requests if each.url == url)}"


def _look_at_takeover(row: Row, requests: Sequence[Request], scene: Scene, fault: Fault, kind: Kind | None) -> None:
    begin, end = min(each.start for each in requests), max(each.start for each in requests)
    row.fault = fault.at - begin
    row.victim = fault.victim
    row.pause = judge.longest_pause(requests, fault.at, max(end, fault.at))
    if row.pause > TAKEOVER:
        row.broken.append(f"nobody asked for anything for {row.pause:.1f} s")
    if fault.victim not in {each.agent for each in requests}:
        if not fault.victim.startswith("broker"):
            row.broken.append(f"{fault.victim} had nothing to do")
        return
    if kind is not None and kind.name == "join":
        joined = judge.first_of(requests, fault.victim, fault.at)
        row.joined = joined if joined < math.inf else None
        return
    row.stopped = judge.last_of(requests, fault.victim, fault.at, fault.back)
    hosts = judge.takeovers(requests, fault, scene.seeds, scene.links)
    row.hosts = len(hosts)
    if not hosts:
        row.broken.append(f"no host was waiting for anybody: {fault.victim} fell at the wrong moment")
    else:
        times = sorted(hosts.values())
        row.first, row.median, row.takeover = (_finite(each) for each in (times[0], median(times), times[-1]))
        if times[-1] > TAKEOVER:
            late = [f"{host} {seconds:.1f}" for host, seconds in hosts.items() if seconds > TAKEOVER]
            row.broken.append(f"{len(late)} of {len(hosts)} hosts taken over late: {', '.join(late[:5])}")


def _look_at_books(row: Row, scene: Scene) -> None:
    try:
        books = judge.audit(scene.crew.listings(), scene.truth)
    except Exception as error:  # whatever keeps them from being read is a finding
        row.broken.append(f"the books cannot be read: {error}")
        return
    row.missing, row.twice, row.waiting = len(books.missing), len(books.twice), len(books.waiting)
    for name, urls in books._asdict().items():
        if urls:
            row.broken.append(f"{len(urls)} URLs {name} in the books: {', '.join(sorted(urls)[:5])}")
    stored = {
        capture["url"] for agent in scene.crew.agents.values() for capture in captures(agent.directory)[0]
    }  # fmt: skip
    row.unstored = len(scene.truth - stored)
    if row.unstored and row.kind not in ("disk", "churn"):
        row.broken.append(f"{row.unstored} pages are in no WARC file")


def _finite(seconds: float) -> float | None:
    """JSON has no infinity: a host that nobody came to is in `broken`."""
    return seconds if seconds < math.inf else None
