from __future__ import annotations

import pytest

from gossamer.model import Page


def page(*lines: bytes) -> Page:
    head = b"HTTP/1.1 200 OK\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n"
    return Page("http://a.test/", 200, head, b"", b"", 0.0, 0.0, "")


@pytest.mark.parametrize(
    ("lines", "validators"),
    [
        (
            (b'ETag: "abc"', b"Last-Modified: Tue, 01 Jan 2030 00:00:00 GMT"),
            (b'"abc"', b"Tue, 01 Jan 2030 00:00:00 GMT"),
        ),
        ((b'etag:W/"x" ',), (b'W/"x"', b"")),
        ((b"LAST-MODIFIED :  yesterday",), (b"", b"yesterday")),
        ((b"X-Etag: no", b"Content-Type: text/html"), (b"", b"")),
        ((), (b"", b"")),
    ],
)
def test_validators(lines: tuple[bytes, ...], validators: tuple[bytes, bytes]) -> None:
    assert page(*lines).validators == validators


def test_headers() -> None:
    found = page(b"Content-Type: text/html", b"Set-Cookie: a=1", b"set-cookie:b=2")
    assert found.headers == [("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("set-cookie", "b=2")]
    assert found.header("CONTENT-TYPE") == "text/html"
    assert found.header("missing") is None
