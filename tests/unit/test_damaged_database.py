"""A database of which a file is not as it was written: nothing may be missing without a word."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gossamer.errors import DamagedError
from gossamer.frontier.database import Database, ReadOnlyDatabase

_MEMORY = 8 << 20


def made(home: Path) -> dict[bytes, bytes]:
    """Fill and close a database whose records are in files, in several blocks of each."""
    chance = random.Random(5)
    rows = {b"\0\1" + number.to_bytes(4, "big"): chance.randbytes(60) for number in range(4000)}
    database = Database(home, _MEMORY)
    database.visits.update(rows)
    database.hosts.update(rows)
    database.commit()
    database.compact()
    database.close()
    return rows


def read(home: Path, scratch: Path) -> list[dict[bytes, bytes]]:
    """Return what each way of reading all records finds."""
    database = Database(home, _MEMORY)
    try:
        found = [dict(database.scan_visits(b"\0\1")), dict(database.scan_hosts(b"\0\1", b"\0\1"))]
        cursor, seen = database.hosts_cursor(), {}
        cursor.seek(b"\0\1")
        while cursor.valid():
            seen[cursor.key()] = cursor.value()
            cursor.next()
        database.checked(cursor)
        asked = list(found[0])
        values = database.visits_at(asked)
        found += [seen, {key: value for key, value in zip(asked, values, strict=True) if value is not None}]
    finally:
        database.close()
    beside = ReadOnlyDatabase(home, scratch)
    try:
        found += [dict(beside.scan_visits(b"\0\1")), dict(beside.scan_hosts(b"\0\1"))]
    finally:
        beside.close()
    return found


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_is_named_or_makes_no_difference(tmp_path: Path, seed: int) -> None:
    home = tmp_path / "frontier"
    rows = made(home)
    chance = random.Random(seed)
    file = chance.choice(sorted(home.glob("*.sst")))
    data = bytearray(file.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)
    named, found = "", [rows]
    try:
        found = read(home, tmp_path / "scratch")
    except DamagedError as error:
        named = str(error)
    assert file.name in named if named else found == [rows] * len(found)
