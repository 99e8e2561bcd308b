"""Stored pages are looked at, and nothing of them acts: no script runs, nothing is asked for, nothing is sent."""

from __future__ import annotations

import re

import pytest
from browsing import ATTACK, HARBOUR, HOSTILE, IMAGE, JAPANESE, MOVED, TEXT, Watch, copy_of
from playwright.sync_api import BrowserContext, Page, Route, expect

FRAME = "iframe"
# What the page asks for where one of its scripts runs.
RUN = set(re.findall(r"(?:fetch|import|location ?=) ?\(?'/ran\?(\w+)'", ATTACK))


def test_a_stored_copy(page: Page, watch: Watch, address: str) -> None:
    page.goto("/?q=city")
    page.locator(".hit").filter(has_text="The harbour of the city").get_by_role("link", name="stored copy").click()
    expect(page.locator(".facts")).to_contain_text("status 200 OK · text/html")
    expect(page.get_by_role("link", name="live page")).to_have_attribute("href", HARBOUR)
    frame = page.frame_locator(FRAME)
    expect(frame.locator("h1")).to_have_text("The harbour of the city")
    frame.get_by_role("link", name="/2", exact=True).click()  # leads to its stored copy
    expect(page).to_have_url(f"{address}{copy_of(HARBOUR + '2')}")
    expect(page.frame_locator(FRAME).locator("h1")).to_have_text("Quay 2 of the harbour")
    page.frame_locator(FRAME).get_by_role("link", name="Elsewhere").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no stored copy of http://nowhere.test/")
    assert watch.outside(address) == []
    assert [line for line in watch.console if "404" not in line] == []


def test_the_encoding_is_right(page: Page) -> None:
    page.goto(copy_of(JAPANESE))
    expect(page.frame_locator(FRAME).locator("p")).to_have_text("港には多くの船が停泊している。")


def test_text_is_shown_as_text(page: Page) -> None:
    page.goto(copy_of(TEXT))
    expect(page.frame_locator(FRAME).locator("pre")).to_contain_text("<script>top.location")


def test_what_is_no_text_is_offered(page: Page) -> None:
    page.goto(copy_of(IMAGE))
    expect(page.locator(FRAME)).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the stored bytes").click()
    assert download.value.path().read_bytes()[:4] == b"\x89PNG"


def test_a_redirect_leads_on(page: Page) -> None:
    page.goto(copy_of(MOVED))
    page.get_by_role("link", name="the stored copy of").click()
    expect(page.frame_locator(FRAME).locator("h1")).to_have_text("Quay 2 of the harbour")


def attacked(page: Page, watch: Watch, address: str, url: str) -> None:
    """Everything that a visitor could press is pressed; the page stays where it is, and nobody hears of it."""
    for press in ("#text", "#post", "#send", "#js", "#data"):
        target = page.frame_locator(FRAME).locator(press)
        if target.count():
            target.click(force=True, no_wait_after=True)
    page.wait_for_load_state("networkidle")
    assert page.url == url
    assert "Stored copy" in page.title()
    assert page.frames[0].url == url
    assert [asked for asked in watch.requests if "/ran" in asked or "/logout" in asked] == []
    assert watch.outside(address) == []


def test_a_hostile_page_does_nothing(page: Page, watch: Watch, address: str) -> None:
    page.goto(copy_of(HOSTILE))
    expect(page.frame_locator(FRAME).locator("body")).to_contain_text("The hostile page has a harbour as well.")
    attacked(page, watch, address, f"{address}{copy_of(HOSTILE)}")
    expect(page.frame_locator(FRAME).locator("script, iframe, object, embed, base, link, [onload]")).to_have_count(0)


@pytest.mark.parametrize("without", ["the cleaning", "the cleaning and the policy", "the cleaning and the sandbox"])
def test_every_wall_holds_by_itself(context: BrowserContext, watch: Watch, address: str, without: str) -> None:
    """The page as it was sent, behind the sandbox of the frame and the policy of its answer, or one of them."""

    def raw(route: Route) -> None:
        answer = route.fetch()
        headers = dict(answer.headers)
        if "policy" in without:
            del headers["content-security-policy"]
        elif "sandbox" in without:
            headers["content-security-policy"] = headers["content-security-policy"].partition(";")[2]
        route.fulfill(response=answer, headers=headers, body=ATTACK)

    def open_frame(route: Route) -> None:
        answer = route.fetch()
        body = answer.text().replace("sandbox=", "data-sandbox=") if "sandbox" in without else answer.text()
        route.fulfill(response=answer, body=body)

    context.route("**/copy/content?*", raw)
    context.route("**/copy?*", open_frame)
    page = context.new_page()
    url = f"{address}{copy_of(HOSTILE)}"
    page.goto(url)
    if without != "the cleaning":
        # The sandbox alone lets images and frames load, the policy alone lets the frame try to go elsewhere. Neither
        # runs a script.
        page.wait_for_load_state("networkidle")
        assert page.url == url
        assert "Stored copy" in page.title()
        asked = {url.partition("/ran?")[2] for url in watch.requests if "/ran?" in url}
        assert not asked & RUN
        return
    expect(page.frame_locator(FRAME).locator("body")).to_contain_text("The hostile page has a harbour as well.")
    attacked(page, watch, address, url)


def test_the_frame_opened_alone_is_as_tame(page: Page, watch: Watch, address: str) -> None:
    page.route("**/copy/content?*", lambda route: route.fulfill(response=route.fetch(), body=ATTACK))
    url = f"{address}{copy_of(HOSTILE).replace('/copy', '/copy/content')}"
    page.goto(url)
    page.wait_for_load_state("networkidle")
    assert page.title() == "Hostile page"
    assert page.url == url
    assert [asked for asked in watch.requests if "/ran" in asked] == []
    assert watch.outside(address) == []
