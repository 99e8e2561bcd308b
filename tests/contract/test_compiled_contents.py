"""The compiled tables of contents that were met, held to their twin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.frontier.contents import mark, mark_here, marked, marked_here

KEYS = st.lists(st.binary(min_size=12, max_size=16), max_size=8)
SIZES = (64, 128, 192, 64 << 10)


@given(st.lists(KEYS, max_size=6), KEYS, st.sampled_from(SIZES))
def test_both_leave_the_same_tables_and_find_the_same(added: list[list[bytes]], asked: list[bytes], size: int) -> None:
    ours, theirs = [bytearray(size), bytearray(size)], [bytearray(size), bytearray(size)]
    for number, keys in enumerate(added):
        mark(ours[number % 2], keys)
        mark_here(theirs[number % 2], keys)
        assert ours == theirs
        for key in (*keys, *asked):
            assert marked(ours, (key,)) == marked_here(theirs, (key,))
        assert marked(ours, keys) == bool(keys)
    assert marked(ours, asked) == marked_here(theirs, asked)


@pytest.mark.parametrize("found", [marked, marked_here])
def test_a_bit_that_is_missing_is_enough(found: object) -> None:
    table = bytearray(64)
    key = bytes(range(1, 13))
    mark(table, [key])
    assert found([table], (key,))  # type: ignore[operator]
    for bit in range(512):
        if table[bit // 8] >> bit % 8 & 1:
            other = bytearray(table)
            other[bit // 8] ^= 1 << bit % 8
            assert not found([other], (key,))  # type: ignore[operator]
            assert found([other, table], (key,))  # type: ignore[operator]


@pytest.mark.parametrize("add", [mark, mark_here])
def test_keys_that_are_too_short_are_refused(add: object) -> None:
    with pytest.raises(ValueError, match="twelve"):
        add(bytearray(64), [b"eleven byte"])  # type: ignore[operator]
    with pytest.raises(ValueError, match="twelve"):
        marked([bytearray(64)], [b"eleven byte"])


@pytest.mark.parametrize(
    "arguments",
    [(), (bytearray(64),), (b"x" * 64, []), (bytearray(63), []), (bytearray(64), 5), (bytearray(64), ["no bytes"])],
)
def test_whatever_is_no_table_and_no_keys_is_refused(arguments: tuple[object, ...]) -> None:
    if mark is mark_here:
        pytest.skip("THE COMPILED MODULES ARE NOT BUILT: their twins alone are tested")
    with pytest.raises(TypeError):
        mark(*arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        marked([arguments[0]] if arguments else (), *arguments[1:])  # type: ignore[arg-type,list-item]


def test_tables_of_several_sizes_are_refused() -> None:
    if marked is marked_here:
        pytest.skip("THE COMPILED MODULES ARE NOT BUILT: their twins alone are tested")
    with pytest.raises(ValueError, match="equally large"):
        marked([bytearray(64), bytearray(128)], [b"x" * 12])
    with pytest.raises(TypeError):
        marked([], [b"x" * 12])
