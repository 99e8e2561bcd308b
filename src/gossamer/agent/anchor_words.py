"""What the words of a link say of the page that it leads to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from gossamer.model import Document

_LONGEST: Final = 100  # letters
_MOST_LINKS: Final = 2000  # of one page
LINKS: Final = frozenset(("a", "area"))
"""Kinds of links by which an author says: look there. Frames and the like are parts of the page."""
_says_something = re.compile(r"[^\W\d_]").search
_is_address = re.compile(r"(?:https?://|www\.|/)\S*").fullmatch

# Words that lead on whatever the page is: they say where it is, not what.
EMPTY: Final = frozenset(
    """
    next|previous|prev|back|up|top|home|index|contents|table of contents|here|click here|this|this page|link|more|
    read more|learn more|see more|details|continue|continue reading|first|last|start|end|go|forward|permalink|
    source|edit|print|download|share|reply|comment|comments|login|log in|sign in|register|search|help|menu|skip|
    skip to content|skip to main content|back to top|modules|genindex|navigation|show source|view source|
    weiter|zurück|hier|mehr|startseite|nächste|vorherige|inhalt|suivant|précédent|ici|accueil|sommaire|
    siguiente|anterior|aquí|inicio|más|próximo|próxima|aqui|início|volgende|vorige|avanti|indietro|qui|
    次|次へ|前|前へ|戻る|トップ|ホーム|目次|こちら|ここ|索引|もっと見る|続きを読む|上に戻る|上|先頭|
    下一页|上一页|首页|返回|更多|目录|下一頁|上一頁|首頁|目錄|다음|이전|홈|목차|더보기
    """.replace("\n", " ").split("|")
)
_EMPTY: Final = frozenset(words.strip() for words in EMPTY)
_EDGES: Final = " \t\r\n\u00a0«»‹›<>→←↑↓|·•*-–—.,:;()[]¶#+…"


@lru_cache(maxsize=16_384)  # the links of a site are much the same on each of its pages
def telling(text: str) -> str:
    """The words of a link where they say something of its target; else nothing."""
    words = text[: 4 * _LONGEST].strip(_EDGES)
    if len(words) > _LONGEST:
        words = words[:_LONGEST].rsplit(" ", 1)[0]
    if not _says_something(words) or words.casefold() in _EMPTY or _is_address(words):
        return ""
    return words.encode("utf-8", "replace").decode()  # halves of letters that no encoding has


def outward(document: Document, url: str) -> Iterator[tuple[str, bool, str]]:
    """Links of a page to others: the URL, whether that is on another host, and the words; those that its author does
    not vouch for (nofollow) left out.
    """
    origin = url[: url.index("/", 8) + 1]
    taken = 0
    for link in document.links:
        if link.kind in LINKS and not link.nofollow and link.url != url:
            yield link.url, not link.url.startswith(origin), telling(link.text)
            taken += 1
            if taken >= _MOST_LINKS:
                return
