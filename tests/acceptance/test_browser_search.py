"""People search: what they see, with a mouse, with keys alone, and without scripts."""

from __future__ import annotations

import re

from browsing import HARBOUR, JAPANESE, PAGES, Watch, results
from playwright.sync_api import Browser, Page, expect

FOUND = PAGES + 1  # and the hostile page


def test_the_empty_page_says_what_there_is_and_offers_queries(page: Page, watch: Watch, address: str) -> None:
    page.goto("/")
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("#size")).to_have_text(re.compile(r"^2\d pages from 4 hosts, newest (just now|\d+ \w+ ago)$"))
    examples = page.locator(".examples a")
    expect(examples).to_have_count(5)
    examples.first.click()
    expect(page.locator(".hit").first).to_be_visible()
    assert watch.outside(address) == []
    assert watch.console == []


def test_results_while_one_types(page: Page, watch: Watch, address: str) -> None:
    page.goto("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("harbour")
    said = re.compile(rf"^{FOUND} results, \d+ ms · watch this search · crawl from these$")
    expect(page.locator(".said")).to_have_text(said)
    expect(page.locator("#said")).to_have_text(re.compile(rf"^{FOUND} results"))
    expect(page.locator(".hit")).to_have_count(10)
    expect(page).to_have_url(f"{address}/?q=harbour")
    expect(page).to_have_title("harbour - Gossamer")
    assert page.evaluate("history.length") == 2  # about:blank and this: typing leaves no trail
    hit = page.locator(".hit").filter(has_text="Quay").first
    expect(hit.locator("h2 a")).to_have_attribute("href", re.compile(f"^{HARBOUR}[0-9]+$"))
    expect(hit.locator("h2 a")).to_have_attribute("rel", "noreferrer")
    expect(hit.locator("mark").first).to_have_text(re.compile("harbour", re.I))
    expect(hit.locator(".more")).to_contain_text(re.compile(r"fetched (just now|\d+ \w+ ago)"))
    page.fill("#q", "lighthouses")
    expect(page.locator(".hit")).to_have_count(1)
    page.fill("#q", "")
    expect(page.locator(".examples")).to_be_visible()
    expect(page).to_have_url(f"{address}/")
    assert watch.outside(address) == []
    assert watch.console == []


def test_answers_that_come_too_late_are_dropped(page: Page) -> None:
    page.goto("/")
    held = []
    page.route("**/results?q=harbour", lambda route: held.append(route))
    page.fill("#q", "harbour")
    with page.expect_request("**/results?q=harbour"):
        pass
    page.fill("#q", "lighthouses")
    expect(page.locator(".hit")).to_have_count(1)
    with page.expect_response("**/results?q=harbour"):
        held[0].continue_()
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    assert results(page) == ["Deep documents"]
    expect(page).to_have_url(re.compile("q=lighthouses$"))


def test_half_a_query_keeps_what_was_found(page: Page, watch: Watch) -> None:
    page.goto("/?q=harbour")
    page.locator("#q").press_sequentially(' "sails')
    expect(page.locator("#wrong")).to_contain_text("cannot be understood")
    expect(page.locator("#wrong mark")).to_have_text('"')
    expect(page.locator(".hit")).to_have_count(10)
    page.keyboard.type('"')
    expect(page.locator("#wrong .note")).to_have_count(0)
    assert watch.console == []


def test_keys_alone(page: Page) -> None:
    page.goto("/?q=harbour")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    titles = page.locator("[data-hit]")
    page.keyboard.press("ArrowDown")
    expect(titles.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(titles.nth(1)).to_be_focused()
    page.keyboard.press("Tab")  # on to what belongs to this result
    expect(page.locator(".hit").nth(1).get_by_text("stored copy")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").nth(1).locator(".why")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("x/y")  # in the field a slash is a slash
    expect(page.locator("#q")).to_have_value(re.compile("x/y"))


def test_the_first_key_leads_past_the_bar(page: Page) -> None:
    page.goto("/domains")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("main a").first).to_be_focused()


def test_why_a_result_is_where_it_is(page: Page) -> None:
    page.goto("/?q=harbour")
    page.locator(".hit summary").first.click()
    parts = page.locator(".hit").first.locator(".why")
    expect(parts.locator("tr")).not_to_have_count(1)
    expect(parts).to_contain_text("score")


def test_facets_narrow_down_and_let_go(page: Page) -> None:
    page.goto("/?q=harbour")
    page.locator(".facets").get_by_role("link", name="hostile.test").click()
    expect(page.locator(".hit")).to_have_count(1)
    page.locator(".chosen a").click()
    expect(page.locator(".hit")).to_have_count(10)


def test_narrow_screens_fold_the_facets_above(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto("/?q=harbour")
    expect(page.locator(".facets ul").first).to_be_hidden()
    facets, first = page.locator(".facets summary").bounding_box(), page.locator(".hit").first.bounding_box()
    assert facets is not None
    assert first is not None
    assert facets["y"] < first["y"]
    page.locator(".facets summary").click()
    expect(page.locator(".facets ul").first).to_be_visible()
    for path in ("/", "/?q=harbour", "/?q=zzzz", "/?q=%22", "/domains?under=test", "/login"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") == 360, path
    context.close()


def test_languages_are_said(page: Page) -> None:
    page.goto("/?q=港")
    expect(page.locator(".hit h2")).to_have_text("港の風景")
    expect(page.locator(".hit h2")).to_have_attribute("lang", "ja")
    expect(page.locator(".hit h2 a")).to_have_attribute("href", JAPANESE)


def test_nothing_found_can_be_watched(page: Page, watch: Watch) -> None:
    page.goto("/?q=zzzz")
    expect(page.locator(".note")).to_contain_text("Nothing found. Understood as: zzzz")
    page.get_by_role("link", name="watch this query").click()
    expect(page.locator("meta[http-equiv=refresh]")).to_have_attribute("content", "10")
    page.get_by_role("link", name="Stop watching").click()
    expect(page.locator("meta[http-equiv=refresh]")).to_have_count(0)
    assert watch.console == []


def test_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.fill("#q", "harbour")
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(10)
    first = results(page)
    page.get_by_role("link", name="Next").click()
    second = results(page)
    page.get_by_role("link", name="Next").click()
    third = results(page)
    assert len({*first, *second, *third}) == FOUND
    expect(page.get_by_role("link", name="Next")).to_have_count(0)
    page.get_by_role("link", name="Previous").click()
    assert results(page) == second
    page.get_by_role("link", name="Previous").click()
    assert results(page) == first
    expect(page.get_by_role("link", name="Previous")).to_have_count(0)
    page.locator(".hit summary").first.click()
    expect(page.locator(".why").first).to_be_visible()
    page.locator(".hit").first.get_by_role("link", name="stored copy").click()
    expect(page.locator(".facts")).to_contain_text("Stored copy")
    page.goto('/?q=harbour "sails')
    expect(page.locator("#wrong mark")).to_have_text('"')
    context.close()


def test_domains_are_a_tree(page: Page, watch: Watch, address: str) -> None:
    page.goto("/")
    page.get_by_role("link", name="Domains").click()
    page.get_by_role("link", name="test", exact=True).click()
    expect(page.locator("h1")).to_have_text("test")
    page.get_by_role("link", name="coast.test", exact=True).click()
    expect(page.locator("tbody tr")).to_have_count(3)
    expect(page.locator("tbody tr").filter(has_text="www.coast.test")).to_contain_text(re.compile(rf"1\s+{PAGES + 1}"))
    expect(page.locator(".trail")).to_have_text(re.compile(r"All domains\s*›\s*test\s*›\s*coast.test"))
    page.get_by_role("link", name="Search docs.coast.test").click()
    assert results(page) == ["Deep documents"]
    assert watch.outside(address) == []
    assert watch.console == []
