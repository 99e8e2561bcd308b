"""An agent among others: its session, its partitions, the exchange of links, and the end of it all.

Everything here runs beside the loop, in the same thread. The loop asks how many visits it may start, and why to end.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gossamer.agent.agent import Agent
from gossamer.agent.deadline import QUIET, Deadline, deadline_file
from gossamer.agent.exchange import Exchange
from gossamer.agent.held import HELD
from gossamer.agent.holder import Holder
from gossamer.agent.later import Later
from gossamer.agent.leading import Leading
from gossamer.agent.outbox import Outbox
from gossamer.agent.quota import Quota
from gossamer.cluster.checkpoints import Checkpoints, Passed
from gossamer.cluster.coordinator import Coordinator
from gossamer.cluster.ending import ended
from gossamer.cluster.leader import PLAN, Leader, read_plan
from gossamer.cluster.lease import boot_time
from gossamer.cluster.log import Log
from gossamer.cluster.members import Members
from gossamer.cluster.ownership import Ownership
from gossamer.cluster.parties import agree
from gossamer.cluster.session import Session, Told
from gossamer.cluster.shared import DRAIN, End, Facts, end_crawl, read_end
from gossamer.config import Config
from gossamer.errors import ClusterError, SessionLostError, UnavailableError
from gossamer.frontier.keys import judged_partition
from gossamer.frontier.share import Part
from gossamer.model.url import host_of
from gossamer.rules.territory import Territory

_HOME: Final = "home"  # in the frontier: a nonce that says that it is this directory
_LOOK_EVERY: Final = 0.25  # seconds
_QUOTA_EVERY: Final = 0.1
_FIRST_PLAN_EVERY: Final = 0.05  # the same, before there is one
_LAST_WORDS: Final = 2.0  # seconds for what is still to be sent at the end
_FAREWELL: Final = 1.0
_GRACE: Final = 0.4  # of the gap
_IDLE_BEAT: Final = 0.5  # seconds between beats of an idle agent: all wait for it to be said
_CHECKPOINT_BYTES: Final = 64 << 20  # of a partition's log
_CHECKPOINT_EVERY: Final = 300.0  # seconds
_PASSED_EVERY: Final = 1.0  # seconds between looks at what checkpoints have
_AFTER_FAILURE: Final = 5.0  # seconds


class Membership:
    """Invariant: `room` is 0 whenever the session may not fetch, or more cannot be handed over."""

    def __init__(
        self,
        name: str,
        weight: float,
        facts: Facts,
        coordinator: Coordinator,
        log: Log,
        checkpoints: Checkpoints | None,
        home: Path,
        notice: Callable[[str], None],
        foreign: str = "exchange",
    ) -> None:
        """`checkpoints`: None if there is no place for them: then the log keeps all. `foreign`: what is done with
        links to partitions of others.
        """
        self._name = name
        self._weight = weight
        self._facts = facts
        self._coordinator = coordinator
        self._log = log
        self._checkpoints = checkpoints
        self._notice = notice
        self._territory = Territory(facts.partitions, dict(facts.pins))
        self.share = Part(self._territory, facts.terms.gap, foreign == "cross-over")
        self._later = Later(home).add if foreign == "firewall" else None
        self._deadline = Deadline(deadline_file(home))
        self._end = End("")
        self._over = ""  # for this reason all are to end
        self._config = Config()
        self._max_pages = 0
        self._leading: Leading
        self._entered = False
        self._seeds_read = False
        self._planned = 0  # revision of the plan that is followed
        self._low = asyncio.Event()  # more pages are to be asked for now
        self._spent = False  # none is to be had any more, and those there were are stored
        self._to_tell = asyncio.Event()  # something that others wait for
        self._wanted: set[int] = set()  # partitions whose checkpoint somebody has asked for
        self.at_rest: Callable[[], bool] = lambda: True  # nobody beside this agent has anything to ask for
        self.failed: Exception | None = None

    # -- coming ------------------------------------------------------------------------------------------------------

    async def enter(self, agent: Agent, clock: Callable[[], float]) -> None:
        """Before the first visit."""
        self._agent = agent
        frontier = agent.frontier
        stored = frontier.meta(_HOME)
        self._home = stored.decode() if stored else secrets.token_hex(8)
        agent.others = self
        agent.asked.agree(await agree(self._coordinator, agent.asked.applications, agent.asked.kept))
        counts = frontier.counts
        self._quota = Quota(self._coordinator, self._name)
        self._outbox = Outbox(
            frontier.outbox(), frontier.foreign, self.share, self._about, self._positions, lambda: counts.number,
            self._later,
        )  # fmt: skip
        frontier.before_commit = self._outbox.fill
        self._exchange = Exchange(self._log, self._outbox, agent.receive, self._lose, self._notice)
        self._session = await Session.open(
            self._coordinator, self._name, self._facts.terms, home=self._home, weight=self._weight
        )
        self._session.telling = self._tell
        self._members = await Members.open(self._coordinator, self._facts.terms)
        ownership = Ownership(self._log, self._members, self._session)
        territory = self._territory
        leader = Leader(self._coordinator, self._members, self._session, territory.partitions, territory.pinned())
        self._leading = Leading(self._coordinator, self._members, leader, self._quota, self._name)
        self._leading.limit(self._config)
        self._entered = True
        self._holder = Holder(
            frontier, self.share, self._log, ownership, self._checkpoints, self._exchange, agent.commit,
            agent.break_off, agent.receive, _host_of, self._take_notes, clock, self._notice,
        )  # fmt: skip
        agent.fence(self._session.may_fetch)
        beating = asyncio.create_task(self._beat())
        try:
            await self._holder.resume(frontier.meta(HELD))
            await self._check_log()
        finally:
            await ended([beating])
        agent.commit()

    async def _check_log(self) -> None:
        """That what was sent is still there."""
        newest = self._outbox.newest_kept()
        extent = await self._log.extent(0)
        if extent.last < newest:
            number = self._outbox.again(extent.last, self._agent.frontier.outbox())
            self._notice(f"cluster: the broker has lost data; {number} messages are sent again")

    def work(self) -> list[Coroutine[Any, Any, None]]:
        """What runs beside the loop until the end."""
        parts = [
            self._beat(),
            self._guard(),
            self._leading.work(),
            self._follow_plan(),
            self._look_around(),
            self._get_pages(),
            self._exchange.send(),
            self._exchange.follow(self._holder.reads),
            self._checkpoint(),
        ]
        return [self._watched(part) for part in parts]

    async def _watched(self, part: Coroutine[Any, Any, None]) -> None:
        """What fails here ends this agent, and not silently."""
        try:
            await part
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self.failed = self.failed or error
            self._agent.cut_off()
            self._agent.stop()

    def checkpoint(self) -> int:
        """Of all partitions that have changed since their last one, soon. How many that are."""
        if self._checkpoints is None:
            return 0
        self._wanted = {partition for partition, size in self._exchange.bytes_since.items() if size}
        return len(self._wanted)

    def seeds_read(self) -> None:
        self._seeds_read = True

    # -- for the loop ------------------------------------------------------------------------------------------------

    def room(self, room: int, pages: int) -> int:
        if not self._session.may_fetch() or self._outbox.full or self._exchange.full:
            return 0
        if not self._max_pages:
            return room
        if self._quota.is_low(pages):
            self._low.set()
        return min(room, self._quota.granted - pages)

    def reason_to_end(self) -> str:
        return self._end.reason

    def end_all(self, reason: str) -> None:
        self._over = self._over or reason

    @property
    def gone(self) -> dict[str, int]:
        return self._end.gone.pages()

    @property
    def held(self) -> int:
        return self._holder.held

    @property
    def committed(self) -> int:
        return self._outbox.last

    def logged(self, commit: int) -> bool:
        return not self._outbox.pending or self._outbox.pending[0].number > commit

    def notes(self) -> dict[str, bytes]:
        return {_HOME: self._home.encode(), HELD: self._holder.kept()}

    def limit(self, config: Config) -> None:
        """What the settings say."""
        self._config, self._max_pages = config, config.agent.max_pages
        if self._entered:
            self._leading.limit(config)

    # -- for the others ----------------------------------------------------------------------------------------------

    def _tell(self) -> Told:
        """For the next beat."""
        frontier, exchange = self._agent.frontier, self._exchange
        exchange.quick = (
            self._seeds_read
            and frontier.exhausted
            and not frontier.foreign
            and not self._outbox.pending
            and self._holder.settled
            and self.at_rest()
        )
        work = exchange.work + self._holder.moves + self._agent.visits
        return Told(exchange.quick, self._planned, work, exchange.polls, self._agent.statistics.pages)

    def _about(self, name: str) -> int | None:
        """The partition that a note of the agent is about, or the host that it is about is in."""
        host = _host_of(name)
        return judged_partition(name) if host is None else self._territory.partition(host)

    def _take_notes(self, names: Iterable[str]) -> None:
        """Of a partition that has come: hosts of its seeds belong to the crawl."""
        self._agent.seeds_came([host for kind, _, host in (name.partition(" ") for name in names) if kind == "seed"])

    def _positions(self) -> dict[int, int]:
        return self._exchange.taken

    def _lose(self, partitions: Any) -> None:
        self._notice(f"cluster: {len(partitions)} partitions were taken by other agents")
        self._holder.lose(partitions)

    # -- beside the loop ---------------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        session = self._session
        # Who watches from outside gives it a moment to see to this itself; others come a whole gap later.
        grace = self._facts.terms.gap * _GRACE
        while True:
            self._deadline.write(session.deadline + grace if session.may_fetch() else QUIET)
            due = session.beat_due()
            await _waited(self._to_tell, min(due, _IDLE_BEAT) if self._exchange.quick else due)
            try:
                await session.renew()
            except UnavailableError:
                await asyncio.sleep(0.1)

    async def _guard(self) -> None:
        """Nothing is said to anybody after the deadline."""
        session = self._session
        while True:
            left = session.deadline - boot_time()
            if left > 0:
                await asyncio.sleep(min(left, _LOOK_EVERY))
                continue
            self._agent.cut_off()
            self._deadline.write(QUIET)
            self._notice("cluster: the broker is not heard of; no page is visited until it is")
            while not session.may_fetch():  # noqa: ASYNC110 - it is the clock that says so
                await asyncio.sleep(0.05)
            self._notice("cluster: the broker is back")

    async def _follow_plan(self) -> None:
        while True:
            with suppress(UnavailableError):
                entry = await self._coordinator.get(PLAN)
                plan = read_plan(entry, self._territory.partitions)
                if entry is not None and plan is not None and not self._end.reason:
                    self._leading.plan, self._planned = plan, entry.revision
                    self._agent.divide(max(len(plan.agents), 1))
                    await self._holder.reconcile(plan.partitions(self._name))
            await asyncio.sleep(_LOOK_EVERY if self._planned else _FIRST_PLAN_EVERY)

    async def _look_around(self) -> None:
        """The end, and who is to leave."""
        wishes = await self._coordinator.watch(DRAIN)
        leaving: set[str] = set()
        while True:
            try:
                self._end = await read_end(self._coordinator) or End("")
                if self._over and not self._end.reason:
                    self._end = await end_crawl(self._coordinator, self._over, self._name)
                for entry in await wishes.next(0.0):
                    name = entry.key.partition(".")[2]
                    leaving.discard(name) if entry.value is None else leaving.add(name)
                self._leading.leaving = frozenset(leaving)
            except UnavailableError:
                pass
            await asyncio.sleep(_QUOTA_EVERY if self._max_pages else 2 * _LOOK_EVERY)

    async def _get_pages(self) -> None:
        """That may still be stored, before those that there are have all been begun."""
        while True:
            if self._max_pages:
                with suppress(UnavailableError):
                    await self._look_at_quota()
            await _waited(self._low, _QUOTA_EVERY if self._max_pages else 2 * _LOOK_EVERY)

    async def _look_at_quota(self) -> None:
        frontier, stored = self._agent.frontier, self._agent.statistics.pages
        pages = stored + self._agent.visits_in_flight
        needs = not frontier.exhausted or frontier.leased > 0
        plan = self._leading.plan
        await self._quota.look(self._max_pages, pages, len(plan.agents) if plan else 1, needs)
        before, self._spent = self._spent, self._quota.is_spent(stored)
        if self._spent and not before:
            self._to_tell.set()  # so many pages, with the next beat: the leader counts them

    async def _checkpoint(self) -> None:
        """Of one partition after the other that has changed much, or long ago."""
        if self._checkpoints is None:
            return
        passed = await Passed.open(self._coordinator)
        made = dict[int, float]()
        while True:
            await asyncio.sleep(_PASSED_EVERY)
            try:
                if await passed.look(0.0):
                    for partition, taken in passed.passed().items():
                        self._outbox.passed(partition, taken)
                now = boot_time()
                for partition, size in list(self._exchange.bytes_since.items()):
                    since = now - made.setdefault(partition, now)
                    asked = partition in self._wanted
                    if asked or size > _CHECKPOINT_BYTES or (size and since > _CHECKPOINT_EVERY):
                        made[partition] = now
                        self._wanted.discard(partition)
                        await self._holder.checkpoint(partition)
            except UnavailableError:
                continue
            except ClusterError as error:
                self._notice(f"cluster: a checkpoint was not made: {error}")
                await asyncio.sleep(_AFTER_FAILURE)

    # -- going -------------------------------------------------------------------------------------------------------

    async def leave(self) -> None:
        """After the last commit: what it has for others is handed over, then they need not wait for this agent."""
        try:
            async with asyncio.timeout(_LAST_WORDS):
                await self._session.renew()
        except SessionLostError:
            await self._forget()
        except (TimeoutError, UnavailableError):
            pass
        beating = asyncio.create_task(self._beat())
        try:
            async with asyncio.timeout(_LAST_WORDS):
                while self._outbox.pending:
                    await self._exchange.send_once()
        except (TimeoutError, ClusterError) as error:
            self._notice(f"cluster: not all was handed over ({error or 'no time left'}); the next run does it")
        finally:
            await ended([beating])
        self._deadline.write(QUIET)
        with suppress(TimeoutError, UnavailableError):
            async with asyncio.timeout(_FAREWELL):
                await self._session.end()
                await self._members.close()

    async def _forget(self) -> None:
        """Others have given this agent up, and the crawl has ended before it could come back."""
        with suppress(TimeoutError, UnavailableError):
            async with asyncio.timeout(_LAST_WORDS):
                await self._holder.drop_lost()

    def raise_failure(self) -> None:
        if self.failed is not None:
            raise self.failed


async def _waited(event: asyncio.Event, seconds: float) -> None:
    """Until it happens, or so long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()


def _host_of(name: str) -> str | None:
    """The host that a note of the agent is about: that of a seed, or of a sitemap that speaks for others."""
    kind, _, what = name.partition(" ")
    if kind == "seed":
        return what
    return host_of(what) if kind == "sitemap" else None
