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
    "text",
    ["検索", "検索語", "ネットワーク", "ください", "asyncio.gather", "漢" * 9, "title:文字コード", "title:日本語入力"],
)
def test_others_are_matched_as_they_stand(text: str) -> None:
    assert loosened(parse(text)) == parse(text)


def test_a_row_of_han_letters_may_be_two_words_parted_anywhere() -> None:
    halves = And((Word("日本"), Word("語入力"))), And((Word("日本語"), Word("入力")))
    assert loosened(parse("日本語入力")) == And((Or((Word("日本語入力"), *halves)),))
    word, parts = "設定画面のテスト", [Or((Word("設定画面"), And((Word("設定"), Word("画面"))))), Word("テスト")]
    assert loosened(parse(word)) == And((Or((Word(word), And(tuple(parts)))),))


def test_quoted_and_unwanted_rows_are_meant_as_they_stand() -> None:
    quoted: Node = Word("文字コード", quoted=True)
    assert loosened(And((quoted, Not(Word("文字コード"))))) == And((quoted, Not(Word("文字コード"))))


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("文字コード", {"apart": "文字を扱うコード", "row": "文字コードの表", "half": "文字だけ"}),
        ("日本語入力", {"apart": "日本語の文字を入力する", "row": "日本語入力の表", "half": "日本語だけ"}),
    ],
)
def test_the_page_is_found_and_the_row_itself_comes_first(tmp_path: Path, query: str, texts: dict[str, str]) -> None:
    writer = IndexWriter(tmp_path, 15_000_000)
    for url, text in texts.items():
        writer.upsert([Entry(f"http://a.test/{url}", 1.0, body=text, language="ja")])
    writer.commit(b"")
    writer.close()
    search = Search([tmp_path])
    answer = search.answer(query)
    assert [hit.url for hit in answer.results] == ["http://a.test/row", "http://a.test/apart"]
    assert answer.query == query
    assert f"<mark>{query[-2:]}" in answer.results[1].snippet or "<mark>コード</mark>" in answer.results[1].snippet
    assert search.answer(f'"{query}"').total == 1
    search.close()
