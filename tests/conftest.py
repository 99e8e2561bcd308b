"""What all tests share: how Hypothesis tries examples, and what a run says where conformance suites are absent."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run: a test that fails today fails tomorrow. No deadline and no limit on how long examples
# take to make: that says how busy the machine is. A test that hangs is stopped by pytest-timeout.
settings.register_profile(
    "gossamer", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("gossamer")

_THRESHOLDS = gc.get_threshold()
NO_SUITES = "no conformance suites"


def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    """Count tests that miss the conformance suites by themselves, so that all other skips stay visible."""
    if report.skipped and isinstance(report.longrepr, tuple) and NO_SUITES in report.longrepr[2]:
        return NO_SUITES, "s", "SKIPPED"
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line that the conformance suites did not run, and how they would."""
    missed = len(terminalreporter.stats.get(NO_SUITES, []))
    if missed:
        terminalreporter.write_line(
            f"NOTICE: {missed} tests did not run because the conformance suites of other projects are not part of this"
            " one; set GOSSAMER_CONFORMANCE to a folder that holds them (CONTRIBUTING.md).",
            yellow=True,
        )


@pytest.fixture(autouse=True)
def _of_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Commands are made for processes of their own: here none makes the tests after it wait on a busy machine (`nice`),
    or keeps for ever what it is done with (`gc`).
    """
    monkeypatch.setattr(os, "nice", lambda increment: 0)
    yield
    gc.unfreeze()
    gc.set_threshold(*_THRESHOLDS)
