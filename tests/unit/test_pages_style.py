"""The style sheet: small, on its own, and legible in both schemes. Contrast is computed, not looked at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gossamer.service.pages
from gossamer.service.pages.assets import squeezed

HOME = Path(gossamer.service.pages.__file__).parent
CSS = (HOME / "static" / "gossamer.css").read_text(encoding="utf-8")
SCRIPTS = sorted((HOME / "static").glob("*.js"))
TEXT = 4.5  # WCAG 2.2 AA
SHAPE = 3.0  # of what shows that there is a field, or a focus


def tokens(block: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))


LIGHT = tokens(CSS.partition("@media")[0])
DARK = tokens(CSS.partition("prefers-color-scheme: dark")[2].partition("* {")[0])


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_computed_right() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_both_schemes_have_every_token() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert {"bg", "ink", "quiet", "line", "accent", "warn", "bad"} <= LIGHT.keys()


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("name", "ground", "least"),
    [
        *((name, "bg", TEXT) for name in ("ink", "quiet", "accent", "warn", "bad")),
        ("bg", "accent", TEXT),  # the text of a button
        ("bg", "ink", TEXT),  # and under the mouse
        ("ink", "mark", TEXT),
        ("edge", "bg", SHAPE),
    ],
)
def test_contrast(scheme: dict[str, str], name: str, ground: str, least: float) -> None:
    assert contrast(scheme[name], scheme[ground]) >= least


def test_it_is_small_and_needs_nothing_else() -> None:
    assert len(squeezed(CSS.encode())) < 10_000
    assert [path.name for path in SCRIPTS if path.stat().st_size >= 5_000] == []
    assert "url(" not in CSS
    assert "@import" not in CSS
    colours = set(re.findall(r"#[0-9a-f]{3,8}\b", CSS))
    assert colours == {
        *LIGHT.values(),
        *DARK.values(),
        "#fff",
    }  # and the ground of a stored page, which is a stranger's


def test_what_is_served_says_the_same_in_fewer_bytes() -> None:
    plain = b'/* a * b **/\na > b,\n  .c:hover { margin: 0 -1px;\n  content: "\\b7"; }\n'
    plain += b"@media (min-width: 1px) { a { top: 0; } }\n"
    assert squeezed(plain) == b'a>b,.c:hover{margin:0 -1px;content:"\\b7"}@media (min-width:1px){a{top:0}}'
    assert squeezed(squeezed(CSS.encode())) == squeezed(CSS.encode())


def test_sizes_are_those_of_the_scale() -> None:
    assert set(re.findall(r"font-size: (\w+)", CSS)) | set(re.findall(r"font: (\d+px)", CSS)) == {
        "13px",
        "15px",
        "18px",
        "26px",
    }


def test_templates_say_what_people_say() -> None:
    """Words that crept into labels once: "Make it anew", "Open by itself", "A change holds", "may be empty"."""
    for path in sorted((HOME / "templates").glob("*.html")):
        text = re.sub(r"\{[{%].*?[%}]\}|<[^>]*>", " ", path.read_text(encoding="utf-8"), flags=re.S)
        assert not re.search(r"\b(anew|by itself|change holds|may be empty|goes? on with|leads? on)\b", text), path.name


def test_templates_have_no_script_or_style_in_them() -> None:
    templates = sorted((HOME / "templates").glob("*.html"))
    assert len(templates) > 5
    for path in templates:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|style=|\son\w+=|javascript:|<script(?! src=)", text), path.name
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text), path.name
        assert "| safe" not in text, path.name
