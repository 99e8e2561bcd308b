"""What a page says, as a number: the same as long as it says the same, whatever its adverts and clocks show."""

from __future__ import annotations

import re
from typing import Final

from xxhash import xxh32_intdigest

from gossamer.parse.charset import decode
from gossamer.parse.html import title_and_text
from gossamer.parse.mime import Reader, reader_of

# Times of day, and how long something took: what differs each time a page is made.
_CLOCK: Final = re.compile(
    r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?+)?+(?![\d:])(?:\s?+[ap]\.?m\b\.?)?+(?:\s?+(?:utc|gmt|z)\b)?+"
    r"|(?<![\d.,])\d{1,9}[.,]\d{1,9}\s?+(?:s|sec|secs|seconds|ms|milliseconds)\b",
    re.I,
)

_LONGEST: Final = 1 << 20  # bytes: to find the main text of more would keep all other pages waiting


def gist(body: bytes, content_type: str | None) -> int:
    """Of a page's title and main text, without times of day; of what is no page, or a very long one, of its
    bytes. Never 0.
    """
    reader = reader_of(body, content_type)
    if reader is Reader.NONE or len(body) > _LONGEST:
        return xxh32_intdigest(body) or 1
    source, _ = decode(body, content_type)
    text = source if reader is Reader.TEXT else title_and_text(source, reader)
    words = " ".join(_CLOCK.sub(" ", text).split())
    return xxh32_intdigest(words.encode("utf-8", "surrogatepass")) or 1
