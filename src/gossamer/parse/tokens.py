"""HTML's tokenizer as fragments of patterns over bytes, for the readers of a page that do without a tree.

Every repetition is possessive: a pattern made of these reads each byte a bounded number of times, whatever the input.
A fragment starts behind the `<`. Tags that the page never closes match none of them.
"""

from __future__ import annotations

from typing import Final

BLANK: Final = rb"[ \t\n\r\f]"
END: Final = rb"(?=[ \t\n\r\f/>])"
"""What must follow the name of a tag."""

NAME: Final = rb"[A-Za-z][^ \t\n\r\f/>]*+"

SIMPLE: Final = rb"""[^<>"'=]*+(?:(?<=[A-Za-z0-9_-])="[^"]*+"[^<>"'=]*+)*+"""
"""Attributes as most pages write them: no values, or values in double quotes right behind the name and the `=`.

The name in front of the `=` matters: in `<p ="x>y">` the tag ends at the first `>`.
"""

_VALUE: Final = rb"""(?:"[^"]*+"|'[^']*+'|[^ \t\n\r\f>"'][^ \t\n\r\f>]*+|(?=>))"""
ATTRIBUTES: Final = (
    rb"(?:[ \t\n\r\f/]++|[^ \t\n\r\f/>][^ \t\n\r\f/>=]*+"
    rb"(?:" + BLANK + rb"*+=" + BLANK + rb"*+" + _VALUE + rb"|(?!" + BLANK + rb"*+=)))*+"
)
REST: Final = rb"(?:" + SIMPLE + rb">|" + ATTRIBUTES + rb">)"
"""Whatever attributes there are, and the `>` that ends the tag."""

COMMENT: Final = rb"!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+--!?>)"
DECLARATION: Final = rb"(?:!(?!--)|\?)[^>]*+>"
"""Doctypes and what the tokenizer calls bogus comments: they end at the first `>`, quotes or not."""

END_TAG: Final = rb"/(?:" + NAME + REST + rb"|[^A-Za-z>][^>]*+>|>)"

ATTRIBUTE: Final = (
    rb"([^ \t\n\r\f/>][^ \t\n\r\f/>=]*+)(?:" + BLANK + rb"*+=" + BLANK + rb"*+"
    rb"""(?:"([^"]*+)"|'([^']*+)'|([^ \t\n\r\f>"'][^ \t\n\r\f>]*+))?+)?+"""
)
"""One attribute of a tag that REST has matched: name, and the value in one of three groups."""


def ci(name: str) -> bytes:
    """A name in upper or lower case. (The flag for that would slow down every other part of the pattern.)"""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in name).encode()


def any_of(*fragments: bytes) -> bytes:
    return rb"(?:" + b"|".join(fragments) + rb")"


def raw_text(name: str) -> bytes:
    """An element whose content is no markup, up to its end tag."""
    content = rb"[^<]*+(?:<(?!/" + ci(name) + END + rb")[^<]*+)*+"
    if name == "script":
        # Behind a `<!--` a script may hold scripts, whose end tags do not end it: those match nothing here.
        content = (
            rb"[^<]*+(?:<(?!/" + ci(name) + END + rb"|!--)[^<]*+)*+"
            rb"(?:<!--[^<]*+(?:<(?!/?" + ci(name) + END + rb")[^<]*+)*+)?+"
        )
    return ci(name) + END + REST + content + rb"(?=</" + ci(name) + END + rb")"
