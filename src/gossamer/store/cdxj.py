"""CDXJ lines: where each capture is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from urllib.parse import quote, unquote_plus

from gossamer.model.post import METHOD, body_of, plain
from gossamer.regex import compiled_later
from gossamer.store.warc import spelled

Entry = tuple[str, float, str | None, int, bytes, int, int, str]
"""Of a capture: URL, moment, content type, status, digest, offset, length, and what has become of it since the last."""

REVISIT = "warc/revisit"
"""What the type of a page is called whose payload is in another record."""

_WWW = compiled_later(r"^www\d*\.")
_KEPT = "".join(chr(code) for code in range(33, 127) if chr(code) not in "#%")
_NEEDS_ESCAPE = re.compile(r"[^ !#-\[\]-~]").search


def surt(url: str) -> str:
    """The sort key: host reversed, `www.` off, lower case, as web archives look it up."""
    cut = url.index("/", 8)
    host, colon, port = url[url.index("//") + 2 : cut].partition(":")
    if host[:1] == "[":
        return f"{url[url.index('//') + 2 : cut]}){url[cut:].lower()}"
    host = _WWW.sub("", host)
    if not host.replace(".", "").isdigit():
        host = ",".join(reversed(host.split(".")))
    return f"{host}{colon}{port}){url[cut:].lower()}"


def _form_key(url: str, body: str) -> str:
    """As web archives look up what was sent: method and body in the query, the body decoded and written anew, and all
    parts in order.
    """
    path, mark, query = surt(url).partition("?")
    sent = quote(unquote_plus(body), safe=_KEPT).lower()
    parts = [*(query.split("&") if mark else ()), METHOD.lower(), *(sent.split("&") if sent else ())]
    return f"{path}?{'&'.join(sorted(parts))}"


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
    key, form = surt(url), ""
    if "#" in url:
        url, body = plain(url), body_of(url)
        key, form = _form_key(url, body), f', "method": "POST", "requestBody": {quoted(body)}'
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
