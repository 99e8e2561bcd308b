"""Pages, places and hosts that repeat others, crawled over real sockets and judged from the server's log."""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path

import pytest
from crawling import crawl, urls
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from gossamer.agent import read_findings, read_progress
from gossamer.agent.explain import explain
from gossamer.config import OPTIONS
from gossamer.frontier.notes import AGREE
from gossamer.model import State
from gossamer.rules.yields import ASIDE_AFTER
from gossamer.testing import TinyWeb
from gossamer.testing.web import Reply, Request
from gossamer.testing.web.endless import ENDLESS, MOST_WASTED, EndlessPlaces, asked_of, missing, seeds, wasted
from gossamer.testing.web.log import MemoryLog
from gossamer.testing.web.message import response
from gossamer.testing.web.server import Server

TEXT = " ".join(f"word{number}" for number in range(300))


def asked_for(web: TinyWeb) -> list[str]:
    return [f"{arrival.host}{arrival.path}" for arrival in web.log.arrivals if arrival.path != "/robots.txt"]


def records(home: Path) -> list[tuple[str, str, str, str]]:
    """Type, URL, and for revisits the URL and date that they refer to."""
    found = []
    for file in sorted((home / "warc").glob("*.warc.gz")):
        with open(file, "rb") as stream:
            for record in ArchiveIterator(stream):
                head = record.rec_headers
                if record.rec_type in ("response", "revisit"):
                    found.append(
                        (
                            record.rec_type,
                            head.get_header("WARC-Target-URI"),
                            head.get_header("WARC-Refers-To-Target-URI") or "",
                            head.get_header("WARC-Refers-To-Date") or "",
                        )
                    )
    return [row for row in found if not row[1].endswith("/robots.txt")]


def add_copies(web: TinyWeb) -> None:
    """One page in two directories, with links that are relative to them."""
    body = f"<p>{TEXT}</p>" + "".join(f'<a href="x{number}">x</a>' for number in range(6))
    web.add_page("http://a.test/", links=["/one/", "/two/"])
    web.add_page("http://a.test/one/", body=body)
    web.add_page("http://a.test/two/", body=body)


def test_the_same_payload_is_stored_once(tmp_path: Path) -> None:
    with TinyWeb() as web:
        add_copies(web)
        for number in range(6):
            web.add_page(f"http://a.test/one/x{number}")
            web.add_page(f"http://a.test/two/x{number}")
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect)
        asked = asked_for(web)
    assert summary.pages == 3 + 6 + 6
    assert len([path for path in asked if path.startswith("a.test/two/x")]) == 6, "its relative links lead elsewhere"
    rows = records(tmp_path / "c")
    (revisit,) = [row for row in rows if row[0] == "revisit"]
    dates = {}
    for file in (tmp_path / "c" / "warc").glob("*.warc.gz"):
        with open(file, "rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "revisit":
                    assert record.content_stream().read() == b"", "the payload is in the other record"
                elif record.rec_type == "response":
                    dates[record.rec_headers.get_header("WARC-Target-URI")] = record.rec_headers.get_header("WARC-Date")
    assert revisit[1:] == ("http://a.test/two/", "http://a.test/one/", dates["http://a.test/one/"])
    checker = Checker(argparse.Namespace(inputs=[], verbose=False))
    for file in (tmp_path / "c" / "warc").glob("*.warc.gz"):
        checker.process_one(str(file))
    assert not checker.exit_value
    lines = [line for file in (tmp_path / "c" / "warc").glob("*.cdxj") for line in file.read_text().splitlines()]
    (line,) = [line for line in lines if '"http://a.test/two/"' in line]
    assert '"mime": "warc/revisit"' in line
    assert read_progress(tmp_path / "c").duplicates == 1


def test_follow_crawls_repeated_pages_too(tmp_path: Path) -> None:
    with TinyWeb() as web:
        add_copies(web)
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, duplicates="follow")
        asked = asked_for(web)
    assert len([path for path in asked if path.startswith("a.test/two/x")]) == 6


def test_pages_that_only_lead_on_are_followed_from_every_place(tmp_path: Path) -> None:
    """The same frameset in two directories shows two different pages."""
    frames = '<frameset><frame src="menu.html"><frame src="main.html"></frameset>'
    with TinyWeb() as web:
        web.add_page("http://a.test/", links=["/one/", "/two/"])
        for place in ("one", "two"):
            web.add_page(f"http://a.test/{place}/", body=frames)
            web.add_page(f"http://a.test/{place}/menu.html")
            web.add_page(f"http://a.test/{place}/main.html")
        assert crawl(tmp_path / "c", ["http://a.test/"], web.connect).pages == 7


def add_languages(web: TinyWeb, top: str, languages: list[str]) -> set[str]:
    """Add a manual that is the same in every language, but for one page in each chapter; give all its pages."""
    chapters = ("mod", "ssl", "howto", "faq")
    web.add_page("http://a.test/", links=[f"{top}{language}/" for language in languages])
    found = {"http://a.test/"}
    for language in languages:
        pages = {"": "".join(f'<a href="{chapter}/">{chapter}</a>' for chapter in chapters)}
        for chapter in chapters:
            links = [f"page{number}.html" for number in range(ASIDE_AFTER + 6)]
            pages |= {f"{chapter}/{link}": f"{link} of {chapter}" for link in links}
            pages[f"{chapter}/{links[-1]}"] += '<a href="own.html">in this language alone</a>'
            pages[f"{chapter}/"] = f"{chapter}" + "".join(f'<a href="{link}">x</a>' for link in links)
            pages[f"{chapter}/own.html"] = f"{chapter} in {language}"
        for path, text in pages.items():
            words = " ".join(f"{path}{number}" for number in range(300))
            web.add_page(f"http://a.test{top}{language}/{path}", body=f"<p>{words}</p>{text}")
            found.add(f"http://a.test{top}{language}/{path}")
    return found


@pytest.mark.parametrize("top", ["/", "/doc/manual/html/"])
def test_the_relative_links_of_copies_are_followed_in_every_language(tmp_path: Path, top: str) -> None:
    """Debian's manual of Apache is like this, and 398 of its 2,658 pages were never found."""
    with TinyWeb() as web:
        pages = add_languages(web, top, ["en", "de", "pt-br", "zh-cn"])
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    assert summary.reason == "complete"
    assert urls(tmp_path / "c", State.FETCHED) == pages
    assert read_findings(tmp_path / "c") == []


def test_hosts_with_the_same_front_page_have_pages_of_their_own(tmp_path: Path) -> None:
    with TinyWeb() as web:
        links = [f"news{number}.html" for number in range(9)]
        pages = [f"http://{host}.test/{path}" for host in "ab" for path in ("", *links)]
        for url in pages:
            if url.endswith("/"):
                web.add_page(url, links, body=f"<p>{TEXT}</p>")
            else:
                web.add_page(url)
        crawl(tmp_path / "c", ["http://a.test/", "http://b.test/"], web.connect)
    assert urls(tmp_path / "c", State.FETCHED) == set(pages)


@pytest.mark.parametrize(
    ("links", "most"),
    [
        (["deeper/"], 2),
        (["../x/deeper/", *(f"/{number}" for number in range(9))], 11),
        ([f"{letter}/index.html" for letter in "abcdefghij"], 12),
    ],
)
def test_a_page_that_leads_deeper_to_itself_ends(tmp_path: Path, links: list[str], most: int) -> None:
    """All of the trap is one page, to the byte."""

    class Deeper(TinyWeb):
        def answer(self, request: Request) -> bytes | Reply:
            if not request.target.startswith(b"/x/"):
                return super().answer(request)
            body = f"<p>{TEXT}</p>" + "".join(f'<a href="{link}">more</a>' for link in links)
            return response(200, "text/html", body.encode())

    with Deeper() as web:
        web.add_page("http://a.test/", links=["/x/"])
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, time_limit="60s")
        asked = asked_for(web)
    assert summary.reason == "complete"
    assert len(asked) <= 1 + most


def test_a_missing_page_that_says_it_is_there_leads_nowhere_for_ever(tmp_path: Path) -> None:
    """The same few links, each time one directory deeper."""

    class SoftErrors(TinyWeb):
        def answer(self, request: Request) -> bytes | Reply:
            if not request.target.startswith(b"/lost/"):
                return super().answer(request)
            return response(200, "text/html", b'Not found. <a href="help/">help</a> <a href="contact/">contact</a>')

    with SoftErrors() as web:
        web.add_page("http://a.test/", links=["/lost/x/"])
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, time_limit="60s")
        asked = asked_for(web)
    assert summary.reason == "complete"
    assert ASIDE_AFTER < len(asked) < 4 * ASIDE_AFTER


def test_links_that_were_not_followed_the_first_time_are(tmp_path: Path) -> None:
    """The first copy told robots not to, or was as deep as the crawl goes."""
    body = f"<p>{TEXT}</p>" + "".join(f'<a href="/x{number}">x</a>' for number in range(6))
    with TinyWeb() as web:
        web.add_page("http://a.test/", links=["/one", "/step"])
        web.add_page("http://a.test/one", body=body, headers={"X-Robots-Tag": "nofollow"})
        web.add_page("http://a.test/step", links=["/two"])
        web.add_page("http://a.test/two", body=body)
        for number in range(6):
            web.add_page(f"http://a.test/x{number}")
        assert crawl(tmp_path / "c", ["http://a.test/"], web.connect).pages == 4 + 6


def test_links_that_were_too_deep_the_first_time_are_followed(tmp_path: Path) -> None:
    body = f"<p>{TEXT}</p>" + "".join(f'<a href="/x{number}">x</a>' for number in range(6))
    with TinyWeb() as web:
        web.add_page("http://a.test/", links=["/step", "/slow"])
        web.add_page("http://a.test/step", links=["/deep"])
        web.add_page("http://a.test/deep", body=body)
        web.add_page("http://a.test/slow", links=["/shallow"])
        home = tmp_path / "c"
        assert crawl(home, ["http://a.test/step"], web.connect, max_depth=1).pages == 2
        web.add_page("http://a.test/shallow", body=body)
        assert crawl(home, ["http://a.test/shallow"], web.connect, max_depth=1).pages == 3 + 6


def test_a_trap_is_left_and_nothing_else(tmp_path: Path) -> None:
    """A calendar without end: nearly the same page each time, always under new URLs."""

    def month(request: Request) -> bytes:
        number = int(request.target.rpartition(b"/")[2])
        links = "".join(f'<a href="/calendar/{number * 3 + step}">x</a>' for step in (1, 2, 3))
        return response(200, "text/html", f"<p>{TEXT} month {number}</p>{links}".encode())

    with TinyWeb() as web:
        normal = [f"http://a.test/p/{number}" for number in range(60)]
        web.add_page("http://a.test/", links=[*normal, "/calendar/0"])
        for number, url in enumerate(normal):
            words = " ".join(f"own{number}x{word}" for word in range(200))
            web.add_page(url, body=f"<p>{words}</p>", links=["/", "/calendar/0"])
        for number in range(5000):
            web.add_handler(f"http://a.test/calendar/{number}", month)
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, time_limit="60s")
        asked = asked_for(web)
    assert summary.reason == "complete"
    assert urls(tmp_path / "c", State.FETCHED) >= set(normal)
    trapped = [path for path in asked if path.startswith("a.test/calendar/")]
    assert ASIDE_AFTER < len(trapped) < 60
    (found,) = read_findings(tmp_path / "c")
    assert (found.kind, found.what) == ("barren", "a.test/calendar/")
    progress = read_progress(tmp_path / "c")
    assert progress.aside == progress.queued == len(urls(tmp_path / "c", State.QUEUED)) > 0
    waiting = min(urls(tmp_path / "c", State.QUEUED))
    assert "put aside" in explain(tmp_path / "c", waiting).sentence


def test_places_without_end_are_left_and_harmless_sites_that_look_like_them_are_not(tmp_path: Path) -> None:
    """Days on which nothing happens, items without news, endless refreshes; beside galleries, slide shows, lists."""
    server = Server(EndlessPlaces(), log=(log := MemoryLog()))
    with server.in_thread():
        follow = (*OPTIONS["parse.follow"].default, "header:refresh")
        summary = crawl(tmp_path / "c", seeds(), server.connect, max_pages=15_000, follow=follow)
    asked = asked_of(log.arrivals)
    assert summary.reason == "complete"
    assert {name: waste for name, waste in wasted(asked).items() if waste > MOST_WASTED} == {}
    assert {name: pages for name, pages in missing(asked).items() if pages} == {}
    found = {finding.what.partition(".")[0] for finding in read_findings(tmp_path / "c")}
    redirects = {url.partition(".")[0].removeprefix("http://") for url in urls(tmp_path / "c", State.EXCLUDED)}
    assert redirects == {"refresh-to-moment", "refresh-to-moment-slowly", "refresh-to-id"}
    assert ENDLESS.keys() <= found | redirects


def test_what_was_put_aside_is_crawled_when_asked_for(tmp_path: Path) -> None:
    """Found once, it holds in the next run, until the crawl is told to follow."""

    def room(request: Request) -> bytes:
        number = int(request.target.rpartition(b"/")[2])
        links = "".join(f'<a href="/maze/{step}">x</a>' for step in (2 * number + 1, 2 * number + 2) if step < 255)
        return response(200, "text/html", f"<p>{TEXT} room {number}</p>{links}".encode())

    with TinyWeb() as web:
        for number in range(255):
            web.add_handler(f"http://a.test/maze/{number}", room)
        first = crawl(tmp_path / "c", ["http://a.test/maze/0"], web.connect)
        assert first.reason == "complete"
        assert first.pages < 100
        assert crawl(tmp_path / "c", [], web.connect).pages == first.pages
        assert crawl(tmp_path / "c", [], web.connect, duplicates="follow").pages == 255
    assert read_progress(tmp_path / "c").aside == 0


def add_site(web: TinyWeb, host: str, pages: int, *, named: bool = False) -> None:
    for number in range(pages):
        words = " ".join(f"own{number}x{word}" for word in range(50))
        name = f"http://{host}" if named else ""
        links = [f"{name}/p/{(number * 2 + step) % pages}" for step in (1, 2)]
        web.add_page(f"http://{host}/p/{number}", links=links, body=f"<p>{words}</p>")


@pytest.mark.parametrize("named", [False, True])
def test_a_mirror_is_left(tmp_path: Path, named: bool) -> None:
    """Whether its pages are the same to the byte, or name their own host in their links."""
    pages = 3 * AGREE
    with TinyWeb() as web:
        for host in ("a.test", "b.test"):
            add_site(web, host, pages, named=named)
        every = _pages("a.test", pages) + _pages("b.test", pages)
        web.add_page("http://c.test/", links=every)
        notices: list[str] = []
        summary = crawl(tmp_path / "c", ["http://c.test/"], web.connect, notices)
        asked = asked_for(web)
    assert summary.reason == "complete"
    (found,) = read_findings(tmp_path / "c")
    assert found.kind == "mirror"
    assert {found.what, found.like} == {"a.test", "b.test"}
    assert len([path for path in asked if path.startswith(found.like)]) == pages
    assert AGREE <= len([path for path in asked if path.startswith(found.what)]) < pages
    assert any("shows the pages of" in text for text in notices)
    assert {row[0] for row in records(tmp_path / "c")} == ({"response"} if named else {"response", "revisit"})
    left = next(url for url in urls(tmp_path / "c", State.QUEUED) if found.what in url)
    assert f"shows the pages of {found.like}" in explain(tmp_path / "c", left).sentence


@pytest.mark.parametrize("names", [3, 8])
@pytest.mark.parametrize(
    ("found", "named", "most"),
    [
        ("fronts", False, AGREE + 1),
        ("fronts", True, AGREE + 1),
        ("in order", False, AGREE + 1),
        ("in any order", False, 4 * AGREE),
        ("in any order", True, 4 * AGREE),
    ],
)
def test_of_many_names_for_one_site_all_but_one_are_left(
    tmp_path: Path, names: int, found: str, named: bool, most: int
) -> None:
    """Whoever had a page first, and however they are found: by their front pages at the same time, or page by page."""
    pages = 5 * AGREE
    hosts = [f"{letter}.test" for letter in "hgfedcba"[:names]]
    with TinyWeb() as web:
        for host in hosts:
            add_site(web, host, pages, named=named)
        seeds = [f"http://{host}/" for host in hosts] if found == "fronts" else ["http://list.test/"]
        if found == "fronts":
            for host in hosts:
                name = f"http://{host}" if named else ""
                web.add_page(
                    f"http://{host}/", links=[f"{name}/p/0", f"{name}/p/1"], body="<p>Welcome to our site!</p>"
                )
        else:
            listed = [url for urls in zip(*(_pages(host, pages) for host in hosts), strict=True) for url in urls]
            if found == "in any order":
                random.Random(7).shuffle(listed)
            web.add_page("http://list.test/", links=listed)
        summary = crawl(tmp_path / "c", seeds, web.connect)
        asked = Counter(arrival.host for arrival in web.log.arrivals if arrival.path != "/robots.txt")
    assert summary.reason == "complete"
    (whole,) = [host for host in hosts if asked[host] >= pages]
    assert {host: asked[host] for host in hosts if host != whole and asked[host] > most} == {}
    findings = read_findings(tmp_path / "c")
    assert {finding.what for finding in findings} == {*hosts} - {whole}
    for host in {*hosts} - {whole}:  # it is said of each, by way of the others, what it shows
        said = {finding.what: finding.like for finding in findings}
        while host != whole:
            host = said.pop(host)


def test_hosts_of_which_one_page_in_ten_differs_are_no_mirrors(tmp_path: Path) -> None:
    pages = 5 * AGREE
    hosts = ["a.test", "b.test", "c.test"]
    with TinyWeb() as web:
        for host in hosts:
            add_site(web, host, pages)
            for number in range(4, pages, 10):
                links = [f"/p/{(number * 2 + step) % pages}" for step in (1, 2)]
                web.add_page(f"http://{host}/p/{number}", links, body=f"<p>Of {host[0]} alone, {number}. {TEXT}</p>")
            web.add_page(f"http://{host}/", links=["/p/0", "/p/1"], body="<p>Welcome to our site!</p>")
        crawl(tmp_path / "c", [f"http://{host}/" for host in hosts], web.connect)
    assert urls(tmp_path / "c", State.FETCHED) == {
        url for host in hosts for url in [f"http://{host}/", *_pages(host, pages)]
    }
    assert read_findings(tmp_path / "c") == []


def test_a_host_that_resembles_another_only_in_part_is_no_mirror(tmp_path: Path) -> None:
    pages = 3 * AGREE
    with TinyWeb() as web:
        for host in ("a.test", "b.test"):
            add_site(web, host, pages)
        for number in range(0, pages, 3):
            web.add_page(f"http://b.test/p/{number}", links=[f"/p/{number + 1}"], body=f"<p>another page {number}</p>")
        every = [f"http://{host}/p/{number}" for number in range(pages) for host in ("a.test", "b.test")]
        web.add_page("http://c.test/", links=every)
        assert crawl(tmp_path / "c", ["http://c.test/"], web.connect).pages == 2 * pages + 1
    assert read_findings(tmp_path / "c") == []


def test_hosts_with_the_manual_of_the_same_program_are_no_mirrors(tmp_path: Path) -> None:
    """Their front pages differ, and so they are two, however much they have in common."""
    pages = 3 * AGREE
    with TinyWeb() as web:
        for host, goods in (("a.test", "apples"), ("b.test", "bears")):
            add_site(web, host, pages)
            own = [f"http://{host}/of-{host}/{number}" for number in range(40)]
            web.add_page(f"http://{host}/", body=f"<p>We have {goods}.</p>", links=[*own, *_pages(host, pages)])
            for number, url in enumerate(own):
                web.add_page(url, body=f"<p>All about {goods}, {number}, {TEXT}</p>")
        seeds = ["http://a.test/", "http://b.test/"]
        assert crawl(tmp_path / "c", seeds, web.connect).pages == 2 * (pages + 40 + 1)
    assert read_findings(tmp_path / "c") == []


def test_hosts_with_the_same_front_page_but_more_of_their_own_are_no_mirrors(tmp_path: Path) -> None:
    """As fresh servers have, which say that they work, and show the manual."""
    hosts = ("a.test", "b.test")
    with TinyWeb() as web:
        for host in hosts:
            add_site(web, host, AGREE + 10)
            web.add_page(f"http://{host}/", body="<p>It works!</p>")
            for number in range(4 * AGREE):
                words = " ".join(f"{host[0]}{number}x{word}" for word in range(50))
                web.add_page(f"http://{host}/of-{host}/{number}", body=f"<p>{words}</p>")
        fronts = [f"http://{host}/" for host in hosts]
        own = [f"http://{host}/of-{host}/{number}" for number in range(4 * AGREE) for host in hosts]
        shared = [url for pair in zip(*(_pages(host, AGREE + 10) for host in hosts), strict=True) for url in pair]
        web.add_page("http://c.test/", links=[*fronts, *own, *shared])
        assert crawl(tmp_path / "c", ["http://c.test/"], web.connect).pages == 1 + 2 + len(own) + len(shared)
    assert read_findings(tmp_path / "c") == []


def test_the_host_whose_front_page_came_first_is_no_mirror_of_the_other(tmp_path: Path) -> None:
    """However far ahead the other one is: a crawl must not leave its seeds."""
    pages = 4 * AGREE
    with TinyWeb() as web:
        for host in ("a.test", "b.test"):
            add_site(web, host, pages)
            web.add_page(f"http://{host}/", body="<p>the front page of one and the other</p>")
        home = tmp_path / "c"
        crawl(home, ["http://a.test/"], web.connect)
        crawl(home, ["http://b.test/", *_pages("b.test", pages // 4)], web.connect, max_pages=pages // 4)
        crawl(home, _pages("a.test", pages) + _pages("b.test", pages), web.connect)
        asked = asked_for(web)
    (found,) = read_findings(home)
    assert (found.what, found.like) == ("b.test", "a.test")
    assert urls(home, State.FETCHED) >= set(_pages("a.test", pages))
    assert len([path for path in asked if path.startswith("b.test")]) < pages


def _pages(host: str, pages: int) -> list[str]:
    return [f"http://{host}/p/{number}" for number in range(pages)]


def test_a_mirror_is_crawled_when_its_host_is_told_to_be(tmp_path: Path) -> None:
    pages = 2 * AGREE
    with TinyWeb() as web:
        for host in ("a.test", "b.test"):
            add_site(web, host, pages)
        every = _pages("a.test", pages) + _pages("b.test", pages)
        web.add_page("http://c.test/", links=every)
        crawl(tmp_path / "c", ["http://c.test/"], web.connect)
        assert read_findings(tmp_path / "c")
        assert crawl(tmp_path / "c", [], web.connect, duplicates="follow").pages == 2 * pages + 1


def test_the_same_page_everywhere_is_fetched_wherever_a_page_leads(tmp_path: Path) -> None:
    """Nothing is left that a page with something new has linked to."""
    with TinyWeb() as web:
        every = [f"http://{host}.test/{number}" for host in "ab" for number in range(60)]
        web.add_page("http://c.test/", links=every)
        for url in every:
            web.add_page(url, body="<p>closed for today</p>", links=["http://c.test/"])
        assert crawl(tmp_path / "c", ["http://c.test/"], web.connect).pages == 121


class _Wildcard(TinyWeb):
    """Every host below wild.test shows the same page, with links to hosts that nobody has heard of."""

    def answer(self, request: Request) -> bytes | Reply:
        name = request.host.decode()
        if not name.endswith(".wild.test") or request.target == b"/robots.txt":
            return super().answer(request)
        label = name.partition(".")[0]
        links = "".join(f'<a href="http://{label}{step}.wild.test/">more</a>' for step in "abc")
        return response(200, "text/html", f"<p>Welcome to this wonderful new site.</p>{links}".encode())


def test_hosts_without_end_are_left(tmp_path: Path) -> None:
    with _Wildcard() as web:
        normal = [f"http://h{number}.good.test/" for number in range(30)]
        web.add_page("http://a.test/", links=["http://x.wild.test/", *normal])
        for number, url in enumerate(normal):
            words = " ".join(f"own{number}x{word}" for word in range(50))
            web.add_page(url, body=f"<p>{words}</p>")
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, time_limit="60s")
        asked = asked_for(web)
    assert summary.reason == "complete"
    assert urls(tmp_path / "c", State.FETCHED) >= set(normal)
    assert ASIDE_AFTER < len([path for path in asked if ".wild.test/" in path]) < 60
    (found,) = read_findings(tmp_path / "c")
    assert (found.kind, found.what) == ("endless", "wild.test")
    waiting = min(urls(tmp_path / "c", State.QUEUED))
    assert "the hosts of wild.test have no end" in explain(tmp_path / "c", waiting).sentence


def test_seeds_are_visited_wherever_they_are(tmp_path: Path) -> None:
    with _Wildcard() as web:
        seeds = [f"http://h{number:05}.wild.test/" for number in range(60)]
        crawl(tmp_path / "c", seeds, web.connect, time_limit="60s")
        asked = asked_for(web)
    assert {url.removeprefix("http://") for url in seeds} <= set(asked)


def add_listings(web: TinyWeb, titled: str) -> int:
    """Forty packages as a server lists them whose directories have no pages; gives how many pages there are."""

    def listing(path: str, *names: str) -> None:
        rows = [f'<a href="{name}">{name}</a>{" " * 40}16-Nov-2026 05:12{" " * 20}-' for name in names]
        title = titled.format(path=path)
        body = f"<html><head><title>{title}</title></head><body><h1>{title}</h1><pre>" + "\n".join(["../", *rows])
        web.add_page(f"http://a.test{path}", body=body)

    packages = [f"package-{letter}{other}/" for letter in "abcdefgh" for other in "vwxyz"]
    listing("/", *packages)
    for package in packages:
        path = f"/{package}"
        for below in ("usr/", "share/", "doc/", package, "html/"):
            listing(path, below)
            path += below
        listing(path, "manual.html")
        web.add_page(f"http://a.test{path}manual.html", body=f"<h1>The manual of {package}</h1><p>{TEXT}")
    return 1 + 7 * len(packages)


@pytest.mark.parametrize(
    "titled", ["Index of {path}", "Directory listing for {path}", "Directory Listing For [{path}]", "Directory: {path}"]
)
def test_listings_of_directories_are_followed_to_the_last_page(tmp_path: Path, titled: str) -> None:
    """They all look alike, and each leads into itself."""
    with TinyWeb() as web:
        pages = add_listings(web, titled)
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    assert (summary.pages, summary.reason) == (pages, "complete")
    assert read_findings(tmp_path / "c") == []


def test_a_directory_that_has_itself_in_it_ends(tmp_path: Path) -> None:
    """As a link to a directory above makes it, with every name in every directory."""

    class Loop(TinyWeb):
        def answer(self, request: Request) -> bytes | Reply:
            if not request.target.startswith(b"/files/"):
                return super().answer(request)
            title = f"Index of {request.target.decode()}"
            rows = "".join(
                f'<a href="{name}/">{name}/</a> 16-Nov-2026 05:12 -\n' for name in ("alpha", "beta", "gamma")
            )
            return response(200, "text/html", f"<title>{title}</title><h1>{title}</h1><pre>{rows}".encode())

    with Loop() as web:
        web.add_page("http://a.test/", links=["/files/"])
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, time_limit="60s")
        asked = asked_for(web)
    assert summary.reason == "complete"
    assert ASIDE_AFTER < len(asked) < 60
    assert {finding.kind for finding in read_findings(tmp_path / "c")} == {"barren"}
