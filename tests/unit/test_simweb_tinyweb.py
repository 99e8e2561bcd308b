"""The two-verb web of tests, through a client that is not ours."""

from __future__ import annotations

import http.client
import socket

import pytest

from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply, Request


def _get(web: TinyWeb, host: str, path: str, method: str = "GET", **more: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host)
        connection.putheader("User-Agent", "tester/1")
        for name, value in more.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def _raw(web: TinyWeb, request: bytes) -> bytes:
    """Everything the server sends until it closes."""
    with socket.create_connection(("127.0.0.1", web.port), timeout=10) as wire:
        wire.sendall(request)
        data = b""
        while more := wire.recv(65536):
            data += more
        return data


def test_pages_redirects_and_robots() -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", links=["/next?x=1&y=2", "http://b.test/"])
        web.add_page("http://b.test/gone", body="<p>sorry", status=410, headers={"X-Why": "old"})
        web.add_page("http://b.test/data", body=b"\x00\x01", headers={"content-type": "application/octet-stream"})
        web.add_redirect("http://a.test/next?x=1&y=2", "http://b.test/", status=308)
        web.add_robots("a.test", "User-agent: *\nDisallow: /x")

        status, headers, body = _get(web, "a.test", "/")
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert b'<a href="/next?x=1&amp;y=2">' in body
        assert body.index(b"/next") < body.index(b"http://b.test/")
        status, headers, body = _get(web, "b.test", "/gone")
        assert (status, headers["X-Why"], body) == (410, "old", b"<p>sorry")
        assert _get(web, "b.test", "/data")[1]["Content-Type"] == "application/octet-stream"
        status, headers, _ = _get(web, "A.test:80", "/next?x=1&y=2")
        assert (status, headers["Location"]) == (308, "http://b.test/")
        assert _get(web, "a.test", "/robots.txt")[2] == b"User-agent: *\nDisallow: /x"
        assert _get(web, "b.test", "/robots.txt")[0] == 404
        assert web.connect == f"*=127.0.0.1:{web.port}"


def test_pages_by_path_are_at_the_address_itself() -> None:
    with TinyWeb() as web:
        web.add_page("/here", body="yes")
        assert web.url("/here") == f"http://127.0.0.1:{web.port}/here"
        assert _get(web, f"127.0.0.1:{web.port}", "/here")[2] == b"yes"
        assert _get(web, "a.test", "/here")[0] == 404


def test_the_log_knows_every_request() -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        _get(web, "a.test", "/")
        _get(web, "A.TEST", "/", "HEAD")
        _get(web, "b.test", "/none")
        first, second, third = web.log.arrivals
    assert (first.host, first.path, first.method, first.user_agent, first.status) == (
        "a.test",
        "/",
        "GET",
        "tester/1",
        200,
    )
    assert (second.method, second.connection) == ("HEAD", first.connection + 1)
    assert (third.host, third.status) == ("b.test", 404)
    assert first.time <= second.time <= third.time
    assert web.log.requests_per_url() == {"http://a.test/": 2, "http://b.test/none": 1}
    assert web.log.min_gap("a.test") == second.time - first.time
    assert web.log.min_gap("b.test") == float("inf")
    assert set(web.log.by_host()) == {"a.test", "b.test"}
    web.log.clear()
    assert web.log.arrivals == []


def test_pages_change_and_answer_304_to_who_has_them() -> None:
    date = "Tue, 14 Nov 2023 22:13:20 GMT"
    with TinyWeb() as web:
        web.add_page("http://a.test/", body="one", headers={"ETag": 'W/"1"', "last-modified": date, "X-Other": "x"})
        status, headers, body = _get(web, "a.test", "/", If_None_Match='"0", "1"')
        assert (status, body) == (304, b"")
        assert headers == {"ETag": 'W/"1"', "Last-Modified": date}
        assert _get(web, "a.test", "/", If_Modified_Since=date)[0] == 304
        assert _get(web, "a.test", "/", If_Modified_Since="Tue, 14 Nov 2023 22:13:19 GMT")[2] == b"one"
        assert _get(web, "a.test", "/", If_None_Match='"2"', If_Modified_Since=date)[2] == b"one"
        assert _get(web, "a.test", "/", If_Modified_Since="then")[0] == 200
        web.add_page("http://a.test/", body="two", headers={"ETag": '"2"'})
        assert _get(web, "a.test", "/", If_None_Match='"1"')[2] == b"two"
        assert _get(web, "a.test", "/", If_Modified_Since=date)[0] == 200
        web.add_page("http://a.test/", body="three")  # no validators: never 304
        assert _get(web, "a.test", "/", If_None_Match="*")[2] == b"three"
        web.add_page("http://a.test/", body="gone", status=410, headers={"ETag": '"2"'})
        assert _get(web, "a.test", "/", If_None_Match='"2"')[0] == 410
        web.remove_page("http://a.test/")
        assert _get(web, "a.test", "/")[0] == 404
        asked = [(arrival.status, arrival.conditional) for arrival in web.log.arrivals]
        sizes = {arrival.status: arrival.bytes for arrival in web.log.arrivals}
    assert asked == [(304, True), (304, True), *[(200, True)] * 6, (410, True), (404, False)]
    assert 50 < sizes[304] < sizes[404] < 400


def test_handlers_send_what_they_like() -> None:
    asked: list[str | None] = []

    def teapot(request: Request) -> bytes:
        asked.append(request.header("x-token"))
        return b"HTTP/1.1 418 Teapot\r\nContent-Length: 3\r\n\r\ntea"

    with TinyWeb(time_scale=0.0) as web:
        web.add_handler("http://a.test/pot", teapot)
        web.add_handler("http://a.test/raw", lambda _: Reply((b"not ", 5.0, b"http"), End.CLOSE, 0))
        web.add_handler("http://a.test/reset", lambda _: Reply((), End.RESET, 0))
        web.add_handler("http://a.test/hang", lambda _: Reply((b"HTTP/1.1 200 OK\r\n",), End.HANG))
        request = b"GET /pot HTTP/1.1\r\nHost: a.test\r\nX-Token: 7\r\nConnection: close\r\n\r\n"
        assert _raw(web, request) == b"HTTP/1.1 418 Teapot\r\nContent-Length: 3\r\n\r\ntea"
        assert asked == ["7"]
        assert _raw(web, b"GET /raw HTTP/1.1\r\nHost: a.test\r\n\r\n") == b"not http"
        with pytest.raises(ConnectionResetError):
            _raw(web, b"GET /reset HTTP/1.1\r\nHost: a.test\r\n\r\n")
        with socket.create_connection(("127.0.0.1", web.port), timeout=10) as wire:
            wire.sendall(b"GET /hang HTTP/1.1\r\nHost: a.test\r\n\r\n")
            assert wire.recv(100) == b"HTTP/1.1 200 OK\r\n"
            assert [arrival.status for arrival in web.log.arrivals] == [418, 0, 0, 200]
            assert [arrival.bytes for arrival in web.log.arrivals] == [45, 8, 0, 17]
    # leaving the block ended the hanging connection too


def test_only_http_urls_and_paths_can_be_added() -> None:
    with pytest.raises(ValueError, match="http URLs and paths only"):
        TinyWeb().add_page("https://a.test/")
