"""Contents that were met before: in memory, and on disk from earlier runs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gossamer.frontier import contents
from gossamer.frontier.contents import Contents
from gossamer.frontier.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "frontier", 8 << 20)


def some(count: int, seed: int) -> list[bytes]:
    chance = random.Random(seed)
    return [chance.randbytes(12) for _ in range(count)]


def test_what_was_added_is_not_new(database: Database) -> None:
    met = Contents(database)
    old, new = some(5000, seed=1), some(5000, seed=2)
    met.add(old)
    assert not any(met.are_new((key,)) for key in old)
    assert all(met.are_new((key,)) for key in new)
    assert met.are_new((new[0], new[1]))
    assert not met.are_new((new[0], old[0]))
    assert met.are_new(())


def test_what_earlier_runs_have_met_is_read_in_parts(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_AT_ONCE", 100)
    old = some(250, seed=3)
    database.payloads.update(dict.fromkeys(old, b"x"))
    database.commit()
    met = Contents(database)
    unknown = some(1, seed=4)[0]
    for _ in range(2):
        assert not met.are_new((unknown,)), "as long as not all is read nobody knows"
        met.read_on()
    assert met.are_new((unknown,))
    assert not any(met.are_new((key,)) for key in old)


@pytest.mark.parametrize("count", [0, 100, 200])
def test_reading_ends_with_the_last_one(database: Database, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(contents, "_AT_ONCE", 100)
    database.payloads.update(dict.fromkeys(some(count, seed=5), b"x"))
    database.commit()
    met = Contents(database)
    for _ in range(count // 100):
        met.read_on()
    assert met.are_new((some(1, seed=6)[0],))


def test_what_is_met_while_earlier_runs_are_read_is_not_lost(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_AT_ONCE", 10)
    database.payloads.update(dict.fromkeys(some(55, seed=7), b"x"))
    database.commit()
    met = Contents(database)
    late = some(60, seed=8)
    for key in late:
        met.add((key,))
        database.payloads[key] = b"y"
        database.commit()
        met.read_on()
    assert not any(met.are_new((key,)) for key in late)
    assert met.are_new((some(1, seed=9)[0],))


def test_tables_follow_each_other_and_are_bounded(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_TABLE", 4096)
    monkeypatch.setattr(contents, "_ROOM", 3276)
    met = Contents(database)
    old = some(40_000, seed=10)
    for start in range(0, 20_000, 2):
        met.add(old[start : start + 2])
    new = some(10_000, seed=11)
    taken_for_old = sum(not met.are_new((key,)) for key in new)
    assert taken_for_old < 0.02 * 7 * len(new), "in each of the tables one in a hundred, and some more"
    for start in range(20_000, 40_000, 2):
        met.add(old[start : start + 2])
    assert not any(met.are_new((key,)) for key in old)
    assert len(met._tables) == contents._MOST_TABLES
