"""The API tried from its description, in a browser; the menu; and all pages on narrow and wide screens."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Watch, copy_of, gossamer, serving
from operating import log_in
from playwright.sync_api import Browser, Locator, Page, expect

from gossamer.service.keys import KeyFile
from gossamer.testing import TinyWeb

LONG = "http://www.coast.test/archive/2024/northern-quays/the-way-from-the-harbour-to-the-lighthouse.html"
# Every page that people see, of a crawl that has ended.
PAGES = [
    "/", "/?q=harbour", "/?q=zzzz", "/?q=%22", copy_of("http://www.coast.test/"), "/domains", "/domains?under=test",
    "/hosts", "/hosts/www.coast.test", "/urls", "/urls?url=http://www.coast.test/", "/changes", "/watches",
    "/dashboard", "/dashboard?range=15min", "/controls", "/report", "/docs", "/nothing", "/login",
]  # fmt: skip


@pytest.fixture(scope="module")
def home(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(crawled, tmp_path_factory.mktemp("described") / "crawl"))


@pytest.fixture(scope="module")
def keys(home: Path) -> dict[str, str]:
    file = KeyFile(home)
    return {"search": file.add("ada", "search", 1000), "admin": file.add("ops", "admin", 1000)}


@pytest.fixture(scope="module")
def keyed(browser: Browser, home: Path, keys: dict[str, str]) -> Iterator[str]:
    with serving(home) as found:
        yield found


def opened(page: Page, name: str) -> tuple[Locator, Locator]:
    """The form of an operation, and what came back."""
    details = page.locator("details", has=page.locator(f'[id="{name}"], form[data-path="{name}"]')).first
    details.locator("summary").click()
    return details.locator("form"), details.locator("form + div")


def test_an_operation_is_tried_with_keys_alone(page: Page, watch: Watch, address: str) -> None:
    page.goto("/docs")
    assert "`" not in page.inner_text("main")
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("q string")).to_be_focused()
    page.keyboard.type("harbour")
    page.keyboard.press("Enter")
    status, headers, body = page.locator("form + div").first.locator("p, pre").all()
    expect(status).to_have_text(re.compile(r"^200 OK, after \d+ ms$"))
    expect(headers).to_contain_text("content-type: application/json")
    expect(body).to_contain_text('"title": "Quay')
    assert watch.outside(address) == []
    assert watch.console == []


def test_what_comes_back_is_text(page: Page, watch: Watch) -> None:
    page.goto("/docs")
    form, found = opened(page, "content.url")
    form.get_by_label("url").fill("http://hostile.test/")
    form.get_by_role("button", name="Send").click()
    expect(found.locator("pre").last).to_contain_text("<script>")
    assert found.locator("pre").last.locator("*").count() == 0
    form, found = opened(page, "page.url")
    form.get_by_label("url").fill("nonsense:")
    form.get_by_role("button", name="Send").click()
    expect(found.locator("p")).to_contain_text(re.compile("^4"))
    expect(found.locator("pre").last).to_contain_text('"detail": ')
    assert not any("/ran" in url for url in watch.requests)


def test_a_stream_is_shown_as_it_comes_and_stopped(page: Page, watch: Watch) -> None:
    page.goto("/docs")
    form, found = opened(page, "/api/v1/events")
    form.get_by_role("button", name="Send").click()
    expect(found.locator("pre").last).to_contain_text("event: status")
    expect(form.get_by_role("button", name="Send")).to_be_disabled()
    form.get_by_role("button", name="Stop").click()
    expect(found.locator("p")).to_contain_text("; stopped")
    expect(form.get_by_role("button", name="Send")).to_be_enabled()
    assert watch.console == []


def test_a_login_or_a_key_is_sent(browser: Browser, keyed: str, keys: dict[str, str]) -> None:
    context = browser.new_context(base_url=keyed)
    watch, page = Watch(context), context.new_page()
    page.goto("/docs")
    log_in(page, keys["search"], "/docs")
    form, found = opened(page, "/api/v1/status")
    form.get_by_role("button", name="Send").click()
    expect(found.locator("p")).to_contain_text("200 OK")
    form, found = opened(page, "set_limits..body")
    form.get_by_label("Body").fill('{"rate": 7}')
    form.get_by_role("button", name="Send").click()
    expect(found.locator("p")).to_contain_text("403 Forbidden")
    expect(found.locator("pre").last).to_contain_text("needs a key with the role admin")
    page.get_by_label("Key").fill(keys["admin"])
    form.get_by_role("button", name="Send").click()
    expect(found.locator("p")).to_contain_text("200 OK")
    expect(found.locator("pre").last).to_contain_text('"rate": 7')
    form, found = opened(page, "remove_watch.id")
    form.get_by_label("id").fill("no such/watch")
    form.get_by_role("button", name="Send").click()
    expect(found.locator("p")).to_contain_text("404 Not Found")
    assert f"{keyed}/api/v1/watches/no%20such%2Fwatch" in watch.requests
    assert not any(keys["admin"] in url for url in watch.requests)
    page.reload()
    expect(page.get_by_label("Key")).to_have_value("")
    context.close()


def test_without_scripts_what_reads_can_be_tried(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/docs")
    page.locator("summary").first.click()
    page.get_by_label("q string").fill("harbour")
    page.get_by_role("button", name="Send").first.click()
    assert '"total":' in page.content()
    context.close()


def test_the_menu_leads_to_the_api_and_to_controls_for_who_may(
    page: Page, browser: Browser, keyed: str, keys: dict[str, str]
) -> None:
    page.goto("/")
    menu = page.get_by_role("navigation", name="Pages")
    expect(menu.get_by_role("link", name="Controls")).to_have_count(0)  # there are no keys: nobody may
    menu.get_by_role("link", name="API").click()
    expect(page).to_have_url(re.compile("/docs$"))
    expect(menu.get_by_role("link", name="API")).to_have_attribute("aria-current", "page")
    for role, number in (("search", 0), ("admin", 1)):
        context = browser.new_context(base_url=keyed)
        other = context.new_page()
        log_in(other, keys[role], "/dashboard")
        link = other.get_by_role("navigation", name="Pages").get_by_role("link", name="Controls")
        expect(link).to_have_count(number)
        if number:
            link.click()
            expect(other).to_have_url(re.compile("/controls$"))
            expect(link).to_have_attribute("aria-current", "page")
        context.close()


@pytest.mark.parametrize("width", [360, 400, 1600])
def test_no_page_scrolls_sideways(browser: Browser, keyed: str, keys: dict[str, str], width: int) -> None:
    context = browser.new_context(base_url=keyed, viewport={"width": width, "height": 740})
    page = context.new_page()
    log_in(page, keys["admin"], "/docs")
    for path in PAGES:
        page.goto(path)
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()


@pytest.mark.parametrize("width", [360, 400])
def test_changes_show_whole_urls_on_narrow_screens(browser: Browser, tmp_path: Path, width: int) -> None:
    home = tmp_path / "crawl"
    with TinyWeb() as web:
        web.add_page(LONG)
        gossamer("crawl", LONG, "--dir", str(home), "--allow-private", "--connect", web.connect, "--no-index")
    with serving(home) as address:
        page = browser.new_page(base_url=address, viewport={"width": width, "height": 740})
        page.goto("/changes")
        link = page.get_by_role("link", name=LONG)
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        cell = link.locator("..")  # nothing of it is cut off or left out
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth && cell.innerText === cell.textContent")
        assert cell.evaluate("cell => getComputedStyle(cell).textOverflow") == "clip"
        page.close()
