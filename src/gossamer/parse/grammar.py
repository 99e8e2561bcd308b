"""The one pattern of the link scanner.

Matched again and again from the start of a page, each match reads past everything that is no link up to the next tag
that matters, and gives that in one of five groups:

1. the href of an `a`, when it is a plain absolute path: origin + href is its URL;
2. the href of an `a`, when it starts with http:// or https://;
3. the href of an `a`, when it is anything else in ASCII without character references, with the quote in front of it: a
   match without any group is the end of the page, and not an empty href;
4. the rest of a tag that needs a closer look: any other `a`, and `area`, `iframe`, `meta`, `base`;
5. the first letter of something that only the whole parser understands; then the match goes on to the end of the page.

What the pattern passes over is exactly what the HTML tokenizer and tree builder make no link of: text, comments,
scripts, styles and other raw text, end tags, tags of other elements with whatever is in their attributes, and
`select`, `svg`, `math` and `template` elements that hold nothing unusual.
"""

from __future__ import annotations

import re
from typing import Final

from gossamer.model.url import PLAIN_PATH
from gossamer.parse.tokens import BLANK, COMMENT, DECLARATION, END, END_TAG, NAME, REST, SIMPLE, any_of, ci, raw_text

_RAW: Final = ("script", "style", "title", "textarea", "xmp", "noembed", "noframes")
_LOOKED_AT: Final = ("a", "area", "iframe", "meta", "base")
_STRANGE: Final = ("select", "svg", "math", "template", "plaintext", "frameset")
_NO_LINK: Final = rb"(?!" + any_of(*map(ci, (*_LOOKED_AT, *_RAW, *_STRANGE))) + END + rb")"

# A select drops the tags of most elements in it, links too; only options are sure.
_SELECT: Final = (
    ci("select")
    + END
    + REST
    + rb"[^<]*+(?:<"
    + any_of(rb"/?" + any_of(ci("option"), ci("optgroup")) + END + REST, COMMENT)
    + rb"[^<]*+)*+(?=</"
    + ci("select")
    + END
    + rb")"
)
# Inside svg and math other rules hold (`<a>`, `<style>`, CDATA, `/>`), and some HTML tags end them: only drawings and
# formulas are sure, with nothing but text where HTML could stand.
_SHAPES: Final = (
    "path g circle rect line polygon polyline ellipse defs use symbol stop linearGradient radialGradient clipPath mask "
    "text tspan textPath image marker pattern filter animate animateTransform animateMotion set switch metadata "
    "feBlend feColorMatrix feComposite feFlood feGaussianBlur feMerge feMergeNode feOffset feMorphology feDropShadow"
).split()
_FORMULAS: Final = (
    "mrow mstyle msup msub msubsup mfrac msqrt mroot mover munder munderover mmultiscripts mprescripts none mtable mtr "
    "mtd mspace mpadded mphantom mfenced menclose merror semantics annotation"
).split()


def _foreign(name: str, elements: list[str], texts: list[str]) -> bytes:
    text = any_of(*(ci(each) + END + REST + rb"[^<]*+</" + ci(each) + rb">" for each in texts))
    inside = any_of(rb"/?" + any_of(*map(ci, elements)) + END + REST, text, COMMENT)
    return ci(name) + END + SIMPLE + any_of(rb"(?<=/)>", rb">[^<]*+(?:<" + inside + rb"[^<]*+)*+</" + ci(name) + rb">")


_SVG: Final = _foreign("svg", _SHAPES, ["title", "desc", "style"])
_MATH: Final = _foreign("math", _FORMULAS, ["mi", "mo", "mn", "ms", "mtext"])
# What is in a template is no part of the page. Its end tag ends it wherever it stands, but for raw text and the like.
_TEMPLATE: Final = (
    ci("template")
    + END
    + REST
    + rb"[^<]*+(?:<"
    + any_of(
        rb"(?!" + any_of(*map(ci, ("iframe", *_RAW, *_STRANGE))) + END + rb")" + NAME + REST,
        rb"(?!/" + ci("template") + END + rb")" + END_TAG,
        *map(raw_text, ("iframe", *_RAW)),
        COMMENT,
        DECLARATION,
        _SELECT,
        _SVG,
        _MATH,
        rb"(?![A-Za-z/!?])",
    )
    + rb"[^<]*+)*+(?=</"
    + ci("template")
    + END
    + rb")"
)
# Ordered by how often pages have them. No name that matters starts with one of the letters of the second line, or is
# one of those in the third: that is faster to see than that it is none of a list.
_NOTHING: Final = any_of(
    rb"/[A-Za-z][A-Za-z0-9]*+>",
    rb"(?:[CDEGHJKLOQRUVWYZcdeghjkloqruvwyz][^ \t\n\r\f/>]*+"
    rb"|[pPbBiI]" + END + rb")(?:>|" + REST + rb")",
    _NO_LINK + NAME + REST,
    END_TAG,
    *map(raw_text, _RAW),
    COMMENT,
    DECLARATION,
    _SELECT,
    _SVG,
    _MATH,
    _TEMPLATE,
    rb"(?![A-Za-z/!?])",
)
_BEFORE_HREF: Final = (
    rb"(?:"
    + BLANK
    + rb"++(?!"
    + any_of(ci("href"), ci("rel"))
    + rb")[A-Za-z0-9_:-]++(?:=\"[^\"]*+\")?+){0,32}+"
    + BLANK
    + rb"++"
)
# Attributes behind the href, but not `rel`, which may say nofollow.
_AFTER_HREF: Final = rb"""[^<>"'=]*+(?:(?<=[A-Za-z0-9_-])(?<![rR][eE][lL])="[^"]*+"[^<>"'=]*+)*+>"""
_ANCHOR: Final = (
    rb"[aA]"
    + _BEFORE_HREF
    + ci("href")
    + rb'=(?:"('
    + PLAIN_PATH
    + rb')|"('
    + ci("http")
    # A blank in front of the fragment belongs to the URL; one at the end does not.
    + rb'[sS]?://[^"#&\x80-\xff]*+)|("[^"#&\x80-\xff]*+))(?:(?<![\x00-\x20])#[^"]*+)?+"'
    + _AFTER_HREF
)
_LOOK: Final = rb"(" + any_of(*map(ci, ("a", "area", "meta", "base"))) + END + REST + rb"|" + raw_text("iframe") + rb")"

LINKS: Final = re.compile(
    rb"[^<]*+(?:<" + _NOTHING + rb"[^<]*+)*+(?:<" + any_of(_ANCHOR, _LOOK, rb"([A-Za-z/!?])(?s:.*+)") + rb"|\Z)"
)
