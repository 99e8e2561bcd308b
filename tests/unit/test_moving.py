"""A partition goes from one database to another: what was there is here, and nothing else changes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

import msgspec
import pytest
from backports import zstd

from gossamer.config import FreshConfig, FrontierConfig, PolicyConfig, UrlRule
from gossamer.errors import DiffError
from gossamer.frontier import Frontier, keys, pieces
from gossamer.frontier.diffs import Diff
from gossamer.frontier.moving import Moving
from gossamer.frontier.pieces import Frames, Header, Records, framed
from gossamer.frontier.reader import FrontierReader
from gossamer.frontier.tally import Totals
from gossamer.model import Change, Exclusion, Reason, State, Visit
from gossamer.model.domain import partition_of
from gossamer.rules.policy import Policy
from gossamer.rules.revisits import Found
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

NOW = 1_790_000_000.0
PARTITIONS = 4
HOST, OTHER = "a.test", "b.test"
NUMBER = partition_of(HOST, PARTITIONS)
assert partition_of(OTHER, PARTITIONS) != NUMBER


def opened(path: Path, keep_fresh: bool = True, rules: tuple[UrlRule, ...] = (), hosts: int = 100) -> Frontier:
    policy = Policy(PolicyConfig(delay=0.0, host_connections=100, domain_connections=0), urls=rules)
    config = FrontierConfig(partitions=PARTITIONS, hosts=hosts)
    return Frontier(path, config, policy, Scope("any"), None, NOW, FreshConfig(keep_fresh=keep_fresh), rate=1.0)


def about(name: str) -> str | None:
    return name[5:] if name.startswith("seed ") else None


def moving(frontier: Frontier) -> Moving:
    return frontier.moving(about)


def ended(steps: Iterable[None]) -> None:
    for _ in steps:
        pass


def leased(frontier: Frontier, most: int = 1000) -> list[Visit]:
    visits = frontier.lease(NOW, most)
    for visit in [visit for visit in visits if visit.robots]:
        frontier.settle_robots(visit, ALLOW_ALL, NOW, 0.0, NOW + 1e8)
        visits += frontier.lease(NOW, most)
    return [visit for visit in visits if not visit.robots]


def crawled(frontier: Frontier) -> Frontier:
    """Half of what is known of two hosts was fetched."""
    urls = [f"http://{host}/{number}" for host in (HOST, OTHER) for number in range(20)]
    frontier.add(urls, 1, 4)
    for number, visit in enumerate(leased(frontier)):
        if number % 2:
            frontier.settle_page(visit, 200, NOW, 0.0, (0, 5, 9), digest=b"12345678")
        else:
            frontier.give_back(visit, NOW)
    frontier.commit({f"seed {HOST}": b"1", f"seed {OTHER}": b"2", "progress": b"3"})
    return frontier


def everything(frontier: Frontier) -> dict[bytes, bytes]:
    """In the database, but the counts."""
    database = frontier._database
    rows = {b"v" + key: value for key, value in database.scan_visits(b"") if key != keys.META + b"counts"}
    rows |= {b"h" + key: value for key, value in database.scan_hosts(b"", b"")}
    return rows | {b"d" + key: value for key, value in database.scan_due(b"")}


def without_places(rows: dict[bytes, bytes]) -> dict[bytes, bytes]:
    return {key: keys.with_elsewhere(value) if key[3:4] == b"v" else value for key, value in rows.items()}


def lets_go(frontier: Frontier) -> list[bytes]:
    exported = list(moving(frontier).export(NUMBER))
    frontier.forget_partition(NUMBER)
    ended(moving(frontier).drop(NUMBER))
    frontier.commit({})
    return exported


def takes(frontier: Frontier, exported: Iterable[bytes]) -> None:
    part = moving(frontier)
    ended(part.take_in(NUMBER, exported))
    ended(part.finish(NUMBER))
    frontier.commit({})


def counted(frontier: Frontier) -> Totals:
    counts = frontier.counts
    return Totals(*(getattr(counts, name) for name in Totals.__struct_fields__))


@pytest.fixture
def frontier(tmp_path: Path) -> Iterable[Frontier]:
    found = crawled(opened(tmp_path / "one"))
    yield found
    found.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterable[Frontier]:
    found = opened(tmp_path / "other")
    found.commit({})
    yield found
    found.close()


def test_what_goes_there_and_comes_back_is_what_was_here(frontier: Frontier, other: Frontier) -> None:
    before, count = everything(frontier), counted(frontier)
    theirs = everything(other)
    exported = lets_go(frontier)
    stays = {key for key in before if HOST.encode() not in key and b"test.a" not in key}
    assert everything(frontier) == {key: before[key] for key in stays}
    takes(other, exported)
    part = counted(other)
    assert (part.urls, part.fetched, part.queued, part.hosts) == (20, 10, 10, 1)
    assert without_places(everything(other)).items() >= theirs.items()
    assert other.meta(f"seed {HOST}") == b"1"
    assert other.counts.number >= frontier.counts.number
    takes(frontier, lets_go(other))
    assert everything(other) == theirs
    assert counted(other) == Totals()
    assert everything(frontier) == {key: without_places({key: value})[key] if key not in stays else value
                                    for key, value in before.items()}  # fmt: skip
    assert counted(frontier) == count


def test_it_is_crawled_on_where_it_is(frontier: Frontier, other: Frontier) -> None:
    takes(other, lets_go(frontier))
    assert {visit.host for visit in leased(frontier)} == {OTHER}
    assert sorted(visit.url for visit in leased(other)) == sorted(
        f"http://{HOST}/{number}" for number in range(0, 20, 2)
    )


def test_new_chunks_have_numbers_behind_all_that_came(frontier: Frontier, other: Frontier) -> None:
    frontier.counts.number = 1 << 20
    takes(other, lets_go(frontier))
    assert other.counts.number == 1 << 20


def test_what_another_agent_has_stored_has_a_digest_and_no_place(frontier: Frontier, other: Frontier) -> None:
    url = f"http://{HOST}/1"
    assert frontier.stored(url) is not None
    takes(other, lets_go(frontier))
    assert other.stored(url) is None
    key = other._roster.key_of(url)
    value = other._database.visit(key)
    assert value is not None
    record, before = keys.read_visit(key, value), keys.read_before(value)
    assert (record.stored, record.digest, record.status) == (None, b"12345678".hex(), 200)
    assert (before.stored, before.digest) == (None, b"12345678")


def test_a_page_stored_elsewhere_keeps_its_digest_when_it_is_found_as_it_was(
    frontier: Frontier, other: Frontier
) -> None:
    takes(other, lets_go(frontier))
    later = NOW + 90 * 86_400
    other.lease(later, 0)  # what is due is queued
    visits = [visit for visit in other.lease(later, 100) if visit.before is not None]
    assert visits
    for visit in visits:
        assert visit.before is not None
        stored, digest = visit.before.stored, visit.before.digest
        other.settle_page(visit, 200, later, 0.0, stored, digest=digest, found=Found(Change.SAME))
        value = other._database.visit(other._roster.key_of(visit.url))
        assert value is not None
        assert keys.read_before(value).digest == b"12345678"
        assert keys.read_stored(value) is None


def test_a_diff_is_put_on_top(frontier: Frontier, other: Frontier) -> None:
    part = moving(other)
    ended(part.take_in(NUMBER, lets_go(frontier)))
    key = keys.visits_of(keys.host_prefix(keys.partition_prefix(NUMBER), HOST)) + b"p/new"
    part.apply(NUMBER, Diff(7, 1 << 30, {key: keys.excluded_visit(1, "scope")}, {}, {f"seed www.{HOST}": b""}))
    assert part.taken(NUMBER) == 7
    ended(part.finish(NUMBER))
    other.commit({})
    assert (other.counts.excluded, other.counts.urls, other.counts.number) == (1, 21, 1 << 30)
    with pytest.raises(KeyError):
        part.apply(NUMBER, Diff())  # it is no more coming


def test_what_was_met_lately_is_not_known_for_that_when_it_has_gone(frontier: Frontier) -> None:
    """It was lost with what another agent did not get, and is found again."""
    lets_go(frontier)
    part = moving(frontier)
    part.begin(NUMBER)
    ended(part.finish(NUMBER))
    frontier.add([f"http://{HOST}/1"], 1, 4)
    frontier.commit({})
    assert part.totals(NUMBER) == Totals(urls=1, queued=1, hosts=1)
    assert frontier.counts.hosts == 2


def test_nor_is_a_host_that_was_never_in_memory(tmp_path: Path) -> None:
    frontier = opened(tmp_path / "one", hosts=1)
    frontier.add([f"http://{OTHER}/"], 1, 4)
    frontier.commit({})
    for _ in range(2):
        frontier.add([f"http://{HOST}/1"], 1, 4)
        frontier.commit({})
        assert frontier.counts.hosts == 2
        lets_go(frontier)
        assert frontier.counts.hosts == 1
        part = moving(frontier)
        part.begin(NUMBER)
        ended(part.finish(NUMBER))
        frontier.commit({})
    frontier.close()


def test_a_host_with_visits_in_hand_is_not_forgotten(frontier: Frontier) -> None:
    leased(frontier)
    frontier.commit({})
    with pytest.raises(AssertionError, match="in hand"):
        frontier.forget_partition(NUMBER)


def test_caps_of_patterns_count_what_came(tmp_path: Path) -> None:
    rules = (UrlRule(pattern="/1", max_pages=100),)
    one, two = crawled(opened(tmp_path / "one", rules=rules)), opened(tmp_path / "two", rules=rules)
    before = dict(one.counts.pattern_pages)
    takes(two, lets_go(one))
    ours, theirs = one.counts.pattern_pages["/1"], two.counts.pattern_pages["/1"]
    assert theirs > 0
    assert ours + theirs == before["/1"]
    one.close()
    two.close()


def test_who_visits_again_gives_times_to_what_came_without(tmp_path: Path, other: Frontier) -> None:
    leased(other)
    assert other.counts.enrolled
    one = crawled(opened(tmp_path / "one", keep_fresh=False))
    takes(other, lets_go(one))
    assert not other.counts.enrolled
    for _ in range(5):
        other.lease(NOW, 0)
    other.commit({})
    assert sum(1 for _ in other._database.scan_due(b"")) == 10
    one.close()


def test_those_who_read_see_it_when_it_is_whole(tmp_path: Path, frontier: Frontier, other: Frontier) -> None:
    exported = lets_go(frontier)
    part = moving(other)
    ended(part.take_in(NUMBER, exported))
    reader = FrontierReader(tmp_path / "other", tmp_path / "scratch")
    assert [*reader.visits(), *reader.hosts(), *reader.outcomes()] == []
    ended(part.finish(NUMBER))
    other.commit({})
    reader.refresh()
    assert len(list(reader.visits(State.FETCHED))) == 10
    reader.close()


# -- crashes -----------------------------------------------------------------------------------------------------------


def test_a_part_that_came_goes_however_often_that_is_broken_off(
    tmp_path: Path, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "SIZE", 200)
    exported = lets_go(frontier)
    other = opened(tmp_path / "third")
    other.add([f"http://{OTHER}/x"], 1, 4)
    other.commit({})
    before, count = everything(other), counted(other)
    coming = moving(other).take_in(NUMBER, exported[: len(exported) // 2])
    with pytest.raises(DiffError, match="cut off"):
        ended(coming)
    for _ in range(3):
        other.close()
        other = opened(tmp_path / "third")
        assert moving(other).leftovers() == [NUMBER]
        steps = iter(moving(other).drop(NUMBER))
        next(steps)
        del steps
    other.close()
    other = opened(tmp_path / "third")
    ended(moving(other).drop(NUMBER))
    other.commit({})
    assert everything(other) == before
    assert counted(other) == count
    assert moving(other).leftovers() == []
    takes(other, exported)
    assert other.counts.urls == 21
    other.close()


# -- pieces that mean harm ---------------------------------------------------------------------------------------------


def refused(other: Frontier, exported: Iterable[bytes], words: str = "") -> None:
    before, count = everything(other), counted(other)
    with pytest.raises(DiffError, match=words):
        takes(other, exported)
    ended(moving(other).drop(NUMBER))
    other.commit({})
    assert everything(other) == before
    assert counted(other) == count


def piece_of(content: object, kind: bytes = b"r", number: int = 1) -> bytes:
    return headed(zstd.compress(msgspec.msgpack.encode(content)), kind, number)


def headed(packed: bytes, kind: bytes = b"r", number: int = 1) -> bytes:
    return pieces._HEAD.pack(b"GP\x01", kind, number, crc32(packed)) + packed


def test_what_is_not_whole_is_refused(frontier: Frontier, other: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "SIZE", 300)
    exported = lets_go(frontier)
    assert len(exported) > 5
    refused(other, [], "cut off")
    refused(other, exported[:-1], "cut off")
    refused(other, exported[1:], "missing")
    refused(other, [*exported[:2], *exported[3:]], "missing")
    refused(other, [*exported[:2], exported[1], *exported[2:]], "twice")
    refused(other, [*exported, exported[-1]], "twice")
    refused(other, [*exported[:-2], piece_of([0, 0, 0], b"e", len(exported) - 2)], "not all")
    takes(other, exported)


def test_what_is_something_else_is_refused(frontier: Frontier, other: Frontier) -> None:
    header, records, end = lets_go(frontier)
    foreign = moving(frontier).export(partition_of(OTHER, PARTITIONS))
    refused(other, list(foreign), "this is partition")
    refused(other, [header, b"GP\x02" + records[3:], end], "version 2")
    refused(other, [header, b"\x1f\x8b\x08" + records[3:], end], "none")
    packed = records[pieces._HEAD.size :]
    refused(other, [header, records[:-1], end], "damaged")
    refused(other, [header, headed(packed[:-1]), end], "cut off")
    refused(other, [header, headed(packed + b"\0"), end], "too much")
    refused(other, [header, headed(b"no zstd"), end], "unpacked")
    refused(other, [header, b"", end], "0 bytes")
    refused(other, [header, records + bytes(5 << 20), end], "bytes")
    refused(other, [header, piece_of(Records({}, {}, {"long": bytes(5 << 20)})), end], "too much")
    refused(other, [header, piece_of(Records({}, {}, {"counts": b""})), end], "not about")
    refused(other, [header, piece_of(Records({}, {}, {f"seed {OTHER}": b""})), end], "not about")
    refused(other, [header, piece_of(Records({keys.META + b"counts": b"\0\0"})), end], "none of a visit")
    refused(other, [header, piece_of(Records({}, {keys.INDEX + b"a\0a": b""})), end], "none of a host")
    refused(other, [header, piece_of([1, 2]), end], "cannot be read")
    refused(other, [piece_of(Header(NUMBER, 1 << 47), b"h", 0), records, end], "numbers")


def test_bits_that_flip_are_found(frontier: Frontier) -> None:
    chance = random.Random(1)
    exported = lets_go(frontier)
    for _ in range(300):
        which = chance.randrange(3)
        flipped = bytearray(exported[which])
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        reader = pieces.PieceReader(NUMBER)
        for piece in exported[:which]:
            reader.feed(piece)
        with pytest.raises(DiffError):
            reader.feed(bytes(flipped))


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_pieces_are_found_again_wherever_they_were_cut(size: int) -> None:
    pieces = [b"first", b"", b"x" * 500, b"last"]
    kept = b"".join(map(framed, pieces))
    frames = Frames()
    cuts = [kept[at : at + size] for at in range(0, len(kept), size)]
    assert [piece for cut in cuts for piece in frames.feed(cut)] == pieces
    with pytest.raises(DiffError):
        list(Frames().feed(b"\xff" * 8))


def test_by_which_rules_a_partition_was_judged_goes_with_it(frontier: Frontier, other: Frontier) -> None:
    frontier.review.rules_are({"exclude": 1, "robots": 1})
    assert frontier.refuse(f"http://{HOST}/old", Exclusion.EXCLUDE)
    assert frontier.refuse(f"http://{HOST}/secret", Reason.ROBOTS)
    frontier.commit({})
    takes(other, lets_go(frontier))
    assert frontier.meta(f"judged {NUMBER}") is None
    other.review.rules_are({"exclude": 2, "robots": 1})
    assert other.review.due == {keys.partition_prefix(NUMBER): {"exclude": -1}}
    assert not other.exhausted
    other.review.rules_are({"exclude": 3, "robots": 3}, stricter={"exclude", "robots"})
    assert other.review.due == {keys.partition_prefix(NUMBER): {"exclude": -1}}, "what was due stays due"
    other.review.rules_are({"exclude": 2, "robots": 1}, stricter={"robots"})
    other.commit({})  # killed here, it is due to the next run
    excluded = other.counts.excluded
    assert [step[1:] for step in other.review.rejudge_due()] == [(1, 1)]
    assert other.counts.excluded == excluded - 1
    other.commit({})
    other.review.rules_are({"exclude": 2, "robots": 1})
    assert not other.review.due
