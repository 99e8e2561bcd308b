"""Japanese rows of words that a page has apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.index import Entry, IndexWriter, Search
from gossamer.index.loose import loosened
from gossamer.index.query import And, Node, Not, Or, Word, parse


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("パッケージのアップロード", ["パッケージ", "アップロード"]),
        ("バグ報告の扱い", ["バグ", "報告", "扱い"]),
        ("文字コード", ["文字", "コード"]),
        ("IPアドレス", ["IP", "アドレス"]),
    ],
)
def test_a_row_may_be_matched_by_its_words(text: str, parts: list[str]) -> None:
    assert loosened(parse(text)) == And((Or((Word(text), And(tuple(map(Word, parts))))),))


@pytest.mark.parametrize(
    "text", ["検索", "ネットワーク", "日本語入力", "ください", "asyncio.gather", "北京大学", "title:文字コード"]
)
def test_others_are_matched_as_they_stand(text: str) -> None:
    assert loosened(parse(text)) == parse(text)


def test_quoted_and_unwanted_rows_are_meant_as_they_stand() -> None:
    quoted: Node = Word("文字コード", quoted=True)
    assert loosened(And((quoted, Not(Word("文字コード"))))) == And((quoted, Not(Word("文字コード"))))


def test_the_page_is_found_and_the_row_itself_comes_first(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path, 15_000_000)
    for url, text in {"apart": "文字を扱うコード", "row": "文字コードの表", "half": "文字だけ"}.items():
        writer.upsert([Entry(f"http://a.test/{url}", 1.0, body=text, language="ja")])
    writer.commit(b"")
    writer.close()
    search = Search([tmp_path])
    answer = search.answer("文字コード")
    assert [hit.url for hit in answer.results] == ["http://a.test/row", "http://a.test/apart"]
    assert answer.query == "文字コード"
    assert "<mark>コード</mark>" in answer.results[1].snippet
    assert search.answer('"文字コード"').total == 1
    search.close()
