"""Whether this machine can carry what a crawl asks of it, found out before it begins (K15).

What is short lowers the number of connections, with a notice that says what to do; a mere risk is only told.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from gossamer.config import Config

_PER_CONNECTION = 3  # file descriptors: in use, kept idle, and for a moment while it is opened
_OTHER_FILES = 256  # the database of a small crawl, WARC files, DNS
_OTHER_FILES_IN_TIME = 1000  # the database of a large one
_PROGRAM = 150_000_000  # bytes of memory
_HOST = 5_000  # bytes of memory
_SHARE = 16  # of max_body, in memory for each connection at a time; hardly any page is that long
_FEW_CONNECTIONS = 16  # memory that may become short is no reason to go below this
_LITTLE_DISK = 500_000_000  # bytes


class Facts(msgspec.Struct, frozen=True):
    """What the machine has; None where it does not say."""

    soft: int | None = None  # limits of file descriptors
    hard: int | None = None
    ports: int | None = None  # for connections to one server or proxy
    memory: int | None = None  # bytes that can be had
    disk: int | None = None  # bytes free


class Verdict(msgspec.Struct, frozen=True):
    connections: int
    descriptors: int | None  # the soft limit to set; None: leave it
    notices: tuple[str, ...]


def judge(config: Config, facts: Facts) -> Verdict:
    """How many connections this machine can carry, of those asked for."""
    asked = config.fetch.connections
    judged = (_by_descriptors(asked, facts), _by_ports(asked, facts), _by_memory(config, facts))
    connections = min(most for most, _ in judged)
    notices = [f"note: {why}. The crawl goes on with {connections:,} connections" for _, why in judged if why]
    if facts.disk is not None and facts.disk < _LITTLE_DISK:
        notices.append(
            f"note: only {facts.disk / 1e6:,.0f} MB of disk are free, and a full disk ends the crawl (cleanly): make"
            " room, set --max-pages, or give another disk with --store"
        )
    return Verdict(connections, _soft_limit(connections, facts), tuple(notices))


def _by_descriptors(asked: int, facts: Facts) -> tuple[int, str]:
    limit = facts.hard
    if limit is None or limit >= _PER_CONNECTION * asked + _OTHER_FILES:
        return asked, ""
    most = max(1, (limit - min(_OTHER_FILES, limit * 2 // 3)) // _PER_CONNECTION)
    if most >= asked:
        return asked, ""
    need = _PER_CONNECTION * asked + _OTHER_FILES_IN_TIME
    return most, (
        f"this process may open {limit:,} files, too few for {asked:,} connections: start it with `ulimit -n {need}`"
        f" (as root), or LimitNOFILE={need} in its systemd unit, or lower --connections"
    )


def _soft_limit(connections: int, facts: Facts) -> int | None:
    wanted = _PER_CONNECTION * connections + _OTHER_FILES_IN_TIME
    if facts.soft is None or facts.soft >= wanted:
        return None
    reachable = wanted if facts.hard is None else min(wanted, facts.hard)
    return reachable if reachable > facts.soft else None


def _by_ports(asked: int, facts: Facts) -> tuple[int, str]:
    if facts.ports is None or facts.ports >= asked:
        return asked, ""
    return max(1, facts.ports), (
        f"there are {facts.ports:,} local ports for {asked:,} connections: widen the range with"
        ' `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`, or lower --connections'
    )


def _by_memory(config: Config, facts: Facts) -> tuple[int, str]:
    asked, frontier = config.fetch.connections, config.frontier
    each = max(1, config.fetch.max_body // _SHARE)
    rest = _PROGRAM + frontier.memory + frontier.hosts * _HOST + frontier.recent_urls * 8
    if facts.memory is None or facts.memory >= rest + asked * each:
        return asked, ""
    most = max(min(asked, _FEW_CONNECTIONS), (facts.memory - rest) // each)
    if most >= asked:
        return asked, ""
    return most, (
        f"{facts.memory / 1e6:,.0f} MB of memory can be had, and {asked:,} connections may need"
        f" {(rest + asked * each) / 1e6:,.0f} MB: lower --connections, fetch.max_body or frontier.hosts, or give the"
        " crawl more memory"
    )


# -- this machine --------------------------------------------------------------------------------------------------


def apply(config: Config, verdict: Verdict) -> Config:
    """What the crawl really runs with; raises the soft limit of file descriptors."""
    if verdict.descriptors is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(OSError, ValueError):  # where it is forbidden, running out is met in the middle
            resource.setrlimit(resource.RLIMIT_NOFILE, (verdict.descriptors, hard))
    if verdict.connections == config.fetch.connections:
        return config
    return replace(config, fetch=replace(config.fetch, connections=verdict.connections))


def facts_of(home: Path) -> Facts:
    """Of this process and the disk of a directory, which need not be there yet."""
    soft, hard = (
        None if limit == resource.RLIM_INFINITY else limit for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    place = next((path for path in (home.absolute(), *home.absolute().parents) if path.exists()), Path("/"))
    disk = os.statvfs(place)
    return Facts(soft, hard, local_ports(), available_memory(), disk.f_bavail * disk.f_frsize)


def local_ports(root: Path = Path("/")) -> int | None:
    numbers = _text(root / "proc/sys/net/ipv4/ip_local_port_range").split()
    return int(numbers[1]) - int(numbers[0]) + 1 if len(numbers) == 2 else None


def available_memory(root: Path = Path("/")) -> int | None:
    """Of the machine, or what the control groups of this process leave of it."""
    found = [room for room in _groups(root) if room is not None]
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) * 1024)
    return max(0, min(found)) if found else None


def _groups(root: Path) -> list[int | None]:
    rooms = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            top, limit, used = root / "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            top, limit, used = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        names = [name for name in path.split("/") if name not in ("", "..")]
        for depth in range(len(names) + 1):  # a limit of any group above holds too
            rooms.append(_room(top.joinpath(*names[:depth]), limit, used))
    return rooms


def _room(group: Path, limit: str, used: str) -> int | None:
    most, now = _text(group / limit).strip(), _text(group / used).strip()
    if not most.isdigit() or not now.isdigit():
        return None
    # What is cached of files goes when memory is needed.
    cached = [
        line.split()[1] for line in _text(group / "memory.stat").splitlines() if line.startswith("inactive_file ")
    ]
    return int(most) - int(now) + (int(cached[0]) if cached else 0)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
