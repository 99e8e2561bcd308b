"""Fingerprints of pages: near for pages that say nearly the same, far for others."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from gossamer.parse.fingerprint import content_keys, fingerprint, majority
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


@given(st.binary(max_size=300))
def test_no_bytes_raise(body: bytes) -> None:
    assert 0 <= fingerprint(body) < 1 << 64


def test_aliases_have_a_key_in_common() -> None:
    body = b'<a href="http://%b/next">more at %b</a>'
    one, other = (content_keys(body % (name, name), name.decode()) for name in (b"a.test", b"www.a.test"))
    assert set(one) & set(other)
    named = content_keys(b"seen at a.test", "a.test")
    assert set(named) & set(content_keys(b"seen at a.test", "mirror.test"))
    assert not set(content_keys(b"one", "a.test")) & set(content_keys(b"two", "a.test"))
    assert not set(content_keys(b"bat", "a")) & set(content_keys(b"bt", "a"))
