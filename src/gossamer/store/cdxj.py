"""CDXJ lines: where each capture is."""

from __future__ import annotations

import json
import re
import time

REVISIT = "warc/revisit"
"""What the type of a page is called whose payload is in another record."""

_WWW = re.compile(r"^www\d*\.")
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


def quoted(text: str) -> str:
    return json.dumps(text) if _NEEDS_ESCAPE(text) else f'"{text}"'


def with_change(line: str, change: str) -> str:
    """A line of a page that was visited before, with what has become of it since."""
    return f'{line[:-2]}, "change": "{change}"}}\n'


class Lines:
    """Formats lines for one WARC file; the reversed hosts of the last origins and the last second are kept at hand."""

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}
        self._mimes: dict[str | None, str] = {}
        self._second = -1
        self._stamp = ""

    def line(
        self,
        url: str,
        fetched_at: float,
        mime: str | None,
        status: int,
        digest: str,
        offset: int,
        length: int,
        file: str,
    ) -> str:
        second = int(fetched_at)
        if second != self._second:
            self._second, self._stamp = second, time.strftime("%Y%m%d%H%M%S", time.gmtime(second))
        return (
            f'{self._surt(url)} {self._stamp} {{"url": {quoted(url)}, "mime": {self._mime(mime)}, '
            f'"status": "{status}", "digest": "{digest}", "length": "{length}", "offset": "{offset}", '
            f'"filename": "{file}"}}\n'
        )

    def _surt(self, url: str) -> str:
        cut = url.index("/", 8)
        origin = url[:cut]
        known = self._origins.get(origin)
        if known is None:
            if len(self._origins) > 10_000:
                self._origins.clear()
            known = self._origins[origin] = surt(origin + "/")[:-1]
        return known + url[cut:].lower()

    def _mime(self, mime: str | None) -> str:
        known = self._mimes.get(mime)
        if known is None:
            if len(self._mimes) > 1_000:
                self._mimes.clear()
            plain = (mime or "").partition(";")[0].strip().lower()
            known = self._mimes[mime] = quoted(plain or "unk")
        return known
