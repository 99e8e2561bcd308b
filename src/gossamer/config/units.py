"""Durations and sizes as people write them: `1.5m`, `250ms`, `512KiB`, `5M`.

`format_*` is exact: reading its text gives the same value again.
"""

from __future__ import annotations

import math
import re

from gossamer.regex import compiled_later

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES: dict[str, int] = {
    "": 1,
    **{f"{prefix}{suffix}": 1000**power for power, prefix in enumerate("kmgt", 1) for suffix in ("", "b")},
    **{f"{prefix}i{suffix}": 1024**power for power, prefix in enumerate("kmgt", 1) for suffix in ("", "b")},
    "b": 1,
}
_SIZE_NAMES = {1000: "kB", 1024: "KiB", 1000**2: "MB", 1024**2: "MiB", 1000**3: "GB", 1024**3: "GiB"}

_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_DURATION = re.compile(rf"(?:(?:{_NUMBER})\s*(?:ms|s|m|h|d)\s*)+", re.I)
_DURATION_PART = re.compile(rf"({_NUMBER})\s*(ms|s|m|h|d)", re.I)
_SIZE = compiled_later(rf"({_NUMBER})\s*([kmgt]?i?b?)", re.I)

DURATION_EXPECTED = "a duration such as 10s, 250ms, 1.5m, 2h or 1d"
SIZE_EXPECTED = "a size such as 512KiB, 2MB, 5M or 1Gi"


def parse_duration(text: str) -> float:
    """Seconds. A bare number is seconds; parts add up (`1h30m`)."""
    text = text.strip()
    if _DURATION.fullmatch(text):
        return math.fsum(float(number) * _SECONDS[unit.lower()] for number, unit in _DURATION_PART.findall(text))
    return _plain(text, DURATION_EXPECTED)


def parse_size(text: str) -> int:
    """Bytes. k, M, G, T are powers of 1000; Ki, Mi, Gi, Ti of 1024."""
    text = text.strip().replace("_", "")
    found = _SIZE.fullmatch(text)
    if not found or found[2].lower() not in _BYTES:
        raise ValueError(SIZE_EXPECTED)
    number, factor = str(found[1]), _BYTES[found[2].lower()]
    # Whole numbers stay whole: a float would lose the last bytes of a large size.
    return int(number) * factor if number.isdigit() else round(float(number) * factor)


def format_duration(seconds: float) -> str:
    for unit in ("d", "h", "m", "s", "ms"):
        count = round(seconds / _SECONDS[unit], 3)
        if count >= 1 and count == int(count):
            text = f"{int(count)}{unit}"
            if parse_duration(text) == seconds:
                return text
    return f"{seconds:.15f}".rstrip("0").rstrip(".") + "s" if _survives(seconds) else repr(seconds)


def format_size(size: int) -> str:
    """The shortest exact form."""
    exact = [f"{size // factor}{name}" for factor, name in _SIZE_NAMES.items() if size and size % factor == 0]
    return min(exact, key=len, default=str(size))


def _survives(seconds: float) -> bool:
    return float(f"{seconds:.15f}") == seconds


def _plain(text: str, expected: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(expected) from None
    if not math.isfinite(number):
        raise ValueError(expected)
    return number
