"""Servers and clocks that would lead a crawl astray that visits pages again."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated_time import DAY, HOUR
from test_keep_fresh import Page, captures, started

from gossamer.testing import FakeClock
from gossamer.testing.tinyweb import TinyWeb
from gossamer.testing.web.message import Request, response


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_790_000_000.0)


def test_a_redirect_that_leads_elsewhere_than_before_is_followed(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        target = ["/v1"]
        web.add_handler("http://a.test/", lambda _: response(302, "", b"", [("Location", target[0])]))
        Page(web, "http://a.test/v1")
        second = Page(web, "http://a.test/v2")
        crawl = started(tmp_path, web, clock)
        crawl.run("http://a.test/", seconds=DAY)
        target[0] = "/v2"
        crawl.run(seconds=40 * DAY)
    assert second.visits


def test_links_that_lead_too_deep_to_be_followed_are_no_change(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        page = Page(web, "http://a.test/", links=["/deeper"])
        crawl = started(tmp_path, web, clock, scope__max_depth=0)
        crawl.run("http://a.test/", seconds=HOUR)
        for day in range(10):
            page.noise = f"advert {day}"
            progress = crawl.run(seconds=3 * DAY)
    assert progress.revisits > 2
    assert progress.revisits_changed == 0


def test_a_response_that_breaks_off_takes_no_page_its_place(tmp_path: Path, clock: FakeClock) -> None:
    with TinyWeb() as web:
        page = Page(web, "http://a.test/")
        broken: list[bool] = []

        def answer(request: Request) -> bytes:
            whole = page._answer(request)
            if broken:
                broken.pop()
                return whole[:-40]
            return whole

        web.add_handler("http://a.test/", answer)
        crawl = started(tmp_path, web, clock, policy__max_tries=1, fetch__low_speed_time="1s")
        crawl.run("http://a.test/", seconds=HOUR)
        before = crawl.visit("http://a.test/", tmp_path / "scratch")
        broken.append(True)
        crawl.run(seconds=40 * DAY)
        after = crawl.visit("http://a.test/", tmp_path / "scratch")
    assert not broken
    assert after.digest == before.digest
    assert after.changes == 0
    assert {line.get("change", "") for line in captures(tmp_path, "http://a.test/")} <= {"", "same"}


@pytest.mark.parametrize("status", [200, 304])
def test_a_server_that_answers_with_nothing_ends_no_crawl(tmp_path: Path, clock: FakeClock, status: int) -> None:
    """304 though nobody asked for one, or with other validators; 200 without a body."""
    with TinyWeb() as web:
        page = Page(web, "http://a.test/", links=["/next"])
        page.honest = False
        empty = [False]

        def answer(request: Request) -> bytes:
            plain = page._answer(request)
            return response(status, "text/html", b"", [("ETag", f'W/"{page.visits}"')]) if empty[0] else plain

        web.add_handler("http://a.test/", answer)
        steady = Page(web, "http://b.test/")
        page.headers = {"ETag": '"x"', "Last-Modified": "Mon, 01 Jan 2085 00:00:00 GMT"}
        crawl = started(tmp_path, web, clock)
        crawl.run("http://a.test/", "http://b.test/", seconds=DAY)
        empty[0] = True
        crawl.run(seconds=90 * DAY)
        empty[0] = False
        crawl.run(seconds=40 * DAY)
        assert crawl.visit("http://a.test/", tmp_path / "scratch").status == 200
    assert steady.visits > 2
