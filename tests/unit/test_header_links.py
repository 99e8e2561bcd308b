"""Links in HTTP headers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.model import Link
from gossamer.parse.header_links import MAX_LINKS, header_links

URL = "http://h.example/dir/page"


def links(*values: str) -> list[Link]:
    return header_links([("Link", value) for value in values], URL)


def urls(*values: str) -> list[str]:
    return [link.url.removeprefix("http://h.example") for link in links(*values)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("</2>; rel=next", Link("http://h.example/2", "header:next")),
        ('<2>;rel="next"', Link("http://h.example/dir/2", "header:next")),
        ('<2> ; Rel = " Next  Nofollow"', Link("http://h.example/dir/2", "header:next nofollow", nofollow=True)),
        ("<//o.example/#x>", Link("http://o.example/", "header")),
        ('<>; rel="self"', Link(URL, "header:self")),
        ("< /2 >; rel=next; rel=prev", Link("http://h.example/2", "header:next")),
        ('</2>; title="a \\"b\\", <c>; d"; rel=next', Link("http://h.example/2", "header:next", 'a "b", <c>; d')),
        ("</2>; title*=UTF-8'de'n%c3%a4chste; title=n; rel=next", Link("http://h.example/2", "header:next", "nächste")),
        ("</2>; title*=x'y'z; title=n; rel=next", Link("http://h.example/2", "header:next", "n")),
        ('</2>; anchor="#part"; rel=next', Link("http://h.example/2", "header:next")),
        ('</2>; ; ;crossorigin;rel="next', Link("http://h.example/2", "header:next")),
        ("junk </2>junk; rel=next", Link("http://h.example/2", "header:next")),
    ],
)
def test_a_link(value: str, expected: Link) -> None:
    assert links(value) == [expected]


@pytest.mark.parametrize(
    "value",
    ["", "/2; rel=next", "</2; rel=next", "<javascript:x>; rel=next", "<mailto:a@h.example>", '</2>; anchor="/other"'],
)
def test_what_is_no_link_of_this_page(value: str) -> None:
    assert links(value) == []


def test_several() -> None:
    assert urls('</a,b>; title="x, </no>", </c>;rel=next,,</d>', "</e>") == ["/a,b", "/c", "/d", "/e"]
    assert len(links(",".join(f"</{number}>" for number in range(2 * MAX_LINKS)), "</x>")) == MAX_LINKS


def test_refresh() -> None:
    assert header_links([("Refresh", "0; url=/next"), ("refresh", "5")], URL) == [
        Link("http://h.example/next", "header:refresh")
    ]


def test_a_document_has_those_of_its_headers() -> None:
    headers = [("Content-Type", "text/html"), ("LINK", '</c>; rel="canonical", <2>; rel=next')]
    document = gossamer.parse(b'<base href="/base/"><a href="3">', URL, "text/html", headers=headers)
    assert [(link.url, link.kind) for link in document.links] == [
        ("http://h.example/c", "header:canonical"),
        ("http://h.example/dir/2", "header:next"),
        ("http://h.example/base/3", "a"),
    ]
    assert document.canonical == "http://h.example/c"
    own = gossamer.parse(b'<link rel="canonical" href="/own"><meta name=robots content=nofollow>', URL, headers=headers)
    assert own.canonical == "http://h.example/own"
    assert all(link.nofollow for link in own.links)
    assert gossamer.parse(b"%PDF-1.7", URL, "application/pdf", headers=headers).canonical == "http://h.example/c"


@given(st.lists(st.text("<>;,=\"\\'% relanchortitle*/x2\n", max_size=60), max_size=4))
@settings(max_examples=500)
def test_any_text_has_an_answer(values: list[str]) -> None:
    for link in links(*values):
        assert gossamer.normalize(link.url) == link.url
        assert link.kind.startswith("header")


@pytest.mark.parametrize("piece", ["<", ">", "<>", "<x>;", '"', '<x>;a="\\', "; ", ";a=", "<x>; a=b; "])
def test_a_megabyte_of_anything(piece: str) -> None:
    assert len(links(piece * (1_000_000 // len(piece)))) <= MAX_LINKS
