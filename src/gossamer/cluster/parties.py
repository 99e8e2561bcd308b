"""The numbers of applications: the same for all agents and for ever, as queues have them (`frontier/parties.py`).

The key `parties` has them by name. Names are added to it, and never taken away.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import msgspec

from gossamer.cluster.coordinator import Coordinator
from gossamer.config.apps import MOST_APPS
from gossamer.errors import ClusterError, ConfigError, UnavailableError

PARTIES: Final = "parties"
_TRIES: Final = 20

_Number = Annotated[int, msgspec.Meta(ge=1, le=MOST_APPS)]


class Parties(msgspec.Struct, frozen=True):
    numbers: dict[str, _Number] = {}
    nonce: str = ""


async def agree(coordinator: Coordinator, names: Iterable[str], kept: Mapping[str, int]) -> dict[str, int]:
    """The numbers of all applications that the crawl has ever had, these among them. `kept` are those that queues in
    an agent's directory have.
    """
    wanted = list(names)
    for _ in range(_TRIES):
        entry = await coordinator.get(PARTIES)
        there = {} if entry is None else _read(entry.value)
        numbers = numbered(there, wanted, kept)
        if numbers == there:
            return numbers
        value = msgspec.json.encode(Parties(numbers, secrets.token_hex(8)))
        if await coordinator.compare_and_set(PARTIES, value, entry.revision if entry else 0) is not None:
            return numbers
    raise UnavailableError("others number applications all the time: try again")


def numbered(there: Mapping[str, int], wanted: Iterable[str], kept: Mapping[str, int]) -> dict[str, int]:
    """`there`, with those that are missing. What is kept somewhere can have no other number than it has there."""
    found = dict(there)
    for name, number in kept.items():
        if found.setdefault(name, number) != number or sum(each == number for each in found.values()) > 1:
            raise ClusterError(
                f"application {name} has the number {number} in this agent's queues, and the broker says otherwise: it"
                " has lost its data, and an agent with an empty directory was the first to come back. Empty the broker,"
                " and start the agents that have crawled before the others"
            )
    for name in wanted:
        if name not in found:
            free = next((number for number in range(1, MOST_APPS + 1) if number not in found.values()), None)
            if free is None:
                raise ConfigError(
                    f"[apps.{name}]: this crawl has had {MOST_APPS} applications, which is the most; "
                    "use the name of one that is not needed any more"
                )
            found[name] = free
    return found


def _read(value: bytes | None) -> dict[str, int]:
    if value is None:
        return {}
    try:
        found = msgspec.json.decode(value, type=Parties).numbers
    except msgspec.MsgspecError as error:
        raise ClusterError(
            f"the broker's key {PARTIES} cannot be read ({error}): are all agents of one version?"
        ) from error
    if len(set(found.values())) < len(found):
        raise ClusterError(f"the broker's key {PARTIES} has a number twice: no agent has written that")
    return found
