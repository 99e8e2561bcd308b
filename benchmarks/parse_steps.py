"""Where does the time go when a page is read? The crawl's scanner and the whole parser, step by step.

    python benchmarks/parse_steps.py [FILE...]

Without files, the page of the other benchmarks (13.8 KB, 16 links) is read.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import description
from resiliparse.parse.html import HTMLTree
from static_web import StaticWeb
from tables import table

import gossamer
from gossamer.model.url import normalize
from gossamer.parse import LinkScanner
from gossamer.parse.charset import decode
from gossamer.parse.grammar import LINKS
from gossamer.parse.html import parse_links
from gossamer.parse.links import FOLLOWED, LinkReader, readers_of
from gossamer.parse.scan import Found
from gossamer.parse.tame import tame

TYPE = "text/html"
TARGET = 120.0  # microseconds for what a crawl does with the page of the benchmarks
_SELECTED = ", ".join(sorted({"meta", *readers_of(FOLLOWED)}))

Step = tuple[str, Callable[[], Any]]


def steps(body: bytes, url: str) -> list[Step]:
    """Each step is given what the ones before it made, so that only its own work is measured."""
    scanner = LinkScanner()
    groups = LINKS.findall(body)
    references = [(other[1:] or absolute or plain).decode("latin-1") for plain, absolute, other, _, _ in groups]
    references = [reference for reference in references if reference]
    text, charset = decode(body, TYPE)
    tree = HTMLTree.parse(tame(text))
    nodes = list(tree.document.query_selector_all(_SELECTED))

    def read_links() -> None:
        links = LinkReader(url, charset, with_text=False)
        for node in nodes:
            links.read(node, node.tag)

    return [
        ("scan: all, as the crawl does it", lambda: scanner.scan(body, url, TYPE)),
        ("scan: may it be scanned, charset", lambda: scanner._may_scan(body, TYPE)),
        ("scan: the pattern", lambda: LINKS.findall(body)),
        ("scan: links joined by normalize", lambda: [normalize(reference, url) for reference in references]),
        ("parser: all, links only", lambda: parse_links(body, url, TYPE)),
        ("parser: decode", lambda: decode(body, TYPE)),
        ("parser: tame", lambda: tame(text)),
        ("parser: tree", lambda: HTMLTree.parse(text)),
        ("parser: elements", lambda: list(tree.document.query_selector_all(_SELECTED))),
        ("parser: links of them", read_links),
        ("document: all, with text", lambda: gossamer.parse(body, url, TYPE)),
    ]


def microseconds(call: Callable[[], Any], rounds: int, seconds: float) -> tuple[float, float]:
    """The least and the median of `rounds`, each of as many calls as fit: CPU time, since others may use the core."""
    started = time.process_time()
    call()
    calls = max(1, int(seconds / rounds / max(time.process_time() - started, 1e-7)))
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(calls):
            call()
        taken.append((time.process_time() - started) / calls * 1e6)
    return min(taken), statistics.median(taken)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--seconds", type=float, default=1.0, help="for each step of each page")
    given = options.parse_args()
    bodies = {path.name: path.read_bytes() for path in given.files}
    if not bodies:
        bodies = {"the page of the benchmarks": StaticWeb(100, 200, 8080).page(57, 100).encode()}
    print(description(("resiliparse", "ada-url")))
    for name, body in bodies.items():
        url = f"http://127.1.0.58:8080/dir/{len(name)}.html"
        found: Found = LinkScanner().scan(body, url, TYPE)
        print(f"\n{name}: {len(body):,} bytes, {len(found.urls)} links, scanned: {'no' if found.full else 'yes'}\n")
        rows = []
        for step, call in steps(body, url):
            least, median = microseconds(call, given.rounds, given.seconds)
            rows.append([step, f"{least:,.1f}", f"{median:,.1f}"])
        print(table(["step", "least µs", "median µs"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
