"""The encoding and link suites of others. Every difference is listed here with its reason, and none that is gone."""

from __future__ import annotations

import base64
import re
import tarfile
from typing import Any

import pytest
from conformance import folder, load

from gossamer.model.url import normalize
from gossamer.parse import LinkScanner, decode, parse
from gossamer.parse.charset import decide
from gossamer.parse.labels import encoding_of

# Cases of charset_detection.json in which the answer is another, and why.
DETECTION = {
    "html5lib-tests:encoding/scripted/tests1.dat": "the declaration is written by a script, and scripts are not run",
    "wpt:html/syntax/xmldecl/support/trickle.py": "a server's program, not a page",
    "wpt:html/syntax/charset/in-script.html": "the standard's prescan knows no scripts; html5lib-tests demand this",
    "wpt:html/syntax/charset/in-style.html": "the standard's prescan knows no styles; html5lib-tests demand this",
    "wpt:html/syntax/charset/in-title.html": "the standard's prescan knows no titles",
    "wpt:encoding/sniffing.html": "undeclared UTF-8 is read as UTF-8: a crawler has no page author to educate",
}

# What these pages call the truth is what an encoder makes these bytes of; a decoder reads them otherwise (by the same
# standard), or not at all.
ENCODER_ONLY = {"5C": "\\", "7E": "~", "81 7C": "－", "A1 DD": "－", "1B 24 42 21 5D 1B 28 42": "－"}
# Characters that HKSCS has moved elsewhere and the Encoding Standard keeps; Python's codec does not. A241 and A242 are
# read as the full-width forms of the same signs.
BIG5_UNKNOWN = """
    8E69 8E6F 8E7E 8EAB 8EB4 8ECD 8ED0 8F57 8F69 8F6E 8FCB 8FCC 8FFE 906D 907A 90DC 90F1 91BF 92AF 92B0 92B1 92B2 92C8
    92D1 9447 94CA 95D9 9644 96ED 96FC 9B76 9B78 9B7B 9BC6 9BDE 9BEC 9BF6 9C42 9C53 9C62 9C68 9C6B 9C77 9CBC 9CBD 9CD0
    9D57 9D5A 9DC4 9EA9 9EEF 9EFD 9F60 9FCB A077 A0DF A241 A242 C6CF C6D3 C6D5 C6D7 C6DF FB48 FBF9 FC6C FE52
""".split()
_SPAN = re.compile(r'<span data-cp="([0-9A-F]+)" data-bytes="([^"]*)">(.*?)</span>', re.S)


def test_labels() -> None:
    labels: dict[str, str] = load("html/wpt_encoding_labels.json")
    assert len(labels) >= 228
    assert {label: encoding_of(label) for label in labels} == {label: name.lower() for label, name in labels.items()}


@pytest.mark.parametrize("suite", ["html5lib", "wpt"])
def test_which_encoding(suite: str) -> None:
    cases = load("html/charset_detection.json")[suite]
    assert len(cases) >= 83
    differences = set()
    for case in cases:
        body = base64.b64decode(case["data_b64"])
        found, _ = decide(body, case.get("content_type"))
        expected = case["encoding"].lower()
        right = found != expected.split()[1] if expected.startswith("not ") else found == expected.split()[0]
        if not right:
            differences.add(case["source"])
        # What the parser reports is the same: no case here is a wrong declaration that it may see through.
        assert (decode(body, case.get("content_type"))[1] == found) or case["source"] in DETECTION, case["source"]
    assert differences == {source for source in DETECTION if source.startswith(suite)}


def test_every_character_of_the_east_asian_encodings() -> None:
    characters = 0
    unknown = set()
    for page in load("html/wpt_legacy_mb/_manifest.json"):
        body = (folder() / "html" / "wpt_legacy_mb" / page["file"]).read_bytes()
        for content_type in (page["content_type"], "text/html"):
            text, name = decode(body, content_type)
            assert name == encoding_of(page["meta_charset"])
            spans = _SPAN.findall(text)
            assert len(spans) == page["spans"]
            for code, written, char in spans:
                characters += 1
                if char == chr(int(code, 16)) or ENCODER_ONLY.get(written) == char:
                    continue
                assert name == "big5", (page["file"], written, char)
                unknown.add(written.replace(" ", ""))
    assert characters >= 2 * 360_386
    assert unknown == set(BIG5_UNKNOWN)


def test_real_pages_in_eighteen_encodings() -> None:
    manifest = load("charset/transcoded_manifest.json")
    with tarfile.open(folder() / "charset" / "transcoded.tar.gz") as archive:
        files = {member.name: _content(archive, member) for member in archive if member.isfile()}
    root = next(iter(files)).partition("/")[0]
    assert len(manifest["cases"]) >= 224
    for case in manifest["cases"]:
        truth = _text(files[f"{root}/{case['truth_utf8']}"], "text/html; charset=utf-8")
        declared, bare = files[f"{root}/{case['meta']}"], files[f"{root}/{case['nometa']}"]
        assert _text(declared, "text/html") == truth, case["id"]
        assert _text(bare, f"text/html; charset={case['encoding']}") == truth, case["id"]
        assert _text(bare, "text/html") == truth, ("detected", case["id"])


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None
    return file.read()


def _text(body: bytes, content_type: str) -> tuple[str, str, list[str]]:
    document = parse(body, "http://h.example/a/b", content_type)
    assert document.text
    return document.title, document.text, [link.url for link in document.links]


# Links that Scrapy's extractor gives by default and we do not (False), or the reverse (True), and why.
LINKS = {
    "ftp://www.external.com/": (False, "only http and https are crawled"),
    "http://example.org/photo.jpg": (True, "whether a name is wanted is for the scope to say, not for the parser"),
}


def test_links_as_scrapy_finds_them() -> None:
    cases: list[dict[str, Any]] = [case for case in load("html/scrapy_linkextractor.json") if case["default_extractor"]]
    assert len(cases) >= 16
    differences = {}
    for case in cases:
        body, url = base64.b64decode(case["html_b64"]), normalize(case["base"])
        assert url is not None
        content_type = f"text/html; charset={case['encoding']}"
        links = [link for link in parse(body, url, content_type).links if link.kind in ("a", "area")]
        found = {link.url: link.nofollow for link in reversed(links)}
        expected = {normalize(link["url"]) or link["url"]: link["nofollow"] for link in reversed(case["links"])}
        for target in found.keys() ^ expected.keys():
            differences[target] = target in found
        for target in found.keys() & expected.keys():
            assert found[target] == expected[target], (case["source"], target)
        scanned = LinkScanner(obey_nofollow=False).scan(body, url, content_type)
        assert set(scanned.urls) == found.keys() - {url}, case["source"]
    assert differences == {target: ours for target, (ours, _) in LINKS.items()}
