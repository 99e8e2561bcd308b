"""The agent that writes the plan. Any may be it, and nothing that must not go wrong depends on there being one only."""

from __future__ import annotations

import secrets
from collections.abc import Container, Mapping
from typing import Final

import msgspec

from gossamer.cluster.coordinator import Coordinator, Entry
from gossamer.cluster.members import Members
from gossamer.cluster.plan import Plan, decode_plan, encode_plan, make_plan
from gossamer.cluster.session import Session
from gossamer.errors import ClusterError, UnavailableError

LEADER: Final = "leader"
PLAN: Final = "plan"


class Mandate(msgspec.Struct, frozen=True):
    """Who leads. It ends with the session in which it was given, so that it needs no lease of its own."""

    agent: str
    session: str
    nonce: str = ""


class Leader:
    """Invariant: nobody becomes leader while the session of the one before is not over.

    A leader that has been replaced and does not know it may write an old plan. Agents then follow that until the next
    one is written; partitions are theirs by claims, not by plans.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        members: Members,
        session: Session,
        partitions: int,
        pinned: Mapping[int, str] | None = None,
    ) -> None:
        self._coordinator = coordinator
        self._members = members
        self._session = session
        self._partitions = partitions
        self._pinned = pinned
        self.revision = 0
        """Of the plan that is there, as far as is known."""

    async def leads(self) -> bool:
        """Whether this agent does; it becomes leader if there is none. Ask each second."""
        entry = await self._coordinator.get(LEADER)
        mandate = _read(entry)
        if mandate is not None and mandate.session == self._session.nonce:
            return self._session.may_fetch()
        if mandate is not None and not await self._members.is_over(mandate.agent, mandate.session):
            return False
        mine = msgspec.json.encode(Mandate(self._session.name, self._session.nonce, secrets.token_hex(8)))
        return await self._coordinator.compare_and_set(LEADER, mine, entry.revision if entry else 0) is not None

    async def plan(self, leaving: Container[str] = ()) -> bool:
        """Write the plan for those who live, but for those who are to have nothing, if it is another than the one that
        is there. Whether it was written.
        """
        living = self._members.living().items()
        weights = {name: beat.weight for name, beat in living if name not in leaving}
        wanted = make_plan(self._partitions, weights, self._pinned)
        entry = await self._coordinator.get(PLAN)
        there = read_plan(entry, self._partitions)
        if entry is not None and there is not None and (there.agents, there.owners) == (wanted.agents, wanted.owners):
            self.revision = entry.revision
            return False
        value = encode_plan(msgspec.structs.replace(wanted, nonce=secrets.token_hex(8)))
        made = await self._coordinator.compare_and_set(PLAN, value, entry.revision if entry else 0)
        if made is None:
            raise UnavailableError("another leader has written a plan at this moment: look again")
        self.revision = made
        return True


def read_plan(entry: Entry | None, partitions: int) -> Plan | None:
    """None if there is none, or one that is no plan of this crawl."""
    try:
        return None if entry is None or entry.value is None else decode_plan(entry.value, partitions)
    except ClusterError:
        return None


def _read(entry: Entry | None) -> Mandate | None:
    try:
        return None if entry is None or entry.value is None else msgspec.json.decode(entry.value, type=Mandate)
    except msgspec.MsgspecError:
        return None
