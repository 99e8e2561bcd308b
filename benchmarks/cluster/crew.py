"""The agents of a trial: processes on machines of their own, started directly, so that nobody mends what breaks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cluster.brokers import Brokers
from cluster.network import Machine, Network

GOSSAMER = (sys.executable, "-m", "gossamer")
_AT_ONCE = 4  # directories that are read together
_TICK = os.sysconf("SC_CLK_TCK")


class Size(NamedTuple):
    """Of an agent with all its processes, now."""

    memory: int  # bytes
    descriptors: int
    processes: int


class Agent:
    """`gossamer agent`: a supervisor and the agent itself. Invariant: at most one of them runs."""

    def __init__(self, name: str, machine: Machine, home: Path) -> None:
        self.name = name
        self.machine = machine
        self.directory = home / name
        self.words = home / f"{name}.log"  # what its processes said, one after the other
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.cpu_seconds = 0.0  # of its processes that have ended
        self.spent = False  # its directory is not part of the crawl any more

    @property
    def running(self) -> bool:
        return self.process is not None and self.poll() is None

    def poll(self) -> int | None:
        """The status it ended with. Not Popen.poll: that would take the status without telling what was used."""
        assert self.process is not None
        if self.process.returncode is None:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu_seconds += used.ru_utime + used.ru_stime
        return self.process.returncode

    def signal(self, number: int) -> None:
        """To all its processes, as if the machine did it."""
        assert self.process is not None
        _send([self.process.pid, *descendants(self.process.pid)], number)

    def signal_inner(self, number: int) -> None:
        """To the agent itself, which its supervisor looks after."""
        assert self.process is not None
        _send(children(self.process.pid), number)

    def kill(self) -> None:
        """All of it: its machine has lost its power."""
        assert self.process is not None
        if self.poll() is None:
            self.signal(signal.SIGKILL)
            while self.poll() is None:
                time.sleep(0.001)

    def cpu_now(self) -> float:
        """Seconds used so far by its processes that run."""
        assert self.process is not None
        return sum(map(cpu_seconds, [self.process.pid, *descendants(self.process.pid)]))

    @property
    def deaths(self) -> int:
        """How often its supervisor had to start it again."""
        return self.words.read_bytes().count(b" died of ") if self.words.is_file() else 0

    def size(self) -> Size | None:
        if not self.running:
            return None
        assert self.process is not None
        pids = [self.process.pid, *descendants(self.process.pid)]
        return Size(sum(map(_memory, pids)), sum(map(_descriptors, pids)), len(pids))


class Crew:
    """All agents of a crawl, those that were and those that are."""

    def __init__(self, network: Network, brokers: Brokers, web_port: int, home: Path) -> None:
        self.network = network
        self.brokers = brokers
        self.home = home
        self.checkpoints = home / "checkpoints"
        self.agents: dict[str, Agent] = {}
        self._web_port = web_port
        home.mkdir(parents=True, exist_ok=True)

    def make_crawl(self, settings: str) -> None:
        """What all agents share; before the first of them."""
        file = self.home / "settings.toml"
        file.write_text(settings)
        self.command("config", str(file))

    def start(self, name: str, *seeds: str, machine: str | None = None) -> Agent:
        """A new agent, or the same again from its directory."""
        agent = self.agents.get(name)
        if agent is None:
            agent = self.agents[name] = Agent(name, self.network.machine(machine or name), self.home)
        assert not agent.running
        agent.starts += 1
        command = [*agent.machine.prefix, *self._command(agent, seeds)]
        with open(agent.words, "ab") as words:
            agent.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                process_group=0,
                cwd=self.home,
                env=self.brokers.environment,
            )
        return agent

    def start_alone(self, name: str, command: Sequence[str]) -> None:
        """A crawl of another kind, to compare with."""
        agent = self.agents[name] = Agent(name, self.network.machine("bare"), self.home)
        with open(agent.words, "ab") as words:
            agent.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=words, stderr=words)

    def _command(self, agent: Agent, seeds: Sequence[str]) -> list[str]:
        way = f"*={self.network.way_to_web(agent.machine, self._web_port)}"
        return [
            *GOSSAMER, "agent", "--cluster", self.brokers.addresses(agent.machine), "--name", agent.name, "--dir",
            str(agent.directory), "--checkpoints", str(self.checkpoints), "--connect", way, *seeds,
        ]  # fmt: skip

    def checkpoint(self) -> None:
        """All agents make copies of all their partitions, so that who takes over reads these first."""
        if there := self.running():
            command = [*GOSSAMER, "control", "checkpoint", "--dir", str(there[0].directory)]
            subprocess.run(command, capture_output=True, check=False, timeout=60)

    @property
    def checkpoint_files(self) -> int:
        return sum(len(names) for _, _, names in os.walk(self.checkpoints))

    def drain(self, name: str) -> None:
        self.command("drain", name)

    def command(self, *words: str) -> str:
        """`gossamer cluster`, on a machine of its own."""
        machine = self.network.machine("operator")
        command = [*machine.prefix, *GOSSAMER, "cluster", *words, "--cluster", self.brokers.addresses(machine)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=self.home,
            env=self.brokers.environment,
        )
        if done.returncode:
            raise RuntimeError(f"gossamer cluster {' '.join(words)}: status {done.returncode}, {done.stderr[-500:]}")
        return done.stdout

    def lose_disk(self, name: str) -> None:
        """With the agent dead; its WARC files, too, are gone."""
        shutil.rmtree(self.agents[name].directory)

    def running(self) -> list[Agent]:
        return [agent for agent in self.agents.values() if agent.running]

    def end(self) -> None:
        for agent in self.agents.values():
            if agent.process is not None and agent.poll() is None:
                agent.kill()

    def listings(self) -> dict[str, list[tuple[str, str]]]:
        """What the directories hold of those agents that are part of the crawl."""
        agents = [agent for agent in self.agents.values() if not agent.spent]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            found = threads.map(lambda agent: list(_listed(agent.directory)), agents)
            return {agent.name: listing for agent, listing in zip(agents, found, strict=True)}

    def last_words(self, agent: Agent, lines: int = 15) -> str:
        if not agent.words.is_file():
            return ""
        return "\n".join(agent.words.read_text(errors="replace").splitlines()[-lines:])


def _listed(directory: Path) -> Iterable[tuple[str, str]]:
    if not (directory / "frontier").is_dir():
        return
    command = [*GOSSAMER, "urls", "--dir", str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        row: dict[str, Any] = json.loads(line)
        yield row["url"], row["state"]


def children(pid: int) -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and _parent(int(entry)) == pid]


def descendants(pid: int) -> list[int]:
    """Processes that it started, and those that these started."""
    found = children(pid)
    for child in list(found):
        found += descendants(child)
    return found


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def cpu_seconds(pid: int) -> float:
    """Used so far by a process that runs, and by those of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def _memory(pid: int) -> int:
    """Its own share: pages that processes have in common are counted once."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0
