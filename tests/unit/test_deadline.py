"""The deadline that a supervisor sees without asking."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gossamer.agent.deadline import QUIET, Deadline, deadline_file


def test_what_one_writes_another_reads(tmp_path: Path) -> None:
    agent, supervisor = Deadline(deadline_file(tmp_path)), Deadline(deadline_file(tmp_path))
    assert supervisor.read() == QUIET
    assert not supervisor.past(1e9)
    agent.write(123.5)
    assert supervisor.read() == 123.5
    assert [supervisor.past(123.4), supervisor.past(123.5)] == [False, True]
    agent.write(QUIET)
    assert not supervisor.past(1e9)
    assert deadline_file(tmp_path).stat().st_size == 16


@pytest.mark.parametrize(
    ("first", "second", "read"), [(8.0, 5.0, 5.0), (0.0, 5.0, 5.0), (5.0, 0.0, 5.0), (0.0, 0.0, 0.0)]
)
def test_a_writer_that_was_stopped_in_between(tmp_path: Path, first: float, second: float, read: float) -> None:
    deadline_file(tmp_path).parent.mkdir()
    deadline_file(tmp_path).write_bytes(struct.pack("dd", first, second))
    assert Deadline(deadline_file(tmp_path)).read() == read


def test_a_file_that_is_something_else(tmp_path: Path) -> None:
    """Whatever is there, a time that is no number kills nobody."""
    deadline_file(tmp_path).parent.mkdir()
    deadline_file(tmp_path).write_bytes(struct.pack("dd", float("nan"), -1.0) + b"more")
    assert not Deadline(deadline_file(tmp_path)).past(1e9)
