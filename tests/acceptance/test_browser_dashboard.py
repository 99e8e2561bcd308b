"""The dashboard in a browser beside a crawl that runs: it moves, says when it ends, and needs no script to say all."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browsing import GOSSAMER, Watch, serving
from playwright.sync_api import Browser, BrowserContext, Page, expect

from gossamer.service.keys import KeyFile
from gossamer.testing import SimServer, World

CRAWLING = re.compile(r"^Crawling [\d,.]+ pages/s\. Limited by .+\.$")


@contextmanager
def crawling(home: Path) -> Iterator[subprocess.Popen[str]]:
    """Thirty pages a second, for longer than any test looks."""
    home.mkdir()  # the service needs it before the crawl has begun
    world = World(1, 30, 400, "realistic")
    with SimServer.running(world) as web:
        command = [
            *GOSSAMER, "crawl", world.url(0), "--dir", str(home), "--scope", "any", "--allow-private",
            "--connect", web.connect, "--delay", "0", "--rate", "30", "--no-index",
        ]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                yield process
            finally:
                process.terminate()
                process.wait(30)


@pytest.fixture(scope="module")
def live(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("live") / "crawl"
    with crawling(home), serving(home) as found:
        yield found


@pytest.fixture
def context(browser: Browser, live: str) -> Iterator[BrowserContext]:
    found = browser.new_context(base_url=live, viewport={"width": 1600, "height": 900})
    found.set_default_timeout(30_000)
    yield found
    found.close()


def pages_of(page: Page) -> int:
    found = re.match(r"([\d,]+) pages", page.locator("[data-live=asof]").inner_text())
    assert found
    return int(found[1].replace(",", ""))


def curve(page: Page) -> str | None:
    return page.locator("path.ok[data-live^=chart]").get_attribute("d")


def test_it_moves(page: Page, watch: Watch, live: str) -> None:
    page.goto("/dashboard")
    expect(page.locator("h1")).to_have_text(CRAWLING)
    page.evaluate("document.querySelector('h1').dataset.mine = 'kept'")  # nothing is loaded again
    before, drawn = pages_of(page), curve(page)
    expect(page.locator("[data-live=asof]")).not_to_have_text(re.compile(f"^{before:,} "))
    assert pages_of(page) > before
    expect(page.locator("path.ok[data-live^=chart]")).not_to_have_attribute("d", drawn or "")
    expect(page.locator("h1")).to_have_attribute("data-mine", "kept")
    expect(page.locator("[data-live~='busy.0.host']")).not_to_be_empty()
    expect(page.locator("#silent")).to_be_hidden()
    assert watch.outside(live) == []
    assert watch.console == []


def test_tables_are_sorted_and_time_is_chosen_in_the_address(page: Page, watch: Watch) -> None:
    page.goto("/dashboard")
    page.get_by_role("link", name="6 h").click()
    expect(page).to_have_url(re.compile(r"range=6h$"))
    page.get_by_role("link", name="Queued").first.click()
    expect(page).to_have_url(re.compile(r"range=6h&busy=queued$"))
    expect(page.locator("th[aria-sort]").first).to_have_text("Queued")
    before = pages_of(page)  # and it moves on with that choice
    expect(page.locator("[data-live=asof]")).not_to_have_text(re.compile(f"^{before:,} "))
    counts = [int(text.replace(",", "")) for text in page.locator("td[data-live$='.queued']").all_inner_texts()[:5]]
    assert counts == sorted(counts, reverse=True)
    assert watch.console == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_narrow_and_wide(browser: Browser, live: str, width: int, scheme: str) -> None:
    context = browser.new_context(
        base_url=live, viewport={"width": width, "height": 740}, color_scheme="dark" if scheme == "dark" else "light"
    )
    watch, page = Watch(context), context.new_page()
    page.goto("/dashboard")
    expect(page.locator("h1")).to_have_text(CRAWLING)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    heading, chart = page.locator("h1").bounding_box(), page.locator(".chart svg").first.bounding_box()
    assert heading is not None
    assert chart is not None
    assert heading["y"] < chart["y"]
    assert chart["width"] > width * 0.6 if width < 600 else chart["width"] > 1000
    assert watch.console == []
    context.close()


def test_without_scripts_all_of_it_stands_there(browser: Browser, live: str) -> None:
    context = browser.new_context(base_url=live, java_script_enabled=False)
    page = context.new_page()
    page.goto("/dashboard?range=all")
    expect(page.locator("h1")).to_have_text(CRAWLING)
    assert (page.locator("path.ok").first.get_attribute("d") or "").startswith("M0 400")
    expect(page.locator("[data-live='agent.0.core']")).to_have_text(re.compile(r"^\d+ %$"))
    for name in ("Busiest hosts", "Slow or down hosts", "Largest domains", "Controls"):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    context.close()


def test_a_page_that_nobody_looks_at_needs_no_stream(page: Page) -> None:
    page.goto("/dashboard")
    with page.expect_request("**/dashboard/events"):
        page.evaluate(
            """() => {
              Object.defineProperty(document, "hidden", { get: () => false });
              document.dispatchEvent(new Event("visibilitychange"));
            }"""
        )


def test_it_says_that_the_crawl_has_ended_and_that_the_service_is_away(
    browser: Browser, chromium_path: str, tmp_path: Path
) -> None:
    home = tmp_path / "crawl"
    with crawling(home) as process, serving(home) as address:
        context = browser.new_context(base_url=address)
        watch, page = Watch(context), context.new_page()
        page.goto("/dashboard")
        expect(page.locator("h1")).to_have_text(re.compile("^(There is no crawl|A crawl is starting|Crawling)"))
        expect(page.locator("h1")).to_have_text(CRAWLING)
        process.send_signal(signal.SIGTERM)
        expect(page.locator("h1")).to_have_text("Stopped. Run the same command to continue.")
        assert watch.console == []
    expect(page.locator("#silent")).to_be_visible()
    context.close()


def test_a_revoked_key_ends_it(browser: Browser, chromium_path: str, tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    with serving(tmp_path) as address:
        context = browser.new_context(base_url=address)
        page = context.new_page()
        page.goto("/dashboard")
        page.fill("#key", key)
        page.locator("main button").click()
        expect(page.locator("h1")).to_contain_text("There is no crawl here yet.")
        KeyFile(tmp_path).revoke("anna")
        KeyFile(tmp_path).add("berta", "search")
        expect(page).to_have_url(re.compile(r"/login\?next=%2Fdashboard$"))
        context.close()
