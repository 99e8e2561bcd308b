"""What a page says about itself: title, description, author, dates; from meta elements, `time` elements and JSON-LD.

All of it is written by others, for others to show: control characters are taken out and lengths are capped.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from gossamer.parse.dates import iso_date
from gossamer.parse.directives import keyword

MAX_TITLE: Final = 512
MAX_DESCRIPTION: Final = 2048
MAX_AUTHOR: Final = 256
_MAX_JSON: Final = 256 * 1024
_MAX_SCRIPTS: Final = 16
_MAX_VALUES: Final = 1000
"""Objects and lists of one JSON-LD that are looked at."""

# The first that gives something counts.
_DESCRIPTION: Final = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
_AUTHOR: Final = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author")
_PUBLISHED: Final = (
    "article:published_time", "datepublished", "citation_publication_date", "citation_date", "dcterms.issued",
    "dc.date.issued", "dcterms.created", "dc.date.created", "dcterms.date", "dc.date", "pubdate", "publishdate",
    "publish-date", "publish_date", "publication_date", "parsely-pub-date", "sailthru.date", "date",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified", "last-modified",
)  # fmt: skip
_WANTED: Final = frozenset(("og:title", *_DESCRIPTION, *_AUTHOR, *_PUBLISHED, *_MODIFIED))
# Controls, and marks that turn the direction of what is written around them.
_controls = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


class Meta(msgspec.Struct, frozen=True, gc=False):
    """What the page says about itself; empty where it says nothing that can be used."""

    title: str
    description: str
    author: str
    published: str
    modified: str


def clean(text: str, longest: int) -> str:
    """One line without control characters, no longer than that."""
    # What is cut off first leaves room for blanks that collapse.
    return " ".join(_controls.sub(" ", text[: 8 * longest]).split())[:longest].rstrip()


def read_meta(tree: Any) -> Meta:
    said = _said(tree)
    published = _first_date(said, _PUBLISHED)
    modified = _first_date(said, _MODIFIED)
    author = _first(said, _AUTHOR)
    if not (published and modified and author):
        linked = _linked_data(tree)
        published = published or linked.get("datePublished", "") or _time(tree, "datePublished")
        modified = modified or linked.get("dateModified", "") or _time(tree, "dateModified")
        author = author or linked.get("author", "")
    return Meta(
        title=_title(tree, said),
        description=clean(_first(said, _DESCRIPTION), MAX_DESCRIPTION),
        author=clean(author, MAX_AUTHOR),
        published=published,
        modified=modified,
    )


def _said(tree: Any) -> dict[str, str]:
    """The meta elements that are wanted, by name; of those of one name the first."""
    said: dict[str, str] = {}
    for node in tree.document.query_selector_all("meta[content]"):
        name = keyword(node.getattr("name") or node.getattr("property") or node.getattr("itemprop") or "")
        if name in _WANTED and name not in said and (content := (node.getattr("content") or "").strip()):
            said[name] = content
    return said


def _title(tree: Any, said: dict[str, str]) -> str:
    title = clean(tree.title or "", MAX_TITLE) or clean(said.get("og:title", ""), MAX_TITLE)
    if title:
        return title
    heading = tree.document.query_selector("h1")
    return "" if heading is None else clean(heading.text or "", MAX_TITLE)


def _first(said: dict[str, str], names: tuple[str, ...]) -> str:
    # Authors are sometimes given as the address of their page.
    return next((said[name] for name in names if name in said and not said[name].startswith(("http:", "https:"))), "")


def _first_date(said: dict[str, str], names: tuple[str, ...]) -> str:
    return next((found for name in names if name in said and (found := iso_date(said[name]))), "")


def _time(tree: Any, name: str) -> str:
    selector = f"[itemprop~={name}]" + (", time[pubdate]" if name == "datePublished" else "")
    node = tree.document.query_selector(selector)
    if node is None:
        return ""
    return iso_date(node.getattr("datetime") or node.getattr("content") or (node.text or "")[:64])


def _linked_data(tree: Any) -> dict[str, str]:
    """Dates and author of the outermost objects of the page's JSON-LD that have them."""
    linked: dict[str, str] = {}
    for script in islice(tree.document.query_selector_all('script[type="application/ld+json"]'), _MAX_SCRIPTS):
        text = script.text or ""
        if len(text) > _MAX_JSON or ('"date' not in text and '"author"' not in text):
            continue
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            continue
        for thing in _objects(value):
            for name in ("datePublished", "dateModified"):
                date = thing.get(name)
                if name not in linked and isinstance(date, str) and (found := iso_date(date)):
                    linked[name] = found
            if "author" not in linked and (author := _name_of(thing.get("author"))):
                linked["author"] = author
    return linked


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value, the outer ones first."""
    waiting = deque([value])
    for _ in range(_MAX_VALUES):
        if not waiting:
            return
        value = waiting.popleft()
        if isinstance(value, dict):
            yield value
            value = list(value.values())
        if isinstance(value, list):
            waiting.extend(part for part in value[:_MAX_VALUES] if isinstance(part, dict | list))


def _name_of(author: Any) -> str:
    if isinstance(author, list):
        author = author[0] if author else None
    if isinstance(author, dict):
        author = author.get("name")
    return author if isinstance(author, str) and not author.startswith(("http:", "https:")) else ""
