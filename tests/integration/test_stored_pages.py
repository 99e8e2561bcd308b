"""Stored copies by URL, beside a crawl and after it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from crawling import crawl

from gossamer.agent import PageReader
from gossamer.errors import CrawlDirError
from gossamer.store import read_committed
from gossamer.testing.tinyweb import TinyWeb
from gossamer.testing.web.message import Request, response

TEXT = "<title>Packed</title>" + "<p>many words </p>" * 200


def test_a_stored_page_is_found_by_its_url(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT.encode())

    def chunked(_: Request) -> bytes:
        body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (packed[:10], packed[10:])) + b"0\r\n\r\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + body

    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/packed", "/same", "/gone", "/moved"])
        web.add_handler("http://a.test/packed", chunked)
        web.add_handler("http://a.test/same", chunked)
        web.add_redirect("http://a.test/moved", "/packed")
        web.add_handler("http://a.test/gone", lambda _: response(410, "text/html", b"gone"))
        crawl(tmp_path / "crawl", ["http://a.test/"], web.connect)
    with PageReader(tmp_path / "crawl") as reader:
        one, other = reader.by_url("http://a.test/packed"), reader.by_url("HTTP://A.test:80/same#part")
        assert one is not None
        assert other is not None
        assert one.body == other.body == TEXT.encode()
        assert {one.revisit, other.revisit} == {False, True}
        assert one.digest == other.digest
        assert (one.status, one.content_type) == (200, "text/html")
        assert ("Content-Encoding", "gzip") in one.headers
        assert reader.by_place(other.locator) == other
        gone, moved = reader.by_url("http://a.test/gone"), reader.by_url("http://a.test/moved")
        assert gone is not None
        assert moved is not None
        assert (gone.status, gone.body, moved.status) == (410, b"gone", 302)
        assert reader.by_url("http://a.test/never") is None
        assert reader.by_url("no URL") is None


def test_a_crawl_notes_how_far_it_is_committed(tmp_path: Path) -> None:
    home = tmp_path / "crawl"
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        crawl(home, ["http://a.test/"], web.connect)
    committed = read_committed(home / "warc")
    assert committed is not None
    assert committed.writers[""].cdxj == (home / "warc" / "gossamer-00000.cdxj").stat().st_size > 0


def test_there_must_be_a_crawl(tmp_path: Path) -> None:
    with pytest.raises(CrawlDirError, match="is not a crawl"):
        PageReader(tmp_path)
