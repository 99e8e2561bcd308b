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
# Runs of kana are as good as a declaration: no other encoding makes sense of them.
_euc_kana_in = re.compile(rb"(?:\xa4[\xa1-\xf3]|\xa5[\xa1-\xf6]){3}").search
_sjis_kana_in = re.compile(rb"(?:\x82[\x9f-\xf1]|\x83[\x40-\x96]){3}").search
_kana_in = re.compile("[ぁ-ヺ]{2}").search

_RUN: Final = re.compile(rb"(\x1b(?:\$[@B]|\([JI])[\x1b\x20-\x7e]*+)")
_CUT: Final = re.compile(rb"([<>\r\n])")
_KANA: Final = re.compile("[ぁ-ヺー]")
_KANJI: Final = re.compile("[一-龠々〆]")
_WIDE: Final = re.compile("[　-〟！-～]")
_UNLIKELY: Final = re.compile("[ｦ-ﾟ\x80-\xa0\ue000-\uf8ff]")


def mixed(body: bytes, name: str, text: str) -> bool:
    """Whether `body`, which is `text` in the encoding called `name`, seems to hold other encodings as well."""
    if name == "iso-2022-jp":
        return not body.isascii()
    if name == "euc-jp":
        return UNKNOWN in text or escape_in(body) is not None
    if name == "shift_jis":
        return UNKNOWN in text or escape_in(body) is not None or _euc_kana_in(body) is not None
    return name == "utf-8" and UNKNOWN in text and _kana_in(text) is not None


def guess(body: bytes) -> str | None:
    """The Japanese encoding whose kana come first in the body, if there are any."""
    found = [
        (kana.start(), name)
        for name, kana in (("euc-jp", _euc_kana_in(body)), ("shift_jis", _sjis_kana_in(body)))
        if kana
    ]
    return min(found)[1] if found else None


def decode_pieces(body: bytes, name: str) -> str:
    text = []
    current = name if name in _CANDIDATES else guess(body) or "shift_jis"
    for index, run in enumerate(_RUN.split(body)):
        if index % 2:
            text.append(decode_as(run, "iso-2022-jp"))
            continue
        for piece in _CUT.split(run):
            if piece.isascii():
                text.append(piece.decode("ascii"))
            else:
                current, decoded = _best(piece, current)
                text.append(decoded)
    return "".join(text)


def _best(piece: bytes, current: str) -> tuple[str, str]:
    """The likeliest reading of a piece; the encoding of the piece before it wins a tie."""
    readings = [(name, decode_as(piece, name)) for name in (current, *_CANDIDATES)]
    return max(readings, key=lambda reading: _likelihood(reading[1]))


def _likelihood(text: str) -> int:
    return (
        3 * len(_KANA.findall(text))
        + 2 * len(_KANJI.findall(text))
        + len(_WIDE.findall(text))
        - 2 * len(_UNLIKELY.findall(text))
        - 8 * text.count(UNKNOWN)
    )
