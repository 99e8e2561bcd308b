"""Whether what a server says of a page's age can be believed (ETag, Last-Modified; RFC 9110, 8.8).

A server whose validators stay the same though the page changes would keep us from ever seeing the change. So a page is
now and then asked for without them, and what comes shows whether they tell the truth: a page that changed must have
other ones. Others change their validators with every answer, or do not look at those they are sent: to ask with these
is no use. Both kinds are judged separately, for each host.
"""

from __future__ import annotations

from typing import Final

import msgspec

_PROVEN: Final = 3  # changes that a validator has told, before it is asked with at the first opportunity
_RIGHT_FOR_EACH_WRONG: Final = 20
_IN_VAIN: Final = 5  # times asked with, in a row, though the page was the same
_ANOTHER_CHANCE: Final = 64  # visits after which it is asked with once more
_LOOKS: Final = frozenset(3**turn for turn in range(1, 6))  # visits in a row without a change, after which we look


class Kind(msgspec.Struct, array_like=True):
    """Of one validator of a host: how often it changed with the page, did not, and was asked with for nothing."""

    right: int = 0
    wrong: int = 0
    vain: int = 0

    @property
    def is_true(self) -> bool:
        return self.wrong * _RIGHT_FOR_EACH_WRONG <= self.right

    @property
    def is_proven(self) -> bool:
        return self.is_true and self.right >= _PROVEN

    @property
    def is_used(self) -> bool:
        return self.is_true and self.vain < _IN_VAIN

    def unused(self) -> None:
        self.vain += 1
        if self.vain >= _ANOTHER_CHANCE:
            self.vain = _IN_VAIN - 1


class Trust(msgspec.Struct, array_like=True):
    """Invariant: nothing is asked with that was found to lie more often than once in twenty changes."""

    etag: Kind = msgspec.field(default_factory=Kind)
    modified: Kind = msgspec.field(default_factory=Kind)

    def ask_with(self, validators: tuple[bytes, bytes], unchanged: int, requested: bool = False) -> tuple[bytes, bytes]:
        """Those of the validators that a page is asked for with, which was found unchanged so often in a row; both
        empty: it is to come in any case. `requested`: somebody asks for the page, as readers do, and what has not been
        found to lie is asked with.
        """
        etag, modified = validators
        used = (etag if self.etag.is_used else b"", modified if self.modified.is_used else b"")
        proven = (bool(used[0]) and self.etag.is_proven) or (bool(used[1]) and self.modified.is_proven)
        if unchanged in _LOOKS or not (unchanged or proven or requested):
            return b"", b""
        return used

    def not_modified(self, asked: tuple[bytes, bytes]) -> None:
        """A page that was asked for with these was answered without a body."""
        for kind, value in zip((self.etag, self.modified), asked, strict=True):
            if value:
                kind.vain = 0

    def came(
        self,
        asked: tuple[bytes, bytes],
        before: tuple[bytes, bytes],
        now: tuple[bytes, bytes],
        changed: bool,
    ) -> None:
        """A page came, though it had these validators before; they were asked with or not."""
        for kind, sent, old, new in zip((self.etag, self.modified), asked, before, now, strict=True):
            if not old:
                continue
            if changed and new == old:
                kind.wrong += 1
            elif changed:
                kind.right += bool(new)
            elif sent:
                kind.vain += 1
            elif not kind.is_used:
                kind.unused()

    @property
    def lies(self) -> bool:
        """One of its validators was found to stay the same though the page changed."""
        return not (self.etag.is_true and self.modified.is_true)
