"""What attribute values say."""

from __future__ import annotations

import html

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse.directives import image_candidates, is_nofollow, language_tag, refresh_target, robots_rules
from gossamer.parse.references import unescape


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/x", "/x"),
        ("0; URL = '/x' ignored", "/x"),
        ('5,"/x', "/x"),
        (" 1.5 ; /x ", "/x"),
        (".5;url=/x", "/x"),
        ("0 /x", "/x"),
        ("0;url=", None),
        ("0;url", "url"),
        ("0;ur.html", "ur.html"),
        ("0;", None),
        ("0", None),
        ("", None),
        ("url=/x", None),
        ("x;url=/x", None),
        ("0x;url=/x", None),
    ],
)
def test_refresh(content: str, target: str | None) -> None:
    assert refresh_target(content) == target


@pytest.mark.parametrize(
    ("srcset", "urls"),
    [
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a.png 100w,b.png 200w", ["a.png", "b.png"]),
        (" , a.png, b.png ,", ["a.png", "b.png"]),
        ("a,b.png 2x", ["a,b.png"]),
        ("data:image/png;base64,xx 1x, b.png", ["data:image/png;base64,xx", "b.png"]),
        ("a.png foo(1,2) 3x, b.png", ["a.png", "b.png"]),
        ("", []),
    ],
)
def test_image_sets(srcset: str, urls: list[str]) -> None:
    assert image_candidates(srcset) == urls


@pytest.mark.parametrize(
    ("content", "rules"),
    [
        ("noindex", (True, False)),
        ("NoIndex,NoFollow", (True, True)),
        ("follow; noindex", (True, False)),
        ("none", (True, True)),
        ("all", (False, False)),
        ("noindexed", (False, False)),
        ("", (False, False)),
    ],
)
def test_robots(content: str, rules: tuple[bool, bool]) -> None:
    assert robots_rules(content) == rules


def test_relations_are_lists_of_words() -> None:
    assert is_nofollow("external NOFOLLOW")
    assert not is_nofollow("nofollowed")
    assert not is_nofollow("")


def test_languages() -> None:
    assert [language_tag(value) for value in ("EN", "pt_br", "sr-LATN-rs", "x", "", "de, en")] == [
        "en",
        "pt-BR",
        "sr-Latn-RS",
        "",
        "",
        "de",
    ]


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        ("a&amp;b", "a&b"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("?a=1&copy;", "?a=1©"),
        ("?a&copy", "?a©"),
        ("&copyx", "&copyx"),
        ("&notit;", "&notit;"),
        ("&nosuch;", "&nosuch;"),
        ("&#47;&#x2F&#X2f;", "///"),
        ("&#128;&#129;", "€\x81"),
        ("&#0;&#xD800;&#x110000;&#99999999999999999999;", "\ufffd\ufffd\ufffd\ufffd"),
        ("&#;&#x;&", "&#;&#x;&"),
        ("&frac12;&AMP", "½&"),
    ],
)
def test_character_references_in_attributes(value: str, meaning: str) -> None:
    assert unescape(value) == meaning


@given(st.text(max_size=50))
@settings(max_examples=200)
def test_what_was_escaped_comes_back(text: str) -> None:
    assert unescape(html.escape(text)) == text


@given(st.text("0123456789.;,= 'urlURL/x\"\n", max_size=30), st.text("a, (x)1\n", max_size=40))
@settings(max_examples=300)
def test_any_value_has_an_answer(content: str, srcset: str) -> None:
    target = refresh_target(content)
    assert target is None or target == target.strip(" \t\n\f\r") != ""
    assert all(image_candidates(srcset))
