"""Which agent is to have which partition: a pure function of who lives, so that every leader comes to the same plan.

Weighted rendezvous hashing: each agent has a score for each partition, and the highest has it. When an agent leaves,
only what was its own moves; when one comes, only what becomes its own. Left to chance, some agents would have half as
much again as others, so there is a bound on what an agent has, in proportion to its weight; what does not fit goes to
the next score. That moves a few more, in exchange.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, isfinite, log
from typing import Final

import msgspec
from xxhash import xxh3_64_intdigest

from gossamer.errors import ClusterError

SLACK: Final = 0.25  # above its fair share that an agent may have: less moves more when agents come and go
LEAST: Final = 0.5  # of its fair share that an agent has: more moves more
_LONGEST: Final = 1 << 20  # bytes of a plan: one message


class Plan(msgspec.Struct, frozen=True):
    """`owners[partition]` is a place in `agents`, which are sorted; -1 if there is nobody."""

    agents: tuple[str, ...]
    owners: tuple[int, ...]
    nonce: str = ""  # of who has written it

    def owner(self, partition: int) -> str | None:
        place = self.owners[partition]
        return self.agents[place] if place >= 0 else None

    def partitions(self, agent: str) -> list[int]:
        if agent not in self.agents:
            return []
        place = self.agents.index(agent)
        return [partition for partition, owner in enumerate(self.owners) if owner == place]


def make_plan(partitions: int, weights: Mapping[str, float], pinned: Mapping[int, str] | None = None) -> Plan:
    """`pinned` partitions are their agent's while it lives, beyond all bounds, and shared like all others if not."""
    agents = tuple(sorted(name for name, weight in weights.items() if weight > 0 and isfinite(weight)))
    owners = [-1] * partitions
    if not agents:
        return Plan(agents, tuple(owners))
    places = {name: place for place, name in enumerate(agents)}
    free = []
    for partition in range(partitions):
        home = (pinned or {}).get(partition)
        if home in places:
            owners[partition] = places[home]
        else:
            free.append(partition)
    total = sum(weights[name] for name in agents)
    shares = [len(free) * weights[name] / total for name in agents]
    has = [0] * len(agents)
    # The best scores of all first: nobody then would rather have another partition whose agent would rather have it.
    scores = sorted(_scores(free, agents, weights))
    for bounds in ([floor(share * LEAST) for share in shares], [ceil(share * (1 + SLACK)) for share in shares]):
        for _, place, partition in scores:
            if owners[partition] < 0 and has[place] < bounds[place]:
                owners[partition] = place
                has[place] += 1
    return Plan(agents, tuple(owners))


def encode_plan(plan: Plan) -> bytes:
    return msgspec.json.encode(plan)


def decode_plan(data: bytes, partitions: int) -> Plan:
    """What another agent wrote, of the same crawl."""
    try:
        plan = msgspec.json.decode(data[: _LONGEST + 1], type=Plan)
    except msgspec.MsgspecError as error:
        raise ClusterError(
            f"the plan of the cluster cannot be read ({error}): are all agents of one version?"
        ) from error
    if len(plan.owners) != partitions or any(not -1 <= owner < len(plan.agents) for owner in plan.owners):
        raise ClusterError("the plan of the cluster is of another crawl: are all agents of one version?")
    return plan


def _scores(free: list[int], agents: tuple[str, ...], weights: Mapping[str, float]) -> list[tuple[float, int, int]]:
    """Low is good: -log of a hash in (0, 1], over the weight, which makes shares proportional to weights."""
    scores = []
    for place, name in enumerate(agents):
        weight, start = weights[name], name.encode() + b"\0"
        for partition in free:
            drawn = (xxh3_64_intdigest(start + partition.to_bytes(4, "big")) + 1) / 2**64
            scores.append((-log(drawn) / weight, place, partition))
    return scores
