"""What several routes need."""

from __future__ import annotations

from fastapi import Request

from gossamer.model.post import known_as
from gossamer.model.url import seed_url, why_not
from gossamer.service.crawl import Crawl
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of

LONGEST_URL = 4096


async def view_of(request: Request) -> Crawl:
    return crawl_of(request)


def known_form(url: str) -> str:
    """The one spelling under which the crawl knows a URL."""
    found = known_as(url, seed_url)
    if found is None:
        raise Problem(422, f"url: this is not a URL that can be crawled: {why_not(url)}")
    return found
