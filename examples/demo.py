"""`make demo`: crawl a simulated web on loopback for a few seconds, search what was found, then leave the pages open
while the crawl goes on, until Ctrl-C.

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
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

GOSSAMER = str(Path(sys.executable).with_name("gossamer"))
HOME = Path("demo-crawl")
HOSTS, PAGES = 60, 60
WORD = "garden"
PATIENCE = 10.0  # seconds that a command has for ending before it is killed
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """Whether somebody has asked the demo to end.

    Signals are only noted, never raised: whatever the demo does at that moment, it ends what it has started.
    """

    def __init__(self, seconds: float) -> None:
        self.asked = False
        self._until = time.monotonic() + seconds if seconds else None
        for number in ENDINGS:
            signal.signal(number, self._ask)

    def __bool__(self) -> bool:
        return self.asked or (self._until is not None and time.monotonic() >= self._until)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=0, help="end by itself after about this long; 0: with Ctrl-C")
    options.add_argument("--first", type=float, default=15, help="seconds of the crawl that is shown on the terminal")
    options.add_argument("--port", type=int, default=8000, help="of the pages; another one if it is taken")
    given = options.parse_args()
    stop = Stop(given.seconds)
    if HOME.exists():
        if not (HOME / "gossamer.toml").exists() and any(HOME.iterdir()):
            sys.exit(f"{HOME} is not a crawl of this demo; move it away and try again.")
        shutil.rmtree(HOME)  # the demo's own, from last time
    HOME.mkdir()
    first = min(given.first, given.seconds * 0.4) if given.seconds else given.first
    with simulated_web() as web, service(given.port) as pages:
        status = demonstrate(web, pages, first, stop)
    if status == 0:
        print(f"Go on with: gossamer serve --dir {HOME}, or gossamer report --dir {HOME} --out report.html")
    return status


def demonstrate(web: str, pages: str, first: float, stop: Stop) -> int:
    """Show everything in turn, as far as there is time; the exit status."""
    print(f"\nWatch it in a browser: http://{pages}/dashboard - and search: http://{pages}/\n")
    status = crawl(web, first, stop)
    if stop.asked:
        return 0
    if status not in (0, 130):
        return status
    show(["urls", "--dir", str(HOME), "--state", "fetched"], "Some of what was fetched", 5)
    show(["urls", "--dir", str(HOME), "--state", "excluded"], "Some of what was left out, and why", 5)
    print(f"\nEverything is in {HOME}/: pages in warc/, readable by any web archive tool; the index in index/.")
    find()
    # The same crawl goes on: first to the pages that it knows by now, then again to those that change.
    with running("crawl", "--dir", str(HOME), "--time-limit", "0", "--keep-fresh", quiet=True) as going_on:
        print(f"\nThe crawl goes on. Dashboard: http://{pages}/dashboard   search: http://{pages}/")
        print("Ctrl-C ends the demo.", flush=True)
        while not stop and going_on.poll() is None:
            time.sleep(0.1)
    if not stop:
        print(f"The crawl has ended by itself: {HOME}/logs says why.", file=sys.stderr)
        return 1
    return 0


@contextmanager
def simulated_web() -> Iterator[str]:
    """The address of the simulated web."""
    size = ["--hosts", str(HOSTS), "--pages", str(PAGES), "--profile", "realistic"]
    with running("simweb", "--port", "0", *size) as web:
        said = first_line(web)
        print(said)
        yield address_in(said) or sys.exit("The simulated web did not start.")


@contextmanager
def service(wanted: int) -> Iterator[str]:
    """The address of the pages: at the port that is wanted, if that is free."""
    for port in (wanted, 0):
        with running("serve", "--dir", str(HOME), "--port", str(port), quiet=bool(port)) as pages:
            address = address_in(first_line(pages))
            if address:
                yield address
                return
    sys.exit("The service did not start.")


@contextmanager
def running(*arguments: str, quiet: bool = False) -> Iterator[subprocess.Popen[str]]:
    """Run a command of gossamer beside this program, and end it.

    In a process group of its own: Ctrl-C reaches this program alone, which then ends the commands one after the other,
    each with one signal.
    """
    with subprocess.Popen(
        [GOSSAMER, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
        process_group=0,
    ) as command:
        try:
            yield command
        finally:
            end(command)


def end(command: subprocess.Popen[str]) -> None:
    command.terminate()
    try:
        command.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        command.kill()


def first_line(command: subprocess.Popen[str]) -> str:
    assert command.stdout is not None
    return command.stdout.readline().strip()


def address_in(said: str) -> str:
    return said.partition("http://")[2].partition("/")[0].split(" ")[0]


def crawl(web: str, seconds: float, stop: Stop) -> int:
    """Crawl with live progress on this terminal for some seconds, or until somebody asks the demo to end."""
    from gossamer.testing import World  # takes a moment, in which Ctrl-C should be heeded already

    command = [
        GOSSAMER, "crawl", World(1, HOSTS, PAGES, "realistic").url(0), "--dir", str(HOME), "--scope", "any",
        "--connect", f"*={web}", "--allow-private", "--delay", "0.1", "--contact", "https://example.org/demo",
        "--time-limit", f"{seconds}s",
    ]  # fmt: skip
    print("$", " ".join(command).replace(GOSSAMER, "gossamer"), "\n", flush=True)
    with subprocess.Popen(command, text=True, process_group=0) as crawling:
        while crawling.poll() is None and not stop.asked:
            time.sleep(0.1)
        end(crawling)
    return crawling.returncode


def find() -> None:
    arguments = ["search", WORD, "--dir", str(HOME), "-n", "3"]
    print(f"\nA search ($ gossamer {' '.join(arguments)}):", flush=True)
    subprocess.run([GOSSAMER, *arguments], check=False, process_group=0)


def show(arguments: list[str], title: str, most: int) -> None:
    print(f"\n{title} ($ gossamer {' '.join(arguments)}):", flush=True)
    with subprocess.Popen([GOSSAMER, *arguments], stdout=subprocess.PIPE, text=True, process_group=0) as command:
        assert command.stdout is not None
        number = -1
        for number, line in enumerate(command.stdout):
            if number < most:
                print(" ", line.strip())
        print(f"  ({number + 1:,} in all)")


if __name__ == "__main__":
    sys.exit(main())
