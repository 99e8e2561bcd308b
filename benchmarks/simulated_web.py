"""`gossamer simweb` in a process of its own, as a crawl's other side and its judge's memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from processes import pinned

GOSSAMER = (sys.executable, "-m", "gossamer")
_ADDRESS = re.compile(r"http://(127\.0\.0\.1:\d+)/")
_SEED = re.compile(r"Seed URL: (\S+)")


class Arrival(NamedTuple):
    """A request as the server saw it; `time` in seconds on a clock that does not jump."""

    time: float
    host: str
    path: str

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.path}"


class Outcome(NamedTuple):
    """`kind` as the simulated web names it; `status` is 0 where no response is to be had."""

    kind: str
    status: int
    mirrored: bool = False  # another host shows the same

    @property
    def fetched(self) -> bool:
        return self.status != 0


class SimulatedWeb:
    """A web of `hosts` x `pages`, the same each time it is served; plain, unless `more` options say otherwise.

    Invariant: `arrivals` is complete once `served` has ended; until then the last half second may be missing.
    """

    def __init__(self, hosts: int, pages: int, log: Path, *more: str) -> None:
        self._options = ["--hosts", str(hosts), "--pages", str(pages), *more]
        self._log = log
        self.address = ""
        self.seed = ""

    @contextmanager
    def served(self, core: int | None = None) -> Iterator[None]:
        command = [*GOSSAMER, "simweb", "--port", "0", *self._options, "--log", str(self._log)]
        process = subprocess.Popen(pinned(command, core), stdout=subprocess.PIPE, text=True)
        try:
            self._read_greeting(process)
            yield
        finally:
            process.terminate()  # it writes the rest of its log
            process.communicate()

    def _read_greeting(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if address := _ADDRESS.search(line):
                self.address = address[1]
            if seed := _SEED.match(line):
                self.seed = seed[1]
            if line.startswith("Ctrl-C"):
                return
        raise RuntimeError("gossamer simweb ended before it served anything")

    def truth(self) -> set[str]:
        """What a correct crawl fetches."""
        return set(self._listed().split())

    def outcomes(self, seeds: Sequence[str] = ()) -> dict[str, Outcome]:
        """What becomes of every URL that a correct crawl comes to know."""
        named = [word for seed in seeds for word in ("--seed-url", seed)]
        lines = map(json.loads, self._listed("--json", *named).splitlines())
        return {line["url"]: Outcome(line["kind"], line["status"], line["mirrored"]) for line in lines}

    def _listed(self, *more: str) -> str:
        command = [*GOSSAMER, "simweb", *self._options, "--list", *more]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def arrivals(self) -> list[Arrival]:
        return read_arrivals(self._log.read_text().splitlines())

    def crawl(self, directory: Path, *more: str) -> list[str]:
        """The command that crawls this web into `directory`, or goes on with it."""
        assert self.address, "the web is not served yet"
        return [
            *GOSSAMER, "crawl", self.seed, "--dir", str(directory), "--scope", "any", "--allow-private", "--connect",
            f"*={self.address}", "--no-index", "--json", *more,
        ]  # fmt: skip


def read_arrivals(lines: Sequence[str]) -> list[Arrival]:
    rows = (json.loads(line) for line in lines)
    return [Arrival(row["time"], row["host"], row["path"]) for row in rows]
