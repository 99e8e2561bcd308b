"""Records, entries, headers and paths: each compiled function and its twin in Python are held to one contract."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.frontier import keys, parting
from gossamer.frontier.hosts import Origin
from gossamer.frontier.packing import (
    pack_entry,
    pack_entry_here,
    pack_page,
    pack_page_here,
    read_entry,
    read_entry_here,
)
from gossamer.frontier.parting import parted, parted_here, taken, taken_here
from gossamer.model import State
from gossamer.model.heads import validators, validators_here, value, values, values_here
from gossamer.rules.places import is_part, is_part_here, place_here, place_of
from gossamer.rules.policy import Manners

_HEAD_PIECES = [
    b"HTTP/1.1 200 OK\r\n", b"ETag", b"etag", b"Last-Modified", b"LAST-modified", b":", b" ", b"\t", b"\x0b", b'"x"',
    b"\r\n", b"\n", b"\r", b"Other: y\r\n", b"etagx: no\r\n",
]  # fmt: skip
_BYTE, _WORD, _LONG = st.integers(0, 300), st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
_VALIDATOR = st.binary(max_size=12) | st.sampled_from([b"", b"x" * 200, b"x" * 201, b"a\0b"])


@given(
    st.sampled_from(list(State)), _BYTE, _WORD, st.floats(0, 2**32 - 1), _BYTE,
    st.none() | st.tuples(_WORD, _LONG, _LONG), st.binary(max_size=20), st.integers(0, 70_000),
    st.tuples(_VALIDATOR, _VALIDATOR), st.binary(max_size=16),
)  # fmt: skip
@settings(max_examples=500)
def test_records_of_pages(
    state: State, depth: int, status: int, moment: float, tries: int, stored: tuple[int, int, int] | None,
    digest: bytes, changes: int, validators: tuple[bytes, bytes], again: bytes,
) -> None:  # fmt: skip
    asked = state, depth, status, moment, tries, stored, digest, changes, validators, again
    assert pack_page(*asked) == pack_page_here(*asked)


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": 65536}, {"status": -1}, {"stored": (65536, 0, 0)}, {"stored": (0, 2**32, 0)}, {"stored": (0, 0, -1)},
        {"moment": -1.0}, {"moment": 2.0**32},
    ],
)  # fmt: skip
@pytest.mark.parametrize("pack", [pack_page, pack_page_here])
def test_what_a_record_has_no_room_for_is_refused(pack: object, wrong: dict[str, object]) -> None:
    asked = {"status": 200, "moment": 1.0, "stored": (0, 1, 2), **wrong}
    with pytest.raises((OverflowError, struct.error)):
        pack(State.FETCHED, 1, asked["status"], asked["moment"], 1, asked["stored"], b"", 0, (b"", b""), b"")  # type: ignore[operator]


_PATH = st.text("ab/?%.0123é日", max_size=30).map(lambda text: "/" + text)


@given(_BYTE, _BYTE, st.integers(0, 511), st.sampled_from("ps"), _PATH)
@settings(max_examples=500)
def test_entries(depth: int, tries: int, hops: int, scheme: str, path: str) -> None:
    packed = pack_entry(depth, tries, hops, scheme, path)
    assert packed == pack_entry_here(depth, tries, hops, scheme, path)
    assert hash(packed) == hash(pack_entry_here(depth, tries, hops, scheme, path))
    assert read_entry(packed) == read_entry_here(packed) == (min(depth, 255), min(tries, 255), hops, scheme, path)


_NAME = st.sampled_from([b"etag", b"last-modified", b"content-type"])
_LINE = st.builds(
    lambda name, before, after, value, end: name + before + b":" + after + value + end,
    st.sampled_from([b"ETag", b"etag", b"ETAGS", b"Last-Modified", b"content-TYPE", b"x-etag", b"", b"eta"]),
    st.sampled_from([b"", b" ", b"\t "]),
    st.sampled_from([b"", b" ", b"  \t"]),
    st.text('"abc: ;/\x0b', max_size=9).map(str.encode),
    st.sampled_from([b"\r\n", b"\n", b"\r", b" \r\n", b""]),
)


@given(st.lists(_LINE, max_size=8).map(b"".join) | st.binary(max_size=60), _NAME)
@settings(max_examples=800)
def test_headers(lines: bytes, name: bytes) -> None:
    for head in (lines, b"HTTP/1.1 200 OK\r\n" + lines, b"x\n" + lines + b"\r\n\r\n"):
        assert values(head, name) == values_here(head, name)


def test_the_first_of_several_headers_counts() -> None:
    assert value(b'HTTP/1.1 200 OK\r\netag:  "a" \r\nETag: "b"\r\n\r\n', b"etag") == b'"a"'
    assert value(b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", b"etag") == b""
    assert value(b"ETag: in the first line\r\n\r\n", b"etag") == b""


@given(_PATH)
@settings(max_examples=800)
def test_places(path: str) -> None:
    assert place_of(path) == place_here(path)


@given(
    st.sampled_from(["http://a.test", "https://1920.test", "http://b.test:8080"]),
    _PATH | st.text("/19=20?x", max_size=9),
)
@settings(max_examples=800)
def test_parts(start: str, path: str) -> None:
    assert is_part(start + path) is is_part_here(start + path)


def test_long_paths() -> None:
    for length in (253, 254, 255, 256, 257, 3000):
        for path in ("/" + "a" * length, "/" + "1a" * (length // 2) + "/x?y", "/d/" + "9" * length + "?"):
            assert place_of(path) == place_here(path)


_URL = st.builds(
    "{}/{}".format,
    st.sampled_from(["http://a.test", "http://b.test:8080", "https://c.test", "https://away.test"]),
    st.text("ab/12?=é", max_size=20),
)
_GROUP = st.tuples(st.lists(_URL, max_size=5), st.integers(0, 9), st.integers(0, 9), st.integers(0, 511))
_MANNERS = Manners(1.0, 0.0, 60.0, 1, 1, 0, -1)


def origin_of(start: str) -> Origin:
    scheme, _, name = start.partition("://")
    origin = Origin(name, scheme[0], name.encode(), _MANNERS)
    origin.away = name.startswith("away")
    return origin


@given(st.lists(_GROUP, max_size=4), st.sampled_from([12, 30, 2083]), st.integers(2, 6))
@settings(max_examples=400)
def test_links_are_parted(groups: list[parting.Group], longest: int, slashes: int) -> None:
    known = {start: origin_of(start) for start in ("http://a.test", "https://away.test")}
    made: dict[str, Origin] = {}

    def find(start: str) -> Origin:
        return made.setdefault(start, origin_of(start))

    asked = groups, known, find, longest, slashes
    assert parted(*asked) == parted_here(*asked)


@given(st.lists(_GROUP, max_size=4), st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)), st.booleans())
@settings(max_examples=400)
def test_what_is_new_is_taken(groups: list[parting.Group], known: set[int], met: set[int], forms_only: bool) -> None:
    starts = {url[: url.index("/", 8)] for urls, *_ in groups for url in urls}
    origins = {start: origin_of(start) for start in sorted(starts)}
    wanted, visits, _ = parted(groups, origins, origins.__getitem__, 30, 4)
    results = []
    for function in (taken, taken_here):
        changes: dict[bytes, bytes | None] = {visits[number]: b"" for number in met if number < len(visits)}
        found: dict[tuple[Origin, int], list[str]] = {}
        stops, at = [], 0
        while at < len(visits):
            is_known = [number in known for number in range(len(visits))]
            at, twice = function(at, visits, is_known, wanted, changes, found, forms_only, keys.QUEUED, 10)
            stops.append((at, twice))
            at += 1
        results.append((stops, changes, found))
    assert results[0] == results[1]
    assert list(results[0][1]) == list(results[1][1])
    assert list(results[0][2]) == list(results[1][2])


@given(st.binary(max_size=60) | st.lists(st.sampled_from(_HEAD_PIECES), max_size=9).map(b"".join))
@settings(max_examples=400)
def test_validators(head: bytes) -> None:
    assert validators(head) == validators_here(head)


@pytest.mark.skipif(parted is parted_here, reason="THE COMPILED MODULES ARE NOT BUILT: their twins alone are tested")
def test_wrong_arguments_are_said() -> None:
    with pytest.raises(TypeError, match="pack_page"):
        pack_page(1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="pack_entry"):
        pack_entry(1)  # type: ignore[call-arg]
    with pytest.raises(OverflowError):
        pack_entry(1, 0, 512, "p", "/")
    with pytest.raises(ValueError, match="four letters"):
        read_entry("abc")
    with pytest.raises(TypeError, match="values"):
        values("text", b"name")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="place_of"):
        place_of(b"/")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is_part"):
        is_part(b"/")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="parted"):
        parted([], [], None, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a group is"):
        parted([()], {}, origin_of, 1, 1)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="taken"):
        taken(0, [b""], [], [], {}, {}, True, keys.QUEUED, 10)
    with pytest.raises(TypeError, match="seven parts"):
        taken(0, [b""], [False], [()], {}, {}, True, keys.QUEUED, 10)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="has a path"):
        parted([(["http://a.test"], 0, 0, 0)], {}, origin_of, 1, 1)


@pytest.mark.skipif(parted is parted_here, reason="THE COMPILED MODULES ARE NOT BUILT: their twins alone are tested")
def test_what_a_callback_raises_comes_through() -> None:
    def fail(_: str) -> Origin:
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        parted([(["http://a.test/"], 0, 0, 0)], {}, fail, 100, 3)
