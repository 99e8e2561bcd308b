"""The crawl operated in a browser, and what its servers see of that in their own log."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from browsing import Watch
from operating import Operated, log_in, operated
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from gossamer.agent.audit import read_changes
from gossamer.config import load

PAGES = ["/dashboard", "/controls", "/hosts", "/hosts/{host}", "/urls?url=http://{host}/", "/report", "/nothing"]


@pytest.fixture(scope="module")
def crawl(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    with operated(tmp_path_factory.mktemp("operated") / "crawl", "--delay", "0", "--rate", "20") as found:
        yield found


@pytest.fixture(scope="module")
def address(crawl: Operated) -> str:
    return crawl.address


def control(page: Page, action: str) -> Locator:
    return page.locator(f'#controls form[data-control="{action}"]')


def outcome(page: Page, place: str) -> Locator:
    return page.locator(f"#{place} .note")


def change_rate(page: Page, rate: str) -> None:
    """As a person does: the sentence comes while one types, then the button."""
    form = control(page, "limits")
    form.get_by_label("Pages a second").fill(rate)
    expect(form.locator("p.will")).to_contain_text(f"At most {rate} pages/s" if rate != "0" else "No cap on pages")
    form.get_by_role("button").click()
    expect(outcome(page, "speed")).to_contain_text("in effect, after")


def test_a_rate_changed_on_the_dashboard_holds_at_the_servers(page: Page, watch: Watch, crawl: Operated) -> None:
    log_in(page, crawl.key, "/dashboard")
    page.locator(".drawer summary").click()
    change_rate(page, "100")
    began = crawl.requests
    assert crawl.log.wait_for(began + 1000, 120)
    arrivals = crawl.log.arrivals[began : began + 1000]
    rate = (len(arrivals) - 1) / (arrivals[-1].time - arrivals[0].time)
    print(f"\n100 pages/s asked for, {rate:.1f} seen by the servers over {len(arrivals)} requests")
    assert 20 < rate < 105
    assert load(crawl.home / "gossamer.toml").fetch.rate == 100
    assert watch.outside(crawl.address) == []
    assert watch.console == []


def test_a_blocked_host_gets_no_further_request(page: Page, watch: Watch, crawl: Operated) -> None:
    log_in(page, crawl.key)
    change_rate(page, "150")
    # One that was visited already and has most of its pages left.
    host = Counter(arrival.host for arrival in crawl.log.arrivals if arrival.path != "/robots.txt").most_common()[-1][0]
    page.goto(f"/hosts/{host}")
    page.get_by_role("button", name="Block").click()
    expect(page.locator(".note")).to_contain_text(
        re.compile(r"known hosts? with \d+ queued URLs get no further request")
    )
    page.get_by_role("button", name="Block").click()
    expect(page.locator(".note")).to_contain_text("Block: blocked, after")
    blocked = time.monotonic()
    expect(page.locator("h1")).to_contain_text("is on the blocklist")
    assert crawl.log.wait_for(crawl.requests + 500, 120)
    after = [arrival for arrival in crawl.log.arrivals if arrival.time > blocked]
    assert len(after) > 400
    assert not [arrival for arrival in after if arrival.host == host or arrival.host.endswith("." + host)]
    page.get_by_role("button", name="Unblock").click()
    page.get_by_role("button", name="Unblock").click()
    expect(page.locator(".note")).to_contain_text("no longer blocked")
    assert watch.console == []


def test_a_pause_stops_requests_and_resume_goes_on(page: Page, watch: Watch, crawl: Operated) -> None:
    log_in(page, crawl.key, "/dashboard")
    asked = time.monotonic()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(page.locator(".note")).to_contain_text("Pause: it is paused, after")
    paused = crawl.requests
    assert not crawl.log.wait_for(paused + 20, 3), "requests go on"
    last = crawl.log.arrivals[-1].time
    print(f"\nthe last request came {max(0.0, last - asked):.2f} s after the click")
    still = crawl.requests
    assert not crawl.log.wait_for(still + 1, 1), "requests go on"
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert crawl.log.wait_for(still + 100, 60)
    assert watch.console == []


def test_hours_are_painted(page: Page, watch: Watch, crawl: Operated) -> None:
    log_in(page, crawl.key)
    form = control(page, "schedule")
    page.wait_for_load_state("networkidle")
    expect(form.locator("p.will")).to_have_count(0)  # nothing was typed, so nothing is said of it
    form.get_by_label("paused").check()
    cells = form.locator(".cell")
    expect(cells).to_have_count(24)
    cells.nth(0).hover()
    page.mouse.down()
    cells.nth(12).hover()
    cells.nth(23).hover()
    page.mouse.up()
    expect(form.get_by_label("The same in words")).to_have_value("pause")
    expect(form.locator("p.will")).to_contain_text("paused, instead of as usual")
    assert load(crawl.home / "gossamer.toml").fetch.schedule == ()
    form.get_by_role("button", name="Change hours").click()
    expect(outcome(page, "hours")).to_contain_text("in effect")
    still = crawl.requests
    assert not crawl.log.wait_for(still + 20, 2), "requests go on"
    form = control(page, "schedule")
    form.get_by_label("each day separately").check()
    expect(form.locator(".cell")).to_have_count(7 * 24)
    form.get_by_label("The same in words").fill("Mon-Fri 08:00-18:00 rate=50\nsometimes")
    expect(form.locator("p.will")).to_contain_text("hours such as")
    form.get_by_label("The same in words").fill("")
    expect(form.locator("p.will")).to_contain_text("as usual, instead of paused")
    form.get_by_role("button", name="Change hours").click()
    expect(outcome(page, "hours")).to_contain_text("in effect")
    assert crawl.log.wait_for(still + 100, 60)
    assert watch.console == []


def test_seeds_a_checkpoint_and_who_did_it(page: Page, watch: Watch, crawl: Operated) -> None:
    log_in(page, crawl.key)
    form = control(page, "seeds")
    form.get_by_label("URLs").fill("http://new.test/\nnonsense:")
    expect(form.locator("p.will")).to_contain_text("1 URL becomes a seed")
    form.get_by_role("button").click()
    expect(outcome(page, "seeds")).to_contain_text("1 new seeds, 0 known already, 1 left out")
    control(page, "checkpoint").get_by_role("button").click()
    expect(outcome(page, "checkpoint")).to_contain_text("pages are durable")
    page.reload()
    changes = page.locator("table tbody tr")
    expect(changes.first).to_contain_text("key ops")
    expect(changes.first).to_contain_text("checkpoint")
    assert watch.console == []


def test_what_was_typed_before_the_script_came_is_spoken_of_too(page: Page, watch: Watch, crawl: Operated) -> None:
    held: list[Route] = []
    page.route(re.compile(r"/controls[^/]*\.js"), lambda route: held.append(route))
    log_in(page, crawl.key)
    form = control(page, "seeds")
    form.get_by_label("URLs").fill("http://early.test/")
    for route in held:
        route.continue_()
    assert held
    expect(form.locator("p.will")).to_contain_text("1 URL becomes a seed")
    assert watch.console == []


def test_a_purge_asks_for_the_name_again(page: Page, watch: Watch, crawl: Operated) -> None:
    log_in(page, crawl.key)
    host = Counter(arrival.host for arrival in crawl.log.arrivals).most_common(9)[-1][0]
    control(page, "purge").get_by_label("Host").fill(host)
    control(page, "purge").get_by_role("button").click()
    expect(page.locator(".note")).to_contain_text("leave the index for good")
    page.get_by_label("Type the name of the host again").fill("another.test")
    page.get_by_role("button", name="Purge").click()
    expect(page.get_by_role("alert")).to_contain_text("not the same name")
    assert not [change for change in read_changes(crawl.home) if change.what == "purge"]
    page.get_by_label("Type the name of the host again").fill(host)
    page.get_by_role("button", name="Purge").click()
    expect(page.locator(".note")).to_contain_text(f"pages of {host} are purged")
    assert watch.console == []


def test_everything_works_without_scripts(browser: Browser, crawl: Operated) -> None:
    context = browser.new_context(base_url=crawl.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, crawl.key)
    page.get_by_label("Connections").fill("64")
    page.get_by_role("button", name="Change speed").click()
    expect(page.locator(".note")).to_contain_text("At most 64 connections instead of 256")
    page.get_by_role("button", name="Speed").click()
    expect(outcome(page, "speed")).to_contain_text("in effect, after")
    expect(page.get_by_label("Connections")).to_have_value("64")
    page.get_by_label("The same in words").fill("Sun 03:00-04:00 rate=1")
    page.get_by_role("button", name="Change hours").click()
    page.get_by_role("button", name="Hours").click()
    expect(outcome(page, "hours")).to_contain_text("in effect")
    expect(page.locator(".strip svg")).to_have_count(2)
    page.get_by_role("button", name="Commit now").click()
    expect(outcome(page, "checkpoint")).to_contain_text("pages are durable")
    assert page.locator(".brush").is_hidden()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_pages_fit_their_screens(browser: Browser, crawl: Operated, width: int, scheme: str) -> None:
    host = crawl.log.arrivals[0].host
    context: BrowserContext = browser.new_context(
        base_url=crawl.address,
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    watch, page = Watch(context), context.new_page()
    log_in(page, crawl.key)
    for path in PAGES:
        page.goto(path.format(host=host))
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        watch.console = [line for line in watch.console if "/nothing" not in line and "404" not in line]
    assert watch.outside(crawl.address) == []
    assert watch.console == []
    context.close()


def test_the_crawl_is_stopped(page: Page, crawl: Operated) -> None:
    log_in(page, crawl.key)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".note")).to_contain_text("everything is committed and the crawl ends")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".note")).to_contain_text("Stop: the crawl stops")
    assert not crawl.log.wait_for(crawl.requests + 100, 3), "requests go on"
