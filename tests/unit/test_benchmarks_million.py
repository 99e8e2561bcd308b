"""What the benchmark of a million pages makes of what it is told."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from million import Moment, at, merging_seconds, parts_of, read_line

MOMENTS = [
    Moment(0.0, 0, 0.0, 0),
    Moment(5.0, 1000, 1.0, 50, 0.1),
    Moment(10.0, 3000, 2.0, 90, 0.3),
    Moment(15.0, 4000, 3.0, 80, 0.3),
]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("5.0 s · 12,345 pages · 100/s · 3.0 MB", (5.0, 12345)),
        ("1 min 5 s · 345 / 1,000,000 pages · 0/s", (65.0, 345)),
        ("2 h 1 min 5 s · 7 pages · 0/s", (7265.0, 7)),
        ("pages     300 (300 ok, 0 other), 3.0 MB received", None),
        ("note: something else", None),
    ],
)
def test_lines_of_progress(line: str, found: tuple[float, int] | None) -> None:
    assert read_line(line) == found


def test_between_two_lines_all_grows_evenly() -> None:
    assert at(MOMENTS, 2000) == Moment(7.5, 2000, 1.5, 90, pytest.approx(0.2))
    assert at(MOMENTS, 1000) == Moment(5.0, 1000, 1.0, 50, 0.1)
    assert at(MOMENTS, 9999) == MOMENTS[-1]


def test_parts_are_whole() -> None:
    parts = parts_of(MOMENTS, 2000)
    assert [part.last for part in parts] == [2000, 4000]
    assert [part.cpu_us for part in parts] == [pytest.approx(750), pytest.approx(750)]
    assert parts[1].pages_per_s == pytest.approx(2000 / 7.5)
    assert [part.merging_us for part in parts] == [pytest.approx(100), pytest.approx(50)]
    assert [part.memory for part in parts] == [90, 90]
    assert [part.last for part in parts_of(MOMENTS, 1500)] == [1500, 3000]


def test_threads_of_a_database_are_told_by_their_names() -> None:
    name = Path("/proc/self/comm").read_text()
    merging = threading.Thread(target=lambda: (Path("/proc/thread-self/comm").write_text("rocksdb:low"), burn()))

    def burn() -> None:
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass
        burnt.append(merging_seconds(os.getpid()))

    burnt: list[float] = []
    before = merging_seconds(os.getpid())
    merging.start()
    merging.join()
    assert not name.startswith("rocksdb:")
    assert burnt[0] - before >= 0.03
