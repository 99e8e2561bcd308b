"""`max_pages` of a crawl of several agents: exactly so many pages, whoever stores them.

The key `quota` says how many pages each agent may have stored in all. They are granted in small lots, so that no agent
sits on pages that others could fetch; what an agent does not need it gives back.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

import msgspec

from gossamer.cluster.coordinator import Coordinator, Entry
from gossamer.errors import ClusterError, UnavailableError

QUOTA: Final = "quota"
_MOST: Final = 500  # pages of a lot
_TRIES: Final = 10


class Ledger(msgspec.Struct, frozen=True):
    granted: dict[str, int] = {}
    nonce: str = ""


class Quota:
    """Invariant: `granted` never exceeds what the ledger says for this agent, and all that it says is the limit."""

    def __init__(self, coordinator: Coordinator, name: str) -> None:
        self._coordinator = coordinator
        self._name = name
        self.granted = 0
        self._known = False  # what the ledger says of this agent
        self._told: dict[str, int] = {}
        self._lot = 0
        self._free = 0  # that nobody was granted when it was last looked at

    async def look(self, limit: int, pages: int, agents: int, needs: bool) -> None:
        """Get more if there is need and room, give back what is not needed. `pages`: stored or in flight."""
        lot = self._lot = max(1, min(limit // (8 * max(agents, 1)), _MOST))
        if self._known and (self.granted > pages + lot // 2 if needs else self.granted <= pages):
            return
        if not needs:
            self.granted = min(self.granted, pages)  # from now on, whatever the broker says: it is given back
        for _ in range(_TRIES):
            entry = await self._coordinator.get(QUOTA)
            granted = dict(_read(entry).granted)
            mine = granted.get(self._name, 0)
            free = limit - sum(granted.values())
            wanted = pages + lot if needs else pages
            # What was stored in runs without a limit counts, too.
            wanted = max(pages, min(wanted, mine + free))
            if wanted != mine:
                granted[self._name] = wanted
                value = msgspec.json.encode(Ledger(granted, secrets.token_hex(8)))
                if await self._coordinator.compare_and_set(QUOTA, value, entry.revision if entry else 0) is None:
                    continue
            self.granted, self._told, self._known = wanted, granted, True
            self._free = limit - sum(granted.values())
            return
        raise UnavailableError("the ledger of pages is changed by others all the time: try again")

    def is_low(self, pages: int) -> bool:
        """Whether it is time to get more, before the last ones are in flight; not where there was nothing to be had."""
        return self._free > 0 and self.granted <= pages + self._lot // 2

    def is_spent(self, pages: int) -> bool:
        """Whether this agent has stored all that it may, and nobody will be granted more."""
        return self._known and self._free <= 0 and self.granted <= pages

    def used(self, limit: int, living: dict[str, int]) -> bool:
        """Whether all pages were stored: by the living as they say, by the others as they were granted."""
        return sum(living.get(name, granted) for name, granted in self._told.items()) >= limit

    async def read(self) -> None:
        self._told = dict(_read(await self._coordinator.get(QUOTA)).granted)


async def begin(coordinator: Coordinator, pages: Mapping[str, int]) -> None:
    """Before any agent is at work: each has been granted what it has stored in earlier runs, and no more."""
    for _ in range(_TRIES):
        entry = await coordinator.get(QUOTA)
        value = msgspec.json.encode(Ledger(dict(pages), secrets.token_hex(8)))
        if await coordinator.compare_and_set(QUOTA, value, entry.revision if entry else 0) is not None:
            return
    raise UnavailableError("the ledger of pages is changed by others all the time: is an agent at work?")


def _read(entry: Entry | None) -> Ledger:
    if entry is None or entry.value is None:
        return Ledger()
    try:
        return msgspec.json.decode(entry.value, type=Ledger)
    except msgspec.MsgspecError as error:
        raise ClusterError(f"the ledger of pages cannot be read ({error}): are all agents of one version?") from error
