"""Crawlee on the static web: obeys robots.txt, follows every link, stores nothing. usage: crawlee_peer.py PAGES SEED…

Links are read with parsel in the handler: that is cheaper than ParselCrawler and its `enqueue_links`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from crawlee import ConcurrencySettings, Request  # type: ignore[import-not-found,unused-ignore]
from crawlee.crawlers import HttpCrawler  # type: ignore[import-not-found,unused-ignore]
from crawlee.storage_clients import MemoryStorageClient  # type: ignore[import-not-found,unused-ignore]
from parsel import Selector  # type: ignore[import-not-found,unused-ignore]

CONCURRENT = 64  # at the least and at the most: otherwise fewer when the machine is busy


def requests(page: bytes, url: str) -> Iterator[Any]:
    for link in Selector(body=page, type="html").css("a::attr(href)").getall():
        try:
            yield Request.from_url(urljoin(url, link))
        except ValueError:  # no address, or not of the web; added as it is, it would fail the whole page
            continue


async def follow(context: Any) -> None:
    page = await context.http_response.read()
    await context.add_requests(list(requests(page, context.request.loaded_url)), strategy="all")


async def crawl(limit: int, seeds: list[str]) -> int:
    """Gives the pages fetched: each has a URL of its own and a status below 400."""
    crawler = HttpCrawler(
        request_handler=follow,
        max_requests_per_crawl=limit,
        respect_robots_txt_file=True,
        concurrency_settings=ConcurrencySettings(CONCURRENT, CONCURRENT, desired_concurrency=CONCURRENT),
        storage_client=MemoryStorageClient(),
        configure_logging=False,
        # What the task does not need and others do not do either: sessions with cookies, retries.
        use_session_pool=False,
        max_request_retries=0,
        retry_on_blocked=False,
    )
    return int((await crawler.run(seeds)).requests_finished)


def main() -> None:
    limit, seeds = int(sys.argv[1]), sys.argv[2:]
    logging.basicConfig(level=logging.ERROR)
    started = time.perf_counter()
    pages = asyncio.run(crawl(limit, seeds))
    print(json.dumps({"pages": pages, "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
