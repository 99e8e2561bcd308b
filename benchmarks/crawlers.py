"""The crawlers of a side-by-side run: how each is started, what it says, what it keeps."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from machine import program_version
from processes import Finished, finish
from static_web import Hosts

HERE = Path(__file__).resolve().parent
_SEEDS = 10
_ANSWERED = (0, 8)  # of wget2: all is well; a server answered with an error, as servers do


class Run(NamedTuple):
    """What one run of a crawler brought and cost."""

    pages: int
    seconds: float
    cpu_seconds: float
    peak_rss: int

    @property
    def pages_per_s(self) -> float:
        return self.pages / self.seconds if self.seconds else 0.0

    @property
    def cpu_us_per_page(self) -> float:
        return self.cpu_seconds / self.pages * 1e6 if self.pages else float("inf")


class Failed(Exception):
    """A crawler that did not do what was asked; its last words are the message."""


class Crawler(ABC):
    """Invariant: `run` begins from nothing each time, and leaves nothing that the next run would profit from."""

    name: str
    keeps: str

    def __init__(self, web: Hosts, work: Path, core: int | None, pages: int) -> None:
        self.web = web
        self.work = work
        self.core = core
        self.pages = pages

    @property
    def seeds(self) -> list[str]:
        return self.web.first_pages(_SEEDS)

    @abstractmethod
    def missing(self) -> str:
        """Empty where it can be run, or else what to install."""

    @abstractmethod
    def version(self) -> str: ...

    @abstractmethod
    def run(self) -> Run: ...

    def _finish(self, command: Sequence[str], good: Sequence[int] = (0,)) -> Finished:
        done = finish(command, self.work, self.core)
        if done.status not in good:
            raise Failed(f"{self.name} ended with status {done.status}: {(done.errors or done.output)[-2000:].strip()}")
        return done

    def _run_that_tells(self, command: Sequence[str]) -> Run:
        """A program whose last line of JSON says how many pages it fetched, and in what time."""
        done = self._finish(command)
        said = last_json(done.output)
        if not said.get("pages"):
            raise Failed(f"{self.name} fetched nothing: {(done.errors or done.output)[-2000:].strip()}")
        return Run(int(said["pages"]), float(said["seconds"]), done.cpu_seconds, done.peak_rss)


def last_json(output: str) -> dict[str, Any]:
    """The object in the last line that holds one; empty where there is none."""
    for line in reversed(output.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return {}


class Gossamer(Crawler):
    name = "gossamer"
    keeps = "WARC, CDXJ and a durable frontier"

    def __init__(self, web: Hosts, work: Path, core: int | None, pages: int, command: str = "") -> None:
        super().__init__(web, work, core, pages)
        self._command = shlex.split(command) or [sys.executable, "-m", "gossamer"]
        self.directory = work / "crawl"
        self.stages: list[dict[str, float]] = []  # of each run, microseconds a page

    def missing(self) -> str:
        return ""

    def version(self) -> str:
        return program_version(*self._command, "--version").removeprefix("gossamer ")

    def run(self) -> Run:
        shutil.rmtree(self.directory, ignore_errors=True)
        options = "--scope any --allow-private --delay 0 --connections 64 --no-index --json".split()
        limit = ["--max-pages", str(self.pages)]
        run = self._run_that_tells(
            [*self._command, "crawl", *self.seeds, "--dir", str(self.directory), *options, *limit]
        )
        status = subprocess.run(
            [*self._command, "status", "--dir", str(self.directory), "--json"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        self.stages.append(last_json(status.stdout)["stages"])
        return run


class PythonPeer(Crawler):
    """A library in the running Python, or in one that a variable names; `NAME_peer.py` crawls with it."""

    keeps = "nothing"
    wanted: str  # as pip is told

    @property
    def _variable(self) -> str:
        return f"{self.name.upper()}_PYTHON"

    @property
    def _python(self) -> str | None:
        if importlib.util.find_spec(self.name) is not None:
            return sys.executable
        return os.environ.get(self._variable)

    def missing(self) -> str:
        return "" if self._python else f"pip install {self.wanted}, or name a Python that has it in {self._variable}"

    def version(self) -> str:
        return program_version(str(self._python), "-c", f"import {self.name}; print({self.name}.__version__)")

    def run(self) -> Run:
        script = HERE / f"{self.name}_peer.py"
        return self._run_that_tells([str(self._python), str(script), str(self.pages), *self.seeds])


class Scrapy(PythonPeer):
    name = "scrapy"
    wanted = "scrapy"


class Crawlee(PythonPeer):
    """Requests that are under way when it reaches its limit are finished and counted: up to 63 pages more."""

    name = "crawlee"
    wanted = "'crawlee[parsel]'"


class SpiderRs(Crawler):
    """Stays on the host of its seed, so it gets every host, one after the other; it knows no limit of pages."""

    name = "spider-rs"
    keeps = "nothing"

    @property
    def _package(self) -> Path:
        return Path(os.environ.get("SPIDER_RS_DIR", "spider-rs-is-not-set")) / "node_modules/@spider-rs/spider-rs"

    def missing(self) -> str:
        if shutil.which("node") is None:
            return "node is not on PATH"
        if not self._package.is_dir():
            return "npm install @spider-rs/spider-rs@0.0.157 in a folder, and name the folder in SPIDER_RS_DIR"
        return ""

    def version(self) -> str:
        return str(json.loads((self._package / "package.json").read_text())["version"])

    def run(self) -> Run:
        # node looks for packages beside the script, so the script goes to where a link leads to them.
        script = self.work / "spider_rs_peer.mjs"
        shutil.copyfile(HERE / script.name, script)
        packages = self.work / "node_modules"
        packages.unlink(missing_ok=True)
        packages.symlink_to(self._package.parents[1].resolve())
        return self._run_that_tells(["node", str(script), *self.web.first_pages(self.web.hosts)])


class Wget2(Crawler):
    """Fetches the whole web: it knows no limit of pages.

    Its files go to memory, where there is such a folder: on a disk, making 20,000 files costs more than all the rest,
    and differs from run to run by a factor of three.
    """

    name = "wget2"
    keeps = "plain files, in memory"

    def missing(self) -> str:
        return "" if shutil.which("wget2") else "apt-get install wget2"

    def version(self) -> str:
        return program_version("wget2", "--version").removeprefix("GNU Wget2 ").partition(" ")[0]

    def run(self) -> Run:
        with memory_folder() as files:
            options = "--quiet --recursive --level=0 --span-hosts --max-threads=32".split()
            done = self._finish(["wget2", *options, f"--directory-prefix={files}", *self.seeds], _ANSWERED)
            pages = sum(1 for _ in files.rglob("*.html"))
        return Run(pages, done.seconds, done.cpu_seconds, done.peak_rss)


@contextmanager
def memory_folder() -> Iterator[Path]:
    """A folder in memory, or else among the temporary ones, gone when the block ends."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-", dir=memory) as folder:
        yield Path(folder)


PEERS: tuple[type[Crawler], ...] = (Scrapy, Crawlee, SpiderRs, Wget2)
