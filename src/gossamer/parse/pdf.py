"""The text of a PDF file. To be called where it may do harm to nobody: the library is large and written in C++."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import msgspec

_MOST_PAGES: Final = 300
_MOST_LETTERS: Final = 500_000
_LONGEST_TITLE: Final = 500


class PdfText(msgspec.Struct):
    title: str = ""
    text: str = ""


def text_of(body: bytes) -> PdfText | None:
    """None where it is no PDF file that can be read."""
    import pypdfium2  # only the process that reads such files needs it

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError:
        return None
    parts: list[str] = []
    room = _MOST_LETTERS
    for number in range(min(len(document), _MOST_PAGES)):
        with suppress(pypdfium2.PdfiumError):
            page = document[number]
            text = page.get_textpage()
            letters = min(text.count_chars(), room)
            parts.append(" ".join(text.get_text_range(0, letters).replace("\ufffe", "").split()) if letters > 0 else "")
            room -= letters
            text.close()
            page.close()
        if room <= 0:
            break
    title = ""
    with suppress(pypdfium2.PdfiumError):
        title = " ".join(document.get_metadata_value("Title").split())[:_LONGEST_TITLE]
    document.close()
    return PdfText(title, "\n".join(parts)[:_MOST_LETTERS])
