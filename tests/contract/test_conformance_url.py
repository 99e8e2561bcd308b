"""The URL suites of others. The WHATWG stage passes them all; the crawl's own rules come after it."""

from __future__ import annotations

from conformance import load

from gossamer.model.url import host_of, normalize, resolve

# What `normalize` changes in the answers of the WHATWG suite, besides taking off fragments, credentials and empty
# queries. All of it is one rule: escapes of unreserved characters are decoded, the others are in upper case; where a
# percent sign is stray none is decoded (`%2e%2`).
ESCAPES = {
    "http://example.org/a%2fc": "http://example.org/a%2Fc",
    "http://example.org/a/%2f/c": "http://example.org/a/%2F/c",
    "http://example.com/foo/%2e%2": "http://example.com/foo/%2E%2",
    "http://example.com/%2e.bar": "http://example.com/..bar",
    "http://example.com/foo%41%7a": "http://example.com/fooAz",
    "http://example.com/foo%00%51": "http://example.com/foo%00Q",
    "http://example.com/%3A%3a%3C%3c": "http://example.com/%3A%3A%3C%3C",
    "http://www/foo%2Ehtml": "http://www/foo.html",
}


def _page_of(href: str) -> str:
    """Without fragment, credentials and an empty query."""
    scheme, _, rest = href.partition("#")[0].partition("://")
    authority, _, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}/{path.removesuffix('?')}"


def test_whatwg() -> None:
    cases = load("url/wpt_http_only.json")
    assert len(cases) >= 446
    for case in cases:
        assert resolve(case["input"], case["base"]) == case["expect"], case


def test_whatwg_all_schemes() -> None:
    cases = [case for case in load("url/wpt_urltestdata.json") if isinstance(case, dict)]
    assert len(cases) >= 850
    for case in cases:
        assert resolve(case["input"], case["base"]) == case.get("href"), case


def test_what_the_crawl_makes_of_it() -> None:
    changed = set()
    for case in load("url/wpt_http_only.json"):
        expected = None if case["expect"] is None else _page_of(case["expect"])
        if expected in ESCAPES:
            changed.add(expected)
            expected = ESCAPES[expected]
        assert normalize(case["input"], case["base"]) == expected, case
    assert changed == set(ESCAPES), "these are no longer in the suite: take them out of the list"


def test_rfc3986_references() -> None:
    cases = load("url/rfc3986_5_4.json")["cases"]
    assert len(cases) >= 42
    for case in cases:
        accepted = {case["expected"], case.get("also_accept", "").partition(" ")[0]}
        assert resolve(case["input"], case["base"]) in accepted, case
        pages: list[str | None] = [_page_of(url) for url in accepted if url.startswith("http://")]
        assert normalize(case["input"], case["base"]) in (pages or [None]), case


def test_domains_to_ascii() -> None:
    cases = [case for case in load("url/wpt_toascii.json") if isinstance(case, dict)]
    assert len(cases) >= 80
    for case in cases:
        url = normalize(f"https://{case['input']}/x")
        assert (None if url is None else host_of(url)) == case["output"], case
