"""Media types: what a header says, and what several say together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.media_type import media_type_of, parse_media_type


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("text/html", "text/html"),
        (" Text/HTML ; Charset=UTF-8 ", "text/html;charset=UTF-8"),
        ('text/html;charset="utf-8"', "text/html;charset=utf-8"),
        ("text/html; a=1; b; ;c=; d=4", "text/html;a=1;d=4"),
        ("text/html;a=1;A=2", "text/html;a=1"),
        ('text/html;a="1;b=2";c=3', 'text/html;a="1;b=2";c=3'),
        ('text/html;a="\\"x"', 'text/html;a="\\"x"'),
        ('text/html;a="never closed', 'text/html;a="never closed"'),
        ("text/html;a b=1", "text/html"),
        ("text/html;a=\x7f", "text/html"),
    ],
)
def test_parsing(text: str, meant: str) -> None:
    assert str(parse_media_type(text)) == meant


@pytest.mark.parametrize(
    "text", ["", "html", "text/", "/html", "text/html/x", "te xt/html", "text/html (x)", "\x0btext/html"]
)
def test_what_is_none(text: str) -> None:
    assert parse_media_type(text) is None


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ([], "None"),
        (["html", ""], "None"),
        (["text/html", "image/png"], "image/png"),
        (["text/html, image/png"], "image/png"),
        (["text/html;charset=utf-8", "text/html"], "text/html;charset=utf-8"),
        (["text/html;charset=utf-8", "text/plain", "text/html"], "text/html"),
        (["text/html;charset=utf-8", "text/html;charset=big5"], "text/html;charset=big5"),
        (["text/html", "*/*"], "text/html"),
        (["text/html", "nonsense"], "text/html"),
        (['text/html;a="', "image/png"], 'text/html;a=", image/png"'),
    ],
)
def test_several(values: list[str], meant: str) -> None:
    assert str(media_type_of(values)) == meant


@given(st.text(st.characters(max_codepoint=255), max_size=60))
def test_what_is_written_reads_back_equal(text: str) -> None:
    for prefix in ("", "a/b;", 'a/b;c="'):
        found = parse_media_type(prefix + text)
        assert found is None or parse_media_type(str(found)) == found
