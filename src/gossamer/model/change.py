"""What a visit found of a page, compared with the visit before."""

from __future__ import annotations

from enum import StrEnum


class Change(StrEnum):
    """Noted with each capture of a page that had been visited before; a first capture has none, and is NEW."""

    NEW = "new"  # there was none before, or none any more
    CHANGED = "changed"
    SAME = "same"  # what it says is, though a clock or an advert may differ
    GONE = "gone"  # there was one, and a second look found that there is none any more
