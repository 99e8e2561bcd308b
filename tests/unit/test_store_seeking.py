"""Captures from a moment on and from the newest back, beside reading them all."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.store import Captures, Place, StorePosition, newest_first, places_since
from gossamer.store.cdxj import line_here
from gossamer.store.writer import Position, cdxj_name

NOW = 1_800_000_000


def written(home: Path, files: list[list[int]], first: int = 0, step: int = 1) -> Position:
    """Files with a capture at each of these seconds; the number of the capture is in its URL."""
    home.mkdir(exist_ok=True)
    number, end = 0, Position()
    for place, times in enumerate(files):
        name, text = first + place * step, ""
        for at in times:
            url = f"http://a.test/{first}/{number}"
            text += line_here((url, NOW + at, "text/html", 200, number.to_bytes(20, "big"), number * 10, 9, ""), "x")
            number += 1
        (home / cdxj_name(name)).write_text(text)
        end = Position(name, 0, len(text))
    return end


def since(home: Path, committed: StorePosition, at: float) -> list[int]:
    """Those at or after a moment, found from the place that was sought."""
    places = places_since(home, committed, at)
    captures = Captures(home)
    assert captures.checked(places, committed) == {"": Place()} | places
    return [each.fetched_at - NOW for each in captures.after(places, committed) if each.fetched_at >= at]


@given(
    st.lists(st.lists(st.integers(0, 50_000), max_size=30), max_size=6),
    st.integers(-10, 50_010),
    st.lists(st.integers(-50, 0), min_size=180, max_size=180),
)
def test_nothing_is_passed_over_however_the_lines_are_out_of_order(
    files: list[list[int]], at: int, late: list[int]
) -> None:
    """Each file goes on in time where the one before has ended, and lines may be late by less than a minute."""
    ordered = iter(sorted(time for file in files for time in file))
    delays = iter(late)
    laid = [[max(0, next(ordered) + next(delays)) for _ in file] for file in files]
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr("gossamer.store.seeking._NEAR", 300)
        home = Path(scratch)
        committed = StorePosition(len(files) - 1, {"": written(home, laid)})
        assert since(home, committed, NOW + at) == [time for file in laid for time in file if time >= at]


def test_late_lines_do_not_hide_those_before_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.store.seeking._NEAR", 300)
    times = [second if second % 3 else max(0, second - 50) for second in range(1000)]
    committed = StorePosition(0, {"": written(tmp_path, [times])})
    for at in range(0, 1000, 7):
        assert since(tmp_path, committed, NOW + at) == [time for time in times if time >= at]


def test_what_lies_before_is_not_read(tmp_path: Path) -> None:
    files = [list(range(number * 10_000, number * 10_000 + 5_000)) for number in range(8)]
    committed = StorePosition(7, {"": written(tmp_path, files)})
    place = places_since(tmp_path, committed, NOW + 34_000)[""]
    assert place.file == 3
    passed = [each.fetched_at - NOW for each in Captures(tmp_path).after({"": place}, committed)]
    assert passed[0] == 34_000
    assert since(tmp_path, committed, NOW + 77_000) == []
    assert len(since(tmp_path, committed, 0)) == 40_000
    assert since(tmp_path, committed, NOW + 25_000)[0] == 30_000  # between two files


def test_nothing_beyond_the_commit(tmp_path: Path) -> None:
    committed = StorePosition(0, {"": written(tmp_path, [list(range(0, 100_000, 100))])})
    with (tmp_path / cdxj_name(0)).open("a") as file:
        file.write("torn")
    assert since(tmp_path, committed, NOW + 99_000) == list(range(99_000, 100_000, 100))
    assert [each.fetched_at - NOW for each in newest_first(tmp_path, committed)][:2] == [99_900, 99_800]
    assert places_since(tmp_path, StorePosition(), NOW) == {}
    assert list(newest_first(tmp_path, StorePosition())) == []


def test_lines_and_files_that_cannot_be_read_make_it_begin_earlier(tmp_path: Path) -> None:
    files = [list(range(number * 1000, number * 1000 + 1000)) for number in range(4)]
    committed = StorePosition(3, {"": written(tmp_path, files)})
    (tmp_path / cdxj_name(1)).write_bytes(b"x" * 300_000)
    (tmp_path / cdxj_name(2)).unlink()
    assert since(tmp_path, committed, NOW + 3_500) == list(range(3_500, 4_000))
    assert [each.fetched_at - NOW for each in newest_first(tmp_path, committed)] == [
        *range(3_999, 2_999, -1),
        *range(999, -1, -1),
    ]


@pytest.mark.parametrize("block", [250, 256 << 10])
def test_of_several_directories_the_newest_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr("gossamer.store.seeking._BLOCK", block)
    home, other = tmp_path / "warc", tmp_path / "other"
    committed = StorePosition(
        3, {"": written(home, [[0, 10], [20, 30]], 0, 2), str(other): written(other, [[5, 15], [25, 35]], 1, 2)}
    )
    assert [each.fetched_at - NOW for each in newest_first(home, committed)] == [35, 30, 25, 20, 15, 10, 5, 0]
    for at in (0, 1, 20, 26, 40):
        places = places_since(home, committed, NOW + at)
        found = [each.fetched_at - NOW for each in Captures(home).after(places, committed)]
        assert [time for time in found if time >= at] == [time for time in range(0, 40, 5) if time >= at]
