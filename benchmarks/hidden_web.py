"""A catalogue behind a search form: how much of it is found, by the number of queries.

python benchmarks/hidden_web.py: three times the same catalogue of 5,000 records: with queries chosen by what earlier
ones brought, with the most frequent words, and with words in a random order. The server's log is the judge.
With --post the form is sent with POST, which the crawl is allowed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from zlib import crc32

from gossamer.apps.hidden_web import HiddenWeb
from gossamer.testing.catalogue import Catalogue


class Frequent(HiddenWeb):
    """Learns nothing from answers."""

    def expected(self, asking: Any, frequency: int) -> float:
        return frequency


class AnyWord(HiddenWeb):
    """Words of the pages found, in no order that means anything."""

    def _best(self, asking: Any, site: Any, most: int) -> list[tuple[str, float]]:
        left = sorted((word for word in site.words if word not in asking.asked), key=lambda word: crc32(word.encode()))
        return [(word, 0.0) for word in left[:most]]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--records", type=int, default=5000)
    options.add_argument("--queries", type=int, default=400)
    options.add_argument("--most", type=int, default=200, help="results that the form shows of a query")
    options.add_argument("--post", action="store_true", help="the form is sent with POST")
    given = options.parse_args()
    steps = range(100, given.queries + 1, 100)
    print(
        f"| {given.records:,} records, {given.most} results of a query at most{', POST' if given.post else ''} | "
        + " | ".join(f"{n} queries" for n in steps)
        + " |"
    )
    print("|---|" + "---:|" * len(steps))
    for name, app in (
        ("learned", "hidden_web:HiddenWeb"), ("most frequent", "hidden_web:Frequent"), ("any", "hidden_web:AnyWord")
    ):  # fmt: skip
        print(f"| {name} | " + " | ".join(measure(given, app, steps)) + " |", flush=True)


def measure(given: argparse.Namespace, app: str, steps: range) -> list[str]:
    with Catalogue(given.records, most=given.most, post=given.post) as site, tempfile.TemporaryDirectory() as scratch:
        command = [
            sys.executable, "-m", "gossamer", "crawl", site.seed, "--dir", f"{scratch}/crawl", "--delay", "0",
            "--host-connections", "4", "--connect", site.connect, "--allow-private", "--no-index",
            "--app", f"hidden={app},queries={given.queries},share=4,post={site.seed}search",
        ]  # fmt: skip
        subprocess.run(command, check=True, cwd=Path(__file__).parent, capture_output=True)
        points = site.coverage()
    return [
        f"{max((records for count, records in points if count <= step), default=0) / given.records:.0%}"
        for step in steps
    ]


if __name__ == "__main__":
    main()
