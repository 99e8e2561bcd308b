"""Print each page of a site that is not there, and a page that links to it: python examples/broken_links.py SEED…"""

from __future__ import annotations

import asyncio
import sys

import gossamer


async def main(seeds: list[str]) -> None:
    found_on: dict[str, str] = {}
    pages = 0
    async for page in gossamer.crawl(seeds, scope="host", max_pages=1000):
        pages += 1
        if page.status >= 400:
            print(page.status, page.url, "linked from", found_on.get(page.url, "a seed or a redirect"))
        for link in page.document.links:
            found_on.setdefault(link.url, page.url)
    if not pages:
        sys.exit("Nothing was checked: no page could be read.")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
