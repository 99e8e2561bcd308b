"""Japanese pages that mix ISO-2022-JP, EUC-JP, Shift_JIS and UTF-8: each piece of text is decoded by itself (N11).

Such pages are put together on the server from parts that were written in different decades. A piece is what stands
between tags and line ends; none of the encodings has `<`, `>` or a line end inside a character, but for ISO-2022-JP,
whose runs are cut out first by the escape sequences around them.
"""

from __future__ import annotations

import re
from typing import Final

from gossamer.parse.decoders import UNKNOWN, decode_as

ENCODINGS: Final = frozenset(("iso-2022-jp", "euc-jp", "shift_jis"))
_CANDIDATES: Final = ("euc-jp", "shift_jis", "utf-8")

escape_in = re.compile(rb"\x1b(?:\$[@B]|\([JI])").search
_closed_in = re.compile(rb"\x1b\([BJ]").search
# Runs of kana are as good as a declaration: no other encoding makes sense of them.
_euc_kana_in = re.compile(rb"(?:\xa4[\xa1-\xf3]|\xa5[\xa1-\xf6]){3}").search
_euc_kana = re.compile(rb"(?:\xa4[\xa1-\xf3]|\xa5[\xa1-\xf6]){2}")
_sjis_kana = re.compile(rb"(?:\x82[\x9f-\xf1]|\x83[\x40-\x96]){2}")
_FEW: Final = 2
_kana_in = re.compile("[ぁ-ヺ]{2}").search

_RUN: Final = re.compile(rb"(\x1b(?:\$[@B]|\([JI])[\x1b\x20-\x7e]*+)")
# Where a piece may end: first at tags and line ends; where that makes no sense, at quotes, then at any sign.
_CUTS: Final = tuple(re.compile(cut) for cut in (rb"([<>\r\n]++)", rb"([\"']++)", rb"([\x00-\x3f]++)"))
_JUDGED: Final = 4096
"""Bytes of a piece that are enough to judge it by; what is longer is not cut further."""
_MIXED: Final = 256 * 1024
"""Bytes of a page that are read piece by piece."""
_KANA: Final = re.compile("[ぁ-ヺー]")
_KANJI: Final = re.compile("[一-龠々〆]")
_WIDE: Final = re.compile("[　-〟！-～]")
_HALF_WIDTH: Final = re.compile("[｡-ﾟ]")
_UNLIKELY: Final = re.compile("[\x80-\xa0\ue000-\uf8ff]")


def mixed(body: bytes, name: str, text: str) -> bool:
    """Whether `body`, which is `text` in the encoding called `name`, seems to hold other encodings as well."""
    if name == "iso-2022-jp":
        return not body.isascii()
    if name == "euc-jp":
        return UNKNOWN in text or escape_in(body) is not None
    if name == "shift_jis":
        return UNKNOWN in text or escape_in(body) is not None or _euc_kana_in(body) is not None
    if name != "utf-8":
        return False
    return (UNKNOWN in text and _kana_in(text) is not None) or (b"\x1b" in body and escaped(body))


def escaped(body: bytes) -> bool:
    """Whether the body goes over to Japanese by an escape sequence, and back."""
    opened = escape_in(body)
    return opened is not None and _closed_in(body, opened.end()) is not None


def guess(body: bytes) -> str | None:
    """The Japanese encoding that has the most kana in the body, if there are any."""
    euc, sjis = _kana_of(body)
    if max(euc, sjis) < _FEW:
        return None
    return "euc-jp" if euc > sjis else "shift_jis"


def two_in(body: bytes) -> bool:
    """Whether there are kana of both EUC-JP and Shift_JIS, which no text in one encoding has."""
    return min(_kana_of(body)) >= _FEW


def decode_pieces(body: bytes, name: str) -> str:
    current = name if name in _CANDIDATES else guess(body) or "shift_jis"
    if escape_in(body) is None and _nearly_all(whole := decode_as(body, "utf-8")):
        return whole
    # A page that is longer, and still mixed at its end, is no page.
    end = len(body) if len(body) <= _MIXED else body.rfind(b"\n", 0, _MIXED) + 1 or _MIXED
    text: list[str] = []
    for index, run in enumerate(_RUN.split(body[:end])):
        if index % 2:
            text.append(decode_as(run, "iso-2022-jp"))
        else:
            current = _read(run, current, 0, text)
    return "".join(text) + decode_as(body[end:], current)


def _kana_of(body: bytes) -> tuple[int, int]:
    return len(_euc_kana.findall(body)), len(_sjis_kana.findall(body))


def _nearly_all(text: str) -> bool:
    return 50 * text.count(UNKNOWN) <= len(text) - len(text.encode("ascii", "ignore"))


def _read(run: bytes, current: str, level: int, text: list[str]) -> str:
    """Adds the likeliest readings of the pieces of a run; gives the encoding of the last one."""
    for piece in _CUTS[level].split(run):
        if piece.isascii():
            text.append(piece.decode("ascii"))
            continue
        name, decoded = _best(piece, current)
        if (
            level + 1 < len(_CUTS)
            and len(piece) <= _JUDGED
            and (UNKNOWN in decoded or (level == 0 and _HALF_WIDTH.search(decoded)))
        ):
            current = _read(piece, current, level + 1, text)
        else:
            current = name
            text.append(decoded)
    return current


def _best(piece: bytes, current: str) -> tuple[str, str]:
    """The likeliest reading of a piece; the encoding of the piece before it wins a tie."""
    names = (current, *(name for name in _CANDIDATES if name != current))
    readings = [(name, decode_as(piece[:_JUDGED], name)) for name in names]
    name, decoded = max(readings, key=lambda reading: _likelihood(*reading))
    return name, decoded if len(piece) <= _JUDGED else decode_as(piece, name)


def _likelihood(name: str, text: str) -> int:
    half_width = len(_HALF_WIDTH.findall(text))
    likely = (
        3 * len(_KANA.findall(text))
        + 2 * len(_KANJI.findall(text))
        + len(_WIDE.findall(text))
        - 2 * len(_UNLIKELY.findall(text))
        - 8 * text.count(UNKNOWN)
        # In EUC-JP they take two bytes each, which means little else; in Shift_JIS they are what all else looks like.
        + (2 if name == "euc-jp" else -2) * half_width
    )
    # Few bytes pass for UTF-8 that are not.
    return 2 * likely if name == "utf-8" else likely
