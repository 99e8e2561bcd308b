"""Main text without boilerplate, by several extractors: how much of it they find, how much else, and what it costs.

The pages are documentation whose makers mark the article: a selector says which part of a page it is, and which parts
inside are navigation again. Extracted words are compared with the words of the article, as bags: precision is the share
of what was extracted that belongs to the article, recall the share of the article that was extracted. Languages written
without spaces are compared letter by letter. A peer that is not installed is left out.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from machine import description
from resiliparse.parse.html import HTMLTree
from tables import figure, table

_WORD = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_NO_TEXT = "script, style, noscript, template"

Extractor = Callable[[str], str]


class Site(NamedTuple):
    """Pages of one maker: where they lie, which element is the article, and what in it is not."""

    name: str
    pages: str
    article: str
    without: str = ""


SITES = (
    Site("python3-doc", "share/doc/python3.11-doc/html/library/*.html", "div.body", "a.headerlink"),
    Site("postgresql-doc", "share/doc/postgresql-doc-15/html/*.html", "body", ".navheader, .navfooter"),
    Site("debian-handbook en", "share/doc/debian-handbook/html/en-US/*.html", "body", "#banner, #title, .docnav"),
    Site("debian-handbook ja", "share/doc/debian-handbook/html/ja-JP/*.html", "body", "#banner, #title, .docnav"),
    Site("debian-handbook ar", "share/doc/debian-handbook/html/ar-MA/*.html", "body", "#banner, #title, .docnav"),
    Site("installation-guide zh", "share/doc/installation-guide-amd64/zh_CN/*.html", "body", ".navheader, .navfooter"),
    Site("gtk4", "share/doc/libgtk-4-doc/gtk4/*.html", "#main", "a.anchor"),
    Site("apache2 tr", "share/doc/apache2-doc/manual/tr/mod/*.html", "#page-content", "#quickview, .top"),
    Site("apache2 ko", "share/doc/apache2-doc/manual/ko/mod/*.html", "#page-content", "#quickview, .top"),
    Site("requests", "share/doc/python-requests-doc/html/**/*.html", "div.body", "a.headerlink"),
    Site("django", "share/doc/python-django-doc/html/topics/**/*.html", "#yui-main", "a.headerlink"),
    Site("debian-reference", "share/debian-reference/*.html", "body", ".navheader, .navfooter"),
    Site("gimp-help uk", "share/gimp/2.0/help/uk/*.html", "body", ".navheader, .navfooter"),
    Site("libreoffice hi", "share/libreoffice/help/hi/text/swriter/guide/*.html", "#DisplayArea"),
)
PACKAGES = (
    "python3-doc postgresql-doc-15 debian-handbook installation-guide-amd64 libgtk-4-doc apache2-doc "
    "python-requests-doc python-django-doc"
    " debian-reference-pt-br gimp-help-uk libreoffice-help-hi"
)


def _full_text() -> Extractor:
    from gossamer.parse import parse

    return lambda page: parse(page.encode(), "http://h.example/", "text/html; charset=utf-8").text


def _gossamer() -> Extractor:
    """Without links and language, which the others do not find either."""
    from gossamer.parse.text import main_text

    def extract(page: str) -> str:
        tree: Any = HTMLTree.parse(page)
        return main_text(tree, " ".join((tree.body.text or "").split()))

    return extract


def _resiliparse() -> Extractor:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda page: str(
        extract_plain_text(page, main_content=True, preserve_formatting=False, list_bullets=False, links=False)
    )


def _trafilatura() -> Extractor:
    import trafilatura

    return lambda page: trafilatura.extract(page, include_comments=False) or ""


def _readability() -> Extractor:
    import logging

    from readability import Document

    logging.disable(logging.INFO)

    def extract(page: str) -> str:
        summary = Document(re.sub(r"^\s*<\?xml[^>]*\?>", "", page)).summary()
        return HTMLTree.parse(summary).body.text or ""

    return extract


def _justext() -> Extractor:
    import justext

    words: frozenset[str] = frozenset()
    for language in ("English", "Arabic", "Korean", "Turkish", "Hindi"):
        words |= justext.get_stoplist(language)

    def extract(page: str) -> str:
        found = justext.justext(page.encode(), words, encoding="utf-8")
        return " ".join(paragraph.text for paragraph in found if not paragraph.is_boilerplate)

    return extract


EXTRACTORS: dict[str, Callable[[], Extractor]] = {
    "all of the text": _full_text,
    "gossamer": _gossamer,
    "resiliparse": _resiliparse,
    "trafilatura": _trafilatura,
    "readability-lxml": _readability,
    "jusText": _justext,
}


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def article(page: str, site: Site) -> Counter[str]:
    tree: Any = HTMLTree.parse(page)
    found = tree.document.query_selector(site.article)
    if found is None:
        return Counter()
    for node in found.query_selector_all(", ".join(filter(None, (_NO_TEXT, site.without)))):
        node.decompose()
    return words(found.text)


def judge(extracted: Counter[str], truth: Counter[str]) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean."""
    common = (extracted & truth).total()
    precision = common / max(1, extracted.total())
    recall = common / max(1, truth.total())
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, action="append", help="where packages are installed (/usr)")
    parser.add_argument("--pages", type=int, default=40, help="of each site, spread evenly")
    parser.add_argument("--only", nargs="*", default=list(EXTRACTORS))
    options = parser.parse_args()
    pages: dict[str, list[tuple[str, Counter[str]]]] = {}
    for site in SITES:
        paths = [path for root in options.root or [Path("/usr")] for path in sorted(root.glob(site.pages))]
        found = []
        for path in paths[:: max(1, len(paths) // options.pages)]:
            page = path.read_bytes().decode("utf-8", "replace")
            truth = article(page, site)
            if truth.total() >= 50:
                found.append((page, truth))
        if found:
            pages[site.name] = found[: options.pages]
    if not pages:
        sys.exit(f"Nothing to read: install {PACKAGES}, or give their --root.")
    print(description(["resiliparse", "trafilatura", "readability-lxml", "jusText"]))
    print(", ".join(f"{name}: {len(found)} pages" for name, found in pages.items()))
    rows = []
    for name in options.only:
        try:
            extract = EXTRACTORS[name]()
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        row, marks, spent, failed = [name], [], 0.0, 0
        for found in pages.values():
            own = []
            for page, truth in found:
                started = time.process_time()
                try:
                    text = extract(page)
                except Exception:
                    text, failed = "", failed + 1
                spent += time.process_time() - started
                own.append(judge(words(text), truth))
            marks += own
            row.append(f"{sum(mark[2] for mark in own) / len(own):.2f}")
        means = [sum(mark[number] for mark in marks) / len(marks) for number in range(3)]
        twentieth = sorted(mark[2] for mark in marks)[len(marks) // 20]
        row += [*(f"{mean:.3f}" for mean in means), f"{twentieth:.2f}", figure(spent / len(marks) * 1e3), str(failed)]
        rows.append(row)
    print(table(["F1 by", *pages, "precision", "recall", "F1", "5th percentile", "ms a page", "failed"], rows))


if __name__ == "__main__":
    main()
