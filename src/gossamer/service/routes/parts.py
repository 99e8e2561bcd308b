"""What several routes need."""

from __future__ import annotations

from fastapi import Request

from gossamer.model.url import seed_url, why_not
from gossamer.service.crawl_view import CrawlView
from gossamer.service.problems import Problem

LONGEST_URL = 4096


async def view_of(request: Request) -> CrawlView:
    view: CrawlView = request.app.state.view
    return view


def known_form(url: str) -> str:
    """The one spelling under which the crawl knows a URL."""
    found = seed_url(url)
    if found is None:
        raise Problem(422, f"url: this is not a URL that can be crawled: {why_not(url)}")
    return found
