"""Filters of a whole crawl: reserved strings, caps by pattern, hosts of a domain, and what `explain` says of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawling import crawl, urls
from test_changes import edit

from gossamer.agent import read_visits, run
from gossamer.agent.explain import explain
from gossamer.config import load
from gossamer.model import State
from gossamer.testing import TinyWeb
from gossamer.testing.web import Reply, Request

_JAPANESE = "<p>これは社外秘の文書です。</p>"


def test_pages_with_reserved_strings_are_dropped(tmp_path: Path) -> None:
    home = tmp_path / "c"
    pages: dict[str, tuple[str, bytes, str]] = {
        "plain": ("text/html", b"<p>For INTERNAL\n  use only</p>", "internal use only"),
        "reference": ("text/html", b"<p>AT&amp;T</p>", "AT&T"),
        "umlaut": ("text/html; charset=iso-8859-1", "<p>Streng VERTRÄGE</p>".encode("latin-1"), "verträge"),
        "sjis": ("text/html; charset=shift_jis", _JAPANESE.encode("shift_jis"), "社外秘"),
        "eucjp": ("text/html; charset=euc-jp", _JAPANESE.encode("euc-jp"), "社外秘"),
        "jis": ("text/html", b"<meta charset=iso-2022-jp>" + _JAPANESE.encode("iso-2022-jp"), "社外秘"),
        "text": ("text/plain", b"internal use only", ""),
    }
    with TinyWeb() as web:
        web.add_page("http://a.test/", [f"/{name}" for name in (*pages, "fine", "picture")])
        web.add_page("http://a.test/fine", body="<p>internal, use only</p> <p>AT T</p>")
        web.add_page("http://a.test/picture", body=b"\x89PNG internal use only", headers={"Content-Type": "image/png"})
        for name, (kind, body, _) in pages.items():
            web.add_page(f"http://a.test/{name}", ["/behind"], body=body, headers={"Content-Type": kind})
        reserved = sorted({text for *_, text in pages.values() if text})
        summary = crawl(home, ["http://a.test/"], web.connect, reserved=reserved, types="text/*,image/*")
    assert urls(home, State.FETCHED) == {"http://a.test/", "http://a.test/fine", "http://a.test/picture"}
    assert summary.pages == 3
    assert summary.excluded == len(pages)
    found = {visit.url: visit for visit in read_visits(home, State.EXCLUDED)}
    assert {visit.reason for visit in found.values()} == {"reserved"}
    assert all(visit.stored is None and visit.status == 200 for visit in found.values())
    assert "contains one of the 4 reserved strings" in explain(home, "http://a.test/sjis").sentence
    stored = b"".join(file.read_bytes() for file in (home / "warc").glob("*.cdxj"))
    assert b"/fine" in stored
    assert b"/sjis" not in stored


def test_reserved_strings_can_be_added_while_it_runs(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:

        def reserve(request: Request) -> Reply:
            edit(home, "reserved = []", 'reserved = ["secret"]')
            return Reply((3.0, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\nA Secret"))

        web.add_handler("http://a.test/", reserve)
        crawl(home, ["http://a.test/"], web.connect)
    assert [visit.reason for visit in read_visits(home)] == ["reserved"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("filters") / "c"
    file = home.parent / "settings.toml"
    with TinyWeb() as web:
        file.write_text(
            f'[fetch]\nconnect = ["{web.connect}"]\nallow_private = true\n[policy]\ndelay = 0\n'
            "[scope]\nmax_directories = 2\ndomain_hosts = 2\n[urls.'/forum/']\nmax_pages = 2\n"
        )
        links = ["/1/2/3/x", "/calendar/2999-05", "/x?a=1&a=1&a=1", "/en/b/en/c/en/"]
        links += [f"/forum/{number}" for number in range(5)] + [f"http://h{number}.a.test/" for number in range(4)]
        web.add_page("http://a.test/", links)
        for number in range(5):
            web.add_page(f"http://a.test/forum/{number}")
            web.add_page(f"http://h{number}.a.test/")
        run(load(file), home, ["http://a.test/"])
        run(load(home / "gossamer.toml"), home, ["http://a.test/forum/9"])  # the caps hold over runs
    return home


def test_caps_are_exact(home: Path) -> None:
    fetched = urls(home, State.FETCHED)
    assert sum("/forum/" in url for url in fetched) == 2
    assert {url for url in fetched if "//h" in url} == {"http://h0.a.test/"}
