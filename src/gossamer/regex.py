"""Regular expressions that are compiled when they are first used.

Most crawls meet few of the things that the patterns of this program are for, and compiling all of them takes a tenth of
the time in which a crawl starts. What every crawl needs is compiled as usual.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Later:
    """Invariant: an attribute that was asked for once is the pattern's own, and costs no more than any other."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, found)
        return found


def compiled_later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`. A method must be asked for where it is called: `_DIGITS.fullmatch(text)`."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))
