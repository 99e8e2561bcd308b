"""`make demo`: a simulated web on loopback and a crawl of it, with progress here and on a dashboard; then a search, and
the pages until Ctrl-C.

Needs no internet, no database and no root.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gossamer.testing import World

GOSSAMER = str(Path(sys.executable).with_name("gossamer"))
HOME = Path("demo-crawl")
HOSTS, PAGES = 60, 60
WORD = "garden"
PORT = 8000


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=0, help="end by itself after about this long; 0: with Ctrl-C")
    seconds = options.parse_args().seconds
    until = time.monotonic() + seconds if seconds else None
    if HOME.exists():
        if not (HOME / "gossamer.toml").exists() and any(HOME.iterdir()):
            sys.exit(f"{HOME} is not a crawl of this demo; move it away and try again.")
        shutil.rmtree(HOME)  # the demo's own, from last time
    HOME.mkdir()
    with simulated_web() as web, service() as pages:
        print(f"\nWatch it in a browser: http://{pages}/dashboard - and search: http://{pages}/\n")
        status = crawl(web, max(seconds * 0.4, 1) if seconds else 0)
        if status not in (0, 130):
            return status
        show(["urls", "--dir", str(HOME), "--state", "fetched"], "Some of what was fetched", 5)
        show(["urls", "--dir", str(HOME), "--state", "excluded"], "Some of what was left out, and why", 5)
        print(f"\nEverything is in {HOME}/: pages in warc/, readable by any web archive tool; the index in index/.")
        find()
        print(f"\nDashboard: http://{pages}/dashboard   search: http://{pages}/   Ctrl-C ends the demo.", flush=True)
        with suppress(KeyboardInterrupt):
            while until is None or time.monotonic() < until:
                time.sleep(0.2)
    print(f"Go on with: gossamer serve --dir {HOME}, or gossamer report --dir {HOME} --out report.html")
    return 0


@contextmanager
def simulated_web() -> Iterator[str]:
    """Its address."""
    size = ["--hosts", str(HOSTS), "--pages", str(PAGES), "--profile", "realistic"]
    with running("simweb", "--port", "0", *size) as said:
        print(said)
        yield address_in(said) or sys.exit("The simulated web did not start.")


@contextmanager
def service() -> Iterator[str]:
    """The address of the pages: at the usual port, if that is free."""
    for port in (PORT, 0):
        with running("serve", "--dir", str(HOME), "--port", str(port), quiet=bool(port)) as said:
            address = address_in(said)
            if address:
                yield address
                return
    sys.exit("The service did not start.")


@contextmanager
def running(*arguments: str, quiet: bool = False) -> Iterator[str]:
    """A command of gossamer, until the end; gives the first line that it says."""
    with subprocess.Popen(
        [GOSSAMER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if quiet else None, text=True
    ) as command:
        assert command.stdout is not None
        try:
            yield command.stdout.readline().strip()
        finally:
            command.send_signal(signal.SIGINT)


def address_in(said: str) -> str:
    return said.partition("http://")[2].partition("/")[0].split(" ")[0]


def crawl(web: str, seconds: float) -> int:
    command = [
        GOSSAMER, "crawl", World(1, HOSTS, PAGES, "realistic").url(0), "--dir", str(HOME), "--scope", "any",
        "--connect", f"*={web}", "--allow-private", "--delay", "0.1", "--contact", "https://example.org/demo",
        *(["--time-limit", f"{seconds}s"] if seconds else []),
    ]  # fmt: skip
    print("$", " ".join(command).replace(GOSSAMER, "gossamer"), "\n", flush=True)
    return subprocess.run(command, check=False).returncode


def find() -> None:
    arguments = ["search", WORD, "--dir", str(HOME), "-n", "3"]
    print(f"\nA search ($ gossamer {' '.join(arguments)}):", flush=True)
    subprocess.run([GOSSAMER, *arguments], check=False)


def show(arguments: list[str], title: str, most: int) -> None:
    print(f"\n{title} ($ gossamer {' '.join(arguments)}):", flush=True)
    with subprocess.Popen([GOSSAMER, *arguments], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        number = -1
        for number, line in enumerate(command.stdout):
            if number < most:
                print(" ", line.strip())
        print(f"  ({number + 1:,} in all)")


if __name__ == "__main__":
    sys.exit(main())
