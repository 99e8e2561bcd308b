"""nats-servers of a trial, each on a machine of its own, and what they say of themselves."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from cluster.network import Machine, Network
from gossamer.cluster.broker import PASSWORD, open_keys
from gossamer.cluster.nats_link import Link
from gossamer.cluster.server import Server, free_port, new_credentials
from gossamer.cluster.shared import Facts, make_crawl
from gossamer.errors import UnavailableError

_LOOPBACK = "127.0.0.1"


class Traffic(NamedTuple):
    """Bytes from and to clients since the servers were started."""

    received: int
    sent: int


class Holdings(NamedTuple):
    """Of all streams together, now."""

    consumers: int
    bytes: int


class _Counter(msgspec.Struct):
    bytes: int = 0


class _Stats(msgspec.Struct):
    received: _Counter = msgspec.field(default_factory=_Counter)
    sent: _Counter = msgspec.field(default_factory=_Counter)


class _StatsAnswer(msgspec.Struct):
    statsz: _Stats = msgspec.field(default_factory=_Stats)


class Broker(Server):
    """A server is written for loopback and one machine: here it has the address of another, and its peers theirs."""

    def __init__(self, machine: Machine, home: Path, *, advertise: bool, **more: Any) -> None:
        super().__init__(home, **more)
        self.machine = machine
        self.places = {self.port: machine.address}
        self._advertise = advertise

    @property
    def address(self) -> str:
        return f"nats://{self.machine.address}:{self.port}"

    @property
    def command(self) -> tuple[str, ...]:
        return (*self.machine.prefix, *super().command)

    def settings(self) -> str:
        text = super().settings()
        for port, address in self.places.items():
            text = text.replace(f"{_LOOPBACK}:{port}", f"{address}:{port}")
        return text if self._advertise else text.replace("cluster {\n", "cluster {\n  no_advertise: true\n")


class Brokers:
    """One server, or three that keep streams together. Invariant: a server keeps its address and port for good."""

    def __init__(self, network: Network, home: Path, number: int) -> None:
        self.network = network
        names = [f"n{each}" for each in range(number)]
        self.machines = [network.machine(f"broker {name}") for name in names]
        routes = [free_port() for _ in names] if number > 1 else []
        credentials, between = new_credentials("crawl"), new_credentials("route")
        self.servers = [
            Broker(
                machine, home / name, advertise=network.advertise, name=name, credentials=credentials, routes=between,
                route=route, peers=tuple(routes),
            )
            for name, machine, route in zip(names, self.machines, routes or [0], strict=True)
        ]  # fmt: skip
        for server in self.servers:
            server.places |= {route: machine.address for route, machine in zip(routes, self.machines, strict=False)}

    def start(self) -> None:
        for server in self.servers:
            server.start()
        for server in self.servers:
            asyncio.run(server.ready())

    def stop(self) -> None:
        for server in self.servers:
            server.stop()

    def make(self, facts: Facts) -> None:
        """A crawl of another kind than `gossamer cluster config` makes."""
        asyncio.run(self._make(facts))

    async def _make(self, facts: Facts) -> None:
        link = await self._link()
        try:
            await make_crawl(await open_keys(link), facts)
        finally:
            await link.close()

    def addresses(self, machine: Machine) -> str:
        """As an agent on this machine is told of them; the password is in its environment."""
        user = self.servers[0].credentials.user
        ways = [self.network.way_to_broker(machine, server.machine, server.port) for server in self.servers]
        return ",".join(f"nats://{user}@{way}" for way in ways)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, PASSWORD: self.servers[0].credentials.password}

    def leader(self, of_keys: bool) -> Broker:
        """Of the stream with the keys, on which leases depend, or of that with the URLs."""
        return asyncio.run(self._leader(of_keys))

    async def _leader(self, of_keys: bool) -> Broker:
        link = await self._link()
        try:
            infos = await link.js.streams_info()
        finally:
            await link.close()
        led = next(info for info in infos if (info.config.name or "").startswith("KV_") == of_keys)
        name = led.cluster.leader if led.cluster else None
        return next((server for server in self.servers if server.name == name), self.servers[0])

    def holdings(self) -> Holdings:
        return asyncio.run(self._holdings())

    async def _holdings(self) -> Holdings:
        link = await self._link()
        try:
            states = [info.state for info in await link.js.streams_info()]
        finally:
            await link.close()
        return Holdings(sum(each.consumer_count for each in states), sum(each.bytes for each in states))

    def traffic(self) -> Traffic:
        found = [asyncio.run(_traffic(server)) for server in self.servers if server.running]
        return Traffic(sum(each.received for each in found), sum(each.sent for each in found))

    async def _link(self) -> Link:
        return await Link.open([server.address for server in self.servers], self.servers[0].credentials)


async def _traffic(server: Broker) -> Traffic:
    with suppress(UnavailableError):
        link = await Link.open([server.address], server._status)
        try:
            question = {"server_name": server.name, "exact_match": True}
            answer = await link.ask("$SYS.REQ.SERVER.PING.STATSZ", question)
        finally:
            await link.close()
        stats = msgspec.json.decode(answer, type=_StatsAnswer).statsz
        return Traffic(stats.received.bytes, stats.sent.bytes)
    return Traffic(0, 0)
