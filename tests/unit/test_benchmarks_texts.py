"""The parts of the benchmarks of texts that decide something: which text counts as which language, and the marks."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import language_samples
import languages
import main_text

ORIGINAL = "<p>This paragraph is long enough to be one of the book.</p><p>And this is the second one of the two.</p>"
TRANSLATED = (
    "<p>Dieser Absatz ist lang genug, um zum Buch zu gehören.</p><p>And this is the second one, of the two.</p>"
)


@pytest.mark.parametrize(
    ("tag", "language"), [("pt_BR", "pt"), ("sr@latin", "sr"), ("zh-TW", "zh"), ("C", "en"), ("nb-NO", "no"), ("", "")]
)
def test_languages_of_folders(tag: str, language: str) -> None:
    assert language_samples.primary(tag) == language


def test_what_is_not_translated_is_left_out(tmp_path: Path) -> None:
    book = tmp_path / "share" / "doc" / "debian-handbook" / "html"
    for folder, page in (("en-US", ORIGINAL), ("de-DE", TRANSLATED), ("el-GR", TRANSLATED)):
        (book / folder).mkdir(parents=True)
        (book / folder / "a.html").write_text(page)
    samples = language_samples.read([tmp_path], pages=5, least=20)
    assert [sample.language for sample in samples] == ["de", "en"]
    assert samples[0].text == "Dieser Absatz ist lang genug, um zum Buch zu gehören."
    assert samples[1].text.endswith("second one of the two.")


def test_the_middle_of_a_text() -> None:
    assert languages.middle("abcdefgh", 4) == "cdef"
    assert languages.middle("abc", 4) == "abc"


def test_words_and_marks() -> None:
    site = main_text.Site("a site", "", "main", ".menu")
    truth = main_text.article("<p>no</p><main>One word <p class=menu>no</p><script>no</script>日本</main>", site)
    assert truth == Counter({"one": 1, "word": 1, "日": 1, "本": 1})
    assert main_text.judge(truth, truth) == (1, 1, 1)
    assert main_text.judge(Counter({"one": 1, "other": 1}), truth)[:2] == (0.5, 0.25)
    assert main_text.judge(Counter(), truth) == (0, 0, 0)
