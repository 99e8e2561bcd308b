"""docs/conformance.md, written from the lists of differences in the tests beside it: `make docs`, or run this file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import test_conformance_html as html
import test_conformance_http as http
import test_conformance_robots as robots
import test_conformance_url as url

_INTRODUCTION = """# Conformance

The suites of others that Gossamer is held to. They are not part of this project: the tests in `tests/contract/` read
them from `../shared/conformance`, or from the folder that `GOSSAMER_CONFORMANCE` names, and say so loudly where there
is none. A case passes, or it stands below with the reason; the tests fail on a difference that is not listed, and on
one that is listed and gone. This page is generated from those lists by `make docs`.
"""


class Suite(NamedTuple):
    """A file of the suites. `size` counts its cases; `differences` are (case, reason).

    `otherwise` is how many cases they are, where that is not one each.
    """

    file: str
    tests: str
    cases: int
    size: Callable[[Any], int] = len
    differences: Sequence[tuple[str, str]] = ()
    note: str = ""
    otherwise: int | None = None


def _dicts(cases: Iterable[Any]) -> int:
    return sum(isinstance(case, dict) for case in cases)


def _in_cases(suite: Any) -> int:
    return len(suite["cases"])


def _same(cases: Iterable[str], reason: str) -> list[tuple[str, str]]:
    return [(case, reason) for case in sorted(cases)]


def _robots(suite: Sequence[str]) -> list[tuple[str, str]]:
    """Those whose test has a name of that suite: textproto files, or the tests of the C++ suite."""
    listed = [(key, reason) for key, reason in robots.DECIDED_OTHERWISE.items() if key[0].startswith(tuple(suite))]
    return [(f"{test}, {agent}, {target}", f"RFC 9309, {reason}") for (test, agent, target), reason in listed]


_TEXTPROTO = sorted({key[0] for key in robots.DECIDED_OTHERWISE if ".textproto" in key[0]})
_STATUS = "a status has three digits, from 100 (RFC 9110, 15): no page"
_LENGTH = "with an invalid length nobody knows where the body ends: a fault (RFC 9112, 6.3)"
_VALUE = "the same decimal value (RFC 9110, 8.6): the page is that long"
_MOVED = "HKSCS has moved it, and Python's codec with it: U+FFFD, or the full-width form"

FOLDERS: Mapping[str, Sequence[Suite]] = {
    "url": (
        Suite("url/wpt_http_only.json", "URLs of http and https, 199 of which must fail", 446),
        Suite("url/wpt_urltestdata.json", "URLs of every scheme", 891, _dicts),
        Suite("url/wpt_toascii.json", "international host names", 87, _dicts),
        Suite("url/rfc3986_5_4.json", "references of RFC 3986, 5.4", 42, _in_cases),
    ),
    "html": (
        Suite(
            "html/charset_detection.json",
            "which encoding a page is in",
            212,
            lambda suite: len(suite["html5lib"]) + len(suite["wpt"]),
            list(html.DETECTION.items()),
        ),
        Suite("html/wpt_encoding_labels.json", "names of encodings", 228),
        Suite(
            "html/wpt_legacy_mb/_manifest.json",
            "pages with every character of the East Asian encodings, 360,386 in all",
            29,
            len,
            [(f"bytes {key}", f"`{char}`: only an encoder makes these bytes of the other character")
             for key, char in html.ENCODER_ONLY.items()]
            + [(f"Big5 {' '.join(html.BIG5_UNKNOWN)}", _MOVED)],
            "Single characters; all others of every page are right, and ten pages have none of these.",
            19,
        ),
        Suite(
            "html/scrapy_linkextractor.json",
            "links as Scrapy finds them with its default options",
            16,
            lambda suite: sum(case["default_extractor"] for case in suite),
            [(link, ("ours only: " if ours else "Scrapy's only: ") + why) for link, (ours, why) in html.LINKS.items()],
            "Single links, one in each of two cases. The other 43 cases test options of Scrapy's extractor.",
        ),
    ),
    "charset": (
        Suite("charset/transcoded_manifest.json", "real pages in 18 encodings, declared and not", 224, _in_cases),
    ),
    "robots": (
        Suite("robots/google_robots_test_cc.json", "Google's tests", 145, len, _robots(("ID_", "GoogleOnly_")),
              otherwise=4),
        Suite("robots/google_robotstxt_spec_test.json", "Google's tests of the specification", 400, len,
              _robots(_TEXTPROTO)),
        Suite("robots/rfc9309_text.json", "examples of RFC 9309", 34),
        Suite("robots/robots_fetch_status.json", "what a status of robots.txt means", 31, len,
              [("401 and 403 deny all (reppy)", "disputed by its own source: RFC 9309, 2.3.1.3 allows all")],
              "Three of them are about following, caching and size; tests of the crawl hold those."),
        Suite("robots/google_robots_unit.json", "paths, escapes and tokens", 34,
              lambda suite: sum(len(cases) for cases in suite.values() if isinstance(cases, list))),
    ),
    "http": (
        Suite("http/wpt_h1_raw_responses.json", "raw replies, odd bytes in odd places", 113, len,
              [*http.KEPT.items(), (repr(http.NOT_ALONE.decode()), "CR LF ends a line, LF the head: no CR is alone")]),
        Suite("http/wpt_status_line.json", "status lines", 16, _in_cases, _same(http.NO_STATUS, _STATUS)),
        Suite("http/wpt_content_lengths.json", "lengths", 35, len,
              _same(http.INVALID_LENGTH, _LENGTH) + _same(http.SAME_VALUE, _VALUE)),
        Suite("http/wpt_content_types.json", "several Content-Type headers", 20),
        Suite("http/wpt_mime_types.json", "media types", 74,
              lambda suite: sum(not isinstance(case, str) for case in suite)),
    ),
}  # fmt: skip


def page() -> str:
    return "\n".join((_INTRODUCTION, *_table(), *_lists(), *_crawl_rules()))


def _table() -> Iterable[str]:
    yield "| suite | what | cases | as the suite says | otherwise |\n|---|---|---:|---:|---:|"
    for suites in FOLDERS.values():
        for suite in suites:
            otherwise = len(suite.differences) if suite.otherwise is None else suite.otherwise
            passed = suite.cases - otherwise
            yield f"| `{suite.file}` | {suite.tests} | {suite.cases} | {passed} | {otherwise or '-'} |"
    yield "\nThe 22 files of `http/scrapy_compressed` (bombs, cut and broken gzip) are read as the tests say.\n"


def _lists() -> Iterable[str]:
    for name, suites in FOLDERS.items():
        if not any(suite.differences or suite.note for suite in suites):
            continue
        yield f"## {name}\n"
        for suite in suites:
            if suite.differences or suite.note:
                yield f"`{suite.file}`" + (f": {suite.note}" if suite.note else "") + "\n"
            if suite.differences:
                yield "| case | why |\n|---|---|"
                yield from (f"| {_cell(case)} | {reason} |" for case, reason in suite.differences)
                yield ""


def _crawl_rules() -> Iterable[str]:
    yield "## What the crawl makes of URLs\n"
    yield (
        "The suites of URLs pass as they are. After that `normalize` takes off fragments, credentials and empty\n"
        "queries, decodes escapes of unreserved characters and writes the others in upper case. That changes:\n"
    )
    yield "| the standard's answer | the crawl's URL |\n|---|---|"
    yield from (f"| {_cell(old)} | {_cell(new)} |" for old, new in url.ESCAPES.items())
    yield ""


def _cell(text: str) -> str:
    plain = text.replace("\r", "\\r").replace("\n", "\\n").replace("|", "\\|")
    return f"`{plain}`"


if __name__ == "__main__":
    print(page(), end="")
