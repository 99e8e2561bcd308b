"""The quick look at a page, beside the whole parser, and at pages that mean harm."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.html import parse
from gossamer.report.look import look, shown
from gossamer.report.reading import domain_and_suffix
from gossamer.report.terms import terms

UTF_8, LATIN_1 = "text/html;charset=utf-8", "text/html;charset=latin1"
WORDS = "The harbour of the old town has boats and nets, and the boats go out at night for herring. " * 12
GERMAN = "Der Hafen der alten Stadt hat Boote und Netze, und die Boote fahren in der Nacht nach Heringen aus. " * 12


@pytest.mark.parametrize(
    ("page", "content_type", "expected"),
    [
        (f"<html lang=en><title> A &amp;\n B </title>{WORDS}".encode(), UTF_8, ("utf-8", "A & B", "en")),
        (f"<html><TITLE lang=de>Ä</title>{GERMAN}".encode("latin-1"), LATIN_1, ("windows-1252", "Ä", "de")),
        (f'<meta charset=utf-8><html lang="de">{WORDS}'.encode(), None, ("utf-8", "", "en")),
        (f"<html lang='de-AT'><title>x</title><style>{WORDS}</style>{GERMAN}".encode(), "text/html;charset=utf-8",
         ("utf-8", "x", "de-AT")),
        (b"", "text/html;charset=utf-8", ("utf-8", "", "")),
        (b"<title>a\0\x1b[31mb\xff</title>", "text/html;charset=utf-8", ("utf-8", "a\ufffd\ufffd[31mb\ufffd", "")),
        (b"<title>&#xd800;&#0;</title>", "text/html;charset=utf-8", ("utf-8", "\ufffd\ufffd", "")),
    ],
)  # fmt: skip
def test_look(page: bytes, content_type: str | None, expected: tuple[str, str, str]) -> None:
    assert look(page, content_type) == expected


def test_shown_is_what_the_parser_shows() -> None:
    page = (
        "<html><head><title>t</title><script>if (a < b) x('</b>')</script><style>p{}</style></head>"
        "<body><p>one &amp; two <!-- three --><b>four</b></p><SCRIPT>five</SCRIPT> six</body></html>"
    )
    assert shown(page) == "t one & two four six"
    assert parse(page.encode(), "http://a.test/", "text/html;charset=utf-8").text == "one & two four six"


@given(st.binary(max_size=400), st.sampled_from([None, "text/html", "text/html;charset=utf-16", "text/html;charset=x"]))
def test_no_bytes_raise(body: bytes, content_type: str | None) -> None:
    _, title, language = look(body, content_type)
    assert title.isprintable()
    assert len(title) <= 200
    assert language.isascii()


@pytest.mark.parametrize(
    "page",
    ["<" * 60_000, "<script" * 9_000, "<!--" * 15_000, "<title" * 10_000, "<html " + "lang" * 15_000,
     "<svg></svg" * 6_000, "<title>" * 9_000, "&#" * 30_000, "<html lang=" * 6_000],
)  # fmt: skip
def test_hostile_pages_are_quick(page: str) -> None:
    began = process_time()
    look(page.encode(), "text/html;charset=utf-8")
    shown(page)
    # A pattern that is not linear takes minutes for these.
    assert process_time() - began < 20


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.example.co.uk", ("example.co.uk", "co.uk")),
        ("example.org:8080", ("example.org", "org")),
        ("192.0.2.1:81", ("192.0.2.1", "address")),
        ("[2001:db8::1]", ("[2001:db8::1]", "address")),
        ("localhost", ("localhost", "localhost")),
        ("a.b.test", ("b.test", "test")),
    ],
)
def test_domain_and_suffix(host: str, expected: tuple[str, str]) -> None:
    assert domain_and_suffix(host) == expected


def test_terms_tell_a_site_from_others() -> None:
    own = ["the herring boats of the harbour", "herring is caught by boats", "a menu of herring 2024"]
    others = ["the price of the house", "a menu of houses", "the boats of others are of no use"]
    found = [word for word, _, _ in terms(own, others, 5)]
    assert found[0] == "herring"
    assert "the" not in found
    assert "2024" not in found
    assert terms(own, others, 5)[0] == ("herring", 3, 0)


def test_terms_of_nothing() -> None:
    assert terms([], [], 5) == []
    assert terms([""], [], 5) == []
    assert [word for word, _, _ in terms(["nur eins"], [], 5)] == ["eins", "nur"]
