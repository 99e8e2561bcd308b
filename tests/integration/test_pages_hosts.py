"""The pages of hosts and URLs, the report as a page, and what a browser is told where there is nothing."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from commanding import running
from fastapi.testclient import TestClient
from httpx import Response
from serving import client

from gossamer.service.app import create_app
from gossamer.service.keys import KeyFile
from gossamer.service.report_maker import ReportMaker
from gossamer.testing import TinyWeb

ROBOTS = "User-agent: *\nDisallow: /closed\nAllow: /closed/not\nCrawl-delay: 0.01\n"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("hosts") / "c"
    with TinyWeb() as web:
        web.add_page(
            "http://a.test/", ["/2", "/closed", "/moved", "http://b.test/", "http://down.test/", "http://out.test/x"]
        )
        web.add_robots("a.test", ROBOTS)
        web.add_page("http://a.test/2")
        web.add_page("http://b.test/", ["/missing"])
        web.add_redirect("http://a.test/moved", "/2")
        refusing = "down.test=127.0.0.1:9"
        with running(home, ["http://a.test/"], refusing, web.connect, blocklist=["out.test"], max_tries=1) as going:
            going.end()
    return home


@pytest.fixture(scope="module")
def pages(home: Path) -> Iterator[TestClient]:
    with client(home) as found:
        yield found


def said(answer: Response) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.text)))


def names(answer: Response) -> list[str]:
    return re.findall(r'<td><a href="/hosts/[^"]*">([^<]*)', answer.text)


def test_hosts_in_orders_and_by_name(pages: TestClient) -> None:
    first = pages.get("/hosts")
    assert names(first)[0] == "a.test"
    assert "hosts known" in said(first)
    assert names(pages.get("/hosts?sort=name")) == sorted(names(first))
    assert names(pages.get("/hosts?sort=failures"))[0] == "down.test"
    assert names(pages.get("/hosts?name=B.T")) == ["b.test"]
    assert "No host has nowhere in its name" in said(pages.get("/hosts?name=nowhere"))
    assert names(pages.get("/hosts?sort=dance")) == names(first)
    assert pages.get("/hosts?cursor=nonsense").status_code == 422
    assert "blocked" in said(pages.get("/hosts?name=out.test"))


def test_more_hosts_than_go_on_a_page(pages: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.service.pages.hosts.PER_PAGE", 2)
    found, lead = [], "/hosts?sort=name"
    while lead:
        page = pages.get(lead)
        found += names(page)
        after = re.search(r'<a href="([^"]*)" rel="next"', page.text)
        lead = unescape(after[1]) if after else ""
    monkeypatch.undo()
    assert found == names(pages.get("/hosts?sort=name"))
    assert len(found) > 2


def test_a_host_says_how_it_stands_and_why(pages: TestClient) -> None:
    page = said(pages.get("/hosts/a.test"))
    assert "Nothing of a.test waits" in page
    assert "Disallow: /closed" in page
    assert "Allow: /closed/not" in page
    assert "3 rules" not in page
    assert "2 rules for this crawler" in page
    assert "its robots.txt asks for 0.01 s" in page
    assert "fetched, status 200 2" in page
    assert "fetched, status 302" in page
    assert "excluded, robots 1" in page
    down = said(pages.get("/hosts/down.test"))
    assert "down.test is down" in down
    assert "in a row: it refused the connection" in down
    assert "on the blocklist ('out.test')" in said(pages.get("/hosts/out.test"))


def test_hosts_that_are_none(pages: TestClient) -> None:
    for name in ("nowhere.test", "a b", "%00", "a.test%2Fx", "'\"><script>"):
        answer = pages.get(f"/hosts/{name}", headers=BROWSER)
        assert answer.status_code == 404
        assert answer.headers["content-type"].startswith("text/html")
        assert "<script>" not in answer.text


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://a.test/2", "It was fetched"),
        ("http://a.test/moved", "it is a redirect"),
        ("http://a.test/closed", "does not allow it (Disallow: /closed)"),
        ("http://b.test/missing", "the server has no such page"),
        ("http://a.test/unheard-of", "This crawl does not know it"),
        ("a.test", "It was fetched"),
    ],
)
def test_a_url_is_explained(pages: TestClient, url: str, sentence: str) -> None:
    page = pages.get("/urls", params={"url": url})
    found = re.search(r"<h1>(.*?)</h1>", page.text, re.S)
    assert found is not None
    assert sentence in unescape(found[1])


def test_what_is_known_of_a_url(pages: TestClient) -> None:
    page = pages.get("/urls", params={"url": "http://a.test/2"})
    text = said(page)
    assert "State fetched" in text
    assert "Depth 1 link from a seed" in text
    assert "200 first" in text
    assert 'href="/copy?url=http%3A%2F%2Fa.test%2F2"' in page.text
    assert 'href="/hosts/a.test"' in page.text
    assert 'href="/?q=site%3Aa.test"' in page.text
    closed = pages.get("/urls", params={"url": "http://a.test/closed"})
    assert "Reason robots" in said(closed)
    assert "stored copy" not in said(closed)
    assert pages.get("/urls?url=mailto:x").status_code == 404
    assert "Look up a URL" in said(pages.get("/urls"))


# -- where there is nothing --------------------------------------------------------------------------------------------


def test_a_browser_gets_a_page_where_there_is_nothing(pages: TestClient) -> None:
    page = pages.get("/nothing<b>", headers=BROWSER)
    assert page.status_code == 404
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "There is nothing at" in said(page)
    assert "<b>" not in page.text
    for path, headers in (("/nothing", {}), ("/api/v1/nothing", BROWSER), ("/nothing", {"Accept": "*/*"})):
        assert pages.get(path, headers=headers).headers["content-type"] == "application/problem+json"
    assert pages.post("/domains", headers=BROWSER).headers["content-type"] == "application/problem+json"


# -- the report --------------------------------------------------------------------------------------------------------


def waited(maker: ReportMaker) -> None:
    deadline = time.monotonic() + 60
    while maker.state().making:
        assert time.monotonic() < deadline


def test_the_report_is_made_beside_and_shown(home: Path) -> None:
    app = create_app(home)
    with TestClient(app, "http://localhost", client=("127.0.0.1", 1)) as pages:
        assert pages.get("/report/content").status_code == 404
        first = pages.get("/report")
        assert "A report is being made" in said(first)
        assert 'http-equiv="refresh"' in first.text
        waited(app.state.report)
        page = pages.get("/report")
        assert "As of" in said(page)
        assert 'http-equiv="refresh"' not in page.text
        content = pages.get("/report/content")
        policy = content.headers["content-security-policy"]
        assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}';", policy)
        assert "sandbox allow-scripts" in policy
        assert "allow-same-origin" not in policy
        assert "Crawl report" in content.text
        before = app.state.report.state().made_at
        assert pages.post("/report", follow_redirects=False).headers["location"] == "/report"
        waited(app.state.report)
        assert app.state.report.state().made_at > before
        app.state.report.close()


def test_while_a_report_is_being_made_no_other_is_begun(home: Path) -> None:
    """A button that was pressed twice, or in two windows: the page says that one is being made, and how far it is."""
    app = create_app(home)
    script = "import sys, time; print('reading pages: 12 %', file=sys.stderr, flush=True); time.sleep(600)"
    app.state.report = maker = ReportMaker(home, (sys.executable, "-c", script))
    with TestClient(app, "http://localhost", client=("127.0.0.1", 1), follow_redirects=False) as pages:
        assert pages.post("/report").headers["location"] == "/report"
        process = maker._process
        assert process is not None
        assert pages.post("/report").headers["location"] == "/report"
        assert maker._process is process
        while not maker.state().said:
            time.sleep(0.01)
        page = pages.get("/report")
        assert re.search(r'<button class="plain" disabled aria-describedby="making">Make the report', page.text)
        assert "A report is being made" in said(page)
        assert "reading pages: 12 %" in said(page)
        maker.close()
        waited(maker)
        assert "disabled" not in pages.get("/report").text


def test_a_report_that_fails_is_told_and_keeps_the_one_before(tmp_path: Path) -> None:
    script = "import sys; sys.stderr.write('half of it\\ngossamer: the disk is full'); sys.exit(1)"
    maker = ReportMaker(tmp_path, (sys.executable, "-c", script))
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "report.html").write_text("before")
    maker.make()
    waited(maker)
    state = maker.state()
    assert (state.failed, state.said) == (True, "the disk is full")
    assert state.path.read_text() == "before"


def test_one_report_is_made_at_a_time_and_ends_with_the_service(tmp_path: Path) -> None:
    maker = ReportMaker(tmp_path, (sys.executable, "-c", "import time; time.sleep(600)"))
    maker.make()
    process = maker._process
    maker.make()
    assert maker._process is process
    maker.close()
    waited(maker)
    assert maker.state().failed


def test_making_a_report_needs_the_form_of_a_login(tmp_path: Path, home: Path) -> None:
    key = KeyFile(tmp_path).add("reader", "search", 1000)
    with client(tmp_path) as pages:
        token = re.search(r'name="token" value="([^"]+)"', pages.get("/login").text)
        assert token is not None
        pages.post("/login", data={"token": token[1], "key": key})
        assert pages.post("/report", data={"token": "x"}).status_code == 403
        assert "There is no crawl" in said(pages.get("/report"))
