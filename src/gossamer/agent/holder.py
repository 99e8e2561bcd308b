"""The partitions of an agent: it takes and gives up what the plan says, and loses none of their URLs.

    take      claim, restore the last checkpoint, apply what was done since, own it, take in what others sent since
    give up   close it, wait for what is in hand, commit, wait until the log has it, give up the claim, drop it here

What was worked on in this directory, and claimed by nobody since, is resumed from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from gossamer.agent.exchange import Exchange
from gossamer.agent.held import Held, read_held
from gossamer.cluster.batch import Group, decode
from gossamer.cluster.checkpoints import Checkpoint, Checkpoints
from gossamer.cluster.ending import ended
from gossamer.cluster.log import Kind, Log
from gossamer.cluster.ownership import Holding, Ownership
from gossamer.errors import BatchError, DiffError, ObjectsError, TokenLostError, UnavailableError
from gossamer.frontier import Frontier
from gossamer.frontier.diffs import DiffReader
from gossamer.frontier.pieces import Frames, framed
from gossamer.frontier.share import Part

T = TypeVar("T")

_AT_ONCE: Final = 16  # partitions that come or go together
_LOOK_EVERY: Final = 0.02  # seconds, for what is in hand
_LONGEST: Final = 5.0  # seconds for which what is in hand is waited for
_PATIENCE: Final = 3.0  # for the log


class Holder:
    """Invariant: a partition is in `share.owned` only while it is claimed by this session, and all of it is here."""

    def __init__(
        self,
        frontier: Frontier,
        share: Part,
        log: Log,
        ownership: Ownership,
        checkpoints: Checkpoints | None,
        exchange: Exchange,
        commit: Callable[[], None],
        break_off: Callable[[Callable[[str], bool]], None],
        receive: Callable[[Group], None],
        about: Callable[[str], str | None],
        noted: Callable[[Iterable[str]], None],
        clock: Callable[[], float],
        notice: Callable[[str], None],
    ) -> None:
        """`break_off` drops visits in flight of hosts that it is given a test for; `about`: of which host a note of the
        agent is; `noted` hears of notes that came with a partition.
        """
        self._frontier = frontier
        self._moving = frontier.moving(about)
        self._share = share
        self._log = log
        self._ownership = ownership
        self._checkpoints = checkpoints
        self._exchange = exchange
        self._commit = commit
        self._break_off = break_off
        self._receive = receive
        self._noted = noted
        self._clock = clock
        self._notice = notice
        self._holdings: dict[int, Holding] = {}
        self._here: set[int] = set()  # all of it is in the database
        self._gone: set[int] = set()  # lost, and still to be dropped
        self._busy: set[int] = set()
        self._tried: set[int] = set()  # perhaps claimed, and not owned
        self.wanted: frozenset[int] = frozenset()
        self.moves = 0

    @property
    def settled(self) -> bool:
        """It has what the plan says, no more and no less."""
        return (
            not (self._busy or self._gone or self._tried or self._share.closing)
            and self._holdings.keys() == self.wanted
        )

    @property
    def held(self) -> int:
        return len(self._holdings)

    def reads(self, partition: int) -> bool:
        """Whether what others send to it is to be taken in."""
        return _prefix(partition) in self._share.owned

    def kept(self) -> bytes:
        """For the commit."""
        taken, tokens = self._exchange.taken, self._exchange.tokens
        here = {partition: taken.get(partition, 0) for partition in self._here}
        return msgspec.msgpack.encode(Held(here, {partition: tokens.get(partition, 0) for partition in here}))

    async def resume(self, stored: bytes | None) -> None:
        """Claim again what was here when this directory was last used; to be done before anything is sent."""
        await self._run(self._moving.drop(partition) for partition in self._moving.leftovers())
        kept = read_held(stored)
        self._here = set(kept.taken)
        holdings = await _some(self._ownership.take, sorted(kept.taken))
        lost = []
        for (partition, taken), holding in zip(sorted(kept.taken.items()), holdings, strict=True):
            if holding is not None and holding.resumed:
                self._own(holding, taken)
            elif holding is not None and holding.new:
                # The broker has lost its data. What is here is all that there is.
                self._own(holding, 0)
                self._exchange.distrust(partition)
            else:
                lost.append(partition)
                if holding is not None:  # claimed, and another one had it meanwhile: it is read anew
                    await self._ownership.give_up(holding)
        if lost:
            self._exchange.drop(lost)
            self._gone.update(lost)
            await self._forget_lost()

    def lose(self, partitions: Iterable[int]) -> None:
        """Others have taken these: they are nobody's here from this moment on."""
        for partition in partitions:
            self._holdings.pop(partition, None)
            self._tried.discard(partition)
            self._close(partition)
            self._gone.add(partition)

    async def drop_lost(self) -> None:
        """This session is over, and perhaps others have taken what was held in it: then it is not kept here."""
        held = sorted(self._holdings)
        found = await _some(self._ownership.ours, held)
        lost = [partition for partition, holding in zip(held, found, strict=True) if holding is None]
        if lost:
            self._exchange.drop(lost)
            self.lose(lost)
        await self._forget_lost()

    async def reconcile(self, wanted: Iterable[int]) -> None:
        """Towards the plan, as far as that is possible now."""
        self.wanted = frozenset(wanted)
        await self._forget_lost()
        await _some(self._abandon, sorted(self._tried - self.wanted - self._busy))
        stays = sorted(self._holdings.keys() & self.wanted)
        await _some(self._reopen, [each for each in stays if _prefix(each) in self._share.closing])
        surplus = sorted(self._holdings.keys() - self.wanted - self._busy)  # a checkpoint of it may be in the making
        missing = sorted(self.wanted - self._holdings.keys())
        # At once: what nobody has must not wait for visits of what is given up.
        await _all([self._give_up(surplus), _some(self._take, missing)])

    # -- take --------------------------------------------------------------------------------------------------------

    async def _take(self, partition: int) -> None:
        if partition in self._busy or partition in self._gone:
            return
        self._busy.add(partition)
        self._tried.add(partition)
        try:
            holding = await self._ownership.take(partition)
            if holding is None:
                self._tried.discard(partition)
                return
            if holding.resumed and partition in self._here:
                self._own(holding, self._exchange.taken.get(partition, 0))
                return
            if holding.new:
                self._own(holding, 0)
                return
            late = await self._restore(partition, holding.token)
            self._noted(self._moving.notes(partition))
            self._own(holding, holding.token, self._clock())
            for group in late:
                self._receive(group)
        except UnavailableError:
            pass  # again, the next time
        except TokenLostError:
            self.lose([partition])
        except (ObjectsError, DiffError) as error:
            self._notice(f"cluster: partition {partition} cannot be taken: {error}")
        finally:
            self._busy.discard(partition)

    async def _abandon(self, partition: int) -> None:
        """It is no longer to be ours, and may have been claimed all the same: then others wait for it."""
        try:
            holding = await self._ownership.ours(partition)
            if holding is not None:
                await self._ownership.give_up(holding)
        except UnavailableError:
            return
        except TokenLostError:
            pass
        self._tried.discard(partition)
        if partition in self._moving.leftovers():
            await self._run([self._moving.drop(partition)])
            self._commit()

    async def _reopen(self, partition: int) -> None:
        """It was to be given up, could not be at once, and is to stay."""
        try:
            if await self._ownership.ours(partition) is None:
                self._exchange.drop([partition])
                self.lose([partition])
                return
        except UnavailableError:
            return
        self._share.take(_prefix(partition), 0.0)
        self._frontier.opened(_prefix(partition))
        self._exchange.reopen()

    async def _restore(self, partition: int, token: int) -> list[Group]:
        """All that is known of a partition, up to our claim, into the database; gives what others sent since."""
        moving = self._moving
        if partition in self._here or partition in moving.leftovers() or self._share.crosses:
            self._here.discard(partition)
            self._frontier.closed(_prefix(partition))  # of what was found by crossing over nothing stays
            await self._wait_for_visits([partition])
            self._commit()
            self._frontier.forget_partition(partition)
            await self._run([moving.drop(partition)])
            self._commit()
        checkpoint, pieces = await self._last_checkpoint(partition)
        if checkpoint is None:
            moving.begin(partition)
        else:
            await self._run([moving.take_in(partition, pieces)])
        applied, taken = (checkpoint.sequence, checkpoint.taken) if checkpoint else (0, 0)
        diffs, others = DiffReader(partition), dict[int, bytes]()
        reader = await self._log.read(partition, min(taken, applied))
        try:
            ours = False
            while not ours:
                records = await reader.next(_PATIENCE)
                if not records:
                    raise UnavailableError("the log does not give our own claim: try again")
                for record in records:
                    if record.kind is Kind.OWN:
                        diffs.drop()
                        ours = ours or record.sequence >= token
                    elif record.kind is Kind.IN:
                        others[record.sequence] = record.data
                    elif record.sequence > applied and (diff := diffs.feed(record.data)) is not None:
                        moving.apply(partition, diff)
                        taken = max(taken, diff.taken)
                await asyncio.sleep(0)
        finally:
            await reader.close()
        await self._run([moving.finish(partition)])
        found: list[Group] = []
        for sequence, data in sorted(others.items()):
            if taken < sequence < token:
                try:
                    found += decode(data)
                except BatchError as error:
                    self._notice(f"cluster: message {sequence} for partition {partition} is left out: {error}")
        return found

    async def _last_checkpoint(self, partition: int) -> tuple[Checkpoint | None, list[bytes]]:
        """The last one that can be read."""
        checkpoints = self._checkpoints
        if checkpoints is None:
            return None, []
        last = await checkpoints.load(partition)
        if last is None:
            return None, []
        try:
            return last, await _pieces(checkpoints.open(last))
        except ObjectsError as error:
            before = await checkpoints.load_before(partition)
            if before is None:
                raise
            self._notice(f"cluster: {error}")
            return before, await _pieces(checkpoints.open(before))

    def _own(self, holding: Holding, taken: int, since: float = 0.0) -> None:
        """`since`: until then another agent may have visited its hosts."""
        partition = holding.partition
        self._holdings[partition] = holding
        self._tried.discard(partition)
        self._here.add(partition)
        self._share.take(_prefix(partition), since)
        self._frontier.opened(_prefix(partition))
        self._exchange.hold(partition, holding.token, taken)
        self.moves += 1

    # -- checkpoints -------------------------------------------------------------------------------------------------

    async def checkpoint(self, partition: int) -> None:
        """As of now; the log need not keep what the one before has."""
        holding, checkpoints = self._holdings.get(partition), self._checkpoints
        if holding is None or checkpoints is None or partition in self._busy:
            return
        self._busy.add(partition)
        try:
            self._commit()
            pieces, taken = self._moving.export(partition), self._exchange.taken[partition]
            sequence = await self._exchange.flushed(partition)
            before = await checkpoints.load(partition)
            await checkpoints.save(partition, holding.token, sequence, taken, _gently(pieces))
            self._exchange.checkpointed(partition)
            if before is not None:
                await self._log.trim(partition, before.covers + 1)
        except TokenLostError:
            self._exchange.drop([partition])
            self.lose([partition])
        finally:
            self._busy.discard(partition)

    # -- give up -----------------------------------------------------------------------------------------------------

    async def _give_up(self, partitions: list[int]) -> None:
        if not partitions:
            return
        for partition in partitions:
            self._busy.add(partition)
            self._close(partition)
        self._exchange.reopen()
        try:
            await self._wait_for_visits(partitions)
            self._commit()
            await self._exchange.flushed(partitions[0])
            await _some(self._release, [partition for partition in partitions if partition in self._holdings])
            self._commit()
        finally:
            self._busy.difference_update(partitions)

    async def _release(self, partition: int) -> None:
        try:
            await self._ownership.give_up(self._holdings[partition])
        except UnavailableError:
            return  # it stays ours, closed; the next time it is given up again
        except TokenLostError:
            pass
        self._holdings.pop(partition, None)
        self._exchange.drop([partition])
        await self._drop(partition)

    async def _wait_for_visits(self, partitions: Iterable[int]) -> None:
        until = self._clock() + _LONGEST
        prefixes = {_prefix(partition) for partition in partitions}
        while any(map(self._frontier.in_hand, prefixes)):
            if self._clock() >= until:
                self._break_off(lambda host: self._frontier.partition(host) in prefixes)
                return
            await asyncio.sleep(_LOOK_EVERY)

    def _close(self, partition: int) -> None:
        self._share.close(_prefix(partition))
        self._frontier.closed(_prefix(partition))

    async def _forget_lost(self) -> None:
        """Drop what others have taken."""
        lost = sorted(self._gone - self._busy)
        if not lost:
            return
        await self._wait_for_visits(lost)
        self._commit()
        for partition in lost:
            await self._drop(partition)
            self._gone.discard(partition)
        self._commit()

    async def _drop(self, partition: int) -> None:
        self._share.leave(_prefix(partition))
        self._here.discard(partition)
        self._frontier.forget_partition(partition)
        await self._run([self._moving.drop(partition)])
        self.moves += 1

    async def _run(self, steps: Iterable[Iterator[None]]) -> None:
        """Bounded steps, the loop in between."""
        for each in steps:
            for _ in each:
                await asyncio.sleep(0)


async def _gently(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The loop in between."""
    for piece in pieces:
        yield framed(piece)
        await asyncio.sleep(0)


async def _pieces(read: AsyncIterator[bytes]) -> list[bytes]:
    frames = Frames()
    return [piece async for data in read for piece in frames.feed(data)]


async def _some(act: Callable[[int], Awaitable[T]], partitions: Iterable[int]) -> list[T]:
    """For each, a few at a time, the results in their order."""
    turn = asyncio.Semaphore(_AT_ONCE)

    async def one(partition: int) -> T:
        async with turn:
            return await act(partition)

    return await _all(map(one, partitions))


async def _all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All at once; when this is cancelled, none goes on."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await ended(tasks)


def _prefix(partition: int) -> bytes:
    return partition.to_bytes(2, "big")
