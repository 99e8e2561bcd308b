"""What a query means, and what is said of one that means nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.errors import QueryError
from gossamer.index.query import MAX_LENGTH, MAX_WORDS, And, Filter, Not, Or, Word, parse, spelled


@pytest.mark.parametrize(
    ("query", "understood"),
    [
        ("a,b", "a b"),
        ("a b", "a b"),
        ("  a ,, b ", "a b"),
        ("東京、大阪", "東京 大阪"),
        ("a AND b && c", "a b c"),
        ("a OR b", "(a OR b)"),
        ("a b OR c d", "a (b OR c) d"),
        ("a | b || c", "(a OR b OR c)"),
        ("(a b) OR c", "((a b) OR c)"),
        ('"a b" c', '"a b" c'),
        ("“a b”", '"a b"'),
        ("a -b", "a -b"),
        ("a NOT b", "a -b"),
        ("a -(b c)", "a -(b c)"),
        ("a - b", "a b"),
        ("--verbose", "--verbose"),
        ("well-known", "well-known"),
        ("print(x) f(a,b)", "print(x) f(a,b)"),
        ("std::vector 12:30 http://a.test/b", "std::vector 12:30 http://a.test/b"),
        ("a & b", "a b"),
        ("or and not", "or and not"),
        ("SITE:Example.ORG", "site:example.org"),
        ("site:https://example.org:8080/path?x", "site:example.org:8080"),
        ("site:*.example.org", "domain:example.org"),
        ("site:bücher.example", "site:xn--bcher-kva.example"),
        ("domain:org", "domain:org"),
        ("lang:pt_BR language:EN", "lang:pt-br lang:en"),
        ("type:pdf type:text/html type:image/*", "type:pdf type:text/html type:image"),
        ('title:"a b" title:c url:d', 'title:"a b" title:c url:d'),
        ("after:2024 before:2024-05-31", "after:2024 before:2024-05-31"),
    ],
)
def test_queries_are_understood(query: str, understood: str) -> None:
    assert spelled(parse(query)) == understood


def test_the_tree_says_what_was_meant() -> None:
    assert parse('a "b c" OR site:x.org -title:d after:1970-01-02') == And((
        Word("a"),
        Or((Word("b c", quoted=True), Filter("site", "x.org"))),
        Not(Word("d", field="title")),
        Filter("after", "1970-01-02", 86_400),
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("query", "position", "words"),
    [
        ("", 0, "no word"),
        ("&", 0, "no word"),
        ("()", 0, "no word"),
        ("-a", 0, "only words to leave out"),
        ("a (-b)", 3, "only words to leave out"),
        ("a OR -b", 2, "cannot be one side of OR"),
        ("a OR", 2, "needs a word on each side"),
        ("OR a", 0, "needs a word on each side"),
        ("a OR OR b", 5, "needs a word on each side"),
        ("a NOT", 2, "NOT needs a word"),
        ('a "b', 2, "never closed"),
        ("a (b", 2, "never closed"),
        ("a) b", 1, "closes none"),
        ("a site:", 2, "site: needs a host"),
        ("a site: x", 2, "no space behind the colon"),
        ("site:$.org", 0, "site: needs a host"),
        ("lang:e", 0, "lang: needs a language"),
        ("type:,", 0, "type: needs a type"),
        ("type:$", 0, "type: needs a type"),
        ("title:&", 0, "title: needs a word"),
        ("x after:2024-13", 2, "2024-13 is none"),
        ("before:tomorrow", 0, "before: needs a date"),
        ("after:0000", 0, "after: needs a date"),
        ("(((((((((a", 8, "more than 8 deep"),
        ("w " * (MAX_WORDS + 1), 2 * MAX_WORDS, "more than 32 words"),
        ("漢" * 400, 0, "more than 32 words"),
        ("x" * (MAX_LENGTH + 1), MAX_LENGTH, "longer than"),
    ],
)
def test_what_is_not_understood_is_said_with_its_place(query: str, position: int, words: str) -> None:
    with pytest.raises(QueryError, match=r"\.$") as caught:
        parse(query)
    assert words in str(caught.value)
    assert caught.value.position == position
    assert caught.value.why == str(caught.value)


PIECES = st.sampled_from(
    ["a", "word", '"', "(", ")", "-", " ", ",", "OR", " OR ", "AND", "NOT ", "site:", "x.org", "after:", "2024",
     "title:", "京", "|", "&", "b(c", "\ud800", "\x00", ":", "“", "，", "lang:en", "url:"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=20).map("".join)))
@example("-(-a) b")
@example("a -- b --")
def test_no_query_raises_anything_else(query: str) -> None:
    tree: And | None
    try:
        tree = parse(query)
    except QueryError as error:
        tree, said = None, error
    if tree is None:
        assert 0 <= said.position <= len(query)
        assert said.why.endswith(".")
    else:
        assert parse(spelled(tree)) == tree
        assert any(not isinstance(part, Not) for part in tree.parts)
