"""What the tests in a browser share: one crawl, one service, one browser a module; a context of its own for each test.

The browser's driver has an event loop in this thread while it runs, beside which no test can have one of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Watch, chromium, crawl_and_index, serving
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

expect.set_options(timeout=30_000)  # milliseconds: a busy machine is no failure


ARGUMENTS = [
    # No name leads anywhere, at once: a page that is not loaded before a DNS server has been given up waits for long.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # As root, which is how containers run tests, chromium has no sandbox of its own.
    *(["--no-sandbox"] if os.getuid() == 0 else []),
]


@pytest.fixture(scope="session")
def chromium_path() -> str:
    return chromium()


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def crawled(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("browsed") / "crawl"
    crawl_and_index(home)
    return home


@pytest.fixture(scope="session")
def address(chromium_path: str, crawled: Path) -> Iterator[str]:
    with serving(crawled) as found:
        yield found


@pytest.fixture
def context(browser: Browser, address: str) -> Iterator[BrowserContext]:
    found = browser.new_context(base_url=address)
    found.set_default_timeout(30_000)
    yield found
    found.close()


@pytest.fixture
def watch(context: BrowserContext) -> Watch:
    return Watch(context)


@pytest.fixture
def page(context: BrowserContext, watch: Watch) -> Page:
    return context.new_page()
