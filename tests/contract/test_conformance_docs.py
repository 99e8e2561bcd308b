"""docs/conformance.md is what the lists in these tests say, and the suites are as large as it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance import load
from differences import FOLDERS, Suite, page
from test_conformance_robots import DECIDED_OTHERWISE

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
SUITES = [suite for suites in FOLDERS.values() for suite in suites]


def test_the_page_says_what_the_lists_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == page(), "run make docs"


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.file)
def test_every_difference_has_a_case_and_a_reason(suite: Suite) -> None:
    assert all(case and reason for case, reason in suite.differences)
    assert len({case for case, _ in suite.differences}) == len(suite.differences)


def test_no_difference_of_robots_is_left_out() -> None:
    listed = [case for suite in FOLDERS["robots"][:2] for case, _ in suite.differences]
    assert len(listed) == len(DECIDED_OTHERWISE)


@pytest.mark.parametrize("suite", FOLDERS["robots"][:2], ids=lambda suite: suite.file)
def test_as_many_cases_of_robots_are_decided_otherwise_as_the_page_says(suite: Suite) -> None:
    keys = [(case["test"], case["user_agent"], case["url"]) for case in load(suite.file)]
    otherwise = len(suite.differences) if suite.otherwise is None else suite.otherwise
    assert sum(key in DECIDED_OTHERWISE for key in keys) == otherwise


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.file)
def test_the_suites_are_as_large_as_the_page_says(suite: Suite) -> None:
    assert suite.size(load(suite.file)) == suite.cases
