"""A stored crawl served as a web: crawled again, it gives what was stored."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from crawling import crawl, urls
from tls_web import TlsWeb

from gossamer.agent.replay import Replay
from gossamer.cli import run as gossamer
from gossamer.model import State
from gossamer.testing import TinyWeb
from gossamer.testing.web.authority import Authority
from gossamer.testing.web.message import End, Reply, Request, response
from gossamer.testing.web.server import Server
from gossamer.testing.web.stored import StoredResponse, StoredSite


@contextmanager
def served(replay: Replay, authority: Authority | None = None) -> Iterator[Server]:
    def find(url: str) -> StoredResponse | None:
        found = replay.find(url)
        return None if found is None else StoredResponse(*found)

    server = Server(StoredSite(find, "Welcome."), tls=authority.context if authority else None)
    with server.in_thread():
        yield server


def stored(home: Path) -> dict[str, tuple[int, bytes]]:
    """Status and body as sent of every stored response."""
    with Replay(home) as replay:
        found = {listed.url: replay.find(listed.url) for listed in replay.listed()}
    assert all(found.values())
    return {url: (response[0], response[2]) for url, response in found.items() if response}


def odd_web(web: TinyWeb) -> None:
    """Robots rules, redirects, errors, copies, packed, chunked and broken-off responses, queries, a second host."""
    links = [
        "/copy",
        "/moved",
        "/gone",
        "/packed",
        "/chunked",
        "/short",
        "/old",
        "/q?b=2&a=1",
        "/private/x",
        "/%7Euser",
    ]
    web.add_robots("a.test", "User-agent: *\nDisallow: /private/\n")
    web.add_page("http://a.test/", links=[*links, "http://b.test/", "http://c.test:8080/x"])
    web.add_page("http://a.test/copy", links=[*links, "http://b.test/", "http://c.test:8080/x"])
    web.add_redirect("http://a.test/moved", "http://b.test/target", 301)
    web.add_page("http://a.test/gone", status=410)
    packed = gzip.compress(b"<title>packed</title><a href=/inside>in</a>")
    web.add_page("http://a.test/packed", body=packed, headers={"Content-Encoding": "gzip"})
    web.add_page("http://a.test/inside")
    chunks = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    web.add_handler("http://a.test/chunked", lambda request: chunks)
    short = response(200, "text/html", b"x" * 100)[:-40]
    web.add_handler("http://a.test/short", lambda request: Reply((short,), End.CLOSE, 200))
    web.add_handler(
        "http://a.test/old", lambda request: Reply((b"HTTP/1.0 200 Fine\nContent-Type: text/html\n\nold",), End.CLOSE)
    )
    for path in ("/q?b=2&a=1", "/~user"):
        web.add_page("http://a.test" + path)
    web.add_page("http://b.test/", links=["/target"])
    web.add_page("http://b.test/target")
    web.add_page("http://c.test:8080/x")


def test_a_crawl_of_a_stored_web_stores_the_same(tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    with TinyWeb() as web:
        odd_web(web)
        crawl(first, ["http://a.test/"], web.connect, max_tries=1)
    with Replay(first) as replay, served(replay) as server:
        crawl(again, ["http://a.test/"], server.connect, max_tries=1)
    assert len(stored(first)) > 14
    assert stored(again) == stored(first)
    assert urls(again, State.FETCHED) == urls(first, State.FETCHED)
    assert urls(again, State.EXCLUDED) == urls(first, State.EXCLUDED)


def test_the_newest_version_is_served_and_a_304_does_not_count(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", body="old", headers={"ETag": '"1"'})
        crawl(tmp_path, ["http://a.test/"], web.connect)
        web.add_page("http://a.test/", body="new", headers={"ETag": '"2"'})
        again = {"keep_fresh": True, "min_interval": "1s", "max_interval": "1s"}
        crawl(tmp_path, ["http://a.test/"], web.connect, max_pages=2, **again)
        crawl(tmp_path, ["http://a.test/"], web.connect, max_pages=4, **again)
        statuses = [arrival.status for arrival in web.log.arrivals if arrival.path == "/"]
        assert (statuses[:2], statuses[-1]) == ([200, 200], 304)
    with Replay(tmp_path) as replay, served(replay) as server:
        assert len(replay) == 2  # and robots.txt
        connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
        connection.request("GET", "/", headers={"Host": "a.test"})
        assert connection.getresponse().read() == b"new"
        connection.request("GET", "/", headers={"Host": "A.test:80", "If-None-Match": '"2"'})
        assert connection.getresponse().status == 304
        connection.close()


def test_https_pages_are_served_over_tls(tmp_path: Path) -> None:
    trustme = pytest.importorskip("trustme")
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "first.pem"))
    first, again = tmp_path / "first", tmp_path / "again"
    with TlsWeb(ca.issue_cert("a.test", "b.test")) as web:
        web.body = b'<a href="https://b.test/other">b</a>'
        crawl(first, ["https://a.test/"], web.connect, ca_file=str(tmp_path / "first.pem"), http2=True)
    (tmp_path / "keys").mkdir(mode=0o700)
    authority = Authority(tmp_path / "keys")
    with Replay(first) as replay, served(replay, authority) as server:
        assert replay.has_tls
        crawl(again, ["https://a.test/"], server.connect, ca_file=str(authority.ca_file))
        crawl(tmp_path / "plain", ["http://a.test/"], server.connect)  # the same port without TLS
        with_distrust = crawl(tmp_path / "distrust", ["https://a.test/"], server.connect, max_tries=1)
    assert stored(again) == stored(first)
    assert urls(again) == urls(first) == {"https://a.test/", "https://b.test/other"}
    assert {status for status, _ in stored(tmp_path / "plain").values()} == {404}
    assert with_distrust.pages == 0
    assert list((tmp_path / "keys").iterdir()) == [authority.ca_file]  # no key is left on disk


def test_what_was_not_stored_is_a_404() -> None:
    site = StoredSite({"http://a.test/": StoredResponse(200, b"HTTP/1.1 200 OK\r\n\r\n", b"")}.get, "Welcome.")

    def status(method: bytes, host: bytes, target: bytes) -> int:
        answer = site.answer(Request(method, host, target, b"GET / HTTP/1.1\r\n"))
        return answer.status if isinstance(answer, Reply) else int(answer[9:12])

    assert status(b"GET", b"a.test", b"/") == status(b"HEAD", b"a.test:80", b"/") == 200
    assert status(b"GET", b"127.0.0.1:8080", b"/") == 200  # the welcome
    for host, target in ((b"a.test", b"/x"), (b"b.test", b"/"), (b"", b"/"), (b"a.test:99", b"/"), (b"\xff", b"\xff")):
        assert status(b"GET", host, target) == 404
    assert status(b"PUT", b"a.test", b"/") == 405
    assert status(b"POST", b"a.test", b"/") == 404


def test_the_command_lists_what_is_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", links=["/x"])
        crawl(tmp_path, ["http://a.test/"], web.connect)
    assert gossamer(["simweb", "--from", str(tmp_path), "--list", "--json"]) == 0
    found = {line["url"]: line["status"] for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert found == {"http://a.test/robots.txt": 404, "http://a.test/": 200, "http://a.test/x": 404}


def test_options_of_a_simulated_web_are_refused_for_a_stored_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gossamer(["simweb", "--from", str(tmp_path), "--seed", "2"]) == 2
    assert "--seed describes a simulated web" in capsys.readouterr().err
    assert gossamer(["simweb", "--from", str(tmp_path / "nothing")]) == 2
    assert str(tmp_path / "nothing") in capsys.readouterr().err


def test_a_client_that_says_nothing_keeps_nobody_waiting(tmp_path: Path) -> None:
    """On the port that listens for both, the first byte decides; a silent client holds no other up."""
    authority = Authority(tmp_path)
    server = Server(StoredSite(lambda url: None, "Welcome."), tls=authority.context)

    async def ask() -> bytes:
        silent = await asyncio.open_connection(server.host, server.port)
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        first = await reader.readline()
        writer.close()
        silent[1].close()
        return first

    with server.in_thread():
        assert asyncio.run(ask()) == b"HTTP/1.1 200 OK\r\n"
