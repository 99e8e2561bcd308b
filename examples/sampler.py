"""A sampler: shares of languages or of server software among all pages, from a sample of them, and how sure they are.

python sampler.py https://www.example.org/ --pages 2000 --dir sample

The same command goes on with a sample that was not finished.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gossamer
from gossamer.errors import GossamerError


class Traits(gossamer.Application):
    """What each page is like."""

    def pages(self, pages: Sequence[gossamer.AppPage]) -> Iterator[dict[str, Any]]:
        for page in pages:
            server = next((value for name, value in page.headers if name.lower() == "server"), "")
            software = server.split("/")[0].strip()[:40] or "not said"
            yield {"url": page.url, "language": page.document.language or "unknown",
                   "server": "".join(letter if letter.isprintable() else " " for letter in software)}  # fmt: skip


class Sampled(NamedTuple):
    host: str
    weight: float  # pages that this one stands for
    trait: str


class Share(NamedTuple):
    trait: str
    share: float
    error: float  # standard error
    pages: int

    @property
    def low(self) -> float:
        return max(0.0, self.share - 1.96 * self.error)

    @property
    def high(self) -> float:
        return min(1.0, self.share + 1.96 * self.error)


def shares(sample: Sequence[Sampled]) -> list[Share]:
    """Of each trait its share of all pages, the largest first.

    Pages of a host are alike, so hosts are what was drawn: how much they differ among each other says how sure a share
    is (the variance of a ratio, linearised, with hosts as clusters).
    """
    total = math.fsum(page.weight for page in sample)
    by_trait: defaultdict[str, float] = defaultdict(float)
    by_host: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for page in sample:
        by_trait[page.trait] += page.weight
        by_host[page.host][page.trait] += page.weight
    found = []
    for trait, weight in by_trait.items():
        share = weight / total
        apart = math.fsum((host[trait] - share * sum(host.values())) ** 2 for host in by_host.values())
        hosts = len(by_host)
        error = math.sqrt(apart * hosts / (hosts - 1)) / total if hosts > 1 else 1.0  # of one host nothing follows
        found.append(Share(trait, share, error, sum(page.trait == trait for page in sample)))
    return sorted(found, key=lambda each: (-each.share, each.trait))


def sampled(directory: Path, trait: str) -> Iterable[Sampled]:
    """Pages of the walk, with their weights and what they are like."""
    known = {record["url"]: record[trait] for record in gossamer.records(directory, "traits")}
    with open(directory / "strategy" / "random-walk-results.jsonl", encoding="utf-8") as lines:
        for page in map(json.loads, lines):
            if page["url"] in known:
                yield Sampled(page["host"], page["weight"], known[page["url"]])


async def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("seeds", nargs="+", help="where the walk begins")
    options.add_argument("--dir", type=Path, required=True, help="where the crawl is kept")
    options.add_argument("--pages", type=int, default=2000, help="pages of the sample (2000)")
    options.add_argument("--of", choices=("language", "server"), default="language", help="what to tell the shares of")
    options.add_argument(
        "-o", "--option", action="append", default=[], metavar="KEY=VALUE", help="of crawl(): delay=2s"
    )
    given = options.parse_args()
    settings = {"scope": "any", "duplicates": "follow", **dict(option.split("=", 1) for option in given.option)}
    async for _ in gossamer.crawl(
        given.seeds, directory=given.dir, strategy="random-walk", strategy_option=[f"pages={given.pages}"],
        apps={"traits": Traits()}, **settings,
    ):  # fmt: skip
        pass
    sample = list(sampled(given.dir, given.of))
    if not sample:
        sys.exit(
            "There is no sample: the walk met no page. Look at the address where it begins, and at what was said above."
        )
    print(f"{len(sample):,} pages of {len({page.host for page in sample}):,} hosts, for about "
          f"{math.fsum(page.weight for page in sample):,.0f} pages")  # fmt: skip
    for each in shares(sample):
        print(f"{each.share:6.1%}  {each.low:6.1%} to {each.high:6.1%}  {each.trait} ({each.pages:,} pages)")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command goes on.")
    except GossamerError as error:
        sys.exit(str(error))
