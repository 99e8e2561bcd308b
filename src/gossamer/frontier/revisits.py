"""Which visits are made again, and when (N13, S4).

A settled visit gets a time at which it is due, kept in its record and in the column family `due`, which is in the
order of these times: what is due is at its beginning, and nothing is searched for. It is queued then with the mark
REVISIT, as long as that leaves new URLs their share of the speed, and settled like any other, which gives it its next
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final
from zlib import crc32

from gossamer.config import FreshConfig
from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import FIRST, HostQueue, Origin
from gossamer.frontier.intervals import Intervals, PageFacts, has_new
from gossamer.frontier.roster import Roster
from gossamer.model import Before, Change, Exclusion, State, Visit
from gossamer.model.url import split
from gossamer.rules.change_rate import DAY, Seen
from gossamer.rules.policy import Policy
from gossamer.rules.revisits import Found, gained_on_average
from gossamer.rules.validators import Trust

_AT_ONCE: Final = 64  # visits that are due, taken up in one turn
_MOST_WAITING: Final = 20_000
_AHEAD: Final = 10.0  # seconds of a host's time for which visits are queued
_LOOK_AGAIN: Final = 0.25  # seconds after there was nothing due
_A_LITTLE: Final = 0.05  # of an interval: a visit that would now be due that much later is made
_SAVED: Final = 3600.0  # seconds of allowed visits that are saved up, before any is made early; and as many again
_LOOKED_AT: Final = 256  # visits that are due next, where some are to be made early
_IN_VAIN: Final = 600.0  # seconds after there was none among them
_MOST_CREDIT: Final = 1000.0
_SOON: Final = 3600.0  # seconds after which a page that was not there is looked for again, at most
_MOST_FAILURES: Final = 6
_FASTEST: Final = 0.002  # seconds between visits to a host that needs no rest, as far as is planned
_WHILE_FAILING: Final = 1.0  # the same, of a host that does not answer
_WHILE_BLOCKED: Final = DAY  # until it is looked again whether a page is still not to be visited
_ENROLLED_AT_ONCE: Final = 200
_DECIDED: Final = b"!"  # what is due then, whatever a visit must be worth
_EARLY: Final = b"<"  # and before that, as there are visits left
_IN_TURN: Final = b"@"  # and for which there is a place then in the time of its host
_DONE: Final = object()


class Revisits:
    """Told of every settled visit, and asked in every turn of the loop what is due.

    Invariant: a visit that is to be made again is in `due` once, at the time that its record says; or in the queue of
    its host, and its record says 0. Both change in one commit. After a commit none that is due is before the cursor.
    """

    def __init__(
        self,
        database: Database,
        roster: Roster,
        counts: Counts,
        config: FreshConfig,
        policy: Policy,
        rate: float,
        enqueue: Callable[[Origin, list[str], int], None],
    ) -> None:
        self._database = database
        self._roster = roster
        self._counts = counts
        self._enqueue = enqueue
        self._intervals = Intervals(database, config, policy, rate)
        self._cursor = keys.due_key(counts.due_from, b"")  # nothing that is due is before
        self._look_again = self._now = 0.0
        self._credit = 0.0  # visits that known URLs may have, since new ones had theirs
        self._saved, self._saved_at = 1.0, 0.0
        self._early_again = 0.0
        self._enrolling: Iterator[None] | None = None
        self.change(config, policy, rate)

    def change(self, config: FreshConfig, policy: Policy, rate: float) -> None:
        """The settings from now on; `rate`: visits a second that the whole crawl may make (0: any number)."""
        self.on = config.keep_fresh
        self._config = config
        self._intervals.change(config, policy, rate)
        if not self.on:
            self._counts.enrolled = False  # those that are settled meanwhile are not told of
            self._enrolling = None

    # -- what is due -------------------------------------------------------------------------------------------------

    def next_moment(self, now: float) -> float | None:
        """When the first visit will be queued of those that the last commit knows; None: none will."""
        for key, _ in self._due(float("inf"), 1) if self.on else ():
            due, rate = float(keys.read_due_key(key)[0]), self._config.revisit_rate
            if rate:
                # One is made early rather than that a visit is lost.
                due = min(due, max(now + (self._most_saved - self._saved) / rate, self._early_again))
                due = max(due, now + (1 - self._saved) / rate)
            return max(due, self._look_again, now + _LOOK_AGAIN)
        return None

    @property
    def share(self) -> float:
        """Of a host's visits, while something new waits for it too."""
        return self._config.revisit_share

    def leased(self, new: int) -> None:
        """So many visits to new URLs were begun, for which known ones may have their share."""
        share = self._config.revisit_share
        self._credit = min(self._credit + new * share / max(1 - share, 1e-3), _MOST_CREDIT)

    def release(self, now: float, busy: bool) -> None:
        """Queue what is due. `busy`: new URLs could be visited now."""
        if now < self._now:
            self._set_back()
        self._now = now
        if not self._counts.enrolled:
            self._enrol(now)
        if now < self._look_again:
            return
        most = self._allowed(now, busy)
        if not most:
            return
        taken = self._due(now, most)
        if not taken:
            lost = self._saved - self._most_saved if self._config.revisit_rate and not busy else -1.0
            if lost >= 0 and now >= self._early_again:
                self._take_early(now, min(int(lost) + 1, most))
            else:
                self._intervals.lag = min(self._intervals.lag, 0.0)
            self._look_again = now + _LOOK_AGAIN
            return
        self._cursor = taken[-1][0] + b"\0"
        self._counts.due_from = keys.read_due_key(self._cursor)[0]
        self._intervals.lag = now - self._counts.due_from
        visits = [keys.read_due_key(key) for key, _ in taken]
        values = self._database.visits_at([visit for _, visit in visits])
        closed = self._database.closed
        for (key, why), (due, visit), value in zip(taken, visits, values, strict=True):
            if closed and visit[:2] in closed:
                continue  # who has them next looks at these again
            self._database.due[key] = None
            if value is not None and keys.due_of(value) == due:  # or it was purged, or its time was changed
                self._take_up(visit, value, now, busy, why)

    def _set_back(self) -> None:
        """The clock was: what was planned by it is not to be waited for."""
        self._look_again = self._early_again = 0.0
        for host in self._roster.hosts.values():
            if host.fresh is not None:
                host.fresh.slot = 0.0

    def _due(self, now: float, most: int) -> list[tuple[bytes, bytes]]:
        found: list[tuple[bytes, bytes]] = []
        for key, why in self._database.scan_due(self._cursor):
            if keys.read_due_key(key)[0] > now or len(found) >= most:
                break
            found.append((key, why))
        return found

    def _allowed(self, now: float, busy: bool) -> int:
        most = min(_AT_ONCE, _MOST_WAITING - (self._counts.revisits - self._counts.requested))
        if busy and self._config.revisit_share < 1:
            most = min(most, int(self._credit))
        rate = self._config.revisit_rate
        if rate:
            saved = self._saved + rate * max(now - self._saved_at, 0.0)
            self._saved, self._saved_at = min(saved, 2 * self._most_saved), now
            most = min(most, int(self._saved + 1e-6))
        return max(most, 0)

    @property
    def _most_saved(self) -> float:
        """Visits that are saved up for what will be due."""
        return max(1.0, self._config.revisit_rate * _SAVED)

    def _take_early(self, now: float, most: int) -> None:
        """Queue what will be due next, rather than that so many visits are lost."""
        left = first = b""
        for key, why in islice(self._database.scan_due(self._cursor), _LOOKED_AT):
            due, visit = keys.read_due_key(key)
            value = None if why or visit[:2] in self._database.closed else self._database.visit(visit)
            if value is not None and keys.due_of(value) != due:
                continue  # it is queued, or has another time
            if value is None or not self._is_worth_it(visit, value, now):
                left = left or key
                continue
            first = first or key
            self._database.due[key] = None
            self._take_up(visit, value, now, False, _EARLY)
            most -= 1
            if not most:
                self._cursor = left or key + b"\0"
                break
        if first:
            self._intervals.lag = min(now - keys.read_due_key(first)[0], 0.0)
        else:
            self._intervals.lag, self._early_again = 0.0, now + _IN_VAIN

    def _is_worth_it(self, key: bytes, value: bytes, now: float) -> bool:
        """A page can be visited now, and may have changed since."""
        before = keys.read_before(value)
        if not before.is_page or before.missing:
            return False
        page = self._page(key, value, before)
        host = page.origin.host
        if host is not None and (host.due > now + _AHEAD or self._intervals.of(host).slot > now + _AHEAD):
            return False
        return now - before.fetched_at >= self._intervals.soonest(page)

    def _take_up(self, key: bytes, value: bytes, now: float, busy: bool, why: bytes) -> None:
        """Queue a visit that is due; or put it off, if a visit must be worth more by now, or its host is behind."""
        before = keys.read_before(value)
        page = self._page(key, value, before)
        host = page.origin.host or self._roster.enter(page.origin, FIRST)
        if page.origin.manners.blocked or (host is not None and host.mirrors):  # in its queue it would only wait
            self._put(key, value, now + _WHILE_BLOCKED, now)
            return
        if not why and before.is_page and not before.missing:
            wait = self._intervals.tell(page, before.fetched_at)
            if before.is_new:
                wait *= _spread(page.number)
            if 0 <= now - before.fetched_at < (1 - _A_LITTLE) * wait:
                self._put(key, value, before.fetched_at + wait, now)
                return
        slot = self._slot(host, now, has_one=why == _IN_TURN)
        if slot > now + _AHEAD:
            self._put(key, value, slot, now, _IN_TURN)
            return
        if busy:
            self._credit = max(self._credit - 1, 0.0)
        self._saved = max(self._saved - 1, 0.0)
        self._queue(page.origin, page.path, key, value, FIRST)

    def request(self, origin: Origin, path: str, value: bytes, priority: int) -> None:
        """Queue a URL that was visited before because somebody asks for it, whatever was planned for it. `value` is its
        record, which says that it does not wait in the queue already.
        """
        key = origin.prefix + path.encode()
        if keys.has_again(value):
            self._database.due[keys.due_key(keys.due_of(value), key)] = None
        else:
            value = keys.with_again(value, keys.pack_again(0, Seen().pack(), 0, 0, 0, 0))
        self._counts.requested += 1
        self._queue(origin, path, key, value, priority, keys.REQUESTED)

    def _queue(self, origin: Origin, path: str, key: bytes, value: bytes, priority: int, marks: int = 0) -> None:
        self._database.visits[key] = keys.with_due(value, 0)
        source = keys.SOURCE if keys.left_out(value) == Exclusion.SITEMAP else 0
        entry = keys.pack_entry(value[1], 0, keys.REVISIT | source | marks, origin.scheme, path)
        self._enqueue(origin, [entry], priority)

    def _slot(self, host: HostQueue | None, now: float, has_one: bool) -> float:
        """When a host can be visited again for what is due: as often as its delay and what is new there allow, after
        what waits there, and not before it is up again: of a host that is down others must not have to wait for much.
        `has_one`: it is now, unless the host is behind.
        """
        if host is None:
            return now
        fresh, level = self._intervals.of(host), host.levels.get(FIRST)
        least = _WHILE_FAILING if host.failures else _FASTEST
        step = max(host.delay / (self._config.revisit_share if has_new(host) else 1.0), least)
        slot = now + (0 if level is None else level.left) * step
        if has_one and slot <= now + _AHEAD >= host.due - host.delay:
            return slot
        slot = max(fresh.slot, slot)
        if host.due > now + host.delay + _AHEAD:
            slot = max(slot, host.due)
        fresh.slot = slot + step
        return slot

    def _put(self, key: bytes, value: bytes, due: float, now: float, why: bytes = b"") -> None:
        """A visit is due then."""
        self._database.visits[key] = keys.with_due(value, self._note(key, due, now, why))

    def _note(self, key: bytes, due: float, now: float, why: bytes = b"") -> int:
        moment = min(max(int(due), int(now) + 1), keys.LATEST)
        self._database.due[keys.due_key(moment, key)] = why
        return moment

    # -- visits in hand ----------------------------------------------------------------------------------------------

    def before(self, key: bytes) -> Before | None:
        """What is known of a visit that is made again; None when it is no more to be."""
        value = self._waiting(key)
        return None if value is None else keys.read_before(value)

    def _waiting(self, key: bytes) -> bytes | None:
        """The record of a visit that waits in its host's queue to be made again, or is in hand; None: it is no more to
        be, or was given another time, since it was purged, or queued as a new one.
        """
        value = self._database.visit(key)
        return None if value is None or not keys.has_again(value) or keys.due_of(value) else value

    def is_void(self, key: bytes) -> bool:
        """What a visit in hand has found is of no use: its record is no longer the one that it was made for."""
        return self._waiting(key) is None

    def ask_with(self, host: HostQueue, before: Before, requested: bool) -> tuple[bytes, bytes]:
        """Return the validators to ask for a page with. A page whose copy another agent has stored is asked for without
        any, so that this agent has a copy of its own afterwards: the other one may be lost with its disk.
        """
        if before.missing or before.stored is None or not 200 <= before.status < 300:
            return b"", b""
        return self._intervals.of(host).trust.ask_with(before.validators, before.unchanged, requested)

    def settled(
        self, host: HostQueue, key: bytes, visit: Visit, found: Found, now: float, validators: tuple[bytes, bytes]
    ) -> bytes:
        """What a record keeps of a visit that has found this; and it is due again."""
        before = visit.before
        fresh = self._intervals.of(host)
        gained, unchanged, text = 0, 0, found.text
        if before is None:
            is_dated = found.changed_at and fresh.trust.modified.is_used
            seen = Seen.dated(now - found.changed_at) if is_dated else Seen()
        else:
            if found.change is Change.SAME:
                unchanged = before.unchanged + (not found.missing)
            if found.unmodified:
                fresh.trust.not_modified(visit.validators)
            elif found.is_page and before.is_page and not found.missing:
                changed = found.change is not Change.SAME
                fresh.trust.came(visit.validators, before.validators, validators, changed)
            fresh.changed = True
            seen = _seen(fresh.trust, before, found, now)
            gained = before.gained
            if found.change is Change.SAME:
                text = text or before.text
            else:
                gained = gained_on_average(gained, found.gained)
        page = self._facts(visit.url, visit.depth, key, seen, gained, found.is_page)
        if found.is_page:
            wait = self._intervals.tell(page, before.fetched_at if before is not None and found.missing else now)
        else:
            wait = self._intervals.forget(page)
        if before is None:
            wait = max(wait * _spread(page.number), min(found.holds, self._intervals.bounds(host, visit.url).most))
        elif found.missing:
            wait = min(wait, max(self._intervals.bounds(host, visit.url).least, _SOON))
        why = b""
        if found.again is not None:
            bounds, why = self._intervals.bounds(host, visit.url), _DECIDED
            wait = min(max(found.again, bounds.least), bounds.most)
        due = self._note(key, now + wait, now, why)
        return keys.pack_again(due, seen.pack(), text, gained, unchanged, found.missing)

    def put_off(self, host: HostQueue, key: bytes, now: float, failed: bool = False) -> None:
        """A visit in hand was not made, or brought nothing: it stays what it was, and is due later."""
        value = self._waiting(key)
        if value is None:
            return
        wait = self._intervals.bounds(host, "").most
        if failed:
            before = keys.read_before(value)
            if before.state is not State.DEAD:  # there was something once
                wait = min(_SOON * 2 ** min(before.missing, _MOST_FAILURES), wait)
            value = keys.with_missing(value, before.missing + 1)
        self._put(key, value, now + wait, now)

    def unreachable(self, host: HostQueue, key: bytes, now: float) -> bytes:
        """What a record keeps of a URL of which there was never anything but faults; and it is due again."""
        due = self._note(key, now + self._intervals.bounds(host, "").most, now)
        return keys.pack_again(due, Seen().pack(), 0, 0, 0, 0)

    def hint(self, url: str, changed_at: float, now: float) -> bool:
        """Somebody says that a known page has changed since it was visited: it is due at once, but not sooner than the
        shortest interval allows.
        """
        key = self._roster.key_of(url)
        value = self._database.visit(key)
        if value is None or not keys.has_again(value):
            return False
        due, before = keys.due_of(value), keys.read_before(value)
        least = self._intervals.bounds(self._roster.origin(split(url)[0]), url).least
        soon = max(now, before.fetched_at + least)
        if changed_at <= before.fetched_at or not due or due <= soon:
            return False
        self._database.due[keys.due_key(due, key)] = None
        self._put(key, value, soon, now, _DECIDED)
        return True

    def freshness(self, now: float) -> tuple[float, float]:
        """The share of copies that are what their servers show, and the seconds since they are not, as estimated."""
        return self._intervals.freshness(now)

    def save(self) -> None:
        """Put what changed into the database's changes, which are about to be committed: what is due then may be before
        what was taken up meanwhile, as scans do not see it earlier.
        """
        self._intervals.save()
        self._look_from(min((key for key, why in self._database.due.items() if why is not None), default=self._cursor))

    def joined(self, first: bytes, enrolled: bool) -> None:
        """Visits came from elsewhere. The first of them that is due is at this key, if any is; `enrolled`: every one
        that was settled has a time.
        """
        if first:
            self._look_from(first)
        if not enrolled:
            self._counts.enrolled = False
            self._enrolling = None

    def _look_from(self, first: bytes) -> None:
        if first < self._cursor:
            self._cursor = first
            self._counts.due_from = keys.read_due_key(first)[0]
            self._look_again = 0.0

    def _page(self, key: bytes, value: bytes, before: Before) -> PageFacts:
        visit = keys.read_visit(key, value)
        return self._facts(visit.url, visit.depth, key, Seen.unpack(before.seen), before.gained)

    def _facts(self, url: str, depth: int, key: bytes, seen: Seen, gained: int = 0, is_page: bool = True) -> PageFacts:
        start, path = split(url)
        return PageFacts(url, path, depth, crc32(key), self._roster.origin(start), seen, gained, is_page)

    # -- visits of earlier runs --------------------------------------------------------------------------------------

    def _enrol(self, now: float) -> None:
        """Visits that were settled while nothing was visited again get a time, some in each turn."""
        if self._enrolling is None:
            self._enrolling = self._all_visits(now)
        if next(self._enrolling, _DONE) is _DONE:
            self._counts.enrolled = True
            self._enrolling = None

    def _all_visits(self, now: float) -> Iterator[None]:
        number = 0
        for partition in map(keys.partition_prefix, range(self._counts.partitions)):
            if partition in self._database.closed:
                continue  # when it is whole all are gone over again
            for key, value in self._database.scan_visits(partition + b"v"):
                number += 1
                if number % _ENROLLED_AT_ONCE == 0:
                    yield
                if partition in self._database.closed:
                    break
                wanted = _is_visited_again(value) and not keys.has_again(value) and b"#" not in key  # a form
                if wanted and self._database.visit(key) == value:
                    self._enrol_one(key, value, now)

    def _enrol_one(self, key: bytes, value: bytes, now: float) -> None:
        visit = keys.read_visit(key, value)
        page = self._facts(visit.url, visit.depth, key, Seen(), is_page=keys.is_fetched(value))
        wait = self._intervals.tell(page, visit.fetched_at) if page.is_page else self._intervals.wait(page)
        due = visit.fetched_at + wait * _spread(page.number)
        self._put(key, keys.with_again(value, keys.pack_again(0, page.seen.pack(), 0, 0, 0, 0)), due, now)


def _is_visited_again(value: bytes) -> bool:
    """It brought a response, which was stored as a page or read for links."""
    return value[0] == State.FETCHED or keys.left_out(value) in (Exclusion.SITEMAP, Exclusion.FEED)


def _seen(trust: Trust, before: Before, found: Found, now: float) -> Seen:
    """What was seen of a page, after this visit too."""
    seen = Seen.unpack(before.seen)
    if found.missing:
        return seen
    if found.change is Change.SAME:
        return seen.after(now - before.fetched_at, changed=False)
    if before.unchanged and trust.lies:
        seen = Seen()  # its server may have hidden changes before
    # Where the server says when, and can be believed, more is known.
    if before.fetched_at < found.changed_at < now and trust.modified.is_proven:
        return seen.after(found.changed_at - before.fetched_at, changed=True).told(now - found.changed_at)
    return seen.after(now - before.fetched_at, changed=True)


def _spread(number: int) -> float:
    """Of the first interval: pages that were found together need not be due together."""
    return 0.1 + 0.9 * (number & 0xFFFF) / 0x10000
