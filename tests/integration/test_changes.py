"""A crawl whose gossamer.toml is edited while it runs, judged by what the server saw."""

from __future__ import annotations

from pathlib import Path

from crawling import crawl, urls

from gossamer.model import State
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply, Request

_HANGS = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n<p>",)


def edit(home: Path, old: str, new: str) -> None:
    settings = home / "gossamer.toml"
    text = settings.read_text()
    assert text.count(old) == 1, text
    settings.write_text(text.replace(old, new))


def test_a_blocked_host_is_left_at_once_also_within_a_response(tmp_path: Path) -> None:
    home = tmp_path / "crawl"
    with TinyWeb() as web:

        def hang(request: Request) -> Reply:
            edit(home, "blocklist = []", 'blocklist = ["a.test"]')
            return Reply(_HANGS, End.HANG)

        web.add_handler("http://a.test/", hang)
        web.add_page("http://a.test/other")
        web.add_page("http://b.test/", ["http://a.test/other", "/more"])
        web.add_page("http://b.test/more")
        notices: list[str] = []
        summary = crawl(
            home,
            ["http://a.test/", "http://a.test/other", "http://b.test/"],
            web.connect,
            notices,
            timeout="10m",
            time_limit="100s",
        )
        seen = [arrival.url for arrival in web.log.arrivals]
    assert summary.reason == "complete"
    assert summary.seconds < 60
    assert urls(home, State.FETCHED) == {"http://b.test/", "http://b.test/more"}
    assert urls(home, State.QUEUED) == {"http://a.test/", "http://a.test/other"}
    assert not any(url.endswith("a.test/other") for url in seen)
    assert any("policy.blocklist = a.test" in notice for notice in notices)


def test_a_cap_is_lifted_while_it_runs_and_stays_so(tmp_path: Path) -> None:
    home = tmp_path / "crawl"
    with TinyWeb() as web:

        def no_cap(request: Request) -> bytes:
            edit(home, "rate = 1.0", "rate = 0.0")
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

        web.add_handler("http://a.test/robots.txt", no_cap)
        web.add_page("http://a.test/", [f"/{number}" for number in range(300)])
        for number in range(300):
            web.add_page(f"http://a.test/{number}")
        summary = crawl(home, ["http://a.test/"], web.connect, rate="1", time_limit="100s")
    assert (summary.pages, summary.reason) == (301, "complete")
    assert "\nrate = 0.0\n" in (home / "gossamer.toml").read_text()
