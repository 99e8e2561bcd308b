"""The benchmark of the index: its documents are always the same, its queries are understood, its table is right."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from search_documents import KINDS, entries, queries
from search_load import ask_fts5, ask_gossamer, build_fts5, build_gossamer, fts5_query
from search_relevance import QUERIES
from search_scale import rows_of

from gossamer.index.query import parse


def test_documents_are_the_same_each_time_and_in_several_languages() -> None:
    made = list(entries(60))
    assert made == list(entries(60))
    assert made[50:] == list(islice(entries(60), 50, None))
    assert len({entry.language for entry in made}) > 4
    assert 2000 < sum(len(entry.body) for entry in made) / 60 < 8000


def test_every_query_is_understood() -> None:
    made = queries(200)
    assert made == queries(200)
    assert {query.kind for query in made} == set(KINDS)
    for text in [*(query.text for query in made), *QUERIES]:
        parse(text)


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("a b", '{title body anchors} : ("a" "b")'),
        ("a OR b", '{title body anchors} : ("a" OR "b")'),
        ('"a b"', '{title body anchors} : ("a b")'),
        ("a site:www.h.org", '{title body anchors} : ("a") AND host : "wwwhorg"'),
    ],
)
def test_queries_of_fts5_mean_the_same(query: str, match: str) -> None:
    assert fts5_query(query) == match


def test_both_engines_are_built_and_asked(tmp_path: Path) -> None:
    for build, ask in ((build_gossamer, ask_gossamer), (build_fts5, ask_fts5)):
        assert build(tmp_path, 60)["index_us"] > 0
        figures = ask(tmp_path, 60)
        assert figures["found"] > 0
        assert figures["all_p50_ms"] <= figures["all_p95_ms"]


def test_what_misses_its_target_is_marked() -> None:
    rows = {row[0]: row[1:] for row in rows_of({"gossamer": {"all_p95_ms": 51.0}, "fts5": {"all_p95_ms": 60.0}})}
    assert rows["query, 95 of 100, ms"] == ["<= 50", "51.0 !", "60.0"]
    assert rows["longest commit, s"] == ["", "-", "-"]
