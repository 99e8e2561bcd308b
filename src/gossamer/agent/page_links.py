"""Where a page leads: by its elements, its headers, as a redirect, as a feed."""

from __future__ import annotations

from gossamer.agent.sources import Sources
from gossamer.agent.statistics import Statistics
from gossamer.config import ParseConfig
from gossamer.model import Page
from gossamer.model.url import normalize
from gossamer.parse import LinkScanner
from gossamer.parse.header_links import header_links
from gossamer.parse.links import is_wanted
from gossamer.rules.robots_tag import robots_tag

_PARSED = ("text/html", "application/xhtml+xml")
_MOST_TYPES = 1000


class PageLinks:
    """Invariant: links that robots are asked not to follow are left out, unless the crawl is told not to obey."""

    def __init__(self, config: ParseConfig, sources: Sources, token: str, statistics: Statistics) -> None:
        self._obey = config.nofollow
        self._headers = frozenset(kind for kind in config.follow if kind.partition(":")[0] == "header")
        self._scanner = LinkScanner(frozenset(config.follow) - self._headers, config.nofollow)
        self._sources = sources if config.sitemaps else None
        self._token = token
        self._statistics = statistics
        self._are_html: dict[str | None, bool] = {None: True}  # by content types as servers write them

    def _note(self, content_type: str | None) -> bool:
        if len(self._are_html) > _MOST_TYPES:
            self._are_html.clear()
        found = self._are_html[content_type] = content_type is None or content_type.partition(";")[0] in _PARSED
        return found

    def of(self, page: Page) -> list[str]:
        if 300 <= page.status < 400:
            target = page.header("location")
            target = normalize(target, page.url) if target else None
            return [target] if target else []
        urls = self._in_headers(page) if self._headers else []
        content_type = page.content_type
        is_html = self._are_html.get(content_type)
        if is_html is None:
            is_html = self._note(content_type)
        if is_html:
            found = self._scanner.scan(page.body, page.url, content_type)
            if found.full:
                self._statistics.full_parses += 1
            urls = found.urls + urls if urls and not (found.nofollow and self._obey) else found.urls
        elif self._sources is not None:
            urls = self._sources.links(page) + urls
        self._statistics.links += len(urls)
        return [] if self._obey and robots_tag(page.head, self._token)[1] else urls

    def _in_headers(self, page: Page) -> list[str]:
        links = header_links(page.headers, page.url)
        return [
            link.url for link in links if is_wanted(link.kind, self._headers) and not (link.nofollow and self._obey)
        ]
