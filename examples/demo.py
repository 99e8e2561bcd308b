"""`make demo`: a simulated web on loopback, a crawl of it with live progress, and what was found.

Needs no internet, no database and no root.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

from gossamer.testing import World

GOSSAMER = str(Path(sys.executable).with_name("gossamer"))
HOME = Path("demo-crawl")
HOSTS, PAGES = 60, 60


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=0, help="end by itself after about this long; 0: at the end")
    seconds = options.parse_args().seconds
    began = time.monotonic()
    if HOME.exists():
        if not (HOME / "gossamer.toml").exists():
            sys.exit(f"{HOME} is not a crawl of this demo; move it away and try again.")
        shutil.rmtree(HOME)  # the demo's own, from last time
    web = subprocess.Popen(
        [GOSSAMER, "simweb", "--port", "0", "--hosts", str(HOSTS), "--pages", str(PAGES), "--profile", "realistic"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert web.stdout is not None
        said = web.stdout.readline()
        address = said.partition("http://")[2].partition("/")[0]
        if not address:
            sys.exit("The simulated web did not start.")
        print(said.strip())
        crawl = [
            GOSSAMER, "crawl", World(1, HOSTS, PAGES, "realistic").url(0), "--dir", str(HOME), "--scope", "any",
            "--connect", f"*={address}", "--allow-private", "--delay", "0.1", "--contact", "https://example.org/demo",
            *(["--time-limit", f"{max(seconds * 0.6, 1)}s"] if seconds else []),
        ]  # fmt: skip
        print("$", " ".join(crawl).replace(GOSSAMER, "gossamer"), "\n", flush=True)
        status = subprocess.run(crawl, check=False).returncode
        if status not in (0, 130):
            return status
        show(["urls", "--dir", str(HOME), "--state", "fetched"], "Some of what was fetched", 5)
        show(["urls", "--dir", str(HOME), "--state", "excluded"], "Some of what was left out, and why", 5)
        print("\nA search ($ gossamer search garden --dir demo-crawl -n 3):", flush=True)
        subprocess.run([GOSSAMER, "search", "garden", "--dir", str(HOME), "-n", "3"], check=False)
        print(f"\nEverything is in {HOME}/: pages in warc/, readable by any web archive tool.")
        print(f"The whole demo took {time.monotonic() - began:.0f} s. Go on with: gossamer status --dir {HOME}")
    finally:
        web.terminate()
        web.wait()
    return 0


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
