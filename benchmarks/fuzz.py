"""Does any input raise an exception, hold a reader up, or make the scanner and the parser disagree?

    python benchmarks/fuzz.py --seconds 600 --out failures FOLDER...

FOLDER holds real pages to change; without one the documentation of this machine is taken. Inputs are made from `--seed`
and a number: `--seed 7 --first 123 --inputs 1` makes one again. Failing inputs are written to `--out`.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from itertools import islice
from multiprocessing import Process, SimpleQueue
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from fuzz_inputs import Inputs
from links import pages
from machine import description

import gossamer
from gossamer.model.url import normalize
from gossamer.parse import LinkScanner, decode
from gossamer.parse.header_links import header_links
from gossamer.parse.html import parse_links
from gossamer.parse.limits import MAX_LINKS
from gossamer.rules.robots_tag import robots_tag

URL = "http://h.example/dir/page.html?q=1"
PATIENCE = 2.0  # seconds for one input
LONGEST = 64 * 1024
TYPES = (
    "text/html", "text/html", "text/html; charset=utf-8", "text/html; charset=shift_jis", "text/html; charset=gbk",
    "text/html; charset=iso-2022-jp", "text/html; charset=euc-jp", "text/html; charset=big5",
    "text/html; charset=utf-16", "text/html; charset=windows-1251", "application/xhtml+xml",
    "text/xml", "text/plain", "nonsense", None,
)  # fmt: skip


class Difference(Exception):
    """Two readers that must agree do not."""


class Hang(BaseException):
    """An input took longer than PATIENCE. Not an Exception: nothing may catch it on the way."""


class Failure(NamedTuple):
    kind: str
    what: str
    number: int
    body: bytes


def read_page(body: bytes, content_type: str | None) -> None:
    for obey in (True, False):
        found = LinkScanner(obey_nofollow=obey).scan(body, URL, content_type)
        if found.full:
            break
        whole = parse_links(body, URL, content_type)
        kept = {link.url for link in whole.links if not (link.nofollow and obey)} - {URL}
        expected = set() if whole.nofollow and obey else kept
        if set(found.urls) != expected and len(whole.links) < MAX_LINKS:
            raise Difference(f"links {sorted(set(found.urls) ^ expected)[:3]}")
        if (found.noindex, found.nofollow) != (whole.noindex, whole.nofollow):
            raise Difference("robots rules")


def read_document(body: bytes, content_type: str | None) -> None:
    value = body[:4096].decode("latin-1")
    document = gossamer.parse(body, URL, content_type, headers=[("Link", value), ("Refresh", value)])
    for link in document.links[:50]:
        if normalize(link.url) != link.url:
            raise Difference(f"normalised twice: {link.url}")


def read_text(body: bytes, content_type: str | None) -> None:
    text, _ = decode(body, content_type)
    for line in text[:4096].split("\n")[:20]:
        target = normalize(line, URL)
        if target is not None and normalize(target) != target:
            raise Difference(f"normalised twice: {line!r}")


def read_robots(body: bytes, content_type: str | None) -> None:
    gossamer.robots_allows(body, "gossamer", URL)
    robots_tag(b"HTTP/1.1 200 OK\r\nX-Robots-Tag: " + body[:4096] + b"\r\n\r\n", "gossamer")
    header_links([("link", body.decode("utf-8", "replace"))], URL)


def _others() -> list[Callable[[bytes, str | None], None]]:
    """Readers of other formats, as far as there are any."""
    found: list[Callable[[bytes, str | None], None]] = []
    for module, name in (("sitemap", "read_sitemap"), ("feed", "read_feed")):
        try:
            read = getattr(__import__(f"gossamer.parse.{module}", fromlist=[name]), name)
        except (ImportError, AttributeError):
            continue
        found.append(lambda body, content_type, read=read: read(body, URL, content_type))  # type: ignore[misc]
    return found


READERS = (read_page, read_document, read_text, read_robots, *_others())


def examine(number: int, body: bytes, content_type: str | None) -> Failure | None:
    try:
        for read in READERS:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            read(body, content_type)
    except Difference as error:
        return Failure("difference", str(error), number, body)
    except Hang:
        return Failure("hang", f"{read.__name__}, {content_type}", number, body)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return Failure("exception", f"{error!r} at {last.filename}:{last.lineno}, {content_type}", number, body)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def _hang(signum: int, frame: FrameType | None) -> None:
    raise Hang


def work(
    results: SimpleQueue[object], samples: list[bytes], seed: int, first: int, step: int, inputs: int, until: float
) -> None:
    """Every `step`th input from `first`: how many of each kind, and what failed."""
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _hang)
    counts: Counter[str] = Counter()
    made = Inputs(samples, seed, LONGEST)
    for number in range(first, first + inputs, step):
        if time.time() > until:
            break
        kind, body = made.input(number)
        content_type = random.Random(number).choice(TYPES)
        counts[kind] += 1
        failure = examine(number, body, content_type)
        if failure is not None:
            results.put(failure)
    results.put(counts)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("folders", nargs="*", type=Path, default=[Path("/usr/share/doc")])
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--inputs", type=int, default=5_000_000)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--samples", type=int, default=2000, help="real pages to change")
    options.add_argument("--processes", type=int, default=os.cpu_count())
    options.add_argument("--out", type=Path, default=None, help="folder for failing inputs")
    given = options.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if given.seed is None else given.seed
    chosen = islice(pages(given.folders, 0.2), given.samples)
    samples = [path.read_bytes()[:LONGEST] for path in chosen]
    print(f"{description(('resiliparse',))}\nseed {seed}, {len(samples)} real pages", flush=True)
    results: SimpleQueue[object] = SimpleQueue()
    until, processes = time.time() + given.seconds, given.processes
    workers = [
        Process(target=work, args=(results, samples, seed, given.first + n, processes, given.inputs - n, until))
        for n in range(processes)
    ]
    for worker in workers:
        worker.start()
    counts: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    left = len(workers)
    while left:
        said = results.get()
        if isinstance(said, Failure):
            failures[said.kind] += 1
            _report(said, failures[said.kind], given.out)
        elif isinstance(said, Counter):
            counts += said
            left -= 1
    inputs = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    print(f"{counts.total():,} inputs ({inputs}) through {len(READERS)} readers")
    print(", ".join(f"{failures[kind]} {kind}s" for kind in ("exception", "hang", "difference")))
    return 1 if failures else 0


def _report(failure: Failure, count: int, out: Path | None) -> None:
    if count <= 20:
        print(f"{failure.kind} at {failure.number}: {failure.what[:300]}", flush=True)
    if out is not None and count <= 1000:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{failure.kind}-{failure.number}-{sha256(failure.body).hexdigest()[:8]}").write_bytes(failure.body)


if __name__ == "__main__":
    sys.exit(main())
