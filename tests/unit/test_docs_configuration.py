from __future__ import annotations

from pathlib import Path

from gossamer.config import OPTIONS
from gossamer.config.reference import markdown

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_document_is_what_the_options_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == markdown(), "run python -m gossamer.config > docs/configuration.md"


def test_every_option_says_what_it_means_and_costs() -> None:
    for option in OPTIONS.values():
        assert option.help.endswith("."), option.name
        assert option.cost.endswith("."), option.name
        assert f"| `{option.key}` |" in markdown()


def test_options_stay_few() -> None:
    assert len(OPTIONS) <= 80  # 64 until pages were visited again, which takes five; a strategy takes two


def test_names_and_flags_are_unique() -> None:
    flags = [option.flag for option in OPTIONS.values() if option.flag]
    keys = [option.key for option in OPTIONS.values()]
    assert len(set(flags)) == len(flags)
    assert len(set(keys)) == len(keys)
