"""Scrapy on the static web: obeys robots.txt, follows every link, stores nothing. usage: scrapy_peer.py PAGES SEED…"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import scrapy  # type: ignore[import-not-found,unused-ignore]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found,unused-ignore]

SETTINGS = {
    "LOG_LEVEL": "ERROR",
    "ROBOTSTXT_OBEY": True,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    # What the task does not need and others do not do either.
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
}


class Everything(scrapy.Spider):  # type: ignore[misc,unused-ignore]
    name = "everything"
    pages = 0

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        Everything.pages += 1
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


def main() -> None:
    limit, seeds = int(sys.argv[1]), sys.argv[2:]
    process = CrawlerProcess({**SETTINGS, "CLOSESPIDER_PAGECOUNT": limit})
    process.crawl(Everything, start_urls=seeds)
    started = time.perf_counter()
    process.start()
    print(json.dumps({"pages": Everything.pages, "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
