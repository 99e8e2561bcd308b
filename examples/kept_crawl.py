"""A crawl that is kept, and goes on each time it is started: python examples/kept_crawl.py DIR SEED…"""

from __future__ import annotations

import asyncio
import sys

import gossamer


async def main(directory: str, seeds: list[str]) -> None:
    pages = 0
    async for page in gossamer.crawl(seeds, directory=directory, time_limit="1m", contact="you@example.org"):
        pages += 1
        print(page.depth, page.status, page.url)
    print(f"{pages} pages in this run; they are in {directory}/warc")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
