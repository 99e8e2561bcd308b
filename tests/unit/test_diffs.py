"""What a commit changed, as messages: it comes out as it went in, and nothing else comes out."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from zlib import crc32

import msgspec
import pytest
from backports import zstd

from gossamer.errors import DiffError
from gossamer.frontier import diffs, keys
from gossamer.frontier.diffs import LONGEST, Diff, DiffReader, diffs_of, pack_diff
from gossamer.frontier.notes import Notes, pack_notes
from gossamer.frontier.rulebook import pack_rules
from gossamer.model import Exclusion, State
from gossamer.rules.robots import Robots

PARTITION = 3
PREFIX = keys.partition_prefix(PARTITION)
HOST = keys.host_prefix(PREFIX, "www.example.org:8080")
VISIT = keys.visits_of(HOST) + b"s/path?a=b"
FETCHED = keys.pack_history(State.FETCHED, 2, 200, 1e9, 1, (1, 2, 3), b"12345678", validators=(b'"\xe4"', b""))
AGAIN = keys.pack_again(1.8e9, bytes(5), 7, 1, 2, 0)
CHUNK = HOST + keys.place(4, 64)
ENTRY = keys.pack_entry(255, 255, 255, "s", "/path")


def a_diff() -> Diff:
    """Of every kind of record one, and one that goes."""
    visits = {
        VISIT: keys.queued_visit(7),
        VISIT + b"1": FETCHED,
        VISIT + b"2": keys.with_again(FETCHED, AGAIN),
        VISIT + b"3": keys.excluded_visit(1, Exclusion.SCOPE),
        VISIT + b"4": None,
    }
    robots = pack_rules((Robots.parse(b"User-agent: *\nDisallow: /x*y\nCrawl-delay: 3", "gossamer"), 1.8e9))
    hosts = {
        HOST + keys.RECORD: keys.HostRecord(1e9, 1.0, 0.5, 2, 1e9, 0.0, 5, [(4, 66, [70])]).pack(),
        HOST + keys.ROBOTS + b"s": robots,
        HOST + keys.NOTES: pack_notes(Notes(mirror_of="example.org")),
        HOST + keys.FRESH: b"anything",
        CHUNK: keys.pack_chunk(["", ENTRY, keys.pack_entry(0, 0, 0, "p", "/")]),
        HOST + keys.place(5, 96): None,
        keys.host_prefix(PREFIX, "met.test") + keys.RECORD: b"",
    }
    return Diff(11, 96, visits, hosts, {"seed www.example.org": b"1"})


def packed(diff: Diff) -> bytes:
    (message,) = pack_diff(diff)
    return message


def message_of(raw: bytes, last: int = 1, number: int = 0) -> bytes:
    data = zstd.compress(raw)
    return diffs._HEAD.pack(b"GD\x01", last, number, crc32(data)) + data


def test_it_comes_out_as_it_went_in() -> None:
    assert DiffReader(PARTITION).feed(packed(a_diff())) == a_diff()
    assert DiffReader(PARTITION).feed(packed(Diff(5))) == Diff(5)


def test_the_longest_robots_rules_pass() -> None:
    lines = "".join(f"Disallow: /{'ä' * 200}{number}\n" for number in range(1300))
    rules = Robots.parse(b"User-agent: *\n" + lines.encode(), "gossamer")
    diff = Diff(0, 0, {}, {HOST + keys.ROBOTS + b"p": pack_rules((rules, 1.8e9))})
    assert DiffReader(PARTITION).feed(packed(diff)) == diff


def large_diff() -> Diff:
    visits = {VISIT + os.urandom(400).hex().encode(): FETCHED for _ in range(5000)}
    return Diff(1, 32, visits)


def test_a_large_one_is_several_messages_and_counts_when_the_last_has_come() -> None:
    diff = large_diff()
    messages = pack_diff(diff)
    assert len(messages) == 3
    assert max(map(len, messages)) == LONGEST
    reader = DiffReader(PARTITION)
    assert [reader.feed(message) for message in messages] == [None, None, diff]
    assert reader.feed(packed(a_diff())) == a_diff()


def test_a_message_that_comes_twice_counts_once() -> None:
    diff = large_diff()
    reader = DiffReader(PARTITION)
    fed = [reader.feed(message) for message in pack_diff(diff) for _ in range(2)]
    assert [each is not None for each in fed] == [False] * 4 + [True, False]


def test_of_a_writer_that_died_nothing_is_left() -> None:
    messages, other = pack_diff(large_diff()), pack_diff(large_diff())
    reader = DiffReader(PARTITION)
    reader.feed(messages[0])
    reader.drop()
    with pytest.raises(DiffError, match="missing"):
        reader.feed(messages[1])
    assert reader.feed(messages[0]) is None
    assert [reader.feed(message) is None for message in other] == [True, True, False]  # a beginning is one


def test_messages_of_two_diffs_are_not_mixed() -> None:
    messages, other = pack_diff(large_diff()), pack_diff(large_diff())
    reader = DiffReader(PARTITION)
    reader.feed(messages[0])
    with pytest.raises(DiffError, match="missing"):
        reader.feed(other[1])


def test_a_commit_is_parted() -> None:
    other = keys.partition_prefix(4)
    visits = {VISIT: b"a", keys.META + b"counts": b"b", other + b"vtest\0p/": None}
    hosts = {CHUNK: b"c", keys.index_key(4, 0, HOST): b"", keys.partition_prefix(9) + b"test\0a": b""}
    meta = {"seed a": b"1", "seed b": b"2", "progress": b"3"}
    found = diffs_of(visits, hosts, meta, {"seed a": 4, "seed b": 200}.get, number=64)
    assert found == {
        3: Diff(0, 64, {VISIT: b"a"}, {CHUNK: b"c"}),
        4: Diff(0, 64, {other + b"vtest\0p/": None}, {}, {"seed a": b"1"}),
        9: Diff(0, 64, {}, {keys.partition_prefix(9) + b"test\0a": b""}),
        200: Diff(0, 64, {}, {}, {"seed b": b"2"}),
    }


BAD_VISITS: list[tuple[bytes, bytes | None]] = [
    (keys.partition_prefix(4) + VISIT[2:], None),
    (keys.META + b"counts", b"\0\0"),
    (VISIT[:2] + b"w" + VISIT[3:], None),
    (PREFIX + b"v\0s/", None),
    (keys.visits_of(HOST) + b"x/path", None),
    (keys.visits_of(HOST) + b"spath", None),
    (VISIT + b"\n", None),
    (VISIT + b"\xff", None),
    (VISIT + b"a" * 5000, None),
    (VISIT, b""),
    (VISIT, b"\1\0"),
    (VISIT, FETCHED[:28]),
    (VISIT, b"\x09" + FETCHED[1:]),
    (VISIT, FETCHED + b"a" * 1000),
    (VISIT, keys.pack_history(State.EXCLUDED, 1, 0, 0, 0) + b"\xff"),
]

BAD_HOSTS: list[tuple[bytes, bytes | None]] = [
    (keys.partition_prefix(4) + HOST[2:] + keys.RECORD, None),
    (keys.index_key(4, 0, HOST), b""),
    (HOST, b""),
    (HOST + b"z", b""),
    (HOST + b"ab", b""),
    (PREFIX + b"\0a", b""),
    (HOST + keys.RECORD, b"1"),
    (HOST + keys.RECORD, keys.HostRecord(float("nan")).pack()),
    (HOST + keys.RECORD, keys.HostRecord(1.0).pack() + b"\xc1"),
    (HOST + keys.ROBOTS, b""),
    (HOST + keys.ROBOTS + b"s", b"12345678"),
    (HOST + keys.NOTES, b"\xc1"),
    (HOST + keys.FRESH, bytes(4 << 20)),
    (HOST + keys.place(11, 64), None),
    (HOST + keys.place(4, 0), None),
    (HOST + keys.place(4, 1 << 47), None),
    (CHUNK[:-1], None),
    (CHUNK, b"\xff"),
    (CHUNK, b"abc"),
    (CHUNK, b"   x/"),
    (CHUNK, b"\x01  s/"),
    (CHUNK, b"\n" * 32),
    (CHUNK, "   s/ü".encode()),
]


@pytest.mark.parametrize("row", BAD_VISITS)
def test_what_is_no_visit_of_the_partition_is_refused(row: tuple[bytes, bytes | None]) -> None:
    with pytest.raises(DiffError):
        DiffReader(PARTITION).feed(packed(Diff(0, 0, dict([row]))))


@pytest.mark.parametrize("row", BAD_HOSTS)
def test_what_is_no_host_of_the_partition_is_refused(row: tuple[bytes, bytes | None]) -> None:
    with pytest.raises(DiffError):
        DiffReader(PARTITION).feed(packed(Diff(0, 0, {}, dict([row]))))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"GD\x02" + packed(a_diff())[3:],
        b"GU\x01" + packed(a_diff())[3:],
        packed(a_diff()) + bytes(LONGEST),
        packed(a_diff())[:-1],
        packed(a_diff()) + b"\0",
        message_of(b""),
        message_of(b"\xc1"),
        message_of(b"\x91" * 100_000),
        message_of(msgspec.msgpack.encode(Diff(-1))),
        message_of(msgspec.msgpack.encode(Diff(0, 1 << 47))),
        message_of(msgspec.msgpack.encode([1, 2, {"text": b"", b"": "text"}])),
        message_of(msgspec.msgpack.encode(Diff()), number=1),
        message_of(bytes((128 << 20) + 1)),
    ],
    ids=range(14),
)
def test_what_is_no_diff_is_refused(message: bytes) -> None:
    reader = DiffReader(PARTITION)
    with pytest.raises(DiffError):
        reader.feed(message)
    assert reader.feed(packed(a_diff())) == a_diff()


def test_bits_that_flip_are_found() -> None:
    chance = random.Random(1)
    message = packed(a_diff())
    for _ in range(300):
        bit = chance.randrange(len(message) * 8)
        flipped = bytearray(message)
        flipped[bit // 8] ^= 1 << bit % 8
        if bit // 8 == 3:  # `last`: anything but 0 is
            continue
        with pytest.raises(DiffError):
            DiffReader(PARTITION).feed(bytes(flipped))


def test_whatever_is_packed_it_raises_nothing_else() -> None:
    chance = random.Random(2)
    raw = msgspec.msgpack.encode(a_diff())
    for _ in range(1000):
        changed = bytearray(raw)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(len(raw))] = chance.randrange(256)
        with suppress(DiffError):
            assert isinstance(DiffReader(PARTITION).feed(message_of(bytes(changed))), Diff)
