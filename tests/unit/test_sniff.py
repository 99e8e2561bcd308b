"""What bodies without a type are."""

from __future__ import annotations

import pytest

from gossamer.fetch.sniff import sniffed


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!DOCTYPE html>", "text/html"),
        (b"\n\t <html>", "text/html"),
        (b"<HtMl lang=en>", "text/html"),
        (b"<!-- hello", "text/html"),
        (b"<p>hello", "text/html"),
        (b"<pre>hello", "text/plain"),  # p, and then no end of the name
        (b" <?xml version='1.0'?>", "text/xml"),
        (b"%PDF-1.4", "application/pdf"),
        (b"%!PS-Adobe-3.0", "application/postscript"),
        (b"\xef\xbb\xbfhello", "text/plain"),
        (b"\xff\xfeh\x00i\x00", "text/plain"),
        (b"GIF89a", "image/gif"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08\x00", "application/x-gzip"),
        (b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
        (b"hello", "text/plain"),
        (b"\x1b$B", "text/plain"),  # ISO-2022-JP
        (b"\x82\xa0\x82\xa2", "text/plain"),  # Shift_JIS
        (b"hello\x00", "application/octet-stream"),
        (b"", "text/plain"),
    ],
)
def test_the_first_bytes_tell(body: bytes, kind: str) -> None:
    assert sniffed(body) == kind
