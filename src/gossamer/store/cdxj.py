"""CDXJ lines: where each capture is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from urllib.parse import unquote_plus

from gossamer.model.post import METHOD, body_of, plain
from gossamer.store.surt import surt
from gossamer.store.warc import spelled

Entry = tuple[str, float, str | None, int, bytes, int, int, str]
"""Of a capture: URL, moment, content type, status, digest, offset, length, and what has become of it since the last."""

REVISIT = "warc/revisit"
"""What the type of a page is called whose payload is in another record."""

_NEEDS_ESCAPE = re.compile(r"[^ !#-\[\]-~]").search


def key_of(url: str) -> str:
    """Return the key by which web archives look up what was asked for.

    Of a form that was sent, method and decoded body are part of the query, as cdxj-indexer has it.
    """
    if "#" not in url:
        return surt(url)
    target, body = plain(url), unquote_plus(body_of(url))
    return surt(f"{target}{'&' if '?' in target else '?'}{METHOD}{'&' if body else ''}{body}")


def quoted(text: str) -> str:
    if not _NEEDS_ESCAPE(text):
        return f'"{text}"'
    import json  # few URLs need it

    return json.dumps(text)


def mime_of(content_type: str | None) -> str:
    return quoted((content_type or "").partition(";")[0].strip().lower() or "unk")


def line_here(entry: Entry, file: str) -> str:
    """The line of one capture in a WARC file."""
    url, fetched_at, content_type, status, digest, offset, length, change = entry
    key, form = key_of(url), ""
    if "#" in url:
        url, body = plain(url), body_of(url)
        form = f', "method": "POST", "requestBody": {quoted(body)}'
    stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime(int(fetched_at)))
    changed = f', "change": "{change}"' if change else ""
    return (
        f'{key} {stamp} {{"url": {quoted(url)}, "mime": {mime_of(content_type)}, '
        f'"status": "{status}", "digest": "{spelled(digest)}", "length": "{length}", "offset": "{offset}", '
        f'"filename": "{file}"{changed}{form}}}\n'
    )


def lines_here(
    entries: list[Entry],
    file: str,
    mimes: dict[str | None, str],
    mime: Callable[[str | None], str],
    line: Callable[[Entry, str], str],
) -> bytes:
    return "".join([line(entry, file) for entry in entries]).encode()


try:
    from gossamer.store import _records

    lines = _records.lines
except ImportError:  # no compiler was at hand when it was installed
    lines = lines_here


class Lines:
    """Formats the lines of captures, many at once; types as they are written are kept at hand."""

    def __init__(self) -> None:
        self._mimes: dict[str | None, str] = {}

    def of(self, entries: list[Entry], file: str) -> bytes:
        return lines(entries, file, self._mimes, self._mime, line_here)

    def _mime(self, content_type: str | None) -> str:
        if len(self._mimes) > 1_000:
            self._mimes.clear()
        written = self._mimes[content_type] = mime_of(content_type)
        return written
