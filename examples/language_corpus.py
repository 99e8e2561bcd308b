"""A corpus of one language: the text of its pages, which are looked for where they are likely.

gossamer crawl https://www.example.th/ --dir thai --scope any --max-pages 100000 --no-index \
    --strategy language_corpus:LanguageFirst --strategy-option language=th \
    --app corpus=language_corpus:Corpus,language=th,format=parquet
python language_corpus.py thai
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import gossamer
from gossamer.errors import GossamerError

# Letters that other languages do not use, and the top-level domain.
SCRIPTS = {
    "th": ("[\u0e01-\u0e5b]", ".th"),
    "ja": ("[\u3041-\u30ff\uff66-\uff9f]", ".jp"),  # kana: Chinese has the same characters, and none of these
    "ko": ("[\u1100-\u11ff\uac00-\ud7a3]", ".kr"),
    "el": ("[\u0370-\u03ff]", ".gr"),
    "he": ("[\u0591-\u05f4]", ".il"),
    "ka": ("[\u10a0-\u10ff]", ".ge"),
}
ENOUGH = 0.2  # share of the letters; names, numbers and code are in other scripts everywhere
LONGEST = 200_000  # characters of a page that are kept


class Script:
    def __init__(self, language: str) -> None:
        if language not in SCRIPTS:
            raise ValueError(f"language {language!r} is not one of {', '.join(SCRIPTS)}; add it to SCRIPTS")
        letters, self.domain = SCRIPTS[language]
        self._letters = re.compile(letters)
        self._others = re.compile(rf"(?!{letters})[^\W\d_]")

    def share(self, text: str) -> float:
        """Of the letters of a text, how many are of this script."""
        some = text[:20_000]
        own, others = len(self._letters.findall(some)), len(self._others.findall(some))
        return own / (own + others) if own else 0.0


class LanguageFirst(gossamer.Strategy):
    """Hosts of the country first, then what pages in the language lead to, then the rest."""

    def __init__(self, language: str = "th") -> None:
        self._script = Script(language)
        self._pages = self._found = 0

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        if not page.ok:
            return [page.priority] * len(page.links)  # a redirect is worth what led to it
        found = self._script.share(page.text) >= ENOUGH
        self._pages, self._found = self._pages + 1, self._found + found
        here = urlsplit(page.url).hostname
        return [self._priority(link, found, here) for link in page.links]

    def _priority(self, link: str, found: bool, here: str | None) -> int:
        host = urlsplit(link).hostname or ""
        if found:
            return 1 if host.endswith(self._script.domain) else 2
        if host.endswith(self._script.domain):
            return 3
        return 8 if host == here else 5  # a host of another language is left sooner than it leads on

    def figures(self) -> Mapping[str, float]:
        return {"pages": self._pages, "in_language": self._found}


class Corpus(gossamer.Application):
    """A record for each page in the language whose author does not mind that it is kept."""

    def __init__(self, language: str = "th") -> None:
        self._language, self._script = language, Script(language)

    def pages(self, pages: Sequence[gossamer.AppPage]) -> Iterator[dict[str, Any]]:
        for page in pages:
            document = page.document
            share = self._script.share(document.main_text)
            spoken = document.language.partition("-")[0]  # th of th-TH
            if share >= ENOUGH and spoken == self._language and not document.noindex:
                yield {
                    "url": page.url,
                    "title": document.title,
                    "language": document.language,
                    "share": round(share, 3),
                    "at": page.fetched_at,
                    "text": document.main_text[:LONGEST],
                }


def main(directory: str) -> None:
    """How much was found, and where."""
    hosts: Counter[str] = Counter()
    letters = size = 0
    for record in gossamer.records(directory, "corpus"):
        hosts[urlsplit(record["url"]).hostname or ""] += 1
        letters += len(record["text"])
        size += len(record["text"].encode())
    visited = sum(known.status == 200 for known in gossamer.urls(directory, "fetched"))
    pages = hosts.total()
    print(f"{pages:,} of {visited:,} pages ({pages / max(1, visited):.0%}), {len(hosts):,} hosts")
    print(f"{letters:,} characters, {size:,} bytes of text")
    for host, count in hosts.most_common(10):
        print(f"{count:8,}  {host}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} DIR")
    try:
        main(sys.argv[1])
    except GossamerError as error:
        sys.exit(str(error))
