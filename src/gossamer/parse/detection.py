"""Which encoding bytes are in when nobody says: by their own structure, then by the letters they would make.

chardetng, the detector of Firefox, knows the legacy encodings of the web. What it leaves out is found here: UTF-16,
UTF-8 with a few broken characters, the encodings of old Macintoshes, Japanese mixtures.
"""

from __future__ import annotations

import re
from typing import Final

from chardetng_py import EncodingDetector

from gossamer.parse import japanese
from gossamer.parse.decoders import UNKNOWN, decode_as
from gossamer.parse.labels import encoding_of
from gossamer.parse.oddities import oddities

_ENOUGH: Final = 6
"""Bytes beyond ASCII below which statistics mean nothing."""
_REACH: Final = 256 * 1024
_SAMPLE: Final = 8 * 1024
"""More text does not make the detector surer, and it costs 50 µs a kilobyte."""
_TELLS: Final = 100
"""One oddity in so many letters tells a reading from a better one."""
_ASCII_BYTES: Final = bytes(range(128))
_high_in = re.compile(rb"[\x80-\xff]").search
_piece = re.compile(rb"[^<>]++")
_HEAD: Final = 1024
_language_in = re.compile(rb"<html\b[^>]{0,512}?\blang=[\"']?([a-z]{2})(?![a-z])", re.I).search
# Where the code of a language is not that of a country in which it is written; English says nothing.
_DOMAINS: Final[dict[bytes, bytes | None]] = {
    b"en": None, b"zh": None, b"ja": b"jp", b"ko": b"kr", b"cs": b"cz", b"sl": b"si", b"el": b"gr", b"da": b"dk",
    b"sv": b"se", b"et": b"ee", b"uk": b"ua", b"be": b"by", b"he": b"il", b"iw": b"il", b"ar": b"eg", b"fa": b"ir",
    b"vi": b"vn", b"ca": b"es", b"eu": b"es", b"gl": b"es", b"nb": b"no", b"nn": b"no", b"sr": b"rs", b"ga": b"ie",
    b"ka": None, b"hi": None, b"sq": b"al", b"bs": b"ba", b"hy": None, b"ms": b"my", b"la": None, b"eo": None,
}  # fmt: skip
# The detector's names that the Encoding Standard does not know as labels.
_DETECTED: Final = {"cp874": "windows-874", "cp949": "euc-kr", "cp932": "shift_jis", "big5hkscs": "big5"}
_MACINTOSH: Final = ("x-mac-cyrillic", "macintosh")
# Bytes that no other text has, and those that UTF-16 has beside every letter of an alphabet.
_CONTROLS: Final = bytes((*range(9), *range(14, 27), *range(28, 32)))
_PLAUSIBLE: Final = re.compile(
    "[\t\n\r -~\xa0-\u024f\u0370-\u03ff\u0400-\u045f\u0490\u0491\u05d0-\u06ff\u0e01-\u0e5b\u1e00-\u1eff"
    "\u2010-\u2026\u3000-\u30ff\uff00-\uff60\u4e00-\u9fa5\uac00-\ud7a3]"
)


def detect(body: bytes) -> str | None:
    """The encoding that the bytes themselves show, or None when there is too little to tell."""
    if japanese.escape_in(body):
        return "iso-2022-jp"
    wide = utf_16_without_mark(body[:4096])
    if wide is not None:
        return wide
    if body.isascii():
        return None
    if is_utf_8(body):
        return "utf-8"
    sample = telling(body)
    if beyond_ascii(sample) < _ENOUGH:
        return None
    if nearly_utf_8(sample):
        return "utf-8"
    if japanese.two_in(sample):
        return japanese.guess(sample)
    detector = EncodingDetector()
    detector.feed(sample, last=True)
    found = detector.guess(tld=_domain_of(language_of(body)), allow_utf8=False)
    name = _DETECTED.get(found) or encoding_of(found) or encoding_of(found.replace("_", "-"))
    return _other_than(name, sample) if name is not None else japanese.guess(sample)


def language_of(body: bytes) -> bytes:
    """The language that the page says it is in, two letters."""
    found = _language_in(body[:_HEAD])
    return b"" if found is None else found[1].lower()


def _domain_of(language: bytes) -> bytes | None:
    """The domain in which most pages are in that language: the detector knows only domains."""
    return _DOMAINS.get(language, language or None)


def telling(body: bytes, most: int = _SAMPLE) -> bytes:
    """The first pieces of a page, between tags or inside of one, that are not all ASCII; `most` bytes of them."""
    first = _high_in(body)
    if first is None:
        return b""
    start = max(0, first.start() - 256)
    pieces, size = [], 0
    for found in _piece.finditer(body, start, start + _REACH):
        piece = found[0]
        if not piece.isascii():
            pieces.append(piece[: most - size])
            size += len(piece)
            if size >= most:
                break
    return b"\n".join(pieces)


def beyond_ascii(data: bytes) -> int:
    return len(data.translate(None, _ASCII_BYTES))


def is_utf_8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body that was cut off may end inside a character.
        return error.reason == "unexpected end of data" and error.start > len(body) - 4 and error.start > 64
    return True


def broken_share(text: str) -> tuple[int, int]:
    """How many characters could not be read, and how many beyond ASCII could."""
    bad = text.count(UNKNOWN)
    return bad, len(text) - len(text.encode("ascii", "ignore")) - bad


def nearly_utf_8(sample: bytes) -> bool:
    """Text in no other encoding passes for characters of several bytes, again and again."""
    bad, good = broken_share(sample.decode("utf-8", "replace"))
    return good > 4 and bad * 4 < good


def _other_than(name: str, sample: bytes) -> str:
    """What the detector does not know of, where what it found makes less sense."""
    odd, high = oddities(decode_as(sample, name)), beyond_ascii(sample)
    if odd * 5 > high and (mixed := japanese.guess(sample)) is not None:
        return mixed
    if odd * _TELLS < high:
        return name
    # Of the letters of the two encodings of Cyrillic only one, and the capitals, differ: a few oddities tell.
    readings = {other: oddities(decode_as(sample, other)) for other in _MACINTOSH}
    other = min(readings, key=lambda each: readings[each])
    return other if (odd - readings[other]) * _TELLS > high + _TELLS else name


def utf_16_without_mark(head: bytes) -> str | None:
    """Control characters are in no text, but half of UTF-16 is bytes that look like them."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls * 50 < len(head) or controls < 2:
        return None
    head = head[: len(head) & ~1]
    shares = {
        name: len(_PLAUSIBLE.findall(decode_as(head, name))) / (len(head) // 2) for name in ("utf-16le", "utf-16be")
    }
    name = max(shares, key=lambda each: shares[each])
    return name if shares[name] > 0.9 else None
