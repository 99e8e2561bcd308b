"""How numbers, times, URLs and snippets are printed on pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.agent.audit import Change
from gossamer.service.pages import words
from gossamer.service.pages.changes import said_of


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "just now"),
        (0.9, "just now"),
        (12, "12 s ago"),
        (119, "1 min ago"),
        (3 * 3600 + 59 * 60, "3 h ago"),
        (86400 * 40, "40 d ago"),
        (86400 * 365.25 * 2, "2 y ago"),
    ],
)
def test_ago(seconds: float, said: str) -> None:
    assert words.ago(1_700_000_000, 1_700_000_000 + seconds) == said


def test_times() -> None:
    assert words.moment(1_700_000_000) == "2023-11-14 22:13:20 UTC"
    assert words.iso(1_700_000_000) == "2023-11-14T22:13:20Z"
    assert words.moment(1e30) == "unknown"


@pytest.mark.parametrize(("seconds", "said"), [(0.0, "1 ms"), (0.0084, "8 ms"), (0.9999, "1.0 s"), (2.34, "2.3 s")])
def test_took(seconds: float, said: str) -> None:
    assert words.took(seconds) == said


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://a.test/", []),
        ("http://a.test/docs/intro.html", ["docs", "intro.html"]),
        ("http://a.test/%E6%B8%AF?q=%C3%A9", ["港", "?q=é"]),
        ("http://a.test/a/b/c/d/e/f/g", ["a", "b", "…", "e", "f", "g"]),
        ("http://a.test/%FF", ["%FF"]),
        ("http://a.test/x%E2%80%AEfdp.exe", ["x%E2%80%AEfdp.exe"]),  # would be written from right to left
        ("http://a.test/a%0Ab", ["a%0Ab"]),
        ("http://a.test/" + "x" * 99, ["x" * 60 + "…"]),
    ],
)
def test_paths_are_readable_and_do_not_deceive(url: str, parts: list[str]) -> None:
    assert words.path_parts(url) == parts


def test_a_long_url_keeps_its_host_and_its_end() -> None:
    assert words.shortened("http://a.test/" + "x" * 146) == "http://a.test/" + "x" * 146
    found = words.shortened("http://a.test/" + "x" * 2000 + "/end.html")
    assert len(found) == 160
    assert found.startswith("http://a.test/xxx")
    assert found.endswith("xxx/end.html")
    assert found.count("…") == 1


def test_a_page_without_title_has_a_name() -> None:
    assert words.path_shown("http://a.test/") == "a.test"
    assert words.path_shown("http://a.test/x/report.pdf") == "report.pdf"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//a.test/", "JaVaScRiPt:x", ""])
def test_only_the_web_is_linked_to(url: str) -> None:
    assert not words.is_web(url)
    assert words.is_web("http://a.test/")


def test_snippets_keep_their_marks_and_nothing_else() -> None:
    assert str(words.marked("a &lt;b&gt; <mark>c</mark>")) == "a &lt;b&gt; <mark>c</mark>"
    for bad in ("<script>x</script>", "<mark onclick=x>", "<mark>open", "a > b", "<img src=x>", "<MARK>x</MARK>"):
        assert "<" not in str(words.marked(bad))


@given(st.text(alphabet="<>/markscript=\"' x&", max_size=40))
def test_no_text_becomes_another_tag(text: str) -> None:
    left = str(words.marked(text)).replace("<mark>", "").replace("</mark>", "")
    assert "<" not in left
    assert ">" not in left


def test_parts_of_a_score() -> None:
    assert words.parts([("title", 0.512), ("times, for links", 1.35)]) == [("title", "0.51"), ("for links", "× 1.35")]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("t", "w", "limits", {"fetch.rate": "0"}, {"fetch.rate": "20"}), "fetch.rate 0 → 20"),
        (Change("t", "w", "block", {"policy.blocklist": "none"}, {"policy.blocklist": "a, b"}), "+ a, + b"),
        (Change("t", "w", "unblock", {"policy.blocklist": "a, b"}, {"policy.blocklist": "b"}), "− a"),
        (Change("t", "w", "retry", None, {"host": "", "urls": 1200, "hosts": 0}), "urls 1,200; hosts 0"),
        (Change("t", "w", "seeds", None, {"new": 1, "refused": [{"seed": "x"}]}), "new 1; refused 1"),
        (Change("t", "w", "priority", {"a.test": None}, {"a.test": 0}), "a.test usual → 0"),
        (Change("t", "w", "odd", [1], "x" * 1000), "x" * 400 + "…"),
        (Change("t", "w", "stop"), ""),
    ],
)
def test_changes_in_few_words(change: Change, text: str) -> None:
    found = said_of(change)
    assert found.text.removeprefix("policy.blocklist ") == text


def test_many_patterns_are_counted() -> None:
    listed = ", ".join(f"h{number}.test" for number in range(20))
    before, after = {"policy.blocklist": "none"}, {"policy.blocklist": listed}
    found = said_of(Change("2026-11-16T11:00:00.123Z", "w", "block", before, after))
    assert found.at == "2026-11-16 11:00:00 UTC"
    assert found.text.endswith("+ h4.test and 15 more")
