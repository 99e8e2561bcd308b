"""Where the conformance suites of others are read from. They are never part of this project.

`GOSSAMER_CONFORMANCE` names their folder; without it `../shared/conformance` beside the project is tried.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

_PROJECT = Path(__file__).resolve().parents[2]


def folder() -> Path:
    named = os.environ.get("GOSSAMER_CONFORMANCE")
    return Path(named) if named else _PROJECT.parent / "shared" / "conformance"


def load(name: str) -> Any:
    """The suite in the JSON file `name`."""
    return json.loads(read(name))


def read(name: str) -> bytes:
    """The file `name` of the suites; skips the test, with the reason, where it is not there."""
    path = folder() / name
    if not path.is_file():
        pytest.skip(f"CONFORMANCE SUITE NOT FOUND: {path}; set GOSSAMER_CONFORMANCE to the folder that holds it")
    return path.read_bytes()
