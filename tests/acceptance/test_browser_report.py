"""The report in a browser: it scrolls with its page, what is in it stays in its frame, and one is made at a time."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browsing import Watch, gossamer, serving, wait_until
from playwright.sync_api import Browser, Frame, Page, expect

SCROLLS = "document.documentElement.scrollHeight > innerHeight"


@pytest.fixture(scope="module")
def home(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = Path(shutil.copytree(crawled, tmp_path_factory.mktemp("reported") / "crawl"))
    (found / "facts").mkdir(exist_ok=True)
    gossamer("report", "--dir", str(found), "--out", str(found / "facts" / "report.html"))
    return found


@pytest.fixture(scope="module")
def address(browser: Browser, home: Path) -> Iterator[str]:
    with serving(home) as found:
        yield found


def report_of(page: Page) -> Frame:
    expect(page.frame_locator("iframe").locator("footer")).to_be_attached()
    return page.frames[1]


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_scrolls_and_the_frame_does_not(page: Page, watch: Watch, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto("/report")
    report = report_of(page)
    wait_until(page, SCROLLS)
    assert not report.evaluate(SCROLLS)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert not report.evaluate("document.documentElement.scrollWidth > innerWidth")
    report.locator("nav a").last.click()  # the page goes where a link of the contents leads
    wait_until(page, "scrollY > 500")
    heading = report.locator("main > h2").last.bounding_box()
    assert heading is not None
    assert abs(heading["y"]) < 5 or page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 1")
    report.locator("summary").first.click()  # and grows with it
    expect(report.locator("details table").first).to_be_visible()
    wait_until(report, f"!({SCROLLS})")
    assert watch.outside(address) == []
    assert watch.console == []


def test_without_scripts_the_frame_fills_the_window_and_scrolls(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto("/report")
    assert not page.evaluate(SCROLLS)
    assert report_of(page).evaluate(SCROLLS)
    context.close()


def test_what_is_in_the_frame_can_only_be_tall(page: Page, address: str) -> None:
    page.goto("/report")
    report = report_of(page)
    wait_until(page, SCROLLS)
    for message in ("{height: 1e9}", "{height: -1}", "{height: 'x'}", "{show: NaN}", "null", "'<b>'", "[1]"):
        report.evaluate(f"parent.postMessage({message}, '*')")
    report.evaluate("parent.postMessage({height: 100_000}, '*')")
    wait_until(page, "parseFloat(document.querySelector('iframe').style.minHeight) === 100000")
    assert "allow-same-origin" not in (page.locator("iframe").get_attribute("sandbox") or "")
    page.evaluate("postMessage({height: 1}, '*')")  # from elsewhere than the frame
    page.evaluate("new Promise(done => setTimeout(done, 0))")
    assert page.evaluate("parseFloat(document.querySelector('iframe').style.minHeight)") == 100_000
    assert report.evaluate("(() => { try { return parent.document.title } catch { return '' } })()") == ""


@contextmanager
def held(home: Path) -> Iterator[None]:
    """No report is finished: another process has the facts, for which a report waits."""
    with open(home / "facts" / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.parametrize("scripts", [True, False])
def test_the_button_is_disabled_while_a_report_is_being_made(
    browser: Browser, address: str, home: Path, scripts: bool
) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=scripts)
    watch, page = Watch(context), context.new_page()
    page.goto("/report")
    button = page.get_by_role("button", name="Make the report again")
    with held(home):
        button.click()
        expect(page.locator("#making")).to_contain_text("A report is being made")
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("aria-describedby", "making")
    expect(button).to_be_enabled()  # by itself, when it is ready
    expect(page.locator("#making")).to_have_count(0)
    assert watch.console == []
    context.close()
