"""What a crawl stores is found in its index: pages, links to them, what must not be there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from crawling import crawl
from indexing import append, caught_up, entries, reader

from gossamer.agent.follower import Follower, rebuild
from gossamer.agent.index_status import IndexStatus, read_status
from gossamer.errors import CrawlDirError, DamagedError
from gossamer.index import Search
from gossamer.testing.tinyweb import TinyWeb
from gossamer.testing.web.message import Request, response

HOME = "http://a.test/"


def found(home: Path, query: str) -> list[str]:
    search = Search([home / "index"])
    try:
        return sorted(hit.url for hit in search.answer(query).results)
    finally:
        search.close()


def test_pages_are_found_by_their_words(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page(HOME, ["/fox", "/neko", "http://b.test/"], "<title>Start</title>")
        web.add_page(HOME + "fox", body="<html lang=en><title>The fox</title><p>A quick brown animal jumps.")
        web.add_page(HOME + "neko", body="<html lang=ja><title>猫</title><p>吾輩は猫である。名前はまだ無い。")
        web.add_page("http://b.test/", body="<title>Elsewhere</title><p>A lazy animal sleeps.")
        crawl(tmp_path / "c", [HOME], web.connect)
    assert caught_up(tmp_path / "c") == 4
    assert found(tmp_path / "c", "animal") == [HOME + "fox", "http://b.test/"]
    assert found(tmp_path / "c", "quick animal") == [HOME + "fox"]
    assert found(tmp_path / "c", "名前") == [HOME + "neko"]
    entry = entries(tmp_path / "c")[HOME + "fox"]
    assert (entry.title, entry.language, entry.type) == ("The fox", "en", "text/html")
    assert "quick brown" in entry.body


def test_what_is_no_page_or_must_not_be_indexed_is_not(tmp_path: Path) -> None:
    with TinyWeb() as web:
        links = ["/meta", "/header", "/gone", "/error", "/moved", "/feed", "/map.xml", "/plain", "/last"]
        web.add_page(HOME, links)
        web.add_robots("a.test", "User-agent: *\nDisallow: /never\nSitemap: http://a.test/sitemap.xml")
        web.add_page(HOME + "sitemap.xml", headers={"Content-Type": "application/xml"}, body="<urlset></urlset>")
        web.add_page(HOME + "meta", ["/behind"], "<meta name=robots content=noindex><p>hidden")
        web.add_page(HOME + "header", body="<p>hidden", headers={"X-Robots-Tag": "noindex"})
        web.add_page(HOME + "behind", body="<p>public")
        web.add_handler(HOME + "gone", lambda _: response(404, "text/html", b"<p>hidden"))
        web.add_handler(HOME + "error", lambda _: response(500, "text/html", b"<p>hidden"))
        web.add_redirect(HOME + "moved", "/last")
        web.add_page(HOME + "feed", headers={"Content-Type": "application/rss+xml"}, body="<rss></rss>")
        web.add_page(HOME + "map.xml", headers={"Content-Type": "text/xml"}, body="<data>hidden</data>")
        web.add_page(HOME + "plain", headers={"Content-Type": "text/plain"}, body="public letter")
        web.add_page(HOME + "last", body="<p>public")
        crawl(tmp_path / "c", [HOME], web.connect, types=["text/*", "application/rss+xml"])
    notices: list[str] = []
    assert caught_up(tmp_path / "c", notices) == 4
    assert notices == []
    assert set(entries(tmp_path / "c")) == {HOME, HOME + "behind", HOME + "plain", HOME + "last"}
    assert found(tmp_path / "c", "hidden") == []
    # A page that may not be indexed is still one that links.
    assert entries(tmp_path / "c")[HOME + "behind"].inlinks == 1


def test_pages_know_who_links_to_them_whatever_came_first(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page(HOME, ["/target", "http://b.test/", "/other"], "<title>Start</title>")
        web.add_page(HOME + "target", body="<title>Target</title>")
        web.add_page(HOME + "other", body='<a href="/target">next</a><a rel=nofollow href="/target">bought</a>')
        web.add_page("http://b.test/", body='<a href="http://a.test/target">a fine manual</a> <a href="/">home</a>')
        crawl(tmp_path / "c", [HOME], web.connect)
    caught_up(tmp_path / "c")
    known = entries(tmp_path / "c")
    assert known[HOME + "target"].inlinks == 3
    assert known[HOME + "target"].anchors == ["a fine manual"]
    assert (known[HOME].inlinks, known[HOME].anchors) == (0, [])
    assert found(tmp_path / "c", "fine manual") == ["http://a.test/target", "http://b.test/"]


def test_pages_that_are_gone_are_taken_out_and_may_come_back(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page(HOME, ["/page"])
        web.add_page(HOME + "page", body="<p>first version")
        crawl(home, [HOME], web.connect)
        assert caught_up(home) == 2
        for number, (status, pages) in enumerate([(410, 1), (200, 2), (503, 2), (301, 1)]):
            # A second crawl appends to the same store, as visiting again would.
            append(home, HOME + "page", status, f"<p>version {number}")
            assert caught_up(home) == pages, status
    assert found(home, "version") == []


def test_blocked_pages_go_and_come_back_with_the_blocklist(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page(HOME, ["/forum/1", "http://b.test/"])
        web.add_page(HOME + "forum/1", body="<p>opinion")
        web.add_page("http://b.test/", body="<p>opinion")
        crawl(home, [HOME], web.connect)
    assert caught_up(home) == 3
    settings = home / "gossamer.toml"
    plain = settings.read_text()

    def block(*patterns: str) -> None:
        rule = ", ".join(f'"{pattern}"' for pattern in patterns)
        settings.write_text(plain.replace("blocklist = []", f"blocklist = [{rule}]"))

    block("b.test", "a.test/forum/")
    assert caught_up(home) == 1
    assert set(entries(home)) == {HOME}
    block("b.test")
    assert caught_up(home) == 2
    assert found(home, "opinion") == [HOME + "forum/1"]
    block()
    assert caught_up(home) == 3
    assert entries(home)["http://b.test/"].inlinks == 1


def test_the_same_payload_under_other_urls_is_indexed_under_each(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page(HOME, ["/one", "/two"])
        for name in ("one", "two"):
            web.add_page(HOME + name, body="<title>Twins</title>" + "<p>alike " * 50)
        crawl(tmp_path / "c", [HOME], web.connect)
    notices: list[str] = []
    assert caught_up(tmp_path / "c", notices) == 3
    assert notices == []
    known = entries(tmp_path / "c")
    assert known[HOME + "one"].digest == known[HOME + "two"].digest
    assert known[HOME + "one"].title == known[HOME + "two"].title == "Twins"


def test_a_rebuilt_index_is_the_same_and_takes_the_place_of_the_old(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page(HOME, [f"/p{number}" for number in range(40)])
        for number in range(40):
            web.add_page(f"{HOME}p{number}", [f"/p{(number * 7) % 40}"], f"<title>Page {number}</title>")
        crawl(home, [HOME], web.connect)
    caught_up(home)
    before = entries(home)
    assert len(before) == 41
    search = Search([home / "index"])
    told: list[IndexStatus] = []
    assert rebuild(home, print, told.append).pages == 41
    assert told[-1].done == told[-1].total > 0
    assert search.answer("page").total == 40  # an open search goes on
    search.close()
    assert entries(home) == before
    assert not (home / "index.new").exists()
    # What was broken off is gone on with, and harms nothing.
    stops = iter([False, False, True, True, True])
    rebuild(home, print, told.append, lambda: next(stops, True))
    assert (home / "index.new").exists()
    assert entries(home) == before
    rebuild(home, print, told.append)
    assert entries(home) == before
    assert not (home / "index.new").exists()


def test_a_follower_goes_on_with_an_index_that_was_made_anew(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page(HOME)
        crawl(home, [HOME], web.connect)
        follower = Follower(home, print)
        steps = iter(range(9))

        def wait(_: float) -> bool:
            step = next(steps)
            if step == 2:
                rebuild(home, print, lambda _: None)
            if step == 4:
                append(home, HOME + "new", 200, "<p>fresh")
            return step == 8

        assert follower.follow(wait).pages == 2
        follower.close()
    assert found(home, "fresh") == [HOME + "new"]
    status = read_status(home / "index")
    assert status is not None
    assert (status.pages, status.caught_up) == (2, True)


def test_a_page_that_cannot_be_read_is_named_and_stops_nothing(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page(HOME, ["/bad", "/good", "/worse"])
        web.add_page(HOME + "bad", body="<p>bad" * 1000)
        web.add_page(HOME + "good", body="<p>good")
        web.add_page(HOME + "worse", body="<p>worse")
        crawl(home, [HOME], web.connect)
    file = next((home / "warc").glob("*.warc.gz"))
    lines = next((home / "warc").glob("*.cdxj")).read_text().splitlines()
    bad = next(line for line in lines if "/bad" in line)
    offset = int(bad.partition('"offset": "')[2].partition('"')[0])
    data = bytearray(file.read_bytes())
    data[offset + 30] ^= 0xFF
    file.write_bytes(data)
    notices: list[str] = []
    fragile = reader("if url.endswith('worse'): raise RecursionError('too deep')")
    assert caught_up(home, notices, command=fragile) == 2
    assert len(notices) == 2
    assert any("/bad is left out: its record in WARC file 0" in notice for notice in notices)
    assert any("/worse is left out: RecursionError: too deep" in notice for notice in notices)


def test_compressed_pages_are_read(tmp_path: Path) -> None:
    import gzip

    def packed(_: Request) -> bytes:
        body = gzip.compress(b"<title>Packed</title><p>squeezed")
        return response(200, "text/html", body, [("Content-Encoding", "gzip")])

    with TinyWeb() as web:
        web.add_handler(HOME, packed)
        crawl(tmp_path / "c", [HOME], web.connect)
    caught_up(tmp_path / "c")
    assert found(tmp_path / "c", "squeezed") == [HOME]


def test_an_index_without_its_links_is_made_again(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page(HOME)
        crawl(home, [HOME], web.connect)
    assert caught_up(home) == 1
    (home / "index" / "backlinks.db").unlink()
    with pytest.raises(DamagedError, match=r"backlinks\.db is gone or new.*--rebuild"):
        caught_up(home)
    assert rebuild(home, print, lambda _: None).pages == 1
    assert caught_up(home) == 1


def test_there_must_be_a_crawl(tmp_path: Path) -> None:
    with pytest.raises(CrawlDirError, match="is not a crawl"):
        Follower(tmp_path, print)
    (tmp_path / "c").mkdir()
    with pytest.raises(CrawlDirError, match="is not a crawl"):
        rebuild(tmp_path / "c", print, print)
    assert list((tmp_path / "c").iterdir()) == []
    shutil.rmtree(tmp_path / "c")
