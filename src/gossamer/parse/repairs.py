"""What Python's East Asian codecs lack: error handlers that find a character, or U+FFFD, where a codec gives up.

Each handler reads the two bytes at which decoding stopped. A second byte that is ASCII is never consumed.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Final

# The characters that HKSCS-2008 added to Big5, all in one row.
_HKSCS_2008: Final = dict(
    zip(
        (bytes([0x87, trail]) for trail in (*range(0x7A, 0x7F), *range(0xA1, 0xE0))),
        "㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆"
        "㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋",
        strict=True,
    )
)
# Row 0xa3 ends in the pictures of the control characters and the euro sign.
_BIG5: Final = (
    _HKSCS_2008
    | {bytes([0xA3, 0xC0 + code]): chr(0x2400 + code) for code in range(32)}
    | {b"\xa3\xe0": "␡", b"\xa3\xe1": "€"}
)


def _jis_row(pair: bytes) -> str | None:
    """A character of EUC-JP by way of Shift_JIS, where Python knows the rows of NEC and IBM."""
    lead, trail = pair[0] - 0xA1, pair[1] - 0xA1
    if not (0 <= lead < 94 and 0 <= trail < 94):
        return None
    first = lead // 2 + (0x81 if lead < 62 else 0xC1)
    second = trail + 0x9F if lead % 2 else trail + (0x40 if trail < 63 else 0x41)
    try:
        char = bytes([first, second]).decode("cp932")
    except UnicodeDecodeError:
        return None
    return None if "\ue000" <= char <= "\uf8ff" else char


def _handler(
    lookup: Callable[[bytes], str | None], leads: range, single: dict[int, str]
) -> Callable[[UnicodeError], tuple[str, int]]:
    def repair(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        start = error.start
        pair = error.object[start : start + 2]
        if len(pair) == 2 and pair[0] in leads and pair[1] not in _ASCII:
            return lookup(pair) or "\ufffd", start + 2
        if len(pair) == 2 and pair[0] in leads:
            char = lookup(pair)
            if char is not None:
                return char, start + 2
        return single.get(pair[0], "\ufffd"), start + 1

    return repair


def _nothing(pair: bytes) -> None:
    return None


_ASCII: Final = range(0x80)
SHIFT_JIS: Final = "gossamer.shift_jis"
EUC_JP: Final = "gossamer.euc-jp"
EUC_KR: Final = "gossamer.euc-kr"
BIG5: Final = "gossamer.big5"
GB18030: Final = "gossamer.gb18030"

codecs.register_error(SHIFT_JIS, _handler(_nothing, range(0x81, 0xFD), {}))
codecs.register_error(EUC_JP, _handler(_jis_row, range(0xA1, 0xFF), {}))
codecs.register_error(EUC_KR, _handler(_nothing, range(0x81, 0xFF), {}))
codecs.register_error(BIG5, _handler(_BIG5.get, range(0x81, 0xFF), {}))
codecs.register_error(GB18030, _handler(_nothing, range(0x81, 0xFF), {0x80: "€"}))
