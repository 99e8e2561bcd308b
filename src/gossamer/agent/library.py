"""Crawling from Python: `async for page in gossamer.crawl([...])`."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from gossamer.agent.agent import Agent
from gossamer.agent.app_thread import AppThread
from gossamer.agent.application import Application, made
from gossamer.agent.crawl import Crawl
from gossamer.agent.strategies import strategy_of
from gossamer.config import OPTIONS, AppRule, Config, load, with_apps
from gossamer.config.apps import check_app_name
from gossamer.errors import ConfigError
from gossamer.model import Document, Page, Visit
from gossamer.parse import parse
from gossamer.parse.charset import decode
from gossamer.rules.strategy import Strategy

_AHEAD = 100  # pages that may wait for the caller before the crawl waits for him
_log = logging.getLogger("gossamer")


class CrawledPage:
    """A stored response: `.url .status .headers .body .depth`, and `.source` (the body as text) and `.document`, made
    of it when first asked for.
    """

    def __init__(self, page: Page, depth: int) -> None:
        self.page = page
        self.depth = depth

    @property
    def url(self) -> str:
        return self.page.url

    @property
    def status(self) -> int:
        return self.page.status

    @property
    def headers(self) -> list[tuple[str, str]]:
        return self.page.headers

    @property
    def body(self) -> bytes:
        return self.page.body

    @cached_property
    def source(self) -> str:
        return decode(self.page.body, self.page.content_type)[0]

    @cached_property
    def document(self) -> Document:
        return parse(self.page.body, self.page.url, self.page.content_type, headers=self.page.headers)

    def __repr__(self) -> str:
        return f"<CrawledPage {self.status} {self.url}>"


async def crawl(
    seeds: Iterable[str],
    *,
    directory: str | Path | None = None,
    config: Config | None = None,
    strategy: str | Strategy | None = None,
    apps: Iterable[Application] | Mapping[str, Application] = (),
    **options: Any,
) -> AsyncGenerator[CrawledPage, None]:
    """Crawl from `seeds` and give each page as soon as it is stored.

    Options are those of the command line with underscores (`max_pages=100`, `delay="2s"`, `scope="host"`). Without a
    `directory` the crawl is kept in a temporary one, gone at the end. A caller who stops early stops the crawl.
    `strategy` is the name of one, or a `gossamer.Strategy` of your own.

    `apps` are applications, by name, or each under the name of its class. Each runs in a thread. Their shares of the
    speed are those of `config.apps`, or equal.
    """
    own = strategy if isinstance(strategy, Strategy) else None
    if strategy is not None and own is None:
        options["strategy"] = strategy
    settings = _settings(config, options)
    if own is None:
        strategy_of(settings.strategy)  # whether it is there, before anything is made
    named = _named(apps)
    settings = replace(settings, apps=with_apps(settings.apps, _rules(settings.apps, named)))
    with ExitStack() as stack:
        if directory is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gossamer-"))) / "crawl"
        async with aclosing(_crawl(settings, Path(directory), seeds, named, own)) as pages:
            async for page in pages:
                yield page


def _settings(config: Config | None, options: dict[str, Any]) -> Config:
    if config is not None:
        if options:
            raise ConfigError(f"give either config or options, not both (got {', '.join(options)})")
        return config
    # Whoever crawls from Python sees each page, and has no index, no service and no other agents.
    by_key = {
        option.key: name for name, option in OPTIONS.items() if option.section not in ("index", "service", "cluster")
    }
    for key in options:
        if key not in by_key:
            from difflib import get_close_matches

            near = get_close_matches(key, by_key, 1, 0.5)
            raise ConfigError(f"{key} is not an option of crawl()" + (f"; did you mean {near[0]}?" if near else ""))
    return load(None, {by_key[key]: value for key, value in options.items()})


def _named(apps: Iterable[Application] | Mapping[str, Application]) -> dict[str, Application]:
    given = apps.items() if isinstance(apps, Mapping) else [(type(each).__name__.lower(), each) for each in apps]
    found: dict[str, Application] = {}
    for name, each in given:
        if name in found:
            raise ConfigError(f"two applications are called {name}: give apps={{'one name': …, 'another': …}}")
        try:
            check_app_name(name, "apps: ")
        except ValueError as error:
            raise ConfigError(str(error)) from None
        found[name] = made(each, {}, f"apps: {name}")
    return found


def _rules(rules: Sequence[AppRule], named: Mapping[str, Application]) -> list[AppRule]:
    known = {rule.name: rule for rule in rules}
    found = []
    for name, application in named.items():
        rule = known.get(name) or AppRule(name)
        application.post = application.post or rule.post
        if application.min_delay is None:
            application.min_delay = rule.min_delay
        found.append(msgspec.structs.replace(rule, post=application.post, min_delay=application.min_delay))
    return found


async def _crawl(
    config: Config, home: Path, seeds: Iterable[str], apps: Mapping[str, Application], strategy: Strategy | None
) -> AsyncGenerator[CrawledPage, None]:
    found: asyncio.Queue[CrawledPage | None] = asyncio.Queue()
    threads = [AppThread(home, name, each, _log.warning) for name, each in apps.items()]
    run = Crawl(config, home, seeds, _log.warning, strategy=strategy, apps=threads)

    def ready(agent: Agent) -> None:
        def on_page(visit: Visit, page: Page) -> None:
            found.put_nowait(CrawledPage(page, visit.depth))
            if found.qsize() >= _AHEAD:
                agent.hold()

        agent.responses.on_page = on_page

    task = asyncio.create_task(run.run(ready=ready, signals=False))
    task.add_done_callback(lambda _: found.put_nowait(None))
    try:
        while (page := await found.get()) is not None:
            yield page
            if run.agent is not None and found.qsize() < _AHEAD // 2:
                run.agent.release()
        await task  # raises what ended it
    finally:
        if not task.done():
            if run.agent is not None:
                run.agent.stop()
            await asyncio.gather(task, return_exceptions=True)
            for thread in threads:
                thread.stop()
        for thread in threads:
            await asyncio.to_thread(thread.finish)
