"""What a crawl directory and a server's log say about a crawl, and whether that is as promised."""

from __future__ import annotations

import json
import re
import subprocess
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from simulated_web import GOSSAMER, Arrival

ROBOTS = "/robots.txt"
_is_no_page = re.compile(r"/(?:robots\.txt|sitemap[^/]*\.xml(?:\.gz)?)$").search  # of simulated webs


class Verdict(NamedTuple):
    """A rule, what was found, what is allowed."""

    rule: str
    found: str
    allowed: str
    holds: bool

    def row(self) -> list[str]:
        return [self.rule, self.found, self.allowed, "holds" if self.holds else "BROKEN"]


# -- the directory -----------------------------------------------------------------------------------------------------


def fetched(directory: Path) -> set[str]:
    """What the frontier says was fetched."""
    listed = subprocess.run(
        [*GOSSAMER, "urls", "--dir", str(directory), "--state", "fetched"], capture_output=True, text=True, check=True
    )
    return {json.loads(line)["url"] for line in listed.stdout.splitlines()}


def captures(directory: Path) -> tuple[list[dict[str, Any]], int]:
    """The pages in the CDXJ files, and how many lines cannot be read. robots.txt and sitemaps are stored too, and are
    no pages.
    """
    found = []
    unreadable = 0
    for file in sorted((directory / "warc").glob("*.cdxj")):
        for line in file.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]:
            try:
                capture = json.loads(line.split(" ", 2)[2])
            except (IndexError, ValueError):
                unreadable += 1
                continue
            if not _is_no_page(capture["url"]):
                found.append(capture)
    return found, unreadable


def is_stored(directory: Path, capture: dict[str, Any]) -> bool:
    """Whether the place that a CDXJ line names holds one whole gzip member with the response from this URL."""
    with open(directory / "warc" / capture["filename"], "rb") as file:
        file.seek(int(capture["offset"]))
        packed = file.read(int(capture["length"]))
    reader = zlib.decompressobj(wbits=31)
    try:
        record = reader.decompress(packed)
    except zlib.error:
        return False
    whole = reader.eof and not reader.unused_data
    head = record.partition(b"\r\n\r\n")[0].split(b"\r\n")
    return whole and b"WARC-Type: response" in head and f"WARC-Target-URI: {capture['url']}".encode() in head


def judge_pages(directory: Path, truth: set[str]) -> list[Verdict]:
    """The three rules about what a finished crawl holds."""
    known = fetched(directory)
    found, unreadable = captures(directory)
    times = Counter(capture["url"] for capture in found)
    again = sum(count - 1 for count in times.values())
    broken = unreadable + sum(not is_stored(directory, capture) for capture in found)
    return [
        Verdict(
            "fetched is what the web has",
            f"{len(truth - known):,} missing, {len(known - truth):,} too many",
            f"the {len(truth):,} pages",
            known == truth,
        ),
        Verdict(
            "each page once in CDXJ",
            f"{len(truth - times.keys()):,} missing, {again:,} again",
            "1 line each",
            times.keys() == truth and not again,
        ),
        Verdict("each line leads to its record", f"{broken:,} do not", "0", not broken),
    ]


# -- the log -----------------------------------------------------------------------------------------------------------


def repeated(arrivals: Sequence[Arrival]) -> int:
    """Requests beyond one for each URL; robots.txt is not counted."""
    pages = [arrival.url for arrival in arrivals if arrival.path != ROBOTS]
    return len(pages) - len(set(pages))


def most_in(times: Sequence[float], window: float) -> int:
    """The largest number of these ascending times that fall within `window` seconds."""
    most = start = 0
    for end, time in enumerate(times):
        while time - times[start] > window:
            start += 1
        most = max(most, end - start + 1)
    return most


def closest(arrivals: Sequence[Arrival]) -> dict[str, tuple[float, str, str]]:
    """For every host with two requests the least time between two, robots.txt included, and the paths of these."""
    found: dict[str, tuple[float, str, str]] = {}
    last: dict[str, Arrival] = {}
    for arrival in sorted(arrivals):
        before = last.get(arrival.host)
        if before is not None:
            gap = arrival.time - before.time
            if arrival.host not in found or gap < found[arrival.host][0]:
                found[arrival.host] = gap, before.path, arrival.path
        last[arrival.host] = arrival
    return found


def smallest_gap(arrivals: Sequence[Arrival]) -> tuple[float, str]:
    """The least time between two requests to the same host, and the host."""
    return min(((gap, host) for host, (gap, _, _) in closest(arrivals).items()), default=(float("inf"), ""))
