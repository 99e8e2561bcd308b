"""The whole parser: bytes to a Document, by way of the tree that a browser would build."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

from msgspec import structs
from resiliparse.parse.html import HTMLTree

from gossamer.model import Document, Link
from gossamer.parse.charset import decode
from gossamer.parse.directives import language_tag
from gossamer.parse.header_links import header_links
from gossamer.parse.limits import cut
from gossamer.parse.links import FOLLOWED, READERS, LinkReader, base_of, collapse, is_wanted, readers_of
from gossamer.parse.mime import Reader, reader_of
from gossamer.parse.tame import tame

_CANONICAL: Final = frozenset(("header:canonical",))
# Elements inside a word; every other one ends it.
INLINE: Final = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb rp rt rtc ruby s samp "
    "small span strike strong sub sup time tt u var wbr #text #comment".split()
)
_NO_TEXT: Final = frozenset(("script", "style", "iframe", "noembed", "noframes"))
_VOID: Final = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
_self_closed = re.compile(
    rf"<(?!(?:{_VOID})[\s/])([A-Za-z][A-Za-z0-9:-]*+)((?:[^<>\"'/]++|\"[^\"]*+\"|'[^']*+'|/(?!>))*+)/>", re.I
)


def parse(
    body: bytes, url: str, content_type: str | None = None, *, headers: Iterable[tuple[str, str]] = ()
) -> Document:
    """What is found in a page, and in the Link headers among `headers`.

    No bytes raise: a page that is none gives an empty Document.
    """
    document = _parse(body, url, content_type)
    linked = header_links(headers, url)
    if not linked:
        return document
    if document.nofollow:
        linked = [structs.replace(link, nofollow=True) for link in linked]
    canonical = document.canonical or next((link.url for link in linked if is_wanted(link.kind, _CANONICAL)), "")
    return structs.replace(document, links=linked + document.links, canonical=canonical)


def _parse(body: bytes, url: str, content_type: str | None) -> Document:
    reader = reader_of(body, content_type)
    if reader is Reader.NONE:
        return Document(url=url, base=url, charset="", title="", text="", language="", links=[])
    # Only a Document needs these: a crawl, which reads links, need not wait for them.
    from gossamer.parse.language import language_of
    from gossamer.parse.meta import read_meta
    from gossamer.parse.text import MAX_LENGTH, main_text

    source, charset = decode(body, content_type)
    if reader is Reader.TEXT:
        text = collapse(source)
        language, confidence = language_of("", text)
        return Document(
            url=url, base=url, charset=charset, title="", text=text, language=language, links=[],
            main_text=text[:MAX_LENGTH], language_confidence=confidence,
        )  # fmt: skip
    tree = tree_of(source, reader)
    links = LinkReader(base_in(tree, url), charset, with_text=True)
    text = collapse("".join(text_and_links(tree, links)))
    main = main_text(tree, text)
    language, confidence = language_of(_declared_language(tree, links), main)
    meta = read_meta(tree)
    return Document(
        url=url,
        base=links.base,
        charset=charset,
        title=meta.title,
        text=text,
        language=language,
        links=[Link(link.url, link.kind, link.text, True) for link in links.links] if links.nofollow else links.links,
        description=meta.description,
        canonical=links.canonical,
        noindex=links.noindex,
        nofollow=links.nofollow,
        main_text=main,
        language_confidence=confidence,
        author=meta.author,
        published=meta.published,
        modified=meta.modified,
    )


def parse_links(body: bytes, url: str, content_type: str | None, kinds: frozenset[str] = FOLLOWED) -> LinkReader:
    """Only the links of these kinds and the robots rules: what the crawl needs of a page at once."""
    reader = reader_of(body, content_type)
    if reader in (Reader.NONE, Reader.TEXT):
        return LinkReader(url, "", with_text=False)
    source, charset = decode(body, content_type)
    tree = tree_of(source, reader)
    links = LinkReader(base_in(tree, url), charset, with_text=False)
    for node in _elements(tree, {"meta", *readers_of(kinds)}):
        links.read(node, node.tag)
    links.links = [link for link in links.links if is_wanted(link.kind, kinds)]
    return links


def title_and_text(source: str, reader: Reader) -> str:
    """Only the title and the main text of a page that is markup."""
    from gossamer.parse.text import main_text

    tree = tree_of(source, reader)
    text = collapse("".join(text_and_links(tree, LinkReader("", "", with_text=False))))
    return f"{tree.title}\n{main_text(tree, text)}"


def _elements(tree: Any, tags: set[str]) -> Iterable[Any]:
    """Elements of these names in their order.

    A selector would find them, but making ready for the first takes as long as building the tree of a small page. Most
    pages have links of one name only, and no refresh behind them.
    """
    found = [each for tag in sorted(tags) if len(each := tree.document.get_elements_by_tag_name(tag))]
    if len(found) == 2 and "meta" in tags:
        metas, others = sorted(found, key=lambda each: each[0].tag != "meta")
        if metas[0].tag == "meta" and not any(meta.hasattr("http-equiv") for meta in metas):
            return chain(metas, others)
    in_order: Iterable[Any] = found[0] if len(found) == 1 else tree.document.query_selector_all(", ".join(sorted(tags)))
    return in_order


def tree_of(source: str, reader: Reader) -> Any:
    source = cut(source)
    if reader is Reader.XHTML:
        source = _self_closed.sub(r"<\1\2></\1>", source)
    return HTMLTree.parse(tame(source))


def base_in(tree: Any, url: str) -> str:
    references = (element.getattr("href") for element in tree.document.get_elements_by_tag_name("base"))
    return base_of(next((reference for reference in references if reference is not None), None), url)


def text_and_links(tree: Any, links: LinkReader) -> Iterator[str]:
    """The text of the body in pieces, with a space wherever an element ends a word; links are read on the way."""
    in_body = hidden = False
    for node in tree.document:
        tag = node.tag
        if tag == "#text":
            if in_body and not hidden:
                yield node.value
                if _ends_word(node):
                    yield " "
            hidden = False
            continue
        if tag in READERS:
            links.read(node, tag)
        if tag == "body":
            in_body = True
        # The content of these is one text, which comes next.
        hidden = tag in _NO_TEXT
        if tag not in INLINE:
            yield " "


def _ends_word(node: Any) -> bool:
    while node.next is None:
        node = node.parent
        if node is None or node.tag not in INLINE:
            return True
    return False


def _declared_language(tree: Any, links: LinkReader) -> str:
    roots = tree.document.get_elements_by_tag_name("html")
    value = roots[0].getattr("lang") or roots[0].getattr("xml:lang") or "" if len(roots) else ""
    return language_tag(value) or language_tag(links.language)
