"""Print status, URL and title of the first pages of a site: python examples/titles.py https://example.org/"""

from __future__ import annotations

import asyncio
import sys

import gossamer


async def main(seeds: list[str]) -> None:
    async for page in gossamer.crawl(seeds, max_pages=20):
        print(page.status, page.url, page.document.title)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
