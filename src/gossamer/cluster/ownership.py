"""Taking partitions, keeping them and giving them up: when a claim may be made, and what it says.

The broker sees to it that of two who claim at once one succeeds, and that the owner before writes nothing more. It does
not know whether that owner still fetches: that is asked here, before.
"""

from __future__ import annotations

import secrets
from typing import Final

import msgspec

from gossamer.cluster.log import Log, Record
from gossamer.cluster.members import Members
from gossamer.cluster.session import Session
from gossamer.errors import TokenLostError

_LONGEST: Final = 1000  # bytes of a claim


class Claim(msgspec.Struct, frozen=True):
    """What a record of the kind `own` says."""

    agent: str
    session: str
    home: str = ""
    free: bool = False  # given up: whoever wants to may claim it at once
    nonce: str = ""


class Holding(msgspec.Struct, frozen=True):
    """A partition that is ours. `resumed`: nobody else had it since it was worked on in this very directory, so that
    what is there is whole but for what others have sent since. `new`: nobody ever had it.
    """

    partition: int
    token: int
    resumed: bool
    new: bool = False


class Ownership:
    """Invariant: a partition is claimed only when nobody fetches for it any more: it had no owner, or was given up, or
    the session in which it was claimed is over.

    Who claims waits for the gap, or for a host's delay if that is longer, before its first fetch from each host.
    """

    def __init__(self, log: Log, members: Members, session: Session) -> None:
        self._log = log
        self._members = members
        self._session = session

    async def take(self, partition: int) -> Holding | None:
        """None while another one has it, or another one was faster: ask again later. A second time it is the same."""
        last = await self._log.owner(partition)
        claim = read_claim(last)
        if last is not None and claim is not None and claim.session == self._session.nonce and not claim.free:
            return Holding(partition, last.sequence, True)
        if last is not None and not await self._is_left(claim):
            return None
        try:
            token = await self._log.claim(partition, self._claim(free=False), last.sequence if last else 0)
        except TokenLostError:
            return None
        home = self._session.home
        return Holding(partition, token, claim is not None and bool(home) and claim.home == home, last is None)

    async def ours(self, partition: int) -> Holding | None:
        """It, if the last claim was made in this session; None if not, or if it was given up since."""
        last = await self._log.owner(partition)
        claim = read_claim(last)
        if last is None or claim is None or claim.free or claim.session != self._session.nonce:
            return None
        return Holding(partition, last.sequence, True)

    async def give_up(self, holding: Holding) -> None:
        """To be called when nothing is fetched for it any more, and all was appended. TokenLostError if it was lost."""
        await self._log.claim(holding.partition, self._claim(free=True), holding.token)

    async def _is_left(self, claim: Claim | None) -> bool:
        # What nobody understands was not written by an agent of this version: it is not taken from whoever wrote it.
        return claim is not None and (claim.free or await self._members.is_over(claim.agent, claim.session))

    def _claim(self, *, free: bool) -> bytes:
        claim = Claim(self._session.name, self._session.nonce, self._session.home, free, secrets.token_hex(8))
        return msgspec.json.encode(claim)


def read_claim(record: Record | None) -> Claim | None:
    """None if there is none, or something that no agent writes."""
    try:
        return None if record is None else msgspec.json.decode(record.data[: _LONGEST + 1], type=Claim)
    except msgspec.MsgspecError:
        return None
