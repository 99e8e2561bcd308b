"""Texts whose language is known: documentation that exists in many languages, as Debian's packages install it.

Translations are never whole. Paragraphs whose words are mostly those of the original page are left out, and so are
those in Latin letters where the language has others.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

_PARAGRAPH = re.compile(r"<(p|dd|td)\b[^<>]*>(.*?)</\1>", re.S)
_TAG = re.compile(r"<[^<>]*>")
_SHORT = 30  # characters: such a paragraph is a name or a command
_OTHER_SCRIPTS = frozenset("ar as bg el fa gu he hi ja km ko mr ru ta te th uk zh".split())
SAME = {"nb": "no", "nn": "no"}


class Sample(NamedTuple):
    language: str  # primary subtag
    text: str


class Collection(NamedTuple):
    """Where the languages of one book lie, how its pages are named, and which language is the original."""

    folder: str
    pages: str
    original: str


COLLECTIONS = (
    Collection("share/doc/debian-handbook/html", "*.html", "en-US"),
    Collection("share/doc/installation-guide-amd64", "*.html", "en"),
    Collection("share/help", "gnome-help/*.page", "C"),
    Collection("share/libreoffice/help", "text/*/*.html", "en-US"),
    Collection("share/gimp/2.0/help", "*.html", "en"),
)
PACKAGES = "debian-handbook installation-guide-amd64 gnome-user-docs libreoffice-help-LANG gimp-help-LANG"


def primary(tag: str) -> str:
    """`pt_BR`, `sr@latin` and `zh-TW` are pt, sr and zh; the original without a tag is English."""
    subtag = re.split(r"[-_@]", tag)[0].lower()
    return "en" if subtag == "c" else SAME.get(subtag, subtag)


def paragraphs(page: str) -> list[str]:
    found = (" ".join(unescape(_TAG.sub(" ", text)).split()) for _, text in _PARAGRAPH.findall(page))
    return [text for text in found if len(text) >= _SHORT]


def read(roots: list[Path], pages: int, least: int) -> list[Sample]:
    """Up to `pages` pages of each language of each collection that have `least` characters of their own."""
    return [
        sample
        for root in roots
        for collection in COLLECTIONS
        if (root / collection.folder / collection.original).is_dir()
        for sample in _collection(root / collection.folder, collection, pages, least)
    ]


def _collection(folder: Path, collection: Collection, pages: int, least: int) -> Iterator[Sample]:
    original = folder / collection.original
    for home in sorted(folder.iterdir()):
        found = 0
        for path in sorted(home.glob(collection.pages)):
            source = original / path.relative_to(home)
            if found == pages or not source.is_file():
                continue
            own = paragraphs(path.read_text("utf-8", "replace"))
            language = primary(home.name)
            if home != original:
                words = set(" ".join(paragraphs(source.read_text("utf-8", "replace"))).lower().split())
                own = [text for text in own if not _untranslated(text, words)]
            if len(text := " ".join(_in_script_of(language, own))) >= least:
                found += 1
                yield Sample(language, text)


def _untranslated(text: str, words: set[str]) -> bool:
    own = text.lower().split()
    return sum(word in words for word in own) * 2 > len(own)


def _in_script_of(language: str, texts: list[str]) -> list[str]:
    if language not in _OTHER_SCRIPTS:
        return texts
    return [text for text in texts if sum(char > "\u024f" for char in text) * 3 > len(text)]


def conformance(folder: Path, least: int) -> list[Sample]:
    """The UTF-8 truth of the pages for charset detection; the package they came from names the language."""
    cases = json.loads((folder / "charset" / "transcoded_manifest.json").read_text())["cases"]
    samples = []
    with tarfile.open(folder / "charset" / "transcoded.tar.gz") as archive:
        for case in cases:
            language = primary(re.split(r"-help-|doc_|/", case["id"])[1])
            member = archive.extractfile(f"transcoded/{case['truth_utf8']}")
            assert member is not None
            text = " ".join(_in_script_of(language, paragraphs(member.read().decode())))
            if len(text) >= least:
                samples.append(Sample(language, text))
    return samples
