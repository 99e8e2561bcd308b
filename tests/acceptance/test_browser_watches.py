"""Watches in a browser: a search is made to stand, what matched is listed, and it goes again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Watch, gossamer, serving
from operating import log_in
from playwright.sync_api import Browser, Page, expect

from gossamer.service.keys import KeyFile


@pytest.fixture(scope="module")
def home(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same crawl with watches and keys of its own."""
    home = tmp_path_factory.mktemp("watched") / "crawl"
    return Path(shutil.copytree(crawled, home, ignore=shutil.ignore_patterns("watches")))  # those of other tests


@pytest.fixture(scope="module")
def key(home: Path) -> str:
    return KeyFile(home).add("ops", "admin", 1000)


@pytest.fixture(scope="module")
def address(browser: Browser, home: Path, key: str) -> Iterator[str]:
    with serving(home) as found:
        yield found


def test_a_search_is_made_to_stand(page: Page, watch: Watch, home: Path, key: str, address: str) -> None:
    log_in(page, key)
    page.goto("/?q=harbour -hostile")
    page.get_by_role("link", name="watch this search").click()
    expect(page.locator("#query")).to_have_value("harbour -hostile")
    expect(page.locator("#query")).to_be_focused()
    page.fill("#webhook", "https://hooks.example.org/x")
    page.fill("#name", "harbours")
    page.get_by_role("button", name="Watch").click()
    expect(page.locator("#secret")).to_contain_text("whsec_")
    expect(page.locator("main")).to_contain_text("Nothing has matched yet.")
    gossamer("index", "--dir", str(home))
    page.goto("/watches")
    expect(page.locator("#secret")).to_have_count(0)
    expect(page.locator(".hit")).to_have_count(3)
    expect(page.locator("main")).to_contain_text("0 new, 22 earlier")
    page.get_by_role("link", name="harbours", exact=True).click()
    expect(page.locator(".hit")).to_have_count(22)
    expect(page.locator(".hit mark").first).to_have_text("harbour")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator(".note")).to_contain_text("with its list of 22 pages")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("main")).to_contain_text("There are no watches yet")
    assert watch.outside(address) == []
    assert watch.console == []


@pytest.mark.parametrize("width", [360, 1200, 1600])
def test_it_fits(page: Page, home: Path, key: str, width: int, tmp_path: Path) -> None:
    long = "w" * 90
    gossamer("watch", "add", f"harbour -{long}{width}", "--webhook", f"https://example.org/{long}", "--dir", str(home))
    gossamer("index", "--dir", str(home))
    page.set_viewport_size({"width": width, "height": 740})
    log_in(page, key)
    page.goto("/watches")
    expect(page.locator(".hit").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in (page.locator(each).first.bounding_box() for each in ("#query", "#webhook", "#name", ".hit")):
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert len(page.screenshot(path=tmp_path / f"watches-{width}.png")) > 5_000


def test_what_is_wrong_comes_back_with_what_was_typed(page: Page, watch: Watch, key: str) -> None:
    log_in(page, key)
    page.goto("/watches")
    page.fill("#query", 'harbour "')
    page.fill("#webhook", "http://127.0.0.1:1/x")
    page.get_by_role("button", name="Watch").click()
    expect(page.get_by_role("alert")).to_contain_text("quotation mark is never closed")
    expect(page.locator("#query")).to_have_value('harbour "')
    expect(page.locator("#webhook")).to_have_value("http://127.0.0.1:1/x")
