"""A capture and what follows from it for the index. Decides; reads and writes nothing."""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

from gossamer.agent.anchor_words import outward
from gossamer.index import Entry
from gossamer.model import Change, Document
from gossamer.parse import parse
from gossamer.parse.language import language_of
from gossamer.parse.mime import Reader, essence, reader_of
from gossamer.parse.pdf import PdfText
from gossamer.rules.link_sources import FEEDS, named_as_sitemap
from gossamer.rules.robots_tag import robots_tag
from gossamer.store import Capture, Record

_GONE: Final = frozenset((404, 410, 451))
_MOVED: Final = frozenset((301, 308))
REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_LONGEST_TEXT: Final = 500_000  # letters of a page that are indexed
PDF: Final = "application/pdf"
_READABLE: Final = frozenset(("", PDF, "application/xhtml+xml", "application/xml"))


class Verdict(Enum):
    """What a response means for what the index has of its URL."""

    READ = "read"  # look inside
    GONE = "gone"  # take it out
    KEEP = "keep"  # nothing: no page, or a failure that may pass


def judge(capture: Capture) -> Verdict:
    """By status, URL and type, before anything is read."""
    if is_robots(capture) or capture.mime in FEEDS:
        return Verdict.KEEP
    if capture.change == Change.GONE or capture.status in _GONE or capture.status in _MOVED:
        return Verdict.GONE
    if not 200 <= capture.status < 300 or capture.status == 204:
        return Verdict.KEEP
    if named_as_sitemap(capture.url) and capture.mime not in ("text/html", "application/xhtml+xml"):
        return Verdict.KEEP
    return Verdict.READ


def is_robots(capture: Capture) -> bool:
    return capture.url[capture.url.index("/", 8) :] == "/robots.txt"


def may_be_page(content_type: str | None) -> bool:
    """Whether a response of this type may be one that can be read as text."""
    kind = essence(content_type or "")
    return kind in _READABLE or kind.startswith("text/")


class Reading(msgspec.Struct):
    """What was found in a page. No entry: it may not, or cannot, be in the index."""

    entry: Entry | None
    links: list[tuple[str, bool, str]]


def read_html(record: Record, body: bytes, content_type: str | None, token: str) -> Reading | None:
    """None where it is no page."""
    if reader_of(body, content_type) is Reader.NONE:
        return None
    document = parse(body, record.url, content_type)
    noindex, nofollow = robots_tag(record.head, token)
    links = [] if nofollow else list(outward(document, record.url))
    if noindex or document.noindex:
        return Reading(None, links)
    return Reading(_entry(record, document, essence(content_type or "") or "text/html"), links)


def read_pdf(record: Record, pdf: PdfText, token: str) -> Reading:
    if robots_tag(record.head, token)[0]:
        return Reading(None, [])
    language, _ = language_of("", pdf.text)
    document = Document(
        url=record.url, base=record.url, charset="", title=pdf.title, text=pdf.text, language=language, links=[]
    )
    return Reading(_entry(record, document, PDF), [])


def _entry(record: Record, document: Document, kind: str) -> Entry:
    return Entry(
        url=record.url,
        fetched_at=record.fetched_at,
        title=document.title,
        description=document.description,
        body=document.text[:_LONGEST_TEXT],
        main=document.main_text[:_LONGEST_TEXT],
        language=document.language,
        type=kind,
        digest=record.digest,
    )
