"""Pages that would cost a tree builder hours: what is left of them is small, and nothing else is changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from resiliparse.parse.html import HTMLTree

from gossamer.parse import parse
from gossamer.parse.limits import MAX_ATTRIBUTES
from gossamer.parse.tame import MAX_DEPTH, tame

URL = "http://h.example/"
ROW = "<tr><td><b>bold</b> <i>it</i><td><a href='/x'>a</a><svg><path/><path/></svg><p>text<br><font>x</font></tr>"
LIST = "<div><ul><li><a href=/x>x</a><li>y</ul><code>c</code></div>"


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<p>short",
        "<table>" + ROW * 3000 + "</table>",
        LIST * 5000,
        "<img src='data:image/png;base64," + "A" * 100_000 + "'>",
        "<p class=" + "x" * 50_000 + ">",
    ],
)
def test_honest_pages_stay_as_they_are(page: str) -> None:
    assert tame(page) == page


HOSTILE: dict[str, Callable[[int], str]] = {
    "nested blocks": lambda i: "<div>",
    "nested blocks with wrong end tags": lambda i: "<div></x>",
    "end tags that do not reach a block": lambda i: "<span><div></span>",
    "end tags that do not reach out of a table": lambda i: "<div><table><td></div>",
    "unknown elements": lambda i: f"<x-{i}><p>",
    "shapes outside of drawings": lambda i: "<svg></svg><p><path/>",
    "formatting never closed": lambda i: f"<b id={i}><p>x",
    "formatting not closed inside an object": lambda i: f"<b id={i}><object></b></object><p>x</p>",
    "formatting closed in a comment": lambda i: f"<b id={i}><!--</b>--><p>x</p>",
    "formatting closed in an attribute": lambda i: f"<b id={i}><img alt='</b>'><p>x</p>",
    "formatting closed in a script": lambda i: f"<b id={i}><script></b></script><p>x</p>",
    "blocks in forms that end": lambda i: "<form><div></form>",
    "names that HTML does not know": lambda i: f"<x-{i}></x-{i}>",
    "ends of names that HTML does not know": lambda i: f"<x-{i}></y-{i}>",
    "attributes of the body": lambda i: f"<body a{i}=1>",
    "links around tables": lambda i: f"<a href={i}><table><td>x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_give_small_trees(name: str) -> None:
    page = "".join(map(HOSTILE[name], range(21_000)))
    tamed = tame(page)
    assert tamed != page
    tree = HTMLTree.parse(tamed)
    assert sum(1 for _ in tree.document) < 2_000_000
    # A table nests four elements by itself, and a link may stand around it.
    assert _depth(tree) <= 5 * MAX_DEPTH + 16


def _depth(tree: HTMLTree) -> int:
    """Of the deepest first descendants: all the pages above nest what comes later in what came first."""
    node, depth = tree.body, 0
    while node is not None:
        node, depth = node.last_element_child, depth + 1
    return depth


@pytest.mark.parametrize("separator", [" ", " t='>' ", " t='<a>' ", "\n/"])
def test_crowded_tags_lose_attributes_but_not_their_link(separator: str) -> None:
    attributes = separator.join(f"x{number}=1" for number in range(30_000))
    tamed = tame(f"<p>a</p><a {attributes} href='/x' rel=nofollow>b</a>")
    assert tamed.count("=1") <= MAX_ATTRIBUTES
    document = parse(tamed.encode(), URL)
    assert [(link.url, link.nofollow) for link in document.links] == [("http://h.example/x", True)]
    assert document.text == "a b"


@pytest.mark.parametrize("attribute", ["x{}=1 ", "x{}/", "x{}=' > '", 'x{} = ">"', "<x{} ", "a{}=b{}\n"])
def test_crowded_tags_are_known_by_any_attributes(attribute: str) -> None:
    """Also by those that seem to end the tag, and by the shortest."""
    page = "<p>" + "text " * 4000
    crowded = "".join(attribute.replace("{}", str(number)) for number in range(MAX_ATTRIBUTES + 1))
    assert tame(f"{page}<a {crowded}>b</a>") != f"{page}<a {crowded}>b</a>"
    shortest = "x " * (MAX_ATTRIBUTES + 1)
    assert tame(f"{page}<a {shortest}>") != f"{page}<a {shortest}>"
    assert tame(f"{page}<a {shortest[4:]}>") == f"{page}<a {shortest[4:]}>"


def test_a_page_ends_where_its_attributes_have_too_many_names() -> None:
    page = "".join(f"<p data-{number}=1><a href=/{number}>x</a>" for number in range(20_000))
    tamed = tame(page)
    assert page.startswith(tamed)
    assert 0 < tamed.count("<p") < 5000
    honest = page.replace("data-", "data-x=")
    assert tame(honest) == honest


def test_only_so_many_names_of_elements_are_kept() -> None:
    page = "".join(f"<x-{number}>w{number}</x-{number}> " for number in range(12_000))
    tree = HTMLTree.parse(tame(page))
    assert tree.body is not None
    assert len({node.tag for node in tree.document}) < 5000
    assert tree.body.text.split() == [f"w{number}" for number in range(12_000)]


def test_text_and_links_of_hostile_pages_are_kept() -> None:
    page = "".join(f"<div><b id={number}><a href='/{number}'>w{number}</a><p>" for number in range(30_000))
    document = parse(page.encode(), URL, "text/html; charset=utf-8")
    assert document.text.split() == [f"w{number}" for number in range(30_000)]
    assert len({link.url for link in document.links}) == 30_000
