"""The rules that all tests keep (CONTRIBUTING.md): nothing is judged by the clock, and skips say something."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

TESTS = Path(__file__).resolve().parents[1]
PROJECT = TESTS.parent


def test_hypothesis_does_not_judge_how_long_an_example_takes() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
    for path in set(TESTS.rglob("*.py")) - {Path(__file__)}:
        for checks in re.findall(r"suppress_health_check=(?!list\(HealthCheck\))(\S.*)", path.read_text("utf-8")):
            assert "too_slow" in checks, f"{path.name}: these settings take the place of those in tests/conftest.py"


def test_a_plain_clone_has_one_line_of_notice_for_all_conformance_suites(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    for name in ("pyproject.toml", "tests/conftest.py", "tests/contract", "docs/conformance.md"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy
        copy(PROJECT / name, clone / name)
    environment = {name: value for name, value in os.environ.items() if name != "GOSSAMER_CONFORMANCE"}
    names = sorted(path.name for path in (clone / "tests" / "contract").glob("test_conformance_*.py"))
    assert len(names) >= 5
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *(f"tests/contract/{name}" for name in names)],
        cwd=clone, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    notices = [line for line in done.stdout.splitlines() if "GOSSAMER_CONFORMANCE" in line]
    assert len(notices) == 1
    assert re.match(r"NOTICE: \d{2,} tests did not run", notices[0])
    assert "SKIPPED" not in done.stdout
