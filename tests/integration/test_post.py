"""Forms sent with POST, judged by what servers received."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crawling import NAMES, crawl
from fastwarc.warc import ArchiveIterator, WarcRecordType
from serving import client
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

import gossamer
from gossamer.agent import Summary, read_visits, run
from gossamer.agent.agent import Agent
from gossamer.agent.app_process import AppProcess
from gossamer.agent.app_trial import trial
from gossamer.agent.asked import Given, RequestsGiven
from gossamer.agent.crawl import Crawl
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.explain import explain
from gossamer.agent.follower import Committed
from gossamer.agent.pages import PageReader
from gossamer.apps.hidden_web import HiddenWeb
from gossamer.config import AppRule, FetchConfig, HostRule, load
from gossamer.fetch import Fetcher, Resolver
from gossamer.model import Fault, Method, Page, Reason, Visit, VisitRecord
from gossamer.model.post import posted
from gossamer.store import captures_of
from gossamer.testing import TinyWeb
from gossamer.testing.catalogue import Catalogue
from gossamer.testing.web.message import End, Reply, Request, response

SMALL: dict[str, Any] = {"records": 300, "words": 200, "length": 10, "most": 40, "post": True}
ALLOWED = r"http://catalogue\.test/search"
FIND = "http://a.test/find"
FORM = "<form method=post action=/find><input name=q></form>"


def crawled(site: Catalogue | TinyWeb, seed: str, home: Path, application: HiddenWeb, **options: Any) -> None:
    async def all_pages() -> None:
        given = {
            "allow_private": True, "connect": [site.connect], "delay": 0, "host_connections": 4, "retry_wait": "10ms",
            **options,
        }  # fmt: skip
        async for _ in gossamer.crawl([seed], directory=home, apps={"hidden-web": application}, **given):
            pass

    asyncio.run(all_pages())


def url_of(word: str) -> str:
    return f"http://catalogue.test/search#__wb_method=POST&q={word}&lang=en"


def bodies(site: Catalogue) -> list[str]:
    return [body.decode() for _, body in site.sent]


def visit_of(home: Path, url: str) -> VisitRecord:
    (found,) = [visit for visit in read_visits(home) if visit.url == url]
    return found


# -- what is sent ------------------------------------------------------------------------------------------------------


def test_each_word_is_sent_once_and_what_it_leads_to_is_fetched(tmp_path: Path) -> None:
    with Catalogue(**SMALL) as site:
        words = site.vocabulary[3:7]
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(words=words, post=ALLOWED))
        assert sorted(bodies(site)) == sorted(f"q={word}&lang=en" for word in words)
        arrivals = [arrival for arrival in site.log.arrivals if arrival.path.startswith("/search")]
        shown = {f"/record/{number}" for word in words for number in site.found(word)}
        assert {arrival.path for arrival in site.log.arrivals} >= shown
    # The form itself with POST, further pages of its results, which are links, with GET.
    assert [each.method for each in arrivals if each.path == "/search"] == ["POST"] * 4
    assert {each.method for each in arrivals if each.path != "/search"} == {"GET"}
    heads = [head for head, _ in site.sent]
    assert all(b"\r\nContent-Type: application/x-www-form-urlencoded\r\n" in head for head in heads)


def test_as_much_is_found_as_with_get(tmp_path: Path) -> None:
    found = []
    for post in (False, True):
        with Catalogue(**{**SMALL, "post": post}) as site:
            crawled(site, site.seed, tmp_path / str(post), HiddenWeb(queries=60, at_once=1, post=ALLOWED))
            found.append(site.coverage()[-1])
    assert found[1][0] == found[0][0] == 60
    assert abs(found[1][1] - found[0][1]) <= 15  # of 300: which page comes first depends on time


def test_requests_without_a_rule_are_refused_whoever_asks(tmp_path: Path) -> None:
    """Also one that asks by itself for what its owner did not allow."""

    class Asks(gossamer.Application):
        def pages(self, pages: Any) -> Any:
            yield gossamer.Request(FIND, body="q=1")
            yield gossamer.Request("http://a.test/other", body="q=1")

    async def all_pages(post: str, home: Path) -> None:
        application = Asks()
        application.post = post
        given: dict[str, Any] = {"allow_private": True, "connect": [web.connect], "delay": 0}
        async for _ in gossamer.crawl(["http://a.test/"], directory=home, apps={"asks": application}, **given):
            pass

    with TinyWeb() as web:
        web.add_page("http://a.test/")
        web.add_page(FIND)
        asyncio.run(all_pages("", tmp_path / "nothing"))
        assert {arrival.method for arrival in web.log.arrivals} == {"GET"}
        assert [visit.url for visit in read_visits(tmp_path / "nothing")] == ["http://a.test/"]
        asyncio.run(all_pages(r"http://a\.test/find", tmp_path / "one"))
        assert [arrival.path for arrival in web.log.arrivals if arrival.method == "POST"] == ["/find"]


# -- what is not sent --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("post", ["", r"http://catalogue\.test/", r"http://other\.test/search"])
def test_where_it_is_not_allowed_nothing_is_sent(tmp_path: Path, post: str) -> None:
    with Catalogue(**SMALL) as site:
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(queries=20, post=post))
        assert site.sent == []
        assert {arrival.method for arrival in site.log.arrivals} == {"GET"}


def test_a_dry_run_says_what_must_be_allowed_and_what_would_be_sent(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with Catalogue(**SMALL) as site:
        crawl(home, [site.seed], site.connect)
        (left,) = trial(home, HiddenWeb(dry_run=True), 100)
        about = left["record"]
        assert (about["form"], about["method"]) == ("http://catalogue.test/search", "post")
        assert "post=http://catalogue\\.test/search" in about["left"]
        found = [each["record"] for each in trial(home, HiddenWeb(queries=5, dry_run=True, post=ALLOWED), 100)]
        assert len(found) == 5
        assert all(each["body"] == f"q={each['query']}&lang=en" and each["method"] == "post" for each in found)
        assert site.sent == []


@pytest.mark.parametrize("rule", ["Disallow: /search", "Disallow: /search$", "Disallow: /\nAllow: /$"])
def test_robots_rules_hold_for_forms(tmp_path: Path, rule: str) -> None:
    with Catalogue(**SMALL, robots=f"User-agent: *\n{rule}\n") as site:
        word = site.vocabulary[3]
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(words=[word], post=ALLOWED))
        assert site.sent == []
    assert visit_of(tmp_path / "c", url_of(word)).reason == "robots"
    assert "robots.txt" in explain(tmp_path / "c", url_of(word)).sentence


@pytest.mark.parametrize("rule", ["Disallow: /*q=", "Disallow: /*lang", "Disallow: /\nAllow: /search$\nAllow: /$"])
def test_robots_rules_are_about_the_url_and_not_the_body(tmp_path: Path, rule: str) -> None:
    with Catalogue(**SMALL, robots=f"User-agent: *\n{rule}\n") as site:
        crawled(site, site.seed, tmp_path / "c", HiddenWeb(words=site.vocabulary[3:4], post=ALLOWED))
        assert len(site.sent) == 1


def test_scope_holds_for_forms(tmp_path: Path) -> None:
    with Catalogue(**SMALL) as site:
        application = HiddenWeb(words=site.vocabulary[3:4], post=ALLOWED)
        crawled(site, site.seed, tmp_path / "c", application, exclude=["/search$"])
        assert site.sent == []


def test_no_page_can_have_anything_sent(tmp_path: Path) -> None:
    """Links, redirects and seeds that look like the URL of a form stay what they are; a form on a page of another host
    is left, though what it is sent to is allowed.
    """
    forged = ["/find?__wb_method=POST&q=1", "/find#__wb_method=POST&q=1", "/find%23__wb_method=POST&q=2"]
    with TinyWeb() as web:
        lead = (
            f"<p>some words to ask</p><form method=post action={FIND}><input name=q></form><form action={FIND}></form>"
        )
        web.add_page("http://b.test/", [f"http://a.test{path}" for path in forged], body=lead)
        web.add_page("http://b.test/on", ["/away"])
        web.add_redirect("http://b.test/away", f"{FIND}#__wb_method=POST&q=3", 307)
        seeds = ["http://b.test/", "http://b.test/on", f"{FIND}#__wb_method=POST&q=4"]
        config = replace(
            load(None, {NAMES[key]: value for key, value in _given(web).items()}),
            apps=(AppRule("h", "hidden-web", options='{"words": "harbour"}', post=r"http://a\.test/.*"),),
        )
        _run(config, tmp_path / "c", seeds)
        assert {arrival.method for arrival in web.log.arrivals} == {"GET"}
        asked = {arrival.path for arrival in web.log.arrivals if arrival.host == "a.test"}
    assert asked == {"/robots.txt", "/find", forged[0], forged[2]}
    assert not [visit.url for visit in read_visits(tmp_path / "c") if "#" in visit.url]


def _given(web: TinyWeb | Catalogue, **more: Any) -> dict[str, Any]:
    return {"delay": "0", "scope": "any", "allow_private": True, "connect": [web.connect], "retry_wait": "10ms", **more}


def _run(config: Any, home: Path, seeds: list[str]) -> Summary:
    running = [AppProcess(home, rule, lambda _: None, rest=0.01) for rule in config.apps]
    summary = run(config, home, seeds, apps=running)
    for each in running:
        each.finish()
    return summary


def test_what_is_no_longer_allowed_is_not_sent(tmp_path: Path) -> None:
    """It is asked for and queued, and what allowed it is taken back before its turn comes."""
    with TinyWeb() as web:
        web.add_page("http://a.test/", body=f"<p>harbour</p>{FORM}")
        web.add_page(FIND)
        config = load(None, {NAMES[key]: value for key, value in _given(web).items()})
        asking = AppRule("h", "hidden-web", options='{"words": "harbour"}', post=r"http://a\.test/find")

        async def scenario() -> None:
            one = Crawl(replace(config, apps=(asking,)), tmp_path / "c", ["http://a.test/"], lambda _: None)

            def ready(agent: Agent) -> None:
                request = [Given(FIND, 2, "", "q=1")]
                agent.asked.take(RequestsGiven(request, "h"), lambda url: (url, ""), 0.0)
                agent.asked._post.clear()

            await one.run(ready=ready, signals=False)

        asyncio.run(scenario())
        assert {arrival.method for arrival in web.log.arrivals} == {"GET"}
    visit = visit_of(tmp_path / "c", f"{FIND}#__wb_method=POST&q=1")
    assert (visit.state.name, visit.reason) == ("EXCLUDED", "form")
    assert "post in [apps.NAME]" in explain(tmp_path / "c", visit.url).sentence


# -- what comes of it --------------------------------------------------------------------------------------------------


def asked(tmp_path: Path, handler: Callable[[Request], bytes | Reply], **options: Any) -> tuple[VisitRecord, list[str]]:
    """One form, sent with one word to a server that answers so; what is known of it, and the methods of all requests
    to where it is sent.
    """
    with TinyWeb() as web:
        web.add_page("http://a.test/", body=f"<p>harbour</p>{FORM}")
        web.add_page("http://a.test/results")
        web.add_handler(FIND, handler)
        application = HiddenWeb(words="harbour", post=r"http://a\.test/find")
        crawled(web, "http://a.test/", tmp_path / "c", application, **options)
        methods = [arrival.method for arrival in web.log.arrivals if arrival.path in ("/find", "/results")]
    return visit_of(tmp_path / "c", f"{FIND}#__wb_method=POST&q=harbour"), methods


def test_what_may_have_been_received_is_not_sent_again(tmp_path: Path) -> None:
    visit, methods = asked(tmp_path, lambda request: Reply((), End.CLOSE, 0))
    assert methods == ["POST"]
    assert (visit.state.name, visit.reason, visit.tries) == ("DEAD", "closed", 1)


def test_a_server_that_takes_too_long_is_not_asked_again(tmp_path: Path) -> None:
    visit, methods = asked(tmp_path, lambda request: Reply((), End.HANG, 0), timeout="1s")
    assert methods == ["POST"]
    assert (visit.state.name, visit.reason) == ("DEAD", "timeout")


def test_a_server_that_is_busy_is_asked_later(tmp_path: Path) -> None:
    answers = iter([503, 429])

    def busy(request: Request) -> bytes:
        status = next(answers, 200)
        return response(status, "text/html", b"found", [("Retry-After", "0")] if status > 200 else [])

    visit, methods = asked(tmp_path, busy)
    assert methods == ["POST"] * 3
    assert (visit.state.name, visit.status) == ("FETCHED", 200)


@pytest.mark.parametrize("status", [302, 303, 307, 308])
def test_a_redirect_is_followed_with_get(tmp_path: Path, status: int) -> None:
    visit, methods = asked(tmp_path, lambda request: response(status, "text/html", b"", [("Location", "/results")]))
    assert methods == ["POST", "GET"]
    assert visit.status == status


def test_no_head_goes_before_a_form(tmp_path: Path) -> None:
    _, methods = asked(tmp_path, lambda request: response(200, "text/html", b"found"), head_first="always")
    assert methods == ["POST"]


def fetched(visits: list[Visit], connect: str, may_post: Callable[[Visit], Reason | None] | None) -> list[Page | Fault]:
    """By one handle, one after the other."""
    config = FetchConfig(allow_private=True, connect=(connect,), timeout=10.0, connections=1)

    async def run() -> list[Page | Fault]:
        fetcher = Fetcher(config, "me", ("text/html",), (), Resolver(config.connect, (), time.time), time.time)
        fetcher.may_post = may_post or fetcher.may_post
        found: list[Page | Fault] = []
        for visit in visits:
            fetcher.start(visit)
            for _ in range(20):
                if done := await fetcher.wait(1.0):
                    break
            found.append(done[0][1])
        await fetcher.close()
        return found

    return asyncio.run(run())


def visit_by(method: Method, body: str = "", etag: bytes = b"") -> Visit:
    url = posted(FIND, body) if method is Method.POST else FIND
    return Visit(url or "", "a.test", 0, 0, 1, method=method, validators=(etag, b""))


def test_a_handle_sends_with_each_method_what_belongs_to_it() -> None:
    came: list[tuple[bytes, bytes]] = []

    def note(request: Request) -> bytes:
        came.append((request.head + b"\r\n", request.body))
        return response(200, "text/html", b"found")

    get, head, post = Method.GET, Method.HEAD, Method.POST
    visits = [
        visit_by(get), visit_by(post, "q=1"), visit_by(post, "q=22"), visit_by(get), visit_by(get, etag=b'"x"'),
        visit_by(post, "q=3"), visit_by(head), visit_by(post, ""), visit_by(get),
    ]  # fmt: skip
    with TinyWeb() as web:
        web.add_handler(FIND, note)
        outcomes = fetched(visits, web.connect, lambda _: None)
    assert [head[: head.index(b" ")] for head, _ in came] == [visit.method.value for visit in visits]
    assert [body for _, body in came] == [b"", b"q=1", b"q=22", b"", b"", b"q=3", b"", b"", b""]
    assert [b"\r\nIf-None-Match: " in head for head, _ in came] == [index == 4 for index in range(9)]
    assert {head.partition(b" HTTP")[0].partition(b" ")[2] for head, _ in came} == {b"/find"}
    for visit, outcome, (top, body) in zip(visits, outcomes, came, strict=True):
        assert isinstance(outcome, Page)
        if visit.method is not head:  # which is never stored
            assert outcome.request == top + body


def test_nothing_is_sent_unless_somebody_says_so() -> None:
    with TinyWeb() as web:
        web.add_page(FIND)
        (fault,) = fetched([visit_by(Method.POST, "q=1")], web.connect, None)
        assert isinstance(fault, Fault)
        assert (fault.reason, fault.retry) == (Reason.FORM, False)
        outcomes = fetched(
            [visit_by(Method.POST, "q=1"), visit_by(Method.GET)], web.connect, lambda _: Reason.UNANSWERED
        )
        assert [isinstance(outcome, Page) for outcome in outcomes] == [False, True]
        assert [arrival.method for arrival in web.log.arrivals] == ["GET"]


# -- what is kept ------------------------------------------------------------------------------------------------------


def test_what_was_sent_reads_back(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with Catalogue(**SMALL) as site:
        words = site.vocabulary[3:6]
        crawled(site, site.seed, home, HiddenWeb(words=words, post=ALLOWED))
        sent = {head + b"\r\n" + body for head, body in site.sent}
    (warc,) = (home / "warc").glob("*.warc.gz")
    target = "http://catalogue.test/search"
    requests = set()
    with warc.open("rb") as file:
        for record in ArchiveIterator(file, parse_http=False, record_types=WarcRecordType.request):
            data = record.reader.read()
            if data.startswith(b"POST "):
                assert record.headers["WARC-Target-URI"] == target
                requests.add(data)
    assert requests == sent  # byte for byte
    answers = {}
    with warc.open("rb") as file:
        for record in WarcioIterator(file, check_digests="raise"):
            form = record.rec_headers.get_header("Gossamer-Form")
            if form:
                assert record.rec_headers.get_header("WARC-Target-URI") == target
                answers[f"{target}#{form}"] = record.content_stream().read()
    assert set(answers) == set(map(url_of, words))
    (lines,) = (home / "warc").glob("*.cdxj")
    found = [line.split(" ", 2) for line in lines.read_text().splitlines() if "__wb_method" in line]
    assert sorted(key for key, _, _ in found) == sorted(
        f"test,catalogue)/search?__wb_method=post&lang=en&q={word}" for word in words
    )
    about = [json.loads(fields) for _, _, fields in found]
    assert {(each["url"], each["method"]) for each in about} == {(target, "POST")}
    assert {each["requestBody"] for each in about} == {f"q={word}&lang=en" for word in words}
    with PageReader(home) as reader:
        for url, body in answers.items():
            page = reader.by_url(url)
            assert page is not None
            assert (page.url, page.body) == (url, body)
        assert reader.by_url(target) is None


def test_answers_that_are_alike_are_kept_once_and_read_back(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", body=f"<p>harbour boats</p>{FORM}")
        web.add_handler(FIND, lambda request: response(200, "text/html", b"<p>nothing was found</p>" * 50))
        crawled(web, "http://a.test/", home, HiddenWeb(words="harbour boats", post=r"http://a\.test/find"))
    with PageReader(home) as reader:
        pages = [reader.by_url(f"{FIND}#__wb_method=POST&q={word}") for word in ("harbour", "boats")]
    assert [page is not None and page.body[:24] for page in pages] == [b"<p>nothing was found</p>"] * 2
    assert sorted(page is not None and page.revisit for page in pages) == [False, True]


def test_who_looks_at_a_crawl_finds_the_answers_of_forms(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with Catalogue(**SMALL) as site:
        word = site.vocabulary[3]
        crawled(site, site.seed, home, HiddenWeb(words=[word], post=ALLOWED))
    url = url_of(word)
    title = f"records for {word}"
    with client(home) as pages:
        about = pages.get("/api/v1/pages", params={"url": url}).json()
        assert (about["url"], about["status"]) == (url, 200)
        assert title in pages.get("/api/v1/pages/content", params={"url": url}).text
        assert title in pages.get("/copy/content", params={"url": url}).text
        assert pages.get("/copy", params={"url": url}).status_code == 200
        assert pages.get("/api/v1/explain", params={"url": url}).json()["known"]
        (result,) = pages.get("/api/v1/results", params={"tag": "hidden-web"}).json()["results"]
        assert (result["url"], result["state"]) == (url, "fetched")
        assert title in pages.get(result["content"]).text
        assert pages.get("/api/v1/pages", params={"url": "http://catalogue.test/search"}).status_code == 404
    position = Committed(CrawlDir(home)).now()
    assert [each.url for each in captures_of(url, home / "warc", position)[0]] == [url]
    assert captures_of("http://catalogue.test/search", home / "warc", position)[0] == []


def test_forms_are_not_sent_again_to_keep_fresh(tmp_path: Path) -> None:
    """Neither what a crawl that keeps fresh has sent, nor what one has that began to later."""
    before, after = tmp_path / "before", tmp_path / "after"
    with Catalogue(**SMALL) as site:
        word = site.vocabulary[3]
        crawled(site, site.seed, before, HiddenWeb(words=[word], post=ALLOWED))
        pages = len(list(read_visits(before)))
        assert visit_of(before, site.seed).due == 0
        crawled(site, site.seed, before, HiddenWeb(words=[word], post=ALLOWED), keep_fresh=True, time_limit="1s")
        assert len(site.sent) == 1
        crawled(site, site.seed, after, HiddenWeb(words=[word], post=ALLOWED), keep_fresh=True, max_pages=pages)
        assert len(site.sent) == 2
    for home in (before, after):
        assert visit_of(home, site.seed).due > 0
        visit = visit_of(home, url_of(word))
        assert (visit.state.name, visit.due) == ("FETCHED", 0)


def test_a_form_is_sent_with_what_its_host_is_to_be_told(tmp_path: Path) -> None:
    home = tmp_path / "c"
    rule = HostRule("catalogue.test", user="me:secret", cookies=True)
    with Catalogue(**SMALL) as site:
        config = load(None, {NAMES[key]: value for key, value in _given(site).items()})
        asking = AppRule("h", "hidden-web", options=json.dumps({"words": site.vocabulary[3]}), post=ALLOWED)
        _run(replace(config, apps=(asking,), hosts=(rule,)), home, [site.seed])
        ((head, body),) = site.sent
    assert b"\r\nAuthorization: Basic " in head
    (warc,) = (home / "warc").glob("*.warc.gz")
    with warc.open("rb") as file:
        records = ArchiveIterator(file, parse_http=False, record_types=WarcRecordType.request)
        (kept,) = [data for record in records if (data := record.reader.read()).startswith(b"POST ")]
    told = next(line for line in head.split(b"\r\n") if line.startswith(b"Authorization"))
    assert kept == head.replace(told, b"Authorization: (withheld)") + b"\r\n" + body
