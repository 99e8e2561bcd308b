"""What a crawl leaves because it repeats itself: told once, and kept for `status` and the report."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gossamer.frontier import Finding

FINDING = "finding:"  # what the names of findings among the committed begin with

_MOST_NOTICES = 20
_SENTENCES = {
    "mirror": "{what} shows the pages of {like} ({pages} in a row): it is left from here on",
    "endless": "the hosts of {what} have no end: the last {pages} of them show what {like} shows; more are put aside",
    "barren": "{what} brings nothing new: the last {pages} pages repeat {like}; URLs found there are put aside",
}
REMEDY = 'To crawl it all the same, set duplicates = "follow" in [policy], or in [hosts."NAME"], of gossamer.toml.'


class KeptFinding(Finding, frozen=True):
    """A finding as it is committed."""

    found_at: float = 0.0


class Findings:
    """Invariant: of what was found in this run each is told once, and `_new` has those that are not committed."""

    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice = notice
        self._known: set[tuple[str, str]] = set()
        self._told = 0
        self._new: list[Finding] = []

    def add(self, finding: Finding) -> bool:
        """Whether it is one that was not known; a place may be found again after it brought something new."""
        self._new.append(finding)
        if (finding.kind, finding.what) in self._known:
            return False
        self._known.add((finding.kind, finding.what))
        self._told += 1
        if self._told <= _MOST_NOTICES:
            self._notice(sentence(finding))
            if self._told == 1:
                self._notice(REMEDY)
        elif self._told == _MOST_NOTICES + 1:
            self._notice("More such places are not named here: gossamer status --findings lists them")
        return True

    def taken(self, now: float) -> dict[str, bytes]:
        """Those since the last time, for the commit."""
        taken = {
            f"{FINDING}{found.kind}:{found.what}": msgspec.msgpack.encode(KeptFinding(*_values(found), found_at=now))
            for found in self._new
        }
        self._new.clear()
        return taken


def _values(found: Finding) -> tuple[str, str, str, int]:
    return found.kind, found.what, found.like, found.pages


def sentence(found: Finding) -> str:
    return _SENTENCES[found.kind].format(what=found.what, like=found.like, pages=found.pages)
