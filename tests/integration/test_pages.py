"""The pages as a browser gets them: what they hold, what headers they have, who is let in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import asked_crawl
import pytest
from fastapi.testclient import TestClient
from serving import ELSEWHERE, client

from gossamer.index import Entry, IndexWriter
from gossamer.service.keys import KeyFile

EVIL = '"><script>alert(1)</script>'
PATHS = [
    "/",
    "/?q=silk",
    "/?q=%22",
    "/?q=zzzz",
    "/results?q=silk",
    "/domains",
    "/domains?under=test",
    "/login",
    "/copy?url=x",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("pages") / "c"
    asked_crawl.make(home)
    writer = IndexWriter(home / "index", 64 << 20)
    writer.upsert([Entry("http://a.test/evil", 1.8e9, EVIL, EVIL, f"venom {EVIL}", language='x" onload="y')])
    writer.commit(b"more")
    writer.close()
    return home


@pytest.fixture(scope="module")
def pages(home: Path) -> Iterator[TestClient]:
    with client(home) as found:
        yield found


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_closed_to_others(pages: TestClient, path: str) -> None:
    answer = pages.get(path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "form-action 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", [path for path in PATHS if "results" not in path])
def test_every_page_has_landmarks_and_names(pages: TestClient, path: str) -> None:
    text = pages.get(path).text
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    for mark in ("<main", "<header", "<nav aria-label=", "<h1", "<title>", 'class="skip"', 'name="viewport"'):
        assert mark in text, mark
    for field in re.findall(r"<input (?![^>]*hidden)[^>]*id=\"(\w+)\"", text):
        assert f'for="{field}"' in text


def test_the_frame_of_a_copy_may_do_nothing(pages: TestClient) -> None:
    answer = pages.get("/copy/content", params={"url": "http://a.test/script"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == (
        "sandbox allow-top-navigation-by-user-activation; default-src 'none'; style-src 'unsafe-inline'; "
        "img-src data:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    )
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert "words of a trap" in answer.text
    assert "owned" not in answer.text
    assert "set-cookie" not in answer.headers
    bar = pages.get("/copy", params={"url": "http://a.test/script"}).text
    assert '<iframe src="/copy/content?url=http%3A%2F%2Fa.test%2Fscript"' in bar
    assert 'sandbox="allow-top-navigation-by-user-activation"' in bar
    assert "allow-scripts" not in bar
    assert "allow-same-origin" not in bar


@pytest.mark.parametrize(
    ("url", "status", "said"),
    [
        ("http://a.test/gone", 200, "status 404 Not Found"),
        ("http://a.test/moved", 200, "This page redirects to"),
        ("http://a.test/closed", 404, "robots.txt of a.test does not allow it"),
        ("http://unknown.test/", 404, "does not know it"),
        ("javascript:alert(1)", 404, "begins with http"),
        (EVIL, 404, "begins with http"),
        ("", 404, "begins with http"),
    ],
)
def test_copies_that_are_there_or_not(pages: TestClient, url: str, status: int, said: str) -> None:
    answer = pages.get("/copy", params={"url": url})
    assert answer.status_code == status
    assert said in answer.text
    assert "<script>" not in answer.text
    assert 'href="javascript' not in answer.text


def test_what_strangers_wrote_is_text(pages: TestClient) -> None:
    for path in ("/?q=venom", "/results?q=venom"):
        text = pages.get(path).text
        assert "venom" in text
        assert "&lt;script&gt;" in text
        assert "<script>" not in text
        assert 'lang="x" onload' not in text
    for name in ("q", "site", "lang", "cursor", "before", "page"):
        assert "<script>" not in pages.get("/", params={"q": "silk", name: EVIL}).text
    for path in ("/domains?under=", "/domains?page=", "/login?next=", "/copy/content?url="):
        assert "<script>" not in pages.get(path + EVIL).text


def test_a_query_that_is_not_understood_is_shown_where(pages: TestClient) -> None:
    answer = pages.get("/", params={"q": 'silk "road'})
    assert answer.status_code == 422
    assert 'silk <mark class="at">&#34;</mark>road' in answer.text
    assert pages.get("/results", params={"q": 'silk "road'}).status_code == 200


def test_a_cursor_of_another_query_is_no_fault_of_ours(pages: TestClient) -> None:
    answer = pages.get("/", params={"q": "silk", "cursor": "AAAA"})
    assert answer.status_code == 422
    assert "Traceback" not in answer.text


def test_results_lead_forth_and_back(pages: TestClient) -> None:
    seen, trail, path = [], [], "/?q=silk"
    while path:
        text = pages.get(path).text
        found = re.findall(r'<a href="([^"]*)" rel="noreferrer" data-hit>', text)
        trail.append((path, found))
        seen += found
        following = re.search(r'<a href="([^"]*)" rel="next">', text)
        path = following[1].replace("&amp;", "&") if following else ""
    assert len(seen) == len(set(seen)) == 30
    for number in range(len(trail) - 1, 0, -1):
        before = re.search(r'<a href="([^"]*)" rel="prev">', pages.get(trail[number][0]).text)
        assert before is not None
        assert before[1].replace("&amp;", "&") == trail[number - 1][0]


def test_a_date_narrows_to_as_many_as_it_says(pages: TestClient) -> None:
    """Pages of asked_crawl are of 2023 and 2027: `older` is a part of what is found."""
    text = pages.get("/?q=silk").text
    link, number = re.search(
        r'<a href="([^"]*before%3A[^"]*)"[^>]*><span>older</span> <span class="quiet">(\d+)', text
    ).groups()  # type: ignore[union-attr]
    assert int(number) == 30
    assert f"{number} results" in pages.get(link.replace("&amp;", "&")).text


def test_results_are_browsed_as_a_tree_of_domains(tmp_path: Path) -> None:
    """Each domain narrows to as many results as it says; what is chosen lets go."""
    asked_crawl.make(tmp_path / "c")
    writer = IndexWriter(tmp_path / "c" / "index", 64 << 20)
    hosts = {"web.mit.edu": 3, "math.mit.edu": 2, "mit.edu": 1, "www.cmu.edu": 2, "www.nectec.or.th": 4, "192.0.2.1": 1}
    hosts |= {f"www.s{number}.com": 1 for number in range(40)}
    writer.upsert(
        [Entry(f"http://{host}/{n}", 1.7e9, body="harbour") for host, pages in hosts.items() for n in range(pages)]
    )
    writer.commit(b"more")
    writer.close()
    row = re.compile(
        r'<li><a href="([^"]*)"( aria-current="true")?><span>([^<]*)(?: <span[^>]*>itself</span>)?</span>'
        r' <span class="quiet">(\d+)'
    )
    with client(tmp_path / "c") as pages:
        found = {
            name: (unescape(link), int(number)) for link, _, name, number in row.findall(pages.get("/?q=harbour").text)
        }
        assert len(found) <= 25
        assert {"edu", "www.cmu.edu", "mit.edu", "web.mit.edu", "www.nectec.or.th", "com"} <= found.keys()
        assert "th" not in found, "a domain with one host below it adds nothing"
        for name in ("edu", "web.mit.edu", "www.nectec.or.th", "com"):
            link, number = found[name]
            text = pages.get(link).text
            assert f"{number} results" in text, name
            (chosen,) = [each for each in row.findall(text) if each[1]]
            assert chosen[2] == name
            assert unescape(chosen[0]) == "/?q=harbour"
        below = pages.get("/?q=harbour&site=*.mit.edu").text
        assert [(name, int(number)) for _, _, name, number in row.findall(below)][:5] == [
            ("edu", 6), ("mit.edu", 6), ("web.mit.edu", 3), ("math.mit.edu", 2), ("mit.edu", 1),
        ]  # fmt: skip
        assert "on other hosts" in pages.get("/?q=harbour&site=*.com").text


def test_watching_looks_again(pages: TestClient) -> None:
    assert 'http-equiv="refresh" content="10"' in pages.get("/?q=zzzz&watch=1").text
    assert "http-equiv" not in pages.get("/?q=silk&watch=1").text  # found: it ends


def test_domains(pages: TestClient) -> None:
    top = pages.get("/domains").text
    assert '<a href="/domains?under=test">test</a>' in top
    below = pages.get("/domains?under=TEST.").text
    assert "a.test" in below
    assert 'href="/?q=site%3Ab.test"' in below
    assert "There is no page of" in pages.get("/domains?under=nowhere").text


def test_files_are_kept_for_good_and_change_their_address(pages: TestClient) -> None:
    links = re.findall(r'(?:href|src)="(/static/[^"]*)"', pages.get("/").text)
    assert len(links) == 3
    for link in links:
        assert re.fullmatch(r"/static/gossamer\.(css|js|svg)\?[0-9a-f]{12}", link)
        assert "immutable" in pages.get(link).headers["cache-control"]
    assert pages.get("/static/..%2fframe.py").status_code == 404
    assert pages.get("/static/frame.html").status_code == 404


def test_a_crawl_that_has_not_begun(tmp_path: Path) -> None:
    with client(tmp_path) as pages:
        assert "Nothing is indexed yet" in pages.get("/").text
        assert "Nothing is indexed yet" in pages.get("/domains").text
        assert "Nothing found" in pages.get("/?q=x").text
        assert pages.get("/copy?url=http://a.test/").status_code == 404


# -- logins ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def keyed(tmp_path: Path) -> str:
    return KeyFile(tmp_path).add("anna", "search")


def form(pages: TestClient, path: str = "/login") -> dict[str, str]:
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', pages.get(path).text)
    return {name: unescape(value) for name, value in fields}


def test_pages_lead_to_the_login_and_back(tmp_path: Path, keyed: str) -> None:
    with client(tmp_path, ELSEWHERE) as pages:
        answer = pages.get("/?q=a b&site=x")
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2F%3Fq%3Da%2520b%26site%3Dx")
        answer = pages.post("/login", data={**form(pages, answer.headers["location"]), "key": keyed})
        assert (answer.status_code, answer.headers["location"]) == (303, "/?q=a%20b&site=x")
        cookie = next(line for line in answer.headers.get_list("set-cookie") if "session" in line)
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert keyed not in cookie
        page = pages.get("/")
        assert "Log out anna" in page.text
        assert pages.post("/logout", data=form(pages, "/")).headers["location"] == "/login"
        assert pages.get("/").status_code == 303


@pytest.mark.parametrize("target", ["//evil.test/", "/\\evil.test", "https://evil.test/", "javascript:x", "/a\nb", ""])
def test_a_login_leads_to_no_other_site(tmp_path: Path, keyed: str, target: str) -> None:
    with client(tmp_path, ELSEWHERE) as pages:
        answer = pages.post("/login", data={**form(pages), "key": keyed, "next": target})
        assert answer.headers["location"] == "/"


def test_a_login_needs_the_form_that_was_shown(tmp_path: Path, keyed: str) -> None:
    with client(tmp_path, ELSEWHERE) as pages:
        assert pages.post("/login", data={"key": keyed}).status_code == 403
        given = form(pages)
        assert pages.post("/login", data={**given, "token": given["token"][:-1] + "x", "key": keyed}).status_code == 403
        pages.cookies.clear()
        assert pages.post("/login", data={**given, "key": keyed}).status_code == 403
        for body in (b"", b"\xff=\xff", b"a=1&" * 50, b"key" * 1000):
            assert pages.post("/login", content=body).status_code == 403


def test_a_logout_needs_its_token(tmp_path: Path, keyed: str) -> None:
    with client(tmp_path, ELSEWHERE) as pages:
        pages.post("/login", data={**form(pages), "key": keyed})
        assert pages.post("/logout", data={"token": "x"}).status_code == 403
        assert pages.get("/").status_code == 200


def test_wrong_keys_cost_a_wait(tmp_path: Path, keyed: str) -> None:
    with client(tmp_path, ELSEWHERE) as pages:
        given = form(pages)
        answers = [pages.post("/login", data={**given, "key": f"gsm_{number}"}) for number in range(12)]
        assert answers[0].status_code == 401
        assert "This key is not known" in answers[0].text
        assert "gsm_0" not in answers[0].text
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) >= 1


def test_who_comes_from_another_site_is_led_on_by_our_own_page(tmp_path: Path, keyed: str) -> None:
    """Strict cookies are not sent with the first request; with the second they are."""
    with client(tmp_path, ELSEWHERE) as pages:
        first = pages.get("/?q=x", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
        assert first.status_code == 200
        assert '<meta http-equiv="refresh" content="0">' in first.text
        assert pages.get("/?q=x", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 303


def test_over_https_cookies_are_for_this_host_alone(tmp_path: Path, keyed: str) -> None:
    with client(tmp_path, ELSEWHERE, origins=["https://search.example.org"]) as pages:
        pages.headers["Host"] = "search.example.org"
        shown = pages.get("/login")
        token = re.search(r'name="token" value="([^"]*)"', shown.text)[1]  # type: ignore[index]
        cookie = shown.headers["set-cookie"].partition(";")[0]
        answer = pages.post("/login", data={"token": token, "key": keyed}, headers={"Cookie": cookie})
        session = next(line for line in answer.headers.get_list("set-cookie") if "session" in line)
        assert session.startswith("__Host-")
        assert "Secure" in session
        assert "Path=/" in session
