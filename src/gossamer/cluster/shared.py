"""What all agents of a crawl share besides URLs: what the crawl is, its settings, its end, and who is to leave.

| key          | holds                                                    |
|--------------|----------------------------------------------------------|
| `crawl`      | `Facts`: what never changes                              |
| `config`     | `Settings`: a version and the text of gossamer.toml      |
| `end`        | `End`: why all agents stop, while it is there            |
| `drain.NAME` | `Wish`: the agent is to have no partitions, while it is there |
| `rebalance`  | `Wish`: the leader is to plan again, whenever it changes |
"""

from __future__ import annotations

import secrets
from typing import Final, TypeVar

import msgspec

from gossamer.cluster.coordinator import Coordinator, Entry
from gossamer.cluster.lease import Terms
from gossamer.cluster.members import Gone
from gossamer.cluster.session import session_key
from gossamer.errors import ClusterError, UnavailableError

CRAWL: Final = "crawl"
CONFIG: Final = "config"
END: Final = "end"
DRAIN: Final = "drain"
REBALANCE: Final = "rebalance"
_TRIES: Final = 20  # of a change that others were faster with each time

T = TypeVar("T")


class Facts(msgspec.Struct, frozen=True):
    """What is fixed when a crawl is made. `pins` are in their order: domain and agent."""

    partitions: int = 256
    streams: int = 1
    replicas: int = 1
    pins: tuple[tuple[str, str], ...] = ()
    terms: Terms = Terms()
    id: str = ""


class Settings(msgspec.Struct, frozen=True):
    """`toml` is what every agent judges by, but for what is given to an agent for its own machine."""

    version: int
    toml: str
    by: str = ""
    nonce: str = ""


class End(msgspec.Struct, frozen=True):
    reason: str  # complete, max_pages, time_limit, stopped
    by: str = ""
    nonce: str = ""
    gone: Gone = Gone()


class Wish(msgspec.Struct, frozen=True):
    nonce: str = ""


async def make_crawl(coordinator: Coordinator, facts: Facts) -> Facts:
    """Those of the crawl that is there, or these if there is none yet."""
    entry = await coordinator.get(CRAWL)
    if entry is None or entry.value is None:
        made = msgspec.structs.replace(facts, id=secrets.token_hex(8))
        revision = entry.revision if entry else 0
        if await coordinator.compare_and_set(CRAWL, msgspec.json.encode(made), revision) is not None:
            return made
    found = await read_crawl(coordinator)
    if found is None:
        raise UnavailableError("the crawl was made and removed at this moment: try again")
    return found


async def read_crawl(coordinator: Coordinator) -> Facts | None:
    return _read(await coordinator.get(CRAWL), Facts)


async def read_settings(coordinator: Coordinator) -> Settings | None:
    return _read(await coordinator.get(CONFIG), Settings)


async def write_settings(coordinator: Coordinator, toml: str, by: str, *, since: int | None = None) -> Settings | None:
    """The next version. `since`: only if the version is still that one (0: there is none); None if it is not."""
    for _ in range(_TRIES):
        entry = await coordinator.get(CONFIG)
        there = _read(entry, Settings)
        version = there.version if there else 0
        if since is not None and version != since:
            return None
        if there is not None and there.toml == toml:
            return there
        made = Settings(version + 1, toml, by, secrets.token_hex(8))
        revision = entry.revision if entry else 0
        if await coordinator.compare_and_set(CONFIG, msgspec.json.encode(made), revision) is not None:
            return made
    raise UnavailableError("the settings of the cluster are changed by others all the time: try again")


async def read_end(coordinator: Coordinator) -> End | None:
    return _read(await coordinator.get(END), End)


async def end_crawl(coordinator: Coordinator, reason: str, by: str, gone: Gone | None = None) -> End:
    """All agents stop. Who says so first gives the reason."""
    for _ in range(_TRIES):
        entry = await coordinator.get(END)
        there = _read(entry, End)
        if there is not None:
            return there
        made = End(reason, by, secrets.token_hex(8), gone or Gone())
        revision = entry.revision if entry else 0
        if await coordinator.compare_and_set(END, msgspec.json.encode(made), revision) is not None:
            return made
    raise UnavailableError("others end and begin the crawl all the time: try again")


async def go_on(coordinator: Coordinator) -> None:
    """A crawl that has ended is begun again."""
    await _remove(coordinator, END)


async def drain(coordinator: Coordinator, name: str) -> None:
    """The agent gives up its partitions, and gets none until `undrain`."""
    key = f"{DRAIN}.{session_key(name).partition('.')[2]}"
    entry = await coordinator.get(key)
    if entry is None or entry.value is None:
        value = msgspec.json.encode(Wish(secrets.token_hex(8)))
        await coordinator.compare_and_set(key, value, entry.revision if entry else 0)


async def undrain(coordinator: Coordinator, name: str) -> None:
    await _remove(coordinator, f"{DRAIN}.{session_key(name).partition('.')[2]}")


async def rebalance(coordinator: Coordinator) -> None:
    """The leader plans again."""
    for _ in range(_TRIES):
        entry = await coordinator.get(REBALANCE)
        value = msgspec.json.encode(Wish(secrets.token_hex(8)))
        if await coordinator.compare_and_set(REBALANCE, value, entry.revision if entry else 0) is not None:
            return
    raise UnavailableError("others ask for the same all the time: try again")


async def _remove(coordinator: Coordinator, key: str) -> None:
    entry = await coordinator.get(key)
    if entry is not None and entry.value is not None:
        await coordinator.remove(key, entry.revision)


def _read(entry: Entry | None, kind: type[T]) -> T | None:
    if entry is None or entry.value is None:
        return None
    try:
        return msgspec.json.decode(entry.value, type=kind)
    except msgspec.MsgspecError as error:
        raise ClusterError(
            f"the broker's key {entry.key} cannot be read ({error}): are all agents of one version?"
        ) from error
