"""The agent whose turn it is to lead: it plans who has which partition, and sees when all is done.

Any agent may be it. No safety depends on there being one, or one only: partitions are their owners' by claims.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Container, Mapping
from typing import Final

from gossamer.agent.quota import Quota
from gossamer.cluster.coordinator import Coordinator
from gossamer.cluster.leader import Leader
from gossamer.cluster.lease import boot_time
from gossamer.cluster.members import Members
from gossamer.cluster.plan import Plan
from gossamer.cluster.session import Beat
from gossamer.cluster.shared import REBALANCE, end_crawl, read_end
from gossamer.config import Config
from gossamer.errors import UnavailableError

_LOOK_EVERY: Final = 0.25  # seconds
_LEADER_EVERY: Final = 1.0  # seconds after which it is asked again who leads
_SETTLED: Final = 1.0  # seconds for which the same agents live before they are planned for
_RETURN: Final = 6.0  # seconds after a start in which agents of the plan that are not there may come back


class Leading:
    """Invariant: it is said that the crawl is complete only when every agent was idle (`Quiet`), and no partition was
    nobody's meanwhile.
    """

    def __init__(self, coordinator: Coordinator, members: Members, leader: Leader, quota: Quota, name: str) -> None:
        self._coordinator = coordinator
        self._members = members
        self._leader = leader
        self._quota = quota
        self._name = name
        self._max_pages = 0
        self._keep_fresh = False
        self._agents = 0  # that are started together, if more than one
        self.plan: Plan | None = None  # that is in force
        self.leaving: frozenset[str] = frozenset()  # agents that are to have nothing

    def limit(self, config: Config) -> None:
        """What the settings say."""
        self._max_pages, self._keep_fresh = config.agent.max_pages, config.fresh.keep_fresh
        # Applications are started at the same time, and are to have their shares from the beginning.
        self._agents = 0 if config.apps else config.cluster.agents

    async def work(self) -> None:
        """See who lives, and write the plan if it is this agent's turn; until it is cancelled."""
        living: dict[str, str] = {}
        settled, began, rebalanced, ask = 0.0, boot_time(), 0, 0.0
        quiet: Quiet | None = None
        while True:
            await asyncio.sleep(_LOOK_EVERY)  # beats of all that come meanwhile are taken up together
            try:
                await self._members.look(0.0)
                await self._members.revoke_expired()
                now, there = boot_time(), {name: beat.session for name, beat in self._members.living().items()}
                if there != living:
                    settled = settled_at(now, living, there, self._agents)
                    living, quiet, ask = there, None, 0.0
                if now < ask:
                    continue
                if not await self._leader.leads() or await self._has_ended():
                    ask = now + _LEADER_EVERY
                    continue
                wish = await self._coordinator.get(REBALANCE)
                asked = wish is not None and wish.revision != rebalanced
                rebalanced = wish.revision if wish is not None else 0
                planned = False
                if asked or (now >= settled and (now >= began + _RETURN or not self._awaited(there))):
                    planned = not await self._leader.plan(self.leaving)
                # While the plan is not one for those who live, somebody's partitions are nobody's.
                quiet = await self._look_for_the_end(quiet) if planned else None
            except UnavailableError:
                quiet = None

    async def _has_ended(self) -> bool:
        """Who leaves then is not stood in for."""
        return await read_end(self._coordinator) is not None

    def _awaited(self, living: Container[str]) -> bool:
        """Whether agents of the plan are not there, nor were told to leave: where all are started anew, they come."""
        agents = () if self.plan is None else self.plan.agents
        return any(name not in living and name not in self.leaving for name in agents)

    async def _look_for_the_end(self, quiet: Quiet | None) -> Quiet | None:
        """All were idle, and stay so, having done nothing in between: it is over."""
        beats = self._members.living()
        if self._max_pages:
            await self._quota.read()
            if self._quota.used(self._max_pages, {name: beat.told.pages for name, beat in beats.items()}):
                await end_crawl(self._coordinator, "max_pages", self._name, self._members.gone())
                return None
        plan = self._leader.revision
        if (
            self._keep_fresh
            or not beats
            or not all(beat.told.idle and beat.told.plan == plan for beat in beats.values())
        ):
            return None
        if quiet is None or not quiet.holds(beats):
            return Quiet(beats)
        if quiet.is_over(beats):
            await end_crawl(self._coordinator, "complete", self._name, self._members.gone())
        return quiet


def settled_at(now: float, before: Collection[str], there: Collection[str], agents: int) -> float:
    """When those who are there now are planned for: in a while if somebody has come, as others may follow, but at once
    if these are all that are started together (`agents`, if more than one). For who has gone others stand in at once.
    """
    somebody_came = not set(there) <= set(before)
    return now + _SETTLED if somebody_came and not len(there) == agents > 1 else now


class Quiet:
    """All agents are idle; whether they stay so for long enough to know that nothing is on its way.

    What an agent has sent before the beats that were seen first is in the log before them. Beats are in one order,
    so that the next but one of another agent was told after all of them, and of what it reads after that the second
    answer was asked for later still: if there is nothing then, and nobody has done anything, there is nothing.
    """

    def __init__(self, beats: Mapping[str, Beat]) -> None:
        self._first = dict(beats)
        self._then: dict[str, Beat] = {}  # the first of each that was told later than all of those

    def holds(self, beats: Mapping[str, Beat]) -> bool:
        """The same agents are there, and none has done anything."""
        first = self._first
        return beats.keys() == first.keys() and all(
            (beat.session, beat.told.work) == (first[name].session, first[name].told.work)
            for name, beat in beats.items()
        )

    def is_over(self, beats: Mapping[str, Beat]) -> bool:
        for name, beat in beats.items():
            if name not in self._then and beat.beat >= self._first[name].beat + 2:
                self._then[name] = beat
        return all(
            name in self._then
            and beat.beat > self._then[name].beat
            and beat.told.polls >= self._then[name].told.polls + 2
            for name, beat in beats.items()
        )
