"""What an option's value may be: how it is read, checked and written.

A `Kind` is read from TOML (`read`) or from the command line (`parse`), and written as TOML (`write`) so that it reads
back equal. `ValueError` says only what is expected, and which item of a list is not; who asked is the caller's to say.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import msgspec

from gossamer.config.checks import nearest
from gossamer.config.units import (
    DURATION_EXPECTED,
    SIZE_EXPECTED,
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)

T = TypeVar("T")
N = TypeVar("N", int, float)


LONGEST_PAUSE: Final = 86_400.0
"""Seconds that a host may rest between two visits, and that a response may take."""


class Kind(ABC, Generic[T]):
    @abstractmethod
    def read(self, value: object) -> T: ...

    def parse(self, text: str) -> T:
        return self.read(text)

    def write(self, value: T) -> str:
        return to_toml(value)

    def show(self, value: T) -> str:
        """For people: help and documentation."""
        return self.write(value).strip('"')


class _Number(Kind[N]):
    """A number between two bounds, both included. There are always two: what nobody can mean is a mistake."""

    most: float

    def __init__(self, minimum: float, maximum: float | None = None) -> None:
        self.minimum, self.maximum = minimum, self.most if maximum is None else maximum

    @abstractmethod
    def _expected(self) -> str: ...

    def _bound(self, bound: float) -> str:
        return f"{bound:,.10g}"

    def _in_range(self, number: N) -> N:
        if not self.minimum <= number <= self.maximum:
            noun = self._expected().partition(" such as")[0]
            raise ValueError(f"{noun} of at least {self._bound(self.minimum)} and at most {self._bound(self.maximum)}")
        return number


class Whole(_Number[int]):
    most = 10**12

    def _bound(self, bound: float) -> str:
        return f"{bound:,.0f}"

    def _expected(self) -> str:
        return "a whole number"

    def read(self, value: object) -> int:
        if type(value) is not int:
            raise ValueError(self._expected())
        return self._in_range(value)

    def parse(self, text: str) -> int:
        if not re.fullmatch(r"\s*-?\d[\d_]*\s*", text):
            raise ValueError(self._expected())
        return self._in_range(int(text))


class WholeOrNone(Kind[int | None]):
    """`None` is written "none", since TOML has no null."""

    def __init__(self, minimum: int, maximum: float | None = None) -> None:
        self.whole = Whole(minimum, maximum)

    def read(self, value: object) -> int | None:
        try:
            return None if value == "none" else self.whole.read(value)
        except ValueError as error:
            raise ValueError(f"{error}, or none") from None

    def parse(self, text: str) -> int | None:
        try:
            return None if text.strip() == "none" else self.whole.parse(text)
        except ValueError as error:
            raise ValueError(f"{error}, or none") from None

    def write(self, value: int | None) -> str:
        return '"none"' if value is None else self.whole.write(value)


class Decimal(_Number[float]):
    most = 1e6

    def _expected(self) -> str:
        return "a number"

    def read(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(self._expected())
        return self._in_range(float(value))

    def parse(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            raise ValueError(self._expected()) from None
        return self.read(number)

    def write(self, value: float) -> str:
        return repr(value)

    def show(self, value: float) -> str:
        return f"{value:g}"


class Duration(Decimal):
    """Seconds."""

    most = 3650 * 86_400.0

    def _expected(self) -> str:
        return DURATION_EXPECTED

    def _bound(self, bound: float) -> str:
        return format_duration(bound)

    def read(self, value: object) -> float:
        return self.parse(value) if isinstance(value, str) else super().read(value)

    def parse(self, text: str) -> float:
        return self._in_range(parse_duration(text))

    def write(self, value: float) -> str:
        text = format_duration(value)
        return f'"{text}"' if text[-1].isalpha() else text

    def show(self, value: float) -> str:
        return self.write(value).strip('"')


class Pause(msgspec.Struct, frozen=True, gc=False):
    """A pause of so many seconds or, where `parts` is not 0, that part of another pause."""

    seconds: float = 0.0
    parts: float = 0.0

    def beside(self, pause: float) -> float:
        return pause / self.parts if self.parts else self.seconds

    def among(self, agents: int) -> Pause:
        """Return the pause of each of so many agents that together pause as this one does."""
        return Pause(self.seconds * agents, self.parts / agents)


class DurationOrPart(Kind[Pause]):
    """A duration, or `1/N`: a part of a pause that is set elsewhere."""

    def __init__(self) -> None:
        self.duration = Duration(0, LONGEST_PAUSE)

    def read(self, value: object) -> Pause:
        if isinstance(value, str) and (found := re.fullmatch(r"\s*1\s*/\s*([1-9]\d{0,5})\s*", value)):
            return Pause(parts=float(found[1]))
        try:
            return Pause(self.duration.read(value))
        except ValueError as error:
            raise ValueError(f"{error}, or a part such as 1/8") from None

    def write(self, value: Pause) -> str:
        return f'"1/{value.parts:.0f}"' if value.parts else self.duration.write(value.seconds)


class Size(_Number[int]):
    """Bytes."""

    most = 10**15

    def _expected(self) -> str:
        return SIZE_EXPECTED

    def _bound(self, bound: float) -> str:
        return format_size(int(bound))

    def read(self, value: object) -> int:
        if isinstance(value, str):
            return self.parse(value)
        if type(value) is not int:
            raise ValueError(SIZE_EXPECTED)
        return self._in_range(value)

    def parse(self, text: str) -> int:
        return self._in_range(parse_size(text))

    def write(self, value: int) -> str:
        text = format_size(value)
        return text if text.isdigit() else f'"{text}"'


class Switch(Kind[bool]):
    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError("true or false")
        return value

    def parse(self, text: str) -> bool:
        if text not in ("true", "false"):
            raise ValueError("true or false")
        return text == "true"


class Choice(Kind[str]):
    def __init__(self, *names: str) -> None:
        self.names = names

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.names:
            raise ValueError(f"one of {', '.join(self.names)}" + nearest(value, self.names))
        return value


class Text(Kind[str]):
    """Printable ASCII: it goes into a request header, where a line break would begin another header."""

    def __init__(self, *, empty: bool = False) -> None:
        self.empty = empty

    def read(self, value: object) -> str:
        if not isinstance(value, str) or not value.isascii() or not value.isprintable():
            raise ValueError("text of printable ASCII characters")
        if not value.strip() and not self.empty:
            raise ValueError("text that is not empty")
        return value.strip()


class Many(Kind[tuple[str, ...]]):
    """A list of texts, each checked; `comma` is whether one text may hold several."""

    def __init__(self, check: Callable[[str], object], *, comma: bool = True) -> None:
        self.check, self.comma = check, comma

    def read(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            return self.parse(value)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise ValueError("a list of texts")
        return tuple(checked for item in value for checked in self.parse(item))

    def parse(self, text: str) -> tuple[str, ...]:
        _check_encodable(text)
        items = tuple(part.strip() for part in text.split(",") if part.strip()) if self.comma else (text,)
        for item in items:
            try:
                self.check(item)
            except ValueError as error:
                raise ValueError(error.args[0], item) from None
        return items

    def write(self, value: tuple[str, ...]) -> str:
        return to_toml(list(value))

    def show(self, value: tuple[str, ...]) -> str:
        return ", ".join(value) or "none"


def to_toml(value: object) -> str:
    """JSON's texts are TOML's, but for DEL, which TOML wants escaped."""
    if isinstance(value, str):
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(to_toml, value))}]"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _check_encodable(text: str) -> None:
    """Bytes of the command line that are not UTF-8 arrive as surrogates, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("text in UTF-8") from None
