"""Which words a text has: folding, rows without spaces, stems, and what hostile text does to them: nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.letters import folded, level
from gossamer.index.stems import STEMMERS, stems_of
from gossamer.index.words import MAX_TEXT, is_unspaced, pairs, searched, words_of


def found(text: str) -> str:
    return " ".join(searched(text)[0].split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Café CRÈME", "cafe creme"),
        ("Straße, Ærø, Łódź, Þór", "strasse aero lodz thor"),
        ("İstanbul ıslak", "istanbul islak"),
        ("Ｃａｆｅ　１２３", "cafe 123"),
        ("ﬁne ①", "fine 1"),
        ("Ёлка и йод", "елка и йод"),
        ("Αθήνα σοφός", "αθηνα σοφοσ"),
        ("שָׁלוֹם مُحَمَّد إسلام", "שלום محمد اسلام"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("e\u0301te\u0301", "ete"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("٣٤٥", "345"),
        ("don't l’amour", "don t l amour"),
        ("asyncio.gather(x) pg_dump .htaccess", "asyncio gather x pg dump htaccess"),
        ("Python 3.11", "python 3 11"),
        ("C++, C# and F#; i++ notepad++ #tag a#b", "c++ c# and f# i++ notepad tag a b"),
        ("", ""),
        ("→ & … 😀", ""),
    ],
)
def test_words_are_folded(text: str, words: str) -> None:
    assert found(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京都", "東京 京都 都"),
        ("駅", "駅"),
        ("Python入門", "python 入門 門"),
        ("ｶﾞｲﾄﾞ", "ガイ イド ド"),
        ("한국어", "한국 국어 어"),
        ("ไทย", "ไท ทย ย"),
        ("ລາວ ខ្មែរ မြန်", "ລາ າວ ວ ខ្ ្ម មែ ែរ រ မြ ြန န် ်"),
        ("が", "が"),
        ("2024年、東京。", "2024 年 東京 京"),
    ],
)
def test_rows_without_spaces_become_pairs(text: str, words: str) -> None:
    assert found(text) == words


def test_a_line_broken_in_a_row_of_letters_does_not_part_words() -> None:
    assert "京都" in found("東京\n都").split()
    assert found("한국 어") == "한국 국 어"  # Hangul has spaces that are meant


@given(st.text(alphabet="東京都の駅に行く𠮷", min_size=1, max_size=200))
def test_long_rows_are_cut_like_short_ones(row: str) -> None:
    assert found(row).split() == pairs(row)


@given(st.text(max_size=300))
def test_any_text_gives_words_that_can_be_written(text: str) -> None:
    spelled, _ = searched(text)
    spelled.encode()
    assert all(word == word.strip() and word for word in spelled.split())


@given(st.text(max_size=200))
def test_words_and_what_is_searched_of_them_agree(text: str) -> None:
    expected = [
        pair for word in words_of(text) for pair in (pairs(word) if is_unspaced(word) else folded(word).split())
    ]
    assert searched(text)[0].split() == expected


@given(st.text(max_size=100))
def test_folding_twice_changes_nothing(text: str) -> None:
    once = folded(level(text))
    assert folded(once) == once


@pytest.mark.parametrize(
    "text", ["\ud800 x", "\x00a\x00", "a" * 2_000_000, "漢" * 1_000_000, "\ufdfa" * 300_000, "é" * 999_999]
)
def test_hostile_text_is_bounded(text: str) -> None:
    spelled, chunks = searched(text)
    assert len(spelled) < 40 * MAX_TEXT
    stems = stems_of("en")
    assert stems is not None
    for chunk in chunks[:10]:
        _ = stems[chunk]


@pytest.mark.parametrize(
    ("language", "word", "stem"),
    [
        ("en", "running", "run"),
        ("de-AT", "häuser", "haus"),
        ("fr", "chevaux", "cheval"),
        ("ru", "книгами", "книг"),
        ("en", "run", ""),
    ],
)
def test_stems_are_those_of_the_language(language: str, word: str, stem: str) -> None:
    stems = stems_of(language)
    assert stems is not None
    assert stems.of(word) == stem


def test_every_stemmer_has_a_sign_of_its_own_and_no_word_has_it() -> None:
    signed = {language: stems.signed("xyz") for language in STEMMERS if (stems := stems_of(language)) is not None}
    assert len(set(signed.values())) == len(set(STEMMERS.values()))
    assert signed["nb"] == signed["nn"] == signed["no"]
    for stem in signed.values():
        assert len(words_of(stem)) == 2
    stems = stems_of("en")
    assert stems is not None
    assert stems[b"running"] == stems.signed("run") == stems.signed("runs")
    assert stems[b"run"] == ""


def test_a_language_without_stemmer_has_no_stems() -> None:
    assert stems_of("ja") is None
    assert stems_of("") is None
