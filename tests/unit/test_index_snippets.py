"""What is shown of a page that was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searched import Finder, page


def test_words_are_marked_by_the_language_of_the_page(indexed: Finder) -> None:
    search = indexed([
        page("en", "A walk is walking.", language="en"),
        page("de", "Ein Walk ist Walking.", language="de"),
        page("none", "A walk is walking.", language=""),
    ])  # fmt: skip
    shown = {hit.url[-2:]: hit.snippet for hit in search.answer("walking").results}
    assert shown == {
        "en": "A <mark>walk</mark> is <mark>walking</mark>.",
        "de": "Ein Walk ist <mark>Walking</mark>.",
        "ne": "A walk is <mark>walking</mark>.",
    }


def test_snippets_are_marked_and_escaped(indexed: Finder) -> None:
    nothing = "Nothing is here. " * 40
    search = indexed([
        page("a", main=f"First line.\n{nothing}A <b>harbour</b> & many Harbours. {nothing}", body="harbour"),
        page("b", body="東京都の<駅>", language="ja"),
        page("c", title="silk", body="", description="What it is about"),
    ])  # fmt: skip
    snippet = search.answer("harbour").results[0].snippet
    assert "A &lt;b&gt;<mark>harbour</mark>&lt;/b&gt; &amp; many <mark>Harbours</mark>." in snippet
    assert snippet.startswith("… ")
    assert snippet.endswith(" …")
    assert len(snippet) < 320
    assert search.answer("京都").results[0].snippet == "東<mark>京都</mark>の&lt;駅&gt;"
    assert search.answer("silk").results[0].snippet == "What it is about"


@pytest.mark.parametrize(
    ("title", "text", "shown"),
    [
        ("The Harbour — Example", "The harbour¶\nA harbour is here.", "A <mark>harbour</mark> is here."),
        ("Harbour | Example", "Example\nHarbour\n\nShips.", "Ships."),
        ("Harbour", "Harbour Ships in the harbour", "Ships in the <mark>harbour</mark>"),
        ("Harbour", "Harbours of old", "<mark>Harbours</mark> of old"),
        ("The harbour", "Harbour\nHarbour master: ships", "<mark>Harbour</mark> master: ships"),
        ("Harbour", "Harbour", "<mark>Harbour</mark>"),
        ("Harbour of old", "Old harbour\nShips", "Old <mark>harbour</mark> Ships"),
        ("", "Harbour\nShips", "<mark>Harbour</mark> Ships"),
        ("Harbour", "¶\nHarbour\nShips", "¶ <mark>Harbour</mark> Ships"),
        ("第4章 harbour", "第4章 harbour\n人の", "人の"),
    ],
)
def test_snippets_do_not_say_the_title_again(indexed: Finder, title: str, text: str, shown: str) -> None:
    search = indexed([page("p", title=title, main=text, body=f"{text} harbour")])
    assert search.answer("harbour").results[0].snippet == shown
    search = indexed([page("q", title=title, body=text)])
    known = search.page("https://a.test/q")
    assert known is not None
    assert known.snippet == shown.replace("<mark>", "").replace("</mark>", "")


@given(st.text(max_size=400), st.sampled_from(["harbour", "京", "C++", '"a b"', "a.b", "ß"]))
def test_snippets_of_any_text_are_safe(text: str, query: str) -> None:
    from gossamer.index.matching import words_sought
    from gossamer.index.query import parse
    from gossamer.index.snippet import Marker

    snippet = Marker(words_sought(parse(query))).snippet(text + " " + query, "en", text[:20])
    plain = snippet.replace("<mark>", "").replace("</mark>", "")
    assert "<" not in plain
    assert ">" not in plain
    snippet.encode()
