"""What became of the visits in hand: fetched, excluded or dead, or queued again; and what their hosts do next."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import Entry, HostQueue, Place
from gossamer.frontier.pattern_pages import PatternPages
from gossamer.frontier.revisits import Revisits
from gossamer.frontier.roster import Roster
from gossamer.frontier.schedule import Schedule
from gossamer.frontier.turns import turns
from gossamer.model import Change, Exclusion, Fault, Locator, Reason, State, Visit
from gossamer.rules.policy import BUSY, Policy
from gossamer.rules.revisits import FIRST, Found

_IDLE = Place.IDLE  # asked for every page: a name of this module is found sooner than one of an enumeration
HOST_FAULTS = frozenset(
    {Reason.DNS, Reason.CONNECT, Reason.TIMEOUT, Reason.TLS, Reason.PROXY}
)  # others are a page's own


class Settling:
    """Told once of each leased visit.

    Invariant: a visit in hand is taken off its queue together with what became of it, or waits in it again; its host is
    offered to the schedule last, when its next turn is known.
    """

    def __init__(
        self,
        database: Database,
        roster: Roster,
        schedule: Schedule,
        counts: Counts,
        revisits: Revisits,
        policy: Policy,
        now: float,
    ) -> None:
        self.policy = policy
        self.pattern_pages: PatternPages | None = None
        self._database = database
        self._changes = database.visits
        self._roster = roster
        self._schedule = schedule
        self._counts = counts
        self._revisits = revisits
        self._seed = now
        self._jitter: Callable[[], float] | None = None  # made when a host fails first
        self.turns = turns(schedule, roster.hosts, database.visits, counts, roster.touch, self.offer)

    def settle_page(
        self,
        visit: Visit,
        status: int,
        now: float,
        seconds: float,
        stored: tuple[int, int, int] | Locator | None,
        address: str = "",
        digest: bytes = b"",
        validators: tuple[bytes, bytes] = (b"", b""),
        wait: float = 0.0,
        found: Found = FIRST,
    ) -> None:
        """The visit brought a response, which is in the store at (file, offset, length), or what that had brought which
        is there. A host that is BUSY asks for so many seconds.
        """
        if (
            self.turns is not None
            and not self._revisits.on
            and self.pattern_pages is None
            and self.turns.settle(visit, status, now, seconds, stored, address, digest, validators)
        ):
            return
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        before, again, changes = visit.before, b"", 0
        if before is not None and self._is_void(host, entry, visit, now, seconds):
            return
        if self._revisits.on or before is not None:
            again = self._again(host, entry, visit, found, now, validators)
        if before is not None:
            changes = before.changes + (found.change is Change.CHANGED)
        if isinstance(stored, Locator):
            stored = stored.file, stored.offset, stored.length
        self.settle(
            host,
            entry,
            keys.pack_page(
                State.FETCHED, visit.depth, status, now, visit.tries + 1, stored, digest, changes, validators, again
            ),
        )
        if self.pattern_pages is not None:
            self.pattern_pages.end(visit.url, stored=True)
        if before is None or before.state is not State.FETCHED:
            self._counts.fetched += 1
            host.pages += 1
            if before is not None:
                self._count_less(before.state)
        host.failures = 0
        if host.added_delay and status not in BUSY:
            host.recover()
        host.rest(now, seconds)
        if status in BUSY:
            host.slow_down(now, wait)
        self.release(host, now, address)

    def settle_missing(self, visit: Visit, found: Found, now: float, seconds: float, wait: float = 0.0) -> None:
        """A page that was there before is not there now, which may pass: what is known of it stays, and it is looked
        for again soon.
        """
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        if self._is_void(host, entry, visit, now, seconds):
            return
        before = visit.before
        assert before is not None
        value = keys.pack_history(
            before.state, visit.depth, before.status, before.fetched_at, visit.tries + 1, before.stored, before.digest,
            before.changes, before.reason, before.validators, self._again(host, entry, visit, found, now),
        )  # fmt: skip
        self.settle(host, entry, value)
        host.failures = 0
        host.rest(now, seconds)
        if wait:
            host.slow_down(now, wait)
        self.release(host, now)

    def _again(
        self,
        host: HostQueue,
        entry: Entry,
        visit: Visit,
        found: Found,
        now: float,
        validators: tuple[bytes, bytes] = (b"", b""),
    ) -> bytes:
        """What its record keeps of a visit that is to be made again: of a form nothing, which is sent once."""
        if entry.hops & keys.POST:
            return b""
        return self._revisits.settled(host, key_of(host, entry), visit, found, now, validators)

    def _is_void(self, host: HostQueue, entry: Entry, visit: Visit, now: float, seconds: float) -> bool:
        """Whether a visit was made again to what was purged meanwhile, or is queued as new: it changes nothing."""
        if visit.before is None or not self._revisits.is_void(key_of(host, entry)):
            return False
        self.unqueue(host, entry)
        host.failures = 0
        host.rest(now, seconds)
        self.release(host, now, visit=visit)
        return True

    def _count_less(self, state: State) -> None:
        self._counts.dead -= state is State.DEAD
        self._counts.excluded -= state is State.EXCLUDED

    def settle_excluded(self, visit: Visit, fault: Fault, now: float) -> None:
        """Not wanted after all, for instance because of its type."""
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        tries = visit.tries + 1
        if visit.before is not None:
            self._revisits.put_off(host, key_of(host, entry), now)
            self.unqueue(host, entry)
        else:
            history = keys.pack_history(State.EXCLUDED, visit.depth, fault.status, now, tries, reason=fault.reason)
            self.settle(host, entry, history)
            self._counts.excluded += 1
        host.failures = 0
        host.rest(now, 0.0)
        self.release(host, now, visit=visit)

    def settle_source(
        self,
        visit: Visit,
        reason: Exclusion,
        status: int,
        now: float,
        seconds: float,
        stored: tuple[int, int, int] | Locator | None,
        digest: bytes = b"",
        validators: tuple[bytes, bytes] = (b"", b""),
        found: Found = FIRST,
    ) -> None:
        """The visit brought a response that is in the store, but is no page: it was read for links (the reason says as
        what).
        """
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        if self._is_void(host, entry, visit, now, seconds):
            return
        before, again = visit.before, b""
        if self._revisits.on or before is not None:
            again = self._again(host, entry, visit, found, now, validators)
        value = keys.pack_history(
            State.EXCLUDED, visit.depth, status, now, visit.tries + 1, stored, digest,
            reason=reason, validators=validators if again else (b"", b""), again=again,
        )  # fmt: skip
        self.settle(host, entry, value)
        if before is None or before.state is not State.EXCLUDED:
            self._counts.excluded += 1
            if before is not None:
                self._count_less(before.state)
                if before.state is State.FETCHED:
                    self._counts.fetched -= 1
                    host.pages -= host.pages > 0
        host.failures = 0
        host.rest(now, seconds)
        if status in BUSY:
            host.slow_down(now, 0.0)
        self.release(host, now, visit=visit)

    def may_try_again(self, visit: Visit) -> bool:
        return visit.tries + 1 < self.policy.max_tries

    def settle_fault(self, visit: Visit, fault: Fault, now: float, wait: float = 0.0) -> None:
        """No page. The visit is tried again until its tries are used up; its host rests, longer each time, and for
        `wait` seconds at least if it is busy.
        """
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        asked = fault.reason is not Reason.PROXY  # else nobody but our own proxy was
        tries = visit.tries + asked
        if fault.reason is not Reason.UNANSWERED:  # which is an end, and nobody was asked
            host.fails(fault.reason)
        if fault.reason in HOST_FAULTS:
            host.failures += 1
            self.back_off(host, host.failures, now)
        elif fault.reason is Reason.BUSY:
            host.slow_down(now, wait)
        elif host.waiting:  # this page is at fault: others are next
            host.rest(now, 0.0)
        else:
            self.back_off(host, tries, now)
        if fault.retry and (self.may_try_again(visit) or not asked) and self._may_repeat(host, entry, fault):
            # Behind the others: a page that always fails must not keep them from being tried, nor take the host down.
            self.queue_again(host, entry, tries, entry.priority)
        elif visit.before is not None:
            self._revisits.put_off(host, key_of(host, entry), now, failed=True)
            self.unqueue(host, entry)
        else:
            on = self._revisits.on and not entry.hops & keys.POST
            again = self._revisits.unreachable(host, key_of(host, entry), now) if on else b""
            history = keys.pack_history(State.DEAD, visit.depth, 0, now, tries, reason=fault.reason, again=again)
            self.settle(host, entry, history)
            self._counts.dead += 1
        self.release(host, now, visit=visit)

    def _may_repeat(self, host: HostQueue, entry: Entry, fault: Fault) -> bool:
        """Of a form: if it was not sent, or its server said that it is busy. What may have been received is not sent
        again (RFC 9110, 9.2.2).
        """
        if not entry.hops & keys.POST:
            return True
        key = key_of(host, entry)
        if fault.reason is Reason.BUSY:
            self._changes[key] = keys.queued_visit(entry.depth)
        value = self._database.visit(key)
        return value is None or not keys.is_sent(value)

    def exclude(self, visit: Visit, reason: Reason) -> None:
        """A visit in hand that was not begun is not made at all."""
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        if self.pattern_pages is not None:
            self.pattern_pages.end(visit.url, stored=False)
        self.settle(host, entry, keys.excluded_visit(entry.depth, reason))
        self._counts.excluded += 1

    def give_back(self, visit: Visit, now: float) -> None:
        """A leased visit that was broken off; it waits as before. The server may have seen it, so its host rests."""
        host = self._roster.hosts[visit.host]
        host.due = max(host.due, now + host.delay)
        self.take_back(host, visit, now)

    def take_back(self, host: HostQueue, visit: Visit, now: float) -> None:
        """Let a leased visit wait as before."""
        entry = host.leased.pop(visit.number)
        if not visit.robots:
            host.level(entry.priority).put_back(entry)
        self.release(host, now, visit=visit)

    # -- queues and turns ----------------------------------------------------------------------------------------------

    def settle(self, host: HostQueue, entry: Entry, value: bytes) -> None:
        """Write what became of a visit and take it off its queue."""
        self._changes[key_of(host, entry)] = value
        self.unqueue(host, entry)

    def unqueue(self, host: HostQueue, entry: Entry) -> None:
        host.levels[entry.priority].settle(entry)
        if entry.hops & keys.REVISIT:
            self._counts.revisits -= 1
            self._counts.requested -= bool(entry.hops & keys.REQUESTED)
        else:
            self._counts.queued -= 1
        if entry.priority == keys.ASIDE:
            self._counts.aside -= 1
        if not host.dirty:
            self._roster.touch(host)

    def is_surplus(self, host: HostQueue, entry: Entry) -> bool:
        """Whether an entry, taken from its queue, is of a visit that was made or is being made under a better priority:
        it is dropped.
        """
        value = self._database.visit(key_of(host, entry))
        waits = value is None or keys.is_queued(value)
        if waits and not any(each.path == entry.path and each.scheme == entry.scheme for each in host.leased.values()):
            return False
        self.unqueue(host, entry)
        self._counts.queued += 1  # it was never counted
        self._counts.surplus -= self._counts.surplus > 0
        return True

    def queue_again(self, host: HostQueue, entry: Entry, tries: int, priority: int) -> None:
        """An entry in hand goes behind the others of a level."""
        packed = keys.pack_entry(entry.depth, tries, entry.hops, entry.scheme, entry.path)
        host.level(priority).put([packed], self._counts)
        host.levels[entry.priority].settle(entry)
        self._roster.touch(host)

    def back_off(self, host: HostQueue, failures: int, now: float) -> None:
        host.burst = 0
        host.failed_at = now
        if self._jitter is None:
            from random import Random

            self._jitter = Random(self._seed).random  # noqa: S311
        host.due = now + self.policy.back_off(failures, host.delay, self._jitter())

    def release(self, host: HostQueue, now: float, address: str = "", visit: Visit | None = None) -> None:
        """`visit`: one that brought no page."""
        if visit is not None and self.pattern_pages is not None:
            self.pattern_pages.end(visit.url, stored=False)
        self._schedule.end(host, now)
        if address and address != host.address and not host.leased:
            self._schedule.locate(host, address, now)
        if not host.dirty:
            self._roster.touch(host)
        self.offer(host, now)

    def offer(self, host: HostQueue, now: float) -> None:
        """Tell the schedule of a host, if it is in no place and may be visited once more."""
        if host.place is _IDLE and host.open:
            self._schedule.offer(host, now, host.failures > 0 and self.policy.is_down(host.failures))

    def reoffer(self, host: HostQueue, now: float) -> None:
        """Its turn was put off."""
        if host.place is Place.READY:
            self._schedule.drop(host)
            self.offer(host, now)


def key_of(host: HostQueue, entry: Entry) -> bytes:
    """Of the record of a visit."""
    return host.visits + (entry.scheme + entry.path).encode()
