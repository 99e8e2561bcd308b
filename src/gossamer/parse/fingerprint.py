"""By what pages are known again that say the same, or nearly the same.

A fingerprint has 64 bits, of which few differ between pages that say nearly the same (simhash): every pair of
neighbouring words votes on every bit. It takes longer than finding a page's links, so it is asked for only where there
is reason to: `rules/yields.py` says where.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Final

from xxhash import xxh3_64_digest, xxh3_64_intdigest, xxh3_128_digest

from gossamer.regex import compiled_later

_KEY: Final = 12  # bytes: of a thousand million pages no two have the same by accident
_READ: Final = 64 * 1024  # bytes of a page that are looked at
_LEAST: Final = 5  # words
_BLOCKS, _BLOCK = 8, 64  # of words, from all over the page, are enough
_FEW: Final = 40  # words, each once
_SHORT: Final = 256  # words
_STUB: Final = 2048  # bytes
_NEAR: Final = (-1, 0, 1)
_LONGEST_NUMBER: Final = 20  # digits
_SHOWS_MORE: Final = (b"<script", b"<svg", b"<canvas", b"<input")
_DAYS: Final = range(1, 32)
_PUNCTUATION: Final = b".,:;()[]#!?"
_LANES: Final = (0, 16, 32, 48)

# What is no text: scripts, styles, comments, tags. Possessive, so that no page is slow.
_MARKUP: Final = compiled_later(
    rb"<(?:script(?:[^<]++|<(?!/script))*+|style(?:[^<]++|<(?!/style))*+|!--(?:[^-]++|-(?!->))*+(?:-->)?+|[^>]*+>?)",
    re.I,
)
_digits = compiled_later(r"[0-9]+")
_name = compiled_later(r"(?<![A-Za-z0-9])[A-Za-z]*+[0-9][A-Za-z0-9]*+")
_date = compiled_later(
    rb"(?:19|20)[0-9]{2}(?:-[0-9]{2})?+"
    rb"|[0-9]{1,4}([-.])[0-9]{1,2}\1[0-9]{1,4}"
    rb"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?+"
    rb"|1[6-9][0-9]{8}(?:[0-9]{3}){0,3}+"  # seconds since 1970, or thousandths and so on: of the years 2020 to 2033
)
_source = compiled_later(
    rb"""[\s"'](?:src|srcset|poster|data|background|style)\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]++)""", re.I
)
_DATES: Final = frozenset(
    """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    januar februar märz mai juni juli oktober dezember
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    lundi mardi mercredi jeudi vendredi samedi dimanche
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lunes martes miércoles jueves viernes sábado domingo
    """.encode().split()
)


def names_here(body: bytes, host: bytes) -> bool:
    """Whether the name of a host, which has a dot in it, stands in a page."""
    return b"." in host and host in body


def words_here(page: bytes, blocks: int, block: int) -> list[bytes]:
    """Words of a page in lower case, in whatever encoding they are, without its markup: all, or of more than there is
    room for in so many blocks of so many words, blocks from all over the page. They are neighbours, so that a word more
    or less moves each block a little and no more. What has a slash in it is an address and no word.
    """
    words = _MARKUP.sub(b" ", page).lower().split()
    if len(words) > blocks * block:
        step = (len(words) - block) / (blocks - 1)
        starts = [int(step * number) for number in range(blocks)]
        words = [word for start in starts for word in words[start : start + block]]
    return [word for word in words if b"/" not in word]


def majority_here(votes: bytes) -> int:
    """The bits that more than half of some numbers of 64 bits have, which stand one after the other, low bytes first.

    All are added at once: every 16th bit is taken out, so that each has 16 bits to be counted in, and the upper half of
    the numbers is laid over the lower one until one is left.
    """
    count = len(votes) // 8
    if not count:
        return 0
    numbers = int.from_bytes(votes, "little")
    every_16th, folds = _plan((count - 1).bit_length())
    found, half = 0, count // 2
    for bit in range(16):
        sums = numbers >> bit & every_16th
        for shift, lower in folds:
            sums = (sums >> shift) + (sums & lower)
        for lane in _LANES:
            if sums >> lane & 0xFFFF > half:
                found |= 1 << lane + bit
    return found


@cache
def _plan(doublings: int) -> tuple[int, list[tuple[int, int]]]:
    """For 2 ** `doublings` numbers: a mask of every 16th bit, and the shift and mask of every fold."""
    numbers = 1 << doublings
    folds = [64 * (numbers >> fold) for fold in range(1, doublings + 1)]
    return int.from_bytes(b"\1\0" * 4 * numbers, "little"), [(shift, (1 << shift) - 1) for shift in folds]


try:
    from gossamer.parse import _fingerprint

    names, words, majority = _fingerprint.names, _fingerprint.words, _fingerprint.majority
except ImportError:  # no compiler was at hand when it was installed
    names, words, majority = names_here, words_here, majority_here


def content_keys(body: bytes, host: str) -> tuple[bytes, ...]:
    """Pages that have one in common have the same body; or the same but for the names of their own hosts, by which the
    pages of two aliases of a host differ.
    """
    name = host.encode()
    if names(body, name):
        return xxh3_128_digest(body)[:_KEY], xxh3_128_digest(body.replace(name, b""))[:_KEY]
    return (xxh3_128_digest(body)[:_KEY],)


def fingerprint(body: bytes, dated: bool = False) -> int:
    """Of a page's words; 0 when it has too few.

    `dated`: the page is that of a month or a day. If it says little, a few words may differ, and numbers say nothing:
    pages of an empty calendar differ in the name of the month.
    """
    found = words(body[:_READ], _BLOCKS, _BLOCK)
    if len(found) < _LEAST:
        return 0
    if dated and len(few := {word for word in found if not word.strip(b".,:;()").isdigit()}) <= _FEW:
        return sum(1 << bit for bit in {xxh3_64_intdigest(word) & 63 for word in few})
    return majority(b"".join(map(xxh3_64_digest, map(b" ".join, pairwise(found)))))


def outline(body: bytes, url: str, links: list[str]) -> int:
    """Return a hash of what a short page says without dates and the numbers and ids of its URL, of the media that it
    shows, and of where it leads; 0 for a page that is not short, or has hardly a word and may say more by other means.

    Links do not count that differ from the page's own URL in numbers and ids alone: those to the next day or the page
    before.
    """
    found = words(body[:_READ], _BLOCKS, _BLOCK)
    if len(body) > _READ or not body or len(found) > _SHORT:
        return 0
    if len(found) < _LEAST and any(map(body.lower().count, _SHOWS_MORE)):
        return 0
    if not found and _MARKUP.sub(b" ", body).strip():  # addresses alone, which may be what it has to say
        return 0
    found = [word.strip(_PUNCTUATION) for word in found]
    own = {name.lower().encode() for name in _name.findall(url)}
    numbers = {
        int(number) + step for number in _digits.findall(url) if len(number) <= _LONGEST_NUMBER for step in _NEAR
    }
    if any(map(_is_date, found)):
        numbers.update(_DAYS)
    said = [
        word
        for word in found
        if not (_is_date(word) or word in own or (word.isdigit() and int(word[:_LONGEST_NUMBER]) in numbers))
    ]
    form, origin = _name.sub("#", url), url[: url.index("/", 8)]
    said += [link.removeprefix(origin).encode() for link in links if _name.sub("#", link) != form]
    said += _source.findall(body)
    return xxh3_64_intdigest(b" ".join(said)) or 1


def shows_nothing(body: bytes) -> bool:
    """Return whether a short page has neither words nor anything else to look at."""
    if len(body) > _STUB or words(body, _BLOCKS, _BLOCK) or _source.search(body):
        return False
    return not any(map(body.lower().count, _SHOWS_MORE))


def _is_date(word: bytes) -> bool:
    """Return whether a word is part of a date, or a time of day."""
    return word in _DATES or _date.fullmatch(word) is not None
