"""Machines of a cluster on this one: network namespaces on a bridge, or addresses of loopback behind relays.

Where namespaces can be made, a machine has its own address, its cable can be pulled, and it can be kept from hearing
one other machine while it hears the rest: a wrong, permanent entry in its table of neighbours is a black hole. Where
they cannot, each agent reaches the web and the broker through relays of its own, which can stop passing on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NoReturn

from cluster.relay import Relays

WEB = "10.77.0.1"
_BRIDGE = "02:00:00:00:00:01"
_NOBODY = "02:00:00:00:00:00"  # an Ethernet address that no machine has
_INSIDE = "GOSSAMER_TRIAL_NETWORK"
_NAMESPACES = ("--net", "--pid", "--fork", "--kill-child", "--mount-proc")


class Machine:
    """Where a process runs: `prefix` begins its command line, `address` is what others see."""

    def __init__(self, name: str, address: str, prefix: Sequence[str] = ()) -> None:
        self.name = name
        self.address = address
        self.prefix = list(prefix)


class Network(ABC):
    """Invariant: a machine of a name is the same each time it is asked for, with the same address."""

    web = "127.0.0.1"  # where the web listens
    advertise = True  # whether brokers may tell agents of each other

    def __init__(self) -> None:
        self.machines: dict[str, Machine] = {}

    def machine(self, name: str) -> Machine:
        if name not in self.machines:
            self.machines[name] = self._make(name, len(self.machines) + 1)
        return self.machines[name]

    @abstractmethod
    def _make(self, name: str, number: int) -> Machine: ...

    @abstractmethod
    def way_to_web(self, machine: Machine, port: int) -> str:
        """Host and port at which this machine finds the web."""

    @abstractmethod
    def way_to_broker(self, machine: Machine, broker: Machine, port: int) -> str: ...

    @abstractmethod
    def cut_brokers(self, machine: Machine, brokers: Sequence[Machine], both: bool) -> None:
        """Nothing goes from the machine to the brokers any more, and nothing back if `both`."""

    @abstractmethod
    def cut(self, machine: Machine, silently: bool) -> None:
        """The machine is alone. `silently`: it is not told, what it sends just never arrives."""

    @abstractmethod
    def mend(self, machine: Machine, brokers: Sequence[Machine]) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class Namespaces(Network):
    """A bridge in this process's own network, which is nobody else's (see `enter`); a cable from it to each machine."""

    web = WEB

    def __init__(self) -> None:
        super().__init__()
        self._holders: dict[str, subprocess.Popen[bytes]] = {}
        self._cables: dict[str, str] = {}
        _ip("link", "set", "lo", "up")
        # Without an address of its own it takes the least of its cables': with a new one nobody would find it for long.
        _ip("link", "add", "bridge", "address", _BRIDGE, "type", "bridge")
        _ip("addr", "add", f"{WEB}/16", "dev", "bridge")
        _ip("link", "set", "bridge", "up")

    def _make(self, name: str, number: int) -> Machine:
        # The namespace is there as long as this process: agents come and go.
        holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo there; exec sleep infinity"], stdout=subprocess.PIPE
        )
        assert holder.stdout is not None
        holder.stdout.readline()
        self._holders[name] = holder
        self._cables[name] = f"cable{number}"
        machine = Machine(name, f"10.77.1.{number}", ["nsenter", f"--net=/proc/{holder.pid}/ns/net", "--"])
        _ip("link", "add", f"cable{number}", "type", "veth", "peer", "name", f"end{number}")
        _ip("link", "set", f"cable{number}", "master", "bridge", "up")
        _ip("link", "set", f"end{number}", "netns", str(holder.pid), "name", "eth0")
        _ip("link", "set", "lo", "up", on=machine)
        _ip("addr", "add", f"{machine.address}/16", "dev", "eth0", on=machine)
        _ip("link", "set", "eth0", "up", on=machine)
        return machine

    def way_to_web(self, machine: Machine, port: int) -> str:
        return f"{WEB}:{port}"

    def way_to_broker(self, machine: Machine, broker: Machine, port: int) -> str:
        return f"{broker.address}:{port}"

    def cut_brokers(self, machine: Machine, brokers: Sequence[Machine], both: bool) -> None:
        for broker in brokers:
            _lose(broker.address, machine)
            if both:
                _lose(machine.address, broker)

    def cut(self, machine: Machine, silently: bool) -> None:
        if silently:
            _ip("link", "set", self._cables[machine.name], "nomaster")
        else:
            _ip("link", "set", "eth0", "down", on=machine)

    def mend(self, machine: Machine, brokers: Sequence[Machine]) -> None:
        _ip("link", "set", self._cables[machine.name], "master", "bridge")
        _ip("link", "set", "eth0", "up", on=machine)
        for broker in brokers:
            _find(broker.address, machine)
            _find(machine.address, broker)

    def close(self) -> None:
        for holder in self._holders.values():
            holder.kill()
            holder.wait()
            assert holder.stdout is not None
            holder.stdout.close()


class Loopback(Network):
    """All machines are this one; each has an address of its own and relays in front of the web and of each broker."""

    advertise = False  # an agent that knows a broker's own address would go round the relay

    def __init__(self) -> None:
        super().__init__()
        self._relays = Relays()

    def _make(self, name: str, number: int) -> Machine:
        return Machine(name, f"127.77.1.{number}")

    def way_to_web(self, machine: Machine, port: int) -> str:
        return self._relays.way(machine.address, "web", (self.web, port))

    def way_to_broker(self, machine: Machine, broker: Machine, port: int) -> str:
        return self._relays.way(machine.address, broker.name, (broker.address, port))

    def cut_brokers(self, machine: Machine, brokers: Sequence[Machine], both: bool) -> None:
        for broker in brokers:
            self._relays.stop(machine.address, broker.name, both)

    def cut(self, machine: Machine, silently: bool) -> None:
        self._relays.stop(machine.address, None, True)

    def mend(self, machine: Machine, brokers: Sequence[Machine]) -> None:
        self._relays.go_on(machine.address)

    def close(self) -> None:
        self._relays.close()


def enter(kind: str) -> None:
    """Goes on in namespaces of its own, if `kind` says so or it can: nothing of them is left at the end."""
    if kind == "loopback" or os.environ.get(_INSIDE):
        return
    how = ["unshare", *_NAMESPACES] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", *_NAMESPACES]
    if kind == "auto" and not _possible(how):
        return
    os.environ[_INSIDE] = "namespaces"
    _become([*how, sys.executable, *sys.argv])


def open_network() -> Network:
    return Namespaces() if os.environ.get(_INSIDE) else Loopback()


def _possible(how: Sequence[str]) -> bool:
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    attempt = [
        *how,
        "sh",
        "-c",
        "ip link add bridge type bridge && ip link add x1 type veth peer name x2 && unshare --net true",
    ]
    return subprocess.run(attempt, capture_output=True, check=False).returncode == 0


def _become(command: list[str]) -> NoReturn:
    os.execvp(command[0], command)


def _lose(address: str, machine: Machine) -> None:
    _ip("neigh", "replace", address, "lladdr", _NOBODY, "dev", "eth0", "nud", "permanent", on=machine)


def _find(address: str, machine: Machine) -> None:
    _ip("neigh", "flush", "to", address, "nud", "permanent", "dev", "eth0", on=machine)


def _ip(*words: str, on: Machine | None = None) -> None:
    subprocess.run([*(on.prefix if on else ()), "ip", *words], check=True, capture_output=True)
