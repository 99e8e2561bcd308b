"""Inputs for benchmarks/fuzz.py: real pages changed, pieces of HTML (tests use them too), and random bytes."""

from __future__ import annotations

import random
from collections.abc import Sequence

ELEMENTS = """a a a area iframe meta base link p div span b i em font td tr th table caption colgroup col form input
    button object option optgroup svg g path text title style math mi mrow select template noscript script textarea
    frame frameset br img body html head h1 li ul dd nobr applet marquee ruby rt x-y plaintext xmp noembed noframes
    foreignObject desc image annotation-xml details""".split()
ATTRIBUTES = """href href HREF src rel name content http-equiv class title data-rel hreflang charset x = " ' < a<b é
    xlink:href codebase data archive action formaction cite background srcset type lang alt style id""".split()
VALUES = [
    "/a", "/b/c.html", "x", "", " ", "#f", "/p#f", "/p #f", "?q", "../u", "//o.example/x", "http://o.example/",
    "HTTPS://O.example/P?q=1", "http:rel", "http://[", "javascript:x", "data:,x", "/a&amp;b", "/a?x=1&y=2",
    "/a?c&copy=1", "/q&lt", "&#47;r", "&#0;", "&nbsp;/n", "/a/../b", "/%7e", "/;jsessionid=1",
    "/é", "/日本?q=日本", "&eacute;",
    "/x\ny", "nofollow", "NoFollow x", "robots", "noindex", "none", "refresh", "0;url=/ref",
    '<a href="/in">', ">", "/t'q",
    "</script>", "-->", "utf-8", "iso-2022-kr", "a.png 1x, b.png 2x", "image", "text/html; charset=gbk", "\x01/c\x1f",
]  # fmt: skip
PIECES = [
    "text", "a < b", "<", ">", '"', "'", "&lt;", "é", "日本語", "</", "<!", "<1", "</>", "<!>", "<!--", "-->", "<!-->",
    "<!--x--!>", "<!-- <a href='/c'> -->", "<![CDATA[<a href=/d>]]>", "]]>", "<?php '<a href=/e>' ?>",
    "<!DOCTYPE html>", "<a", "</a>", '<a href="/f', "<script>'<a href=/s>'</script>",
    "<script><!-- <script> --></script>", "</script>",
    "<style><a href=/s></style>", "<textarea><a href=/t></textarea>", "<svg><path d='M'/></svg>", "<svg>", "</svg>",
    '<svg><path d="M"/><text>t</text></svg>', "<math><mi>x</mi><mrow></mrow></math>", "<math>", "</math>",
    "<select><option>1</select>", "<select>", "</select>", "<template><a href=/t></template>", "<template>",
    "</template>", "<table>", "</table>", "<td>", "<tr>", '<a href="/g">', '<a class="k" href="/h">', "</p>", "</br>",
    '<a href="/i" rel="nofollow">', '<iframe src="/j"></iframe>', '<meta name="robots" content="nofollow">',
    '<base href="/k/">', "<base href=http://o.example/l>", '<meta charset="shift_jis">', "<frameset>", "<xmp>",
    "</xmp>", "\x1b$B", "\x1b(B", "\0", "\r", "\f", "\ufeff", "Disallow: /*$\n", "User-agent: *\n",
    "<url><loc>/u</loc></url>",
    '</2>; rel="next"; title="\\"', "0;url=", "<![CDATA[", "<title>", "</title>", "<plaintext>",
]  # fmt: skip
_TAGS = [piece.encode() for piece in PIECES if "<" in piece]


class Inputs:
    """Input number n of a seed is always the same."""

    def __init__(self, samples: Sequence[bytes], seed: int, longest: int) -> None:
        self._samples = samples
        self._seed = seed
        self._longest = longest

    def input(self, number: int) -> tuple[str, bytes]:
        pick = random.Random(self._seed * 1_000_003 + number)
        kind = pick.choices(("changed", "pieced", "random"), (1, 8, 1))[0]
        if kind == "changed" and self._samples:
            body = self._changed(pick)
        elif kind == "random":
            body = pick.randbytes(int(2 ** pick.uniform(0, 11)))
        else:
            body = self._pieced(pick)
        return kind, body[: self._longest]

    def _changed(self, pick: random.Random) -> bytes:
        """A piece of a real page with a few bytes lost, doubled, moved or put in."""
        page = pick.choice(self._samples)
        size = int(2 ** pick.uniform(8, 16))
        start = pick.randrange(max(len(page) - size, 0) + 1)
        body = bytearray(page[start : start + size])
        for _ in range(pick.randint(1, 8)):
            at = pick.randrange(len(body) + 1)
            end = min(at + int(2 ** pick.uniform(0, 8)), len(body))
            change = pick.randrange(6)
            if change == 0:
                del body[at:end]
            elif change == 1:
                body[at:at] = body[at:end] * pick.randint(1, 30)
            elif change == 2:
                body[at:at] = pick.choice(_TAGS)
            elif change == 3:
                body[at:at] = pick.randbytes(pick.randint(1, 3))
            elif change == 4:
                body[at : at + 1] = bytes([pick.choice(b"<>\"'=&/!-; \n\0\x1b\x80\xff")])
            else:
                other = pick.choice(self._samples)
                place = pick.randrange(len(other) + 1)
                body[at:end] = other[place : place + pick.randint(1, 300)]
        return bytes(body)

    def _pieced(self, pick: random.Random) -> bytes:
        count = pick.randint(1, 12) if pick.random() < 0.97 else pick.randint(50, 2000)
        parts = [tag(pick) if pick.random() < 0.5 else pick.choice(PIECES) for _ in range(count)]
        if pick.random() < 0.01:
            parts *= pick.randint(2, 200)
        return "".join(parts).encode(
            pick.choice(("utf-8", "utf-8", "utf-8", "latin-1", "shift_jis", "utf-16")), "replace"
        )


def tag(pick: random.Random) -> str:
    text = "<" + "/" * (pick.random() < 0.2) + pick.choice(ELEMENTS)
    for _ in range(pick.randint(0, 3)):
        quote, value = pick.choice(['"', '"', '"', "'", ""]), pick.choice(VALUES)
        value = value.replace(quote, "") if quote and pick.random() < 0.95 else value
        sign = pick.choice(["=", "=", "=", " = ", "=="]) if pick.random() < 0.9 else ""
        text += pick.choice([" ", " ", " ", "\n", "/", ""]) + pick.choice(ATTRIBUTES) + sign + quote + value + quote
    return text + pick.choice([">", ">", ">", ">", "/>", " >", ""] if pick.random() < 0.3 else [">"])
