"""Keys for people: in with one, out again, and out at once when it is revoked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import HARBOUR, Watch, copy_of, gossamer, serving
from playwright.sync_api import Browser, BrowserContext, Page, expect

from gossamer.service.keys import KeyFile


@pytest.fixture(scope="module")
def home(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same crawl with keys of its own."""
    return Path(shutil.copytree(crawled, tmp_path_factory.mktemp("keyed") / "crawl"))


@pytest.fixture
def key(home: Path) -> Iterator[str]:
    keys = KeyFile(home)
    yield keys.add("ada", "search")
    if any(key.name == "ada" for key in keys.read()):
        keys.revoke("ada")


@pytest.fixture(scope="module")
def address(browser: Browser, home: Path) -> Iterator[str]:
    KeyFile(home).add("somebody", "search")
    with serving(home) as found:
        yield found


def log_in(page: Page, key: str) -> None:
    page.fill("#key", key)
    page.get_by_role("button", name="Log in").click()


def enter(page: Page, key: str) -> None:
    """Logged in, and the search page has come."""
    page.goto("/login")
    log_in(page, key)
    expect(page.locator("#q")).to_be_focused()


def test_in_and_out(page: Page, context: BrowserContext, watch: Watch, key: str, address: str) -> None:
    page.goto("/?q=harbour")
    expect(page.locator("h1")).to_have_text("Log in")
    expect(page.locator("#key")).to_be_focused()
    log_in(page, key)
    expect(page.locator(".hit")).to_have_count(10)
    assert page.url == f"{address}/?q=harbour"
    cookie = next(cookie for cookie in context.cookies() if cookie["name"].endswith("session"))
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert key not in cookie["value"]
    assert not any(key in asked for asked in watch.requests)
    assert key not in page.content()
    page.get_by_role("button", name="Log out ada").click()
    expect(page.locator("h1")).to_have_text("Log in")
    page.goto("/domains")
    expect(page.locator("h1")).to_have_text("Log in")
    assert watch.outside(address) == []
    assert watch.console == []


def test_a_revoked_key_is_out_at_once(page: Page, key: str, home: Path) -> None:
    enter(page, key)
    page.keyboard.type("harbour")
    expect(page.locator(".hit")).to_have_count(10)
    gossamer("keys", "revoke", "ada", "--dir", str(home))
    page.keyboard.type("s")  # the next letter is asked for, and refused
    expect(page.locator("h1")).to_have_text("Log in")


def test_links_of_a_stored_copy_keep_the_login(page: Page, key: str) -> None:
    """They come from a frame without an origin, with which browsers send no strict cookies."""
    enter(page, key)
    page.goto(copy_of(HARBOUR))
    page.frame_locator("iframe").get_by_role("link", name="/2", exact=True).click()
    expect(page.frame_locator("iframe").locator("h1")).to_have_text("Quay 2 of the harbour")


def test_a_wrong_key_is_refused_and_soon_costs_a_wait(page: Page) -> None:
    page.goto("/login?next=//evil.test/")
    log_in(page, "gsm_wrong")
    expect(page.get_by_role("alert")).to_contain_text("This key is not known")
    for _ in range(12):
        log_in(page, "gsm_wrong")
        page.wait_for_load_state()
    expect(page.get_by_role("alert")).to_contain_text("Too many wrong keys")


def test_a_form_of_another_site_cannot_log_in_or_out(
    page: Page, context: BrowserContext, key: str, address: str
) -> None:
    enter(page, key)
    for path in ("/logout", "/login"):
        other = context.new_page()
        other.route("http://evil.test/", lambda route: route.fulfill(body="<p>x", content_type="text/html"))
        other.goto("http://evil.test/")
        with other.expect_response(f"{address}{path}") as answer:
            other.set_content(f'<form method=post action="{address}{path}"><input name=key value={key}><button>x')
            other.locator("button").click()
        assert answer.value.status == 403
        other.close()
    page.reload()
    expect(page.locator("#q")).to_be_visible()
