"""The arranged rules against the plainest reading of RFC 9309, and that no bytes raise."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.model.url import normalize, split
from gossamer.rules.path_rules import PathRules, canonical, canonical_pattern
from gossamer.rules.robots import Robots, robots_allows

_PATTERNS = st.text(st.sampled_from("/ab*$"), max_size=7).map(lambda text: "/" + text)
_PATHS = st.text(st.sampled_from("/ab?"), max_size=9).map(lambda text: "/" + text)


def _matches(pattern: str, path: str) -> bool:
    """By trying everything."""
    if pattern in ("", "*"):
        return True
    if pattern == "$":
        return not path
    if pattern[0] == "*":
        return any(_matches(pattern[1:], path[start:]) for start in range(len(path) + 1))
    return path[:1] == pattern[0] and _matches(pattern[1:], path[1:])


def _plainly(rules: list[tuple[bool, str]], path: str) -> bool:
    """Section 2.2.2: the most octets, and Allow of equals. A `$` that is not last is an ordinary character."""
    found = []
    for allow, pattern in rules:
        octets = canonical_pattern(pattern.encode())
        if _matches(pattern[:-1].replace("$", "\0") + pattern[-1:], path):
            found.append((len(octets), allow))
    return max(found)[1] if found else True


@settings(max_examples=500)
@given(st.lists(st.tuples(st.booleans(), _PATTERNS), max_size=8), st.lists(_PATHS, min_size=1, max_size=8))
def test_rules_mean_what_the_rfc_says(rules: list[tuple[bool, str]], paths: list[str]) -> None:
    body = "User-agent: *\n" + "".join(f"{'Allow' if allow else 'Disallow'}: {path}\n" for allow, path in rules)
    robots = Robots.parse(body.encode(), "gossamer")
    stored = Robots.from_bytes(robots.to_bytes())
    for path in paths:
        assert robots.allows(path) == _plainly(rules, path)
        assert stored.allows(path) == robots.allows(path)


@settings(max_examples=300)
@given(st.sets(st.text(st.sampled_from("ab"), max_size=6)), st.text(st.sampled_from("ab"), max_size=8))
def test_the_longest_prefix_is_found(prefixes: set[str], path: str) -> None:
    rules = PathRules({"/" + prefix: len(prefix) % 2 == 0 for prefix in prefixes})
    longest = max((len(prefix) for prefix in prefixes if path.startswith(prefix)), default=0)
    assert rules.allows("/" + path) == (longest % 2 == 0)


@given(st.binary(max_size=60))
def test_one_spelling(text: bytes) -> None:
    once = canonical(text)
    assert canonical(once.encode()) == once
    pattern = canonical_pattern(text)
    assert canonical_pattern(pattern.encode()) == pattern


@settings(max_examples=300)
@given(st.text(st.sampled_from("/aé~%7eE2F:?&=*$ |<"), max_size=20))
def test_a_rule_for_a_url_matches_it_however_it_is_spelled(text: str) -> None:
    url = normalize("http://example.org/" + text)
    assert url is not None
    path = split(url)[1]
    if path == "/robots.txt" or "*" in path or "$" in path:
        return
    assert not robots_allows(f"User-agent: *\nDisallow: {path}\n".encode(), "gossamer", "http://example.org/" + text)


_LINES = st.lists(
    st.tuples(
        st.sampled_from(["user-agent", "Allow", "disallow", "sitemap", "Crawl-delay", "", "x"]),
        st.sampled_from([":", " ", " : ", ""]),
        st.sampled_from(["*", "gossamer", "/", "/a*b$", "%", "%zz", "é", "1.5", "\x00", "#", ""]) | st.text(max_size=5),
        st.sampled_from(["\n", "\r", "\r\n", " "]),
    ).map("".join)
).map(lambda lines: "".join(lines).encode("utf-8", "replace"))


@settings(max_examples=300)
@given(_LINES | st.binary(), st.text(st.characters()), st.text(st.characters()))
def test_nothing_raises(body: bytes, agent: str, url: str) -> None:
    robots_allows(body, agent, url)
    robots = Robots.parse(body, agent)
    stored = Robots.from_bytes(robots.to_bytes())
    for path in ("/", "/a/b", url, "/" + url):
        assert stored.allows(path) == robots.allows(path)
    assert stored.crawl_delay == robots.crawl_delay
    assert robots.allows("/robots.txt")
