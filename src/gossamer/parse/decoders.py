"""Bytes of a named encoding to text, as the Encoding Standard defines it: Python's codecs, and what they lack.

No bytes raise: what means nothing becomes U+FFFD. In every encoding but utf-16, iso-2022-jp and replacement the bytes
that make markup (`<`, `>`, quotes, `=`, `&`, `/`, blanks) always stay what they are in ASCII, even behind half a
character, so that no broken character can hide one; the link scanner builds on that.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from functools import cache
from typing import Final

from gossamer.parse import repairs

UNKNOWN: Final = "\ufffd"

# Python's name where it is not the standard's.
_CODEC: Final = {
    "ibm866": "cp866",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
_LONG: Final = 256 * 1024
_MANY: Final = 50_000
_ESCAPE: Final = re.compile(rb"\x1b(\$[@B]|\([BJI])")
_HIGH: Final = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte for byte in range(256))
_ROMAN: Final = {0x5C: 0xA5, 0x7E: 0x203E}
_KANA: Final = {byte: 0xFF40 + byte for byte in range(0x21, 0x60)}
_EUC_JP_FIXES: Final = str.maketrans("〜‖−¢£¬", "～∥－￠￡￢")
_EUC_JP_WRONG: Final = re.compile("[〜‖−¢£¬]")
# Python's tables are those of GB 18030-2000; these are letters since.
_GB_FIXES: Final = str.maketrans(
    "\ue7c7\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\u1e3f\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
)
_GB_WRONG: Final = re.compile("[\ue7c7\ue78d-\ue796\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864]")
_BIG5_FIXES: Final = str.maketrans("‾•♁☉､∼¢£¥", "¯‧⊕⊙﹑～￠￡￥")
_BIG5_WRONG: Final = re.compile("[‾•♁☉､∼¢£¥]")
_SHIFT_JIS_WRONG: Final = re.compile("[\uf8f0-\uf8f3]")


def decode_as(body: bytes, name: str) -> str:
    """The text of `body` in the encoding called `name` (one of `labels.NAMES`), without a byte order mark."""
    return _decoder(name)(body)


def codec_of(name: str) -> str:
    """The Python codec to encode with, for the queries of URLs; pages in utf-16 send theirs in UTF-8."""
    if name in ("utf-16le", "utf-16be", "replacement"):
        return "utf-8"
    if name == "x-user-defined":
        return "ascii"
    return _CODEC.get(name) or name.replace("windows-", "cp")


@cache
def _decoder(name: str) -> Callable[[bytes], str]:
    special = _SPECIAL.get(name)
    if special is not None:
        return special
    table = _single_byte_table(name)
    return lambda body: codecs.charmap_decode(body, "replace", table)[0]


def _single_byte_table(name: str) -> str:
    codec = codec_of(name)
    table = []
    for byte in range(256):
        char = bytes([byte]).decode(codec, "replace")
        # The standard keeps the C1 controls where a code page has no letter; the rest is undefined.
        undefined = chr(byte) if byte < 0xA0 else "\ufffe"
        table.append(undefined if char == UNKNOWN else char)
    if name == "koi8-u":
        table[0xAE], table[0xBE] = "ў", "Ў"
    return "".join(table)


def _utf_8(body: bytes) -> str:
    return body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _utf_16_le(body: bytes) -> str:
    return body.removeprefix(codecs.BOM_UTF16_LE).decode("utf-16-le", "replace")


def _utf_16_be(body: bytes) -> str:
    return body.removeprefix(codecs.BOM_UTF16_BE).decode("utf-16-be", "replace")


def _repaired(body: bytes, codec: str, repair: str) -> str:
    """Decoded with our repairs, unless a long body is full of errors: a call for each would take seconds."""
    if len(body) > _LONG:
        text = body.decode(codec, "replace")
        if not 0 < text.count(UNKNOWN) < _MANY:
            return text
    return body.decode(codec, repair)


def _shift_jis(body: bytes) -> str:
    return _SHIFT_JIS_WRONG.sub(UNKNOWN, _repaired(body, "cp932", repairs.SHIFT_JIS))


def _euc_jp(body: bytes) -> str:
    # A tilde of JIS X 0212 that Python would make an ASCII one; 0x8f is always the first byte of a character.
    text = _repaired(body.replace(b"\x8f\xa2\xb7", b"\xa1\xc1"), "euc-jp", repairs.EUC_JP)
    return text.translate(_EUC_JP_FIXES) if _EUC_JP_WRONG.search(text) else text


def _euc_kr(body: bytes) -> str:
    return _repaired(body, "cp949", repairs.EUC_KR)


def _big5(body: bytes) -> str:
    text = _repaired(body, "big5hkscs", repairs.BIG5)
    return text.translate(_BIG5_FIXES) if _BIG5_WRONG.search(text) else text


def _gb18030(body: bytes) -> str:
    text = _repaired(body, "gb18030", repairs.GB18030)
    return text.translate(_GB_FIXES) if _GB_WRONG.search(text) else text


def _iso_2022_jp(body: bytes) -> str:
    parts = _ESCAPE.split(body)
    text = [_iso_2022_run(b"(B", parts[0])]
    text += map(_iso_2022_run, parts[1::2], parts[2::2])
    return "".join(text)


def _iso_2022_run(escape: bytes, run: bytes) -> str:
    if escape[:1] == b"$":
        return _euc_jp(run.translate(_HIGH))
    text = run.decode("ascii", "replace").replace("\x1b", UNKNOWN)
    if escape == b"(J":
        return text.translate(_ROMAN)
    return text.translate(_KANA) if escape == b"(I" else text


def _replacement(body: bytes) -> str:
    """Encodings that are a danger to browsers: the standard decodes all of a page to one U+FFFD."""
    return UNKNOWN if body else ""


def _user_defined(body: bytes) -> str:
    return body.decode("latin-1").translate({byte: 0xF700 + byte for byte in range(0x80, 0x100)})


_SPECIAL: Final[dict[str, Callable[[bytes], str]]] = {
    "utf-8": _utf_8,
    "utf-16le": _utf_16_le,
    "utf-16be": _utf_16_be,
    "shift_jis": _shift_jis,
    "euc-jp": _euc_jp,
    "euc-kr": _euc_kr,
    "big5": _big5,
    "gbk": _gb18030,
    "gb18030": _gb18030,
    "iso-2022-jp": _iso_2022_jp,
    "replacement": _replacement,
    "x-user-defined": _user_defined,
}
