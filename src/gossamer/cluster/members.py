"""Who is there: all sessions as one agent sees them, and the end of those that are not heard of."""

from __future__ import annotations

from collections.abc import Callable, Container

import msgspec

from gossamer.cluster.coordinator import Coordinator, Entry, Watch
from gossamer.cluster.lease import Observer, Terms, boot_time
from gossamer.cluster.session import PREFIX, Beat, Over, read_beat, revoked
from gossamer.config.pins import is_agent_name
from gossamer.errors import UnavailableError


class Gone(msgspec.Struct, frozen=True):
    """Pages that were stored and are not at hand, by the name of the agent that did."""

    given_up: dict[str, int] = {}  # with agents that were given up and have not come back
    replaced: dict[str, int] = {}  # in directories in place of which their agents have begun others

    def pages(self, here: Container[str] = ()) -> dict[str, int]:
        """Of both. Agents that are `here` were given up, but their directories are at hand."""
        away = {name: number for name, number in self.given_up.items() if name not in here}
        return {name: away.get(name, 0) + self.replaced.get(name, 0) for name in sorted({*away, *self.replaced})}


class Members:
    """Invariant: who is revoked here has sent no beat that was accepted for a whole lease, and none is accepted later.

    What is said of the living may be old; what is over is over for good.
    """

    def __init__(
        self, coordinator: Coordinator, watch: Watch, terms: Terms, clock: Callable[[], float] = boot_time
    ) -> None:
        self._coordinator = coordinator
        self._watch = watch
        self._clock = clock
        self._observer = Observer(terms)
        self._missing = Observer(terms)
        self._entries: dict[str, Entry] = {}
        self._troubles = coordinator.troubles

    @classmethod
    async def open(cls, coordinator: Coordinator, terms: Terms, clock: Callable[[], float] = boot_time) -> Members:
        return cls(coordinator, await coordinator.watch(PREFIX), terms, clock)

    async def close(self) -> None:
        await self._watch.close()

    async def look(self, patience: float) -> bool:
        """Take up what is new, waiting for it so long. Whether there was something; UnavailableError as the watch."""
        found = await self._watch.next(patience)
        now = self._clock()
        if self._troubles != self._coordinator.troubles:
            self._troubles = self._coordinator.troubles
            self._observer.restart(now)
            self._missing.restart(now)
        for entry in found:
            self._take(entry, now)
        return bool(found)

    def revision(self, name: str) -> int:
        """Of the newest beat that was seen; 0 if none was. What was acknowledged to others is seen a moment later."""
        entry = self._entries.get(f"{PREFIX}.{name}")
        return entry.revision if entry else 0

    def living(self) -> dict[str, Beat]:
        """By name: those that have not been ended, by themselves or by others."""
        return {name: beat for name, beat in self.known().items() if not beat.over}

    def known(self) -> dict[str, Beat]:
        """By name: all that ever were."""
        beats = {entry.key.partition(".")[2]: read_beat(entry) for entry in self._entries.values()}
        return {name: beat for name, beat in sorted(beats.items()) if beat is not None and is_agent_name(name)}

    def gone(self) -> Gone:
        known = self.known()
        revoked = {name: beat for name, beat in known.items() if beat.over is Over.REVOKED}
        there = {beat.home for name, beat in known.items() if name not in revoked}
        given_up = {name: beat.told.pages for name, beat in revoked.items() if beat.home not in there}
        replaced = {
            name: sum(pages for home, pages in beat.lost.items() if home not in there) for name, beat in known.items()
        }
        return Gone(_without_zeros(given_up), _without_zeros(replaced))

    async def revoke_expired(self) -> list[str]:
        """Names of those who were revoked now, by this one."""
        names: list[str] = []
        if self._troubles != self._coordinator.troubles:
            return names  # look first: a change that is sent now may be done late, when all are well again
        for key, revision in self._observer.expired(self._clock()):
            value = revoked(read_beat(self._entries.get(key)))
            try:
                made = await self._coordinator.compare_and_set(key, value, revision)
            except UnavailableError:
                break  # the broker is not heard of: who cannot reach it either is not to blame
            if made is not None:
                self._take(Entry(key, value, made), self._clock())
                names.append(key.partition(".")[2])
            # Otherwise it has beaten since, or another one was first: the watch will say which.
        return names

    async def is_over(self, name: str, session: str) -> bool:
        """Asked of the broker: what was claimed in that session may be claimed by others."""
        beat = read_beat(await self._coordinator.get(f"{PREFIX}.{name}"))
        if beat is not None:
            return beat.session != session or bool(beat.over)
        # Nobody removes sessions. If the broker has lost them, their agents may not know it yet: a whole lease long.
        now = self._clock()
        self._missing.saw(name, 1, now)
        return (name, 1) in self._missing.expired(now)

    def _take(self, entry: Entry, now: float) -> None:
        known = self._entries.get(entry.key)
        if known is not None and known.revision >= entry.revision:
            return
        self._entries[entry.key] = entry
        beat = read_beat(entry)
        if entry.value is None or (beat is not None and beat.over):
            self._observer.forget(entry.key)
        else:
            self._observer.saw(entry.key, entry.revision, now)


def _without_zeros(numbers: dict[str, int]) -> dict[str, int]:
    return {name: number for name, number in numbers.items() if number}
