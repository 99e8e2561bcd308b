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
    """Return the file `name` of the suites; skip the test, with the reason, where it is not there.

    A plain clone has no suites. `tests/conftest.py` makes one line of the skips that say so; a file that is missing in
    a folder that is there, or in one that was asked for, is a skip like any other.
    """
    path = folder() / name
    if not folder().is_dir() and "GOSSAMER_CONFORMANCE" not in os.environ:
        pytest.skip("no conformance suites")
    if not path.is_file():
        pytest.skip(f"CONFORMANCE SUITE NOT FOUND: {path}; set GOSSAMER_CONFORMANCE to the folder that holds it")
    return path.read_bytes()
