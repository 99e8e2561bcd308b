"""A host's queue: chunks, what is written of them, and what is read again."""

from __future__ import annotations

import pytest

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.hosts import CHUNK, Chunk, Entry, Level


def filled(entries: int, counts: Counts | None = None) -> Level:
    level = Level(4)
    counts = counts or Counts()
    for number in range(entries):
        level.put([keys.pack_entry(1, 0, 0, "s", f"/{number}")], counts)
    return level


def taken(level: Level) -> Entry:
    entry = level.peek()
    assert entry is not None
    level.take(entry)
    return entry


def stored(level: Level, room: int) -> None:
    for chunk in level.new:
        chunk.stored = True
    level.committed(room)


@pytest.mark.parametrize("entry", [(0, 0, 0, "p", "/"), (255, 255, 10, "s", "/a?b=c"), (10, 13, 1, "s", "/%0A")])
def test_an_entry_is_read_as_written(entry: tuple[int, int, int, str, str]) -> None:
    chunk = keys.read_chunk(keys.pack_chunk([keys.pack_entry(*entry), "", keys.pack_entry(*entry)]))
    assert [keys.read_entry(packed) if packed else None for packed in chunk] == [entry, None, entry]


def test_great_depths_and_many_tries_are_cut() -> None:
    assert keys.read_entry(keys.pack_entry(1000, 300, 0, "s", "/")) == (255, 255, 0, "s", "/")


def test_entries_come_in_the_order_found_over_all_chunks() -> None:
    level = filled(3 * CHUNK + 1)
    entries = [taken(level) for _ in range(3 * CHUNK + 1)]
    assert [entry.path for entry in entries] == [f"/{number}" for number in range(3 * CHUNK + 1)]
    assert [entry.number for entry in entries] == sorted({entry.number for entry in entries})
    assert level.peek() is None
    assert not level.waits
    assert not level.empty  # all are in hand


def test_a_chunk_goes_when_all_of_it_is_settled() -> None:
    level = filled(3)
    stored(level, room=100)
    entries = [taken(level) for _ in range(3)]
    for entry in (entries[1], entries[2]):
        level.settle(entry)
    assert level.finished == ()
    first = entries[0].number
    assert level.done() == (4, first, [first + 1, first + 2])
    level.settle(entries[0])
    assert level.finished == (first,)
    assert level.empty
    assert level.done() is None


def test_what_is_put_back_comes_first() -> None:
    level = filled(4)
    first, second, third = taken(level), taken(level), taken(level)
    level.put_back(third)
    level.put_back(first)
    assert [taken(level).path for _ in range(3)] == ["/0", "/2", "/3"]
    level.settle(second)
    assert level.chunks[0].left == 3


def test_memory_keeps_what_it_has_room_for() -> None:
    level = filled(4 * CHUNK)
    firsts = [chunk.first for chunk in level.chunks]
    stored(level, room=CHUNK + 1)
    assert [chunk.first for chunk in level.chunks] == firsts[:2]
    assert (level.more, level.resume) == (True, firsts[2])


def test_late_entries_come_after_those_on_disk() -> None:
    counts = Counts()
    level = filled(2 * CHUNK, counts)
    on_disk = level.chunks[1]
    stored(level, room=CHUNK)
    level.put([keys.pack_entry(1, 0, 0, "s", "/late")], counts)
    for _ in range(CHUNK):
        level.settle(taken(level))
    assert level.peek() is None
    assert level.waits
    assert level.next_number == on_disk.first
    level.refill([Chunk(on_disk.first, on_disk.entries, stored=True)], 0)
    paths = [taken(level).path for _ in range(CHUNK + 1)]
    assert paths[0] == f"/{CHUNK}"
    assert paths[-1] == "/late"


def test_a_chunk_read_again_has_nothing_that_was_settled() -> None:
    """Settled out of order, in a chunk and in the one after it; the host is written, and read from disk."""
    level = filled(2 * CHUNK)
    stored(level, room=100)
    entries = [taken(level) for _ in range(CHUNK + 3)]
    for place in (0, 1, 3, CHUNK + 1):
        level.settle(entries[place])
    done = level.done()
    assert done is not None
    again = [Chunk(chunk.first, [f"   s/{i}" for i in range(CHUNK)], stored=True) for chunk in level.chunks]
    for chunk in again:
        chunk.forget(done[1], done[2])
    assert [[bool(entry) for entry in chunk.entries] for chunk in again] == [
        [bool(entry) for entry in chunk.entries] for chunk in level.chunks
    ]
    assert [chunk.left for chunk in again] == [CHUNK - 3, CHUNK - 1]


def test_a_chunk_with_gaps_stays_in_memory() -> None:
    """On disk nothing is known of its gaps but what the host's record says, which speaks of what is in memory."""
    level = filled(3 * CHUNK)
    stored(level, room=100)
    entries = [taken(level) for _ in range(CHUNK + 1)]
    level.settle(entries[CHUNK])
    stored(level, room=1)
    assert len(level.chunks) == 2


def test_a_host_record_is_read_as_written() -> None:
    record = keys.HostRecord(1.5e9, 2.5, 4.0, 3, 1.4e9, 1.3e9, 70_000, [(4, 1 << 40, [1 << 41, 7])])
    assert keys.HostRecord.unpack(record.pack()) == record
    assert keys.HostRecord.unpack(b"") == keys.HostRecord()


def test_the_index_sorts_by_priority_then_epoch() -> None:
    prefix = keys.host_prefix(b"\0\1", "www.example.org:8080")
    urgent, old, new = (keys.index_key(*place, prefix) for place in ((0, 9), (4, 0), (4, 1)))
    assert urgent < old < new
    assert keys.indexed_host(new) == "www.example.org:8080"
