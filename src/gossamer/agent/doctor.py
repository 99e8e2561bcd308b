"""Whether this machine is fit for a crawl, looked at without starting one (K15).

Each check gives a `Diagnosis`: what was found, and what to do about it where something is wrong.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.limits import Facts, facts_of, judge
from gossamer.config import Config, load
from gossamer.errors import GossamerError
from gossamer.fetch import Resolver, certificates, has_ipv6
from gossamer.fetch.resolver import Answer

GOOD, RISK, BAD = "good", "risk", "bad"
COMPILED = (
    "parse._links", "parse._fingerprint", "store._records", "frontier._recent", "frontier._contents",
    "frontier._packing", "frontier._intake", "frontier._turns", "model._heads", "rules._places", "fetch._transfer",
)  # fmt: skip
_NAME = "example.org"
_SYNCS = 20
_SLOW_SYNC = 0.05  # seconds: a commit has two or three
_LITTLE_DISK, _ENOUGH_DISK = 500_000_000, 5_000_000_000  # bytes
_RELEASED = 1_767_225_600.0  # a clock that is before 2026 is wrong
_SKEW = 5.0  # seconds between the clock of the machine and of its disk


class Diagnosis(msgspec.Struct, frozen=True):
    """`grade` is good, risk (a crawl works, but) or bad (it does not, or not as asked)."""

    check: str
    grade: str
    found: str
    remedy: str = ""


def examine(home: Path | None) -> list[Diagnosis]:
    """All checks, for the crawl in `home` with its settings, or for a new one with the usual settings."""
    place = home if home is not None else Path()
    config, found = _settings(home)
    checks: list[Callable[[], Iterator[Diagnosis]]] = [
        lambda: limits(config, facts_of(place)),
        lambda: disk(facts_of(place), place),
        lambda: clock(time.time(), place),
        loopback,
        lambda: names(config),
        lambda: roots(config),
        libraries,
        compiled,
    ]
    for check in checks:
        found += check()
    return found


def _settings(home: Path | None) -> tuple[Config, list[Diagnosis]]:
    if home is None:
        return Config(), []
    directory = CrawlDir(home)
    try:
        directory.check()
        if not directory.settings.is_file():
            return Config(), [Diagnosis("directory", GOOD, f"a crawl can begin in {home}")]
        config = load(directory.settings, resumed=True)
    except GossamerError as error:
        return Config(), [Diagnosis("directory", BAD, str(error))]
    state = "runs" if directory.in_use() else "can go on"
    return config, [Diagnosis("directory", GOOD, f"a crawl {state} in {home}")]


# -- the checks ----------------------------------------------------------------------------------------------------


def limits(config: Config, facts: Facts) -> Iterator[Diagnosis]:
    """Descriptors, ports and memory, as a crawl with these settings finds them at its start."""
    verdict = judge(config, facts)
    asked = config.fetch.connections
    notices = [text.removeprefix("note: ") for text in verdict.notices if "disk" not in text]
    for text in notices:
        reason, _, remedy = text.partition(": ")
        yield Diagnosis("limits", BAD, reason, remedy)
    if not notices:
        yield Diagnosis(
            "limits",
            GOOD,
            f"enough for {asked:,} connections: {_number(facts.hard)} file descriptors, {_number(facts.ports)} local"
            f" ports, {_megabytes(facts.memory)} of memory",
        )


def disk(facts: Facts, place: Path) -> Iterator[Diagnosis]:
    free = facts.disk or 0
    grade = BAD if free < _LITTLE_DISK else RISK if free < _ENOUGH_DISK else GOOD
    remedy = "" if grade == GOOD else "make room, set --max-pages, or give another disk with --store"
    yield Diagnosis("disk", grade, f"{_megabytes(free)} are free", remedy)
    try:
        seconds = sync_time(_existing(place))
    except OSError as error:
        yield Diagnosis("disk", BAD, f"nothing can be written there: {error.strerror}", "choose another --dir")
        return
    slow = seconds > _SLOW_SYNC
    yield Diagnosis(
        "disk",
        RISK if slow else GOOD,
        f"a write is durable after {seconds * 1000:.1f} ms",
        "each commit waits for two or three: raise agent.commit_interval, or take a faster disk" if slow else "",
    )


def sync_time(folder: Path) -> float:
    """The median of some small writes that are made durable."""
    taken = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(_SYNCS):
            file.write(b"x" * 4096)
            file.flush()
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def clock(now: float, place: Path) -> Iterator[Diagnosis]:
    """Delays and the schedule are in wall-clock time; certificates are judged by it."""
    local = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(now))
    if now < _RELEASED:
        yield Diagnosis("clock", BAD, f"it says {local}", "set it, best by NTP: timedatectl set-ntp true")
        return
    try:
        with tempfile.TemporaryFile(dir=_existing(place)) as file:
            skew = os.fstat(file.fileno()).st_mtime - time.time()
    except OSError:
        skew = 0.0
    if abs(skew) > _SKEW:
        remedy = "set both by NTP; index and status compare them"
        yield Diagnosis("clock", RISK, f"the disk's clock is {skew:+.0f} s off the machine's", remedy)
    yield Diagnosis("clock", GOOD, f"{local} (hours of a schedule are in this zone)")


def loopback() -> Iterator[Diagnosis]:
    """The service and the simulated web are there."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(2)
            with socket.create_connection(listener.getsockname(), 2) as caller:
                answerer, _ = listener.accept()
                with answerer:
                    answerer.settimeout(2)
                    caller.sendall(b"?")
                    answered = answerer.recv(1) == b"?"
    except OSError as error:
        yield Diagnosis("loopback", BAD, f"127.0.0.1 does not answer: {error}", "ip link set lo up")
        return
    yield Diagnosis("loopback", GOOD if answered else BAD, "127.0.0.1 answers")


async def _resolved(config: Config) -> Answer:
    resolver = Resolver(config.fetch.connect, config.fetch.dns, time.time)
    try:
        return await asyncio.wait_for(resolver.resolve(_NAME), 10)
    finally:
        await resolver.close()  # or what comes late finds nobody


def names(config: Config) -> Iterator[Diagnosis]:
    if any(rule.startswith("*=") for rule in config.fetch.connect):
        yield Diagnosis("DNS", GOOD, "not needed: --connect has an address for every host")
        return
    servers = ", ".join(config.fetch.dns) or "the system's servers"
    try:
        started = time.perf_counter()
        answer = asyncio.run(_resolved(config))
        taken = time.perf_counter() - started
        why = answer.why
    except (OSError, TimeoutError) as error:
        why = str(error) or "is not answered within 10 s"
    if why:
        remedy = "see /etc/resolv.conf, or name servers with --dns; behind a socks5h or http proxy none is needed"
        yield Diagnosis("DNS", RISK if config.fetch.proxy else BAD, f"{_NAME} {why}, asked of {servers}", remedy)
        return
    yield Diagnosis("DNS", GOOD, f"{_NAME} is resolved in {taken * 1000:.0f} ms by {servers}")
    if not has_ipv6():
        yield Diagnosis("DNS", GOOD, "this machine has IPv4 only: hosts that have only IPv6 are not reached")


def roots(config: Config) -> Iterator[Diagnosis]:
    """Certificates that are trusted."""
    try:
        path = certificates(config.fetch.ca_file)
        context = ssl.create_default_context(cafile=path)
        trusted = context.cert_store_stats()["x509_ca"]
    except (GossamerError, OSError) as error:
        yield Diagnosis("TLS", BAD, str(error), "name a PEM file with fetch.ca_file, or install ca-certificates")
        return
    if not trusted:
        yield Diagnosis("TLS", BAD, f"{path} has no root certificates", "install ca-certificates, or set fetch.ca_file")
        return
    yield Diagnosis("TLS", GOOD, f"{trusted} root certificates in {path}; {ssl.OPENSSL_VERSION}")


def libraries() -> Iterator[Diagnosis]:
    import pycurl

    python = ".".join(map(str, sys.version_info[:3]))
    yield Diagnosis("libraries", GOOD, f"Python {python}, {pycurl.version}")
    try:
        needed = [re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in requires("gossamer") or () if ";" not in each]
    except PackageNotFoundError:
        yield Diagnosis("libraries", RISK, "gossamer is run from its source", "pip install . gives the command itself")
        return
    missing, found = [], []
    for name in needed:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Diagnosis("libraries", BAD, f"not installed: {', '.join(missing)}", "pip install --upgrade gossamer")
    yield Diagnosis("libraries", GOOD, ", ".join(found))


def compiled() -> Iterator[Diagnosis]:
    """Modules in C that have twins in Python, which do the same in more time."""
    built = [name for name in COMPILED if find_spec(f"gossamer.{name}") is not None]
    if len(built) == len(COMPILED):
        yield Diagnosis("compiled", GOOD, f"in use: {', '.join(built)}")
        return
    missing = [name for name in COMPILED if name not in built]
    remedy = "install a C compiler and Python's headers (gcc, python3-dev), then pip install --force-reinstall gossamer"
    yield Diagnosis("compiled", RISK, f"not built, so that a page costs a third more: {', '.join(missing)}", remedy)


def _existing(place: Path) -> Path:
    """The directory, or where it would be made."""
    absolute = place.absolute()
    return next(path for path in (absolute, *absolute.parents) if path.is_dir())


def _number(value: int | None) -> str:
    return "unlimited" if value is None else f"{value:,}"


def _megabytes(value: int | None) -> str:
    return "unlimited" if value is None else f"{value / 1e6:,.0f} MB"
