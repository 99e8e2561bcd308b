from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config.units import format_duration, format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("1.5m", 90),
        ("2h", 7200),
        ("1d", 86400),
        ("250ms", 0.25),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        (" 5 S ", 5),
        ("0", 0),
        ("0.5", 0.5),
        ("90", 90),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2MB", 2_000_000),
        ("1Gi", 1024**3),
        ("512KiB", 512 * 1024),
        ("5M", 5_000_000),
        ("5m", 5_000_000),
        ("1.5 kB", 1500),
        ("3TiB", 3 * 1024**4),
        ("77", 77),
        ("77b", 77),
        ("1_000", 1000),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "s", "5x", "10 parsecs", "1h30", "nan", "inf", "1e999", "--1s", "1..5s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="a duration such as 10s"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["", "MB", "5x", "-1", "1e3", "5 i", "5ib", "nan", "1KKB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="a size such as 512KiB"):
        parse_size(text)


@given(st.floats(0, 1e12))
def test_a_written_duration_reads_back_equal(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.integers(0, 2**63))
def test_a_written_size_reads_back_equal(size: int) -> None:
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.0, "1s"), (90.0, "90s"), (3600.0, "1h"), (0.25, "250ms"), (0.0, "0s"), (172800.0, "2d")]
)
def test_durations_are_written_for_people(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(16 * 1024**2, "16MiB"), (10**9, "1GB"), (1000, "1kB"), (1001, "1001"), (0, "0")]
)
def test_sizes_are_written_for_people(size: int, text: str) -> None:
    assert format_size(size) == text
