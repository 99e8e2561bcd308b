from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.gist import gist

HTML = "text/html; charset=utf-8"
STORY = "<p>" + "The harbour was built in three years, and nobody has counted the stones since then. " * 4 + "</p>"


def page(story: str = STORY, title: str = "Harbour", before: str = "", after: str = "") -> bytes:
    return f"<!DOCTYPE html><title>{title}</title><body>{before}<h1>Stones</h1>{story}{after}".encode()


ONCE = gist(page(), HTML)


@pytest.mark.parametrize(
    "other",
    [
        page(before='<aside class="advert">Buy two ships for one</aside>'),
        page(before="<nav><a href=/a>News</a> <a href=/b>More</a></nav>"),
        page(after="<footer>Page generated 12:34:56 in 0.012 seconds</footer>"),
        page(after="<script>var session = 'f8a7c1'</script><!-- served by web7 -->"),
        page(STORY.replace(" ", "\n  ")),
    ],
)
def test_adverts_clocks_menus_scripts_and_blanks_are_no_change(other: bytes) -> None:
    assert gist(other, HTML) == ONCE


def test_a_clock_in_the_text_is_no_change() -> None:
    texts = [f"{STORY}<p>It is {time} at the harbour. Made in {took}.</p>" for time, took in
             (("9:05", "0.31 s"), ("23:59:01", "1.5 seconds"), ("11:30 pm", "12,25 ms"))]  # fmt: skip
    assert len({gist(page(text), HTML) for text in texts}) == 1


@pytest.mark.parametrize(
    "other",
    [
        page(STORY.replace("three", "four")),
        page(title="Stones of the harbour"),
        page(STORY + "<p>" + "It was opened again in spring, with more stones than before, as was said. " * 3 + "</p>"),
        page(STORY.replace("counted the stones", "counted the 12 stones")),
    ],
)
def test_another_text_or_title_is_a_change(other: bytes) -> None:
    assert gist(other, HTML) != ONCE


def test_prices_are_no_clocks() -> None:
    assert gist(page(STORY + "<p>It costs 12.50 EUR.</p>"), HTML) != gist(
        page(STORY + "<p>It costs 13.50 EUR.</p>"), HTML
    )


def test_the_encoding_is_no_change() -> None:
    text = STORY.replace("stones", "Stühle")
    in_latin = page(text).decode().encode("latin-1")
    assert gist(page(text), HTML) == gist(in_latin, "text/html; charset=iso-8859-1")


def test_what_is_no_page_is_judged_by_its_bytes() -> None:
    assert gist(b"%PDF-1.7 a", "application/pdf") == gist(b"%PDF-1.7 a", "application/pdf")
    assert gist(b"%PDF-1.7 a", "application/pdf") != gist(b"%PDF-1.7 b", "application/pdf")
    assert gist(b"plain words", "text/plain") != gist(b"other words", "text/plain")


@given(st.binary(max_size=400), st.sampled_from([HTML, "text/plain", "application/xhtml+xml", "image/png", None]))
def test_no_bytes_raise_and_none_is_nothing(body: bytes, kind: str | None) -> None:
    assert 0 < gist(body, kind) < 2**32


def test_a_very_long_page_is_compared_by_its_bytes() -> None:
    page = b"<title>t</title><main><p>%b</p></main>" % (b"word " * 300_000)
    assert gist(page, "text/html") == gist(page, "text/html")
    assert gist(page, "text/html") != gist(page + b"<!-- 12:30 -->", "text/html")
    assert gist(page[:1000], "text/html") == gist(page[:1000] + b"<!-- 12:30 -->", "text/html")
