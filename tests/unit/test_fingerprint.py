"""Fingerprints of pages: near for pages that say nearly the same, far for others."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from gossamer.parse.fingerprint import content_keys, fingerprint, majority, outline, shows_nothing
from gossamer.rules.yields import NEAR, is_near

WORDS = ["".join(random.Random(number).choices("abcdefghijklmnop", k=7)) for number in range(2000)]


def page(words: list[str], title: str = "a page") -> bytes:
    return f"<html><head><title>{title}</title></head><body><p>{' '.join(words)}</p></body></html>".encode()


def test_one_word_of_many_makes_a_near_page() -> None:
    words = WORDS[:800]
    changed = [*words[:400], "other", *words[401:]]
    assert is_near(fingerprint(page(words)), fingerprint(page(changed)))


def test_other_words_make_a_far_page() -> None:
    marks = [fingerprint(page(WORDS[start : start + 200])) for start in range(0, 2000, 200)]
    distances = [(one ^ other).bit_count() for one in marks for other in marks if one != other]
    assert len(set(marks)) == len(marks)
    assert min(distances) > 2 * NEAR


def test_what_is_no_text_says_nothing() -> None:
    plain = b"<p>some words that <b>stand</b> here</p>"
    dressed = (
        b"<!-- a - b --><STYLE>p > b {color: red}</STYLE><script>if (a < b) x('</p>')</script>"
        b'<p class="x" title="y">some words that <i>stand</i> here</p>'
    )
    assert fingerprint(plain) == fingerprint(dressed) != 0
    assert fingerprint(b"<p></p>") == fingerprint(b"") == fingerprint(b"<p>far too few words") == 0


def test_addresses_are_no_words() -> None:
    link = b'This site is being built. <a href="//%b.test/">//%b.test/</a>'
    assert fingerprint(link % (b"one", b"one")) == fingerprint(link % (b"two", b"two")) != 0


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=70))
def test_the_majority_of_every_bit(numbers: list[int]) -> None:
    votes = b"".join(number.to_bytes(8, "little") for number in numbers)
    expected = sum(1 << bit for bit in range(64) if 2 * sum(number >> bit & 1 for number in numbers) > len(numbers))
    if len(numbers) % 2:
        assert majority(votes) == expected
    else:  # exactly half is not more than half
        assert majority(votes) & ~expected == 0


def test_a_long_row_is_counted_right() -> None:
    numbers = [xxh3_64_intdigest(b"%d" % number) for number in range(8191)]
    votes = b"".join(number.to_bytes(8, "little") for number in numbers)
    expected = sum(1 << bit for bit in range(64) if sum(number >> bit & 1 for number in numbers) > 4095)
    assert majority(votes) == expected


def test_empty_months_are_near_and_others_are_not() -> None:
    month = "<h1>{0} {1}</h1><p>No events this month.</p><p>{0} {1} - the town hall of Anytown</p>"
    may, june = (fingerprint(month.format(*date).encode(), dated=True) for date in (("May", 2019), ("June", 2020)))
    assert is_near(may, june)
    assert not is_near(*(fingerprint(month.format(*date).encode()) for date in (("May", 2019), ("June", 2020))))
    busy = month.replace("No events this month.", "7 Flower market. 9 Concert of the choir. 20 Elections.")
    assert not is_near(may, fingerprint(busy.format("June", 2020).encode(), dated=True))


DAY = b"<h1>Day %d</h1> no events <a href=/>home</a>"


@pytest.mark.parametrize(
    ("one", "other", "paths"),
    [
        (DAY % 7, DAY % 8, ("/day/7", "/day/8")),
        (DAY % 7, DAY % 8, ("/day-7.html", "/day-8.html")),
        (DAY % 7, DAY % 8, ("/show?day=6", "/show?day=7")),
        (b"7", b"8", ("/7", "/8")),
        (b"Thursday, 7 May 2026: nothing", b"Monday, 1 June 2026: nothing", ("/x/1", "/x/26")),
        (b"Donnerstag, 7. Mai 2026: nichts", b"Montag, 1. Juni 2026: nichts", ("/x/1", "/x/26")),
        (b"nothing from 2026-05-07 to 2026-05-14", b"nothing from 2026-05-14 to 2026-05-21", ("/x/1", "/x/2")),
        (b"word " * 200 + b"7", b"word " * 200 + b"8", ("/day/7", "/day/8")),
        (b'<img src="/arrow.png">', b'<img src="/arrow.png">', ("/day/7", "/day/8")),
        (b"item 5e7a", b"item 9c01", ("/item/5e7a", "/item/9c01")),
        (b"at 1790000000123 ms", b"at 1790000000456 ms", ("/at/1", "/at/2")),
    ],
)
def test_short_pages_that_differ_in_numbers_of_their_urls_and_dates_have_one_outline(
    one: bytes, other: bytes, paths: tuple[str, str]
) -> None:
    urls = [f"http://a.test{path}" for path in paths]
    home = "http://a.test/"
    assert outline(one, urls[0], [home, urls[1]]) == outline(other, urls[1], [home, urls[0]]) != 0


@pytest.mark.parametrize(
    ("one", "other", "links"),
    [
        (b"a lake", b"a hill", ([], [])),
        (b"Lot 7: 250 EUR", b"Lot 8: 300 EUR", ([], [])),
        (b"Draw 7: 4 28 35 36", b"Draw 8: 4 29 35 36", ([], [])),
        (b'Photo 7 <img src="/7.jpg">', b'Photo 8 <img src="/8.jpg">', ([], [])),
        (b'<img src="/7.jpg">', b'<img src="/8.jpg">', ([], [])),
        (b"<p style='background:url(/7.jpg)'>", b"<p style='background:url(/8.jpg)'>", ([], [])),
        (b"Page 7 next", b"Page 8 next", (["/item/70", "/day/8"], ["/item/80", "/day/9"])),
        (b"Page 7 next", b"Page 8 next", (["http://b.test/"], ["http://c.test/"])),
    ],
)
def test_short_pages_that_differ_otherwise_have_not(
    one: bytes, other: bytes, links: tuple[list[str], list[str]]
) -> None:
    first, second = ([link if "//" in link else f"http://a.test{link}" for link in some] for some in links)
    assert outline(one, "http://a.test/day/7", first) != outline(other, "http://a.test/day/8", second)


def test_pages_that_are_long_or_may_say_more_in_scripts_have_no_outline() -> None:
    shell = b"<title>Our shop</title><script>show(%d)</script>"
    drawing, field = b"<svg><path d='M0 %d'/></svg>", b"<input value=%d>"
    long, address = b"word " * 300, b"<h1>http://a.test/7</h1>"
    for body in (shell % 7, drawing % 7, field % 7, b"", address, long, b"x y z" + b" " * 70_000):
        assert outline(body, "http://a.test/7", []) == 0


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'<meta http-equiv="refresh" content="0; url=/next"><title></title>', True),
        (b'<a href="/next"></a><!-- no words --><script_of_no_kind>', False),
        (b"One moment, please.", False),
        (b'<img src="/slide/7.jpg">', False),
        (b"<svg><path d='M0 0'/></svg>", False),
        (b"<title></title>" + b" " * 3000, False),
    ],
)
def test_pages_that_show_nothing(body: bytes, expected: bool) -> None:
    assert shows_nothing(body) is expected


@given(st.binary(max_size=300), st.integers(0, 10**30))
def test_no_bytes_raise(body: bytes, number: int) -> None:
    assert 0 <= fingerprint(body) < 1 << 64
    assert 0 <= outline(body + b"%d" % number, f"http://a.test/{number}", [f"http://a.test/{number + 1}"]) < 1 << 64


def test_aliases_have_a_key_in_common() -> None:
    body = b'<a href="http://%b/next">more at %b</a>'
    one, other = (content_keys(body % (name, name), name.decode()) for name in (b"a.test", b"www.a.test"))
    assert set(one) & set(other)
    named = content_keys(b"seen at a.test", "a.test")
    assert set(named) & set(content_keys(b"seen at a.test", "mirror.test"))
    assert not set(content_keys(b"one", "a.test")) & set(content_keys(b"two", "a.test"))
    assert not set(content_keys(b"bat", "a")) & set(content_keys(b"bt", "a"))
