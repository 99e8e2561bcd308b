"""Gossamer: a polite, durable web crawler.

    import gossamer

    async for page in gossamer.crawl(["https://example.org"], max_pages=100):
        print(page.status, page.url, page.document.title)

`normalize`, `robots_allows` and `parse` are the functions the crawl itself uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "AppPage",
    "Application",
    "CrawledPage",
    "Host",
    "Pick",
    "Request",
    "SeenPage",
    "Strategy",
    "StrategyOption",
    "Wants",
    "__version__",
    "crawl",
    "normalize",
    "parse",
    "records",
    "robots_allows",
    "urls",
]

if TYPE_CHECKING:
    from gossamer.agent.application import Application, AppPage, Host, Request, Wants
    from gossamer.agent.library import CrawledPage, crawl
    from gossamer.agent.reading import urls
    from gossamer.model.url import normalize
    from gossamer.parse import parse
    from gossamer.report.records import records
    from gossamer.rules.robots import robots_allows
    from gossamer.rules.strategy import Pick, SeenPage, Strategy, StrategyOption

# Loaded when first asked for: `gossamer --help` and `gossamer.normalize` need not wait for a database and a parser.
_HOMES = {
    "AppPage": "gossamer.agent.application",
    "Application": "gossamer.agent.application",
    "CrawledPage": "gossamer.agent.library",
    "Host": "gossamer.agent.application",
    "Pick": "gossamer.rules.strategy",
    "SeenPage": "gossamer.rules.strategy",
    "Strategy": "gossamer.rules.strategy",
    "StrategyOption": "gossamer.rules.strategy",
    "crawl": "gossamer.agent.library",
    "normalize": "gossamer.model.url",
    "Request": "gossamer.agent.application",
    "Wants": "gossamer.agent.application",
    "parse": "gossamer.parse",
    "records": "gossamer.report.records",
    "robots_allows": "gossamer.rules.robots",
    "urls": "gossamer.agent.reading",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gossamer' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(home), name)
    return value
