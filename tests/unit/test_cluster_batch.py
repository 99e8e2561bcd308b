"""URLs as messages: they come out as they went in, and nothing else comes out."""

from __future__ import annotations

import os
import struct
import tracemalloc
from contextlib import suppress
from itertools import islice

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cluster.batch import LONGEST, MOST_URLS, Group, decode, encode
from gossamer.errors import BatchError
from gossamer.model.post import plain
from gossamer.model.url import normalize
from gossamer.testing import World, reachable

normal = st.builds("http{}://h{}.test/{}".format, st.sampled_from(["", "s"]), st.integers(0, 99), st.integers(0, 10**9))
several = st.lists(normal, min_size=1, max_size=20).map(tuple)
found = st.builds(Group, several, st.integers(0, 65535), st.integers(0, 9), st.integers(0, 15), st.booleans())
levels = st.builds(lambda party, rank: party << 4 | rank, st.integers(0, 14), st.integers(0, 9))
asked = st.builds(lambda urls, level: Group(urls, 0, level, asked=True), several, levels)
forms = st.builds(
    lambda urls, level, word: Group(
        tuple(f"{url}#__wb_method=POST&q={word}" for url in urls), 0, level, asked=True, post=True
    ),
    several, levels, st.integers(0, 99),
)  # fmt: skip
ages = st.builds(lambda seconds, times: seconds << times, st.integers(0x8000, 0xFFFF), st.integers(0, 15))
again = st.builds(
    lambda urls, level, age: Group(urls, 0, level, asked=True, max_age=age),
    several, levels, st.one_of(st.integers(0, 0xFFFF), ages),
)  # fmt: skip
groups = st.one_of(found, asked, forms, again)


def post(body: bytes) -> bytes:
    return b"http://a.test/#__wb_method=POST" + body


def packed(raw: bytes, start: bytes = b"GU\x01") -> bytes:
    return start + zstd.compress(raw)


def group(text: bytes, depth: int = 1, priority: int = 4, hops: int = 0, suspect: int = 0, length: int = -1) -> bytes:
    return struct.pack(">HBBBI", depth, priority, hops, suspect, len(text) if length < 0 else length) + text


@given(st.lists(groups, max_size=6))
def test_they_come_out_as_they_went_in(sent: list[Group]) -> None:
    messages = encode(sent)
    assert len(messages) == (1 if sent else 0)
    assert [each for message in messages for each in decode(message)] == sent


def test_many_are_split_and_none_is_lost() -> None:
    many = tuple(f"http://h{each % 977}.test/{os.urandom(300).hex()}" for each in range(5000))
    few = ("http://a.test/", "http://b.test/")
    messages = encode([Group(few, 0, 1), Group(many, 3, 4, 2, True), Group(few, 5, 6)])
    assert len(messages) == 4
    assert all(len(message) <= LONGEST for message in messages)
    found = [each for message in messages for each in decode(message)]
    assert found[0] == Group(few, 0, 1)
    assert found[-1] == Group(few, 5, 6)
    assert tuple(url for each in found[1:-1] for url in each.urls) == many
    assert {(each.depth, each.priority, each.hops, each.suspect) for each in found[1:-1]} == {(3, 4, 2, True)}


def test_there_are_not_more_in_a_message_than_are_read() -> None:
    short = tuple(f"http://a/{each}" for each in range(2 * MOST_URLS + 5))
    messages = encode([Group(short[:7], 1, 4), Group(short[7:], 2, 4)])
    found = [decode(message) for message in messages]
    assert [sum(len(each.urls) for each in message) for message in found] == [7, MOST_URLS, MOST_URLS - 2]
    assert tuple(url for message in found for each in message for url in each.urls) == short


def test_numbers_that_do_not_fit_are_made_to() -> None:
    (message,) = encode([Group(("http://a.test/",), 1 << 20, 17, 99), Group(("http://a.test/",), 0, -1)])
    assert decode(message) == [Group(("http://a.test/",), 65535, 9, 15), Group(("http://a.test/",), 0, 0)]


@given(st.integers(0, (1 << 31) - 1))
def test_an_age_is_not_more_than_was_asked_for_and_hardly_less(age: int) -> None:
    (message,) = encode([Group(("http://a.test/",), 0, 4, asked=True, max_age=age)])
    (found,) = decode(message)
    assert found.max_age is not None
    assert (1 - 2**-15) * age <= found.max_age <= age


def test_a_url_of_a_real_crawl_takes_few_bytes() -> None:
    """Of the simulated web, in the order in which they are found."""
    world = World(hosts=50, pages=40, seed=3)
    found = tuple(islice(reachable(world, [world.url(0)]), 1000))
    (message,) = encode([Group(found, 1, 4)])
    assert len(message) < 0.5 * sum(map(len, found))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"G",
        b"GU",
        b"GU\x01",
        b"GU\x02" + packed(group(b"http://a.test/"))[3:],
        b"XX\x01" + packed(group(b"http://a.test/"))[3:],
        packed(group(b"http://a.test/"))[:-3],
        packed(group(b"http://a.test/")) + b"more",
        packed(group(b"http://a.test/")) + zstd.compress(b"another frame"),
        packed(b"\x00"),
        packed(group(b"http://a.test/", length=99)),
        packed(group(b"http://a.test/", length=2**32 - 1)),
        packed(group(b"http://a.test/", priority=10)),
        packed(group(b"http://a.test/", hops=16)),
        packed(group(b"http://a.test/", suspect=8)),
        packed(group(b"http://a.test/", depth=0, priority=0x14)),  # a party's, and nobody has asked
        packed(group(b"http://a.test/", depth=0, priority=0xF4, suspect=8)),
        packed(group(b"http://a.test/", depth=0, priority=0x1A, suspect=8)),
        packed(group(b"http://a.test/", depth=1, suspect=8)),
        packed(group(b"http://a.test/", depth=0, suspect=9)),
        packed(group(b"http://a.test/", depth=0, suspect=10)),
        packed(group(b"http://a.test/", depth=0, suspect=32)),
        packed(group(b"http://a.test/", depth=0, suspect=24)),  # a form without one
        packed(group(post(b"&q=1"), depth=0, suspect=56)),  # a form is sent once
        packed(group(post(b"&q=1"), depth=0, suspect=16)),
        packed(group(post(b"&q=1"), depth=0, suspect=8)),
        packed(group(post(b"&q=1"), depth=0)),
        packed(group(post(b"q=1"), depth=0, suspect=24)),
        packed(group(post(b"&q=\x01"), depth=0, suspect=24)),
        packed(group(post(b"&q=1#x"), depth=0, suspect=24)),
        packed(group(post(b"&q=" + b"a" * 1900), depth=0, suspect=24)),
        packed(group(b"http://A.test/#__wb_method=POST&q=1", depth=0, suspect=24)),
        packed(group(b"")),
        packed(group(b"http://a.test/\n")),
        packed(group(b"http://a.test/\n\nhttp://b.test/")),
        packed(group(b"http://A.test/")),
        packed(group(b"http://a.test")),
        packed(group(b"http://a.test/#x")),
        packed(group(b"http://u:p@a.test/")),
        packed(group(b"ftp://a.test/")),
        packed(group(b"javascript:alert(1)")),
        packed(group("http://ä.test/".encode())),
        packed(group(b"http://a.test/\xff")),
        packed(group(b"http://a.test/\x00")),
        packed(group(b"http://a.test/" + b"a" * 3000)),
        packed(group(b"http://a.test/\n" * (MOST_URLS + 1) + b"http://a.test/")),
        packed(bytes(100 << 20)),  # a bomb: a hundred megabytes in ten kilobytes
        b"GU\x01" + zstd.compress(bytes(100), options={zstd.CompressionParameter.window_log: 27}) + bytes(2_000_000),
    ],
    ids=range(48),
)
def test_what_means_harm_is_refused(message: bytes) -> None:
    with pytest.raises(BatchError):
        decode(message)


def test_a_bomb_is_not_unpacked_first() -> None:
    message = packed(bytes(100 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(BatchError, match="too much comes out"):
            decode(message)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise_anything_else(data: bytes, compressed: bool) -> None:
    with suppress(BatchError):
        decode(packed(data) if compressed else b"GU\x01" + data)


@given(st.lists(groups, min_size=1, max_size=3), st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_gives_urls_in_their_normal_form(sent: list[Group], at: int, by: int) -> None:
    message = bytearray(encode(sent)[0])
    message[at % len(message)] ^= by
    try:
        found = decode(bytes(message))
    except BatchError:
        return
    for each in found:
        urls = [plain(url) for url in each.urls] if each.post else each.urls
        assert all(normalize(url) == url for url in urls)
