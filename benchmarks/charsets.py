"""How many pages are decoded right, beside other detectors, and what it takes.

The pages are those of the conformance suites (`GOSSAMER_CONFORMANCE`, or ../shared/conformance beside the project):
real pages in 18 encodings, each with a declaration and without, and every character of the East Asian encodings. The
others only detect, so they are given the pages without a declaration, and they or Python's codecs decode it. A page
is right when its title and text are, to the last character; the share is that of characters beyond ASCII.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tarfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from machine import description
from tables import figure, table

from gossamer.parse import decode, parse
from gossamer.parse.labels import encoding_of

Decoder = Callable[[bytes], str]
_PACKAGES = ("chardetng_py", "charset-normalizer", "chardet", "resiliparse")
_NEEDS = {"charset-normalizer": "charset_normalizer", "chardet": "chardet", "resiliparse": "resiliparse"}
_META = re.compile(r"<meta[^>]*charset[^>]*>\n?", re.I)
_SPAN = re.compile(r'<span data-cp="([0-9A-F]+)" data-bytes="[^"]*">(.*?)</span>', re.S)
_SENTENCES = {
    "windows-1251": "Съешь же ещё этих мягких французских булок, да выпей чаю. ",
    "shift_jis": "日本語のページです。カタカナとひらがな、漢字がまざっています。",
}
_PAGE = 13_800


class Sample(NamedTuple):
    """A page and its text. `content_type` is what HTTP says of it."""

    encoding: str
    how: str
    body: bytes
    content_type: str
    text: str


class Score(NamedTuple):
    pages: int = 0
    right: int = 0
    characters: int = 0
    found: int = 0

    def plus(self, text: str, truth: str) -> Score:
        wanted = _beyond_ascii(truth)
        return Score(
            self.pages + 1,
            self.right + (text == truth),
            self.characters + wanted.total(),
            self.found + (wanted & _beyond_ascii(text)).total(),
        )

    def __str__(self) -> str:
        share = 100 * self.found / self.characters if self.characters else 100.0
        return f"{self.right}/{self.pages} {share:5.1f}%"


def _beyond_ascii(text: str) -> Counter[str]:
    return Counter(char for char in text if char > "\x7f")


# -- the pages ---------------------------------------------------------------------------------------------------------


def folder() -> Path:
    named = os.environ.get("GOSSAMER_CONFORMANCE")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "conformance"


def real_pages(suites: Path) -> Iterator[Sample]:
    manifest = json.loads((suites / "charset" / "transcoded_manifest.json").read_bytes())
    with tarfile.open(suites / "charset" / "transcoded.tar.gz") as archive:
        files = {member.name.partition("/")[2]: _content(archive, member) for member in archive if member.isfile()}
    for case in manifest["cases"]:
        name, bare = case["encoding"], files[case["nometa"]]
        truth = _text_of(files[case["truth_utf8"]].decode())
        yield Sample(name, "meta", files[case["meta"]], "text/html", truth)
        yield Sample(name, "HTTP", bare, f"text/html; charset={name}", truth)
        yield Sample(name, "nothing", bare, "text/html", truth)


def every_character(suites: Path) -> Iterator[Sample]:
    pages = suites / "html" / "wpt_legacy_mb"
    for page in json.loads((pages / "_manifest.json").read_bytes()):
        body, name = (pages / page["file"]).read_bytes(), encoding_of(page["meta_charset"]) or ""
        bare = re.sub(_META.pattern.encode(), b"", body, flags=re.I)
        for how, data, kind in (
            ("meta", body, "text/html"),
            ("HTTP", bare, f"text/html; charset={name}"),
            ("nothing", bare, "text/html"),
        ):
            yield Sample(name, how, data, kind, "")


def _text_of(source: str) -> str:
    """Title and text: the suite has some characters as references in one version of a page and plain in another."""
    document = parse(source.encode("utf-8", "replace"), "http://h.example/", "text/html; charset=utf-8")
    return f"{document.title}\n{document.text}"


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None
    return file.read()


# -- the detectors -----------------------------------------------------------------------------------------------------


def _normalizer(body: bytes) -> str:
    found = import_module("charset_normalizer").from_bytes(body).best()
    return "" if found is None else str(found)


def _chardet(body: bytes) -> str:
    return _decoded(body, import_module("chardet").detect(body)["encoding"])


def _resiliparse(body: bytes) -> str:
    encoding = import_module("resiliparse.parse.encoding")
    return str(encoding.bytes_to_str(body, encoding.detect_encoding(body)))


def _decoded(body: bytes, name: str | None) -> str:
    try:
        return body.decode(name or "cp1252", "replace")
    except LookupError:
        return body.decode("cp1252", "replace")


PEERS: dict[str, Decoder] = {"charset-normalizer": _normalizer, "chardet": _chardet, "resiliparse": _resiliparse}


def installed() -> dict[str, Decoder]:
    missing = [name for name in PEERS if find_spec(_NEEDS[name]) is None]
    if missing:
        print(f"left out, as they are not installed: pip install {' '.join(missing)}")
    return {name: decoder for name, decoder in PEERS.items() if name not in missing}


# -- measuring ---------------------------------------------------------------------------------------------------------


def scores(samples: Sequence[Sample], peers: dict[str, Decoder]) -> dict[tuple[str, str], Score]:
    """By encoding and column: gossamer for each kind of declaration, the peers for pages with none."""
    found: dict[tuple[str, str], Score] = defaultdict(Score)
    for sample in samples:
        readers: dict[str, Callable[[], str]] = {
            sample.how: lambda sample=sample: decode(sample.body, sample.content_type)[0]  # type: ignore[misc]
        }
        if sample.how == "nothing":
            for name, decoder in peers.items():
                readers[name] = lambda decoder=decoder, body=sample.body: decoder(body)  # type: ignore[misc]
        for column, reader in readers.items():
            text = _text_of(reader())
            for row in (sample.encoding, "all"):
                found[row, column] = found[row, column].plus(text, sample.text)
    return found


def spans(samples: Sequence[Sample], peers: dict[str, Decoder]) -> dict[tuple[str, str], Score]:
    """The same for pages that hold every character of an encoding once, with its code point beside it."""
    found: dict[tuple[str, str], Score] = defaultdict(Score)
    for sample in samples:
        texts = {sample.how: decode(sample.body, sample.content_type)[0]}
        if sample.how == "nothing":
            texts |= {name: decoder(sample.body) for name, decoder in peers.items()}
        for column, text in texts.items():
            pairs = _SPAN.findall(text)
            right = sum(char == chr(int(code, 16)) for code, char in pairs)
            count = sample.body.count(b"data-cp=") or max(len(pairs), 1)
            for row in (sample.encoding, "all"):
                old = found[row, column]
                whole = old.right + (right == count)
                found[row, column] = Score(old.pages + 1, whole, old.characters + count, old.found + right)
    return found


def rows_of(found: dict[tuple[str, str], Score], columns: Sequence[str]) -> list[list[str]]:
    names = sorted({row for row, _ in found} - {"all"})
    return [[name, *(str(found[name, column]) for column in columns)] for name in (*names, "all")]


def page_of(name: str, declared: bool) -> bytes:
    sentence = _SENTENCES[name if name in _SENTENCES else "windows-1251"]
    paragraph = f'<p class="text">{sentence * 4}<a href="/page/1">{sentence[:20]}</a></p>\n'.encode(name)
    head = f"<html><head>{f'<meta charset={name}>' if declared else ''}</head><body>".encode()
    return head + paragraph * (_PAGE // len(paragraph)) + b"</body></html>"


def microseconds(work: Callable[[], Any], least: float = 0.2) -> float:
    """The best of many calls: what it takes when nothing else does."""
    best, begun = float("inf"), time.perf_counter()
    while time.perf_counter() - begun < least:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def time_rows(peers: dict[str, Decoder]) -> Iterator[list[str]]:
    for name in ("utf-8", "windows-1251", "shift_jis"):
        for declared in (True, False):
            body = page_of(name, declared)
            ours = microseconds(lambda body=body: decode(body, "text/html"))  # type: ignore[misc]
            theirs = [microseconds(lambda d=d, body=body: d(body)) for d in peers.values()]  # type: ignore[misc]
            cells = [ours, *([None] * len(peers) if declared else theirs)]
            yield [f"{name}, {'declared' if declared else 'undeclared'}", *map(figure, cells)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    suites = folder()
    if not suites.is_dir():
        sys.exit(f"no conformance suites in {suites}: set GOSSAMER_CONFORMANCE to the folder that holds them")
    print(description(_PACKAGES), flush=True)
    peers = installed()
    columns = ["meta", "HTTP", "nothing", *peers]
    headings = ["encoding", "declared in meta", "declared by HTTP", "undeclared", *peers]
    print("\nReal pages: exactly right of all, and the share of characters beyond ASCII")
    print(table(headings, rows_of(scores(list(real_pages(suites)), peers), columns)), flush=True)
    print("\nEvery character of the East Asian encodings, in the same terms")
    print(table(headings, rows_of(spans(list(every_character(suites)), peers), columns)), flush=True)
    print(f"\nMicroseconds for a page of {_PAGE / 1000:.1f} KB, decoded")
    print(table(["page", "gossamer", *peers], list(time_rows(peers))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
