"""Which visits are made again, and when (N13, S4).

A settled visit gets a time at which it is due, kept in its record and in the column family `due`, which is in the
order of these times: what is due is at its beginning, and nothing is searched for. It is queued then with the mark
REVISIT, as long as that leaves new URLs their share of the speed, and settled like any other, which gives it its next
time.

Invariant: a visit that is to be made again is in `due` once, at the time that its record says; or in the queue of its
host, and its record says 0. Both change in one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final
from zlib import crc32

import msgspec

from gossamer.config import FreshConfig
from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Database
from gossamer.frontier.host_freshness import HostFreshness, place_number
from gossamer.frontier.hosts import HostQueue, Origin
from gossamer.frontier.roster import Roster
from gossamer.model import Before, Change, Exclusion, State
from gossamer.rules.census import USUAL, Bounds, Census, Known
from gossamer.rules.change_rate import DAY, Seen, Weights
from gossamer.rules.policy import Policy
from gossamer.rules.revisits import Found, gained_on_average, worth

FIRST: Final = 0  # the priority of visits that are due: what may be queued is limited, so they need not wait there
_SAMPLE: Final = 400  # pages of all hosts
_ANEW: Final = 25  # of these, visited since prices were found last
_AT_ONCE: Final = 256  # visits that are due, taken up in one turn
_MOST_WAITING: Final = 20_000
_AHEAD: Final = 10.0  # seconds of a host's time for which visits are queued
_LOOK_AGAIN: Final = 0.25  # seconds after there was nothing due
_A_LITTLE: Final = 0.05  # of an interval: a visit that would now be due that much later is made
_SAVED: Final = 60.0  # seconds of allowed visits that are saved up
_MOST_CREDIT: Final = 1000.0
_SOON: Final = 3600.0  # seconds after which a page that was not there is looked for again, at most
_MOST_FAILURES: Final = 6
_ENROLLED_AT_ONCE: Final = 200
_NAME: Final = "fresh"

_encode = msgspec.msgpack.Encoder().encode


class _Kept(msgspec.Struct):
    """What the commit keeps of all this."""

    census: bytes = b""
    prior: Weights = USUAL
    price: float = 0.0


class Revisits:
    """Told of every settled visit, and asked in every turn of the loop what is due."""

    def __init__(
        self,
        database: Database,
        roster: Roster,
        counts: Counts,
        config: FreshConfig,
        policy: Policy,
        rate: float,
        enqueue: Callable[[Origin, str, int], None],
    ) -> None:
        self._database = database
        self._roster = roster
        self._counts = counts
        self._enqueue = enqueue
        stored = database.visit(keys.META + _NAME.encode())
        kept = msgspec.msgpack.decode(stored, type=_Kept) if stored else _Kept()
        self._census = Census(_SAMPLE, kept.census)
        self._prior, self._price = kept.prior, kept.price
        self._told = 0
        self._changed = False
        self._cursor = keys.due_key(counts.due_from, b"")
        self._look_again = 0.0
        self._lag = 0.0  # seconds that what is due now should have been visited earlier
        self._credit = 0.0
        self._saved, self._saved_at = 1.0, 0.0
        self._enrolling: Iterator[None] | None = None
        self.change(config, policy, rate)

    def change(self, config: FreshConfig, policy: Policy, rate: float) -> None:
        """The settings from now on; `rate`: visits a second that the whole crawl may make (0: any number)."""
        self.on = config.keep_fresh
        self._config = config
        self._policy = policy
        self._budget = config.revisit_rate or rate * config.revisit_share
        self._told = _ANEW
        if not self.on:
            self._counts.enrolled = False  # those that are settled meanwhile are not told of
            self._enrolling = None

    # -- what is due -------------------------------------------------------------------------------------------------

    @property
    def next_due(self) -> float | None:
        """When the first visit is due of those that the last commit knows; None: none is."""
        for key in self._database.scan_due(self._cursor):
            return float(keys.read_due_key(key)[0])
        return None

    def leased(self, new: int) -> None:
        """So many visits to new URLs were begun, for which known ones may have their share."""
        share = self._config.revisit_share
        self._credit = min(self._credit + new * share / max(1 - share, 1e-3), _MOST_CREDIT)

    def release(self, now: float, busy: bool) -> None:
        """Queue what is due. `busy`: new URLs could be visited now."""
        if not self.on:
            return
        if not self._counts.enrolled:
            self._enrol(now)
        if now < self._look_again:
            return
        most = self._allowed(now, busy)
        taken = []
        for key in self._database.scan_due(self._cursor) if most else ():
            due, visit = keys.read_due_key(key)
            if due > now:
                break
            taken.append((key, due, visit))
            if len(taken) >= most:
                break
        if not taken:
            self._lag = self._lag if not most else 0.0
            self._look_again = now + _LOOK_AGAIN
            return
        self._cursor = taken[-1][0] + b"\0"
        self._counts.due_from = taken[-1][1]
        self._lag = now - taken[-1][1]
        for (key, due, visit), value in zip(
            taken, self._database.visits_at([visit for _, _, visit in taken]), strict=True
        ):
            self._database.due[key] = None
            if value is not None and keys.due_of(value) == due:  # or it was purged, or its time was changed
                self._take_up(visit, value, now, busy)

    def _allowed(self, now: float, busy: bool) -> int:
        most = min(_AT_ONCE, _MOST_WAITING - self._counts.revisits)
        if busy and self._config.revisit_share < 1:
            most = min(most, int(self._credit))
        if self._config.revisit_rate:
            rate = self._config.revisit_rate
            saved = self._saved + rate * max(now - self._saved_at, 0.0)
            self._saved, self._saved_at = min(saved, max(1.0, rate * _SAVED)), now
            most = min(most, int(self._saved))
        return max(most, 0)

    def _take_up(self, key: bytes, value: bytes, now: float, busy: bool) -> None:
        """Queue a visit that is due; or put it off, if a visit must be worth more by now, or its host is behind."""
        visit, before = keys.read_visit(key, value), keys.read_before(value)
        start, path = visit.url[: (cut := visit.url.index("/", 8))], visit.url[cut:]
        origin = self._roster.origin(start)
        host = origin.host
        if before.is_page and not before.missing:
            wait = self._wait(host, origin, path, visit.depth, before, visit.url)
            if before.fetched_at + (1 - _A_LITTLE) * wait > now:
                self._put(key, value, before.fetched_at + wait, now)
                return
        if host is not None and host.delay:
            fresh = self._fresh(host)
            share = self._config.revisit_share if _has_new(host) else 1.0
            slot = max(fresh.slot, now)
            fresh.slot = slot + host.delay / share
            if slot > now + _AHEAD:
                self._put(key, value, slot, now)
                return
        self._database.visits[key] = keys.with_due(value, 0)
        marks = keys.REVISIT | (keys.SOURCE if before.reason == Exclusion.SITEMAP else 0)
        self._credit = max(self._credit - 1, 0.0) if busy else self._credit
        self._saved = max(self._saved - 1, 0.0)
        self._enqueue(origin, keys.pack_entry(visit.depth, 0, marks, origin.scheme, path), FIRST)

    def _put(self, key: bytes, value: bytes, due: float, now: float) -> None:
        """A visit is due then."""
        due = max(int(due), int(now) + 1)  # the cursor is not behind now
        self._database.visits[key] = keys.with_due(value, due)
        self._database.due[keys.due_key(due, key)] = b""

    # -- settled visits ----------------------------------------------------------------------------------------------

    def before(self, key: bytes) -> Before | None:
        """What is known of a visit that is made again; None when it is no more to be."""
        value = self._database.visit(key)
        return None if value is None or not keys.has_again(value) else keys.read_before(value)

    def ask_with(self, host: HostQueue, before: Before) -> tuple[bytes, bytes]:
        """With which validators a page is asked for."""
        if before.missing or not before.is_page:
            return b"", b""
        return self._fresh(host).trust.ask_with(before.validators, before.unasked)

    def settled(
        self,
        host: HostQueue,
        key: bytes,
        url: str,
        depth: int,
        before: Before | None,
        found: Found,
        now: float,
        validators: tuple[bytes, bytes] = (b"", b""),
        asked: tuple[bytes, bytes] = (b"", b""),
    ) -> bytes:
        """What a record keeps of a visit that has found this; and it is due again."""
        fresh = self._fresh(host)
        path = url[url.index("/", 8) :]
        unasked, gained, seen = 0, 0, Seen()
        if before is None:
            seen = seen.told(found.holds) if found.holds else seen
        else:
            unasked, gained = before.unasked, before.gained
            seen = self._seen(fresh, before, found, now)
            changed = found.change is not Change.SAME
            if found.unmodified:
                unasked += 1
                fresh.trust.not_modified(asked)
            else:
                unasked = 0
                if found.is_page and before.is_page and not found.missing:
                    fresh.trust.came(asked, before.validators, validators, changed)
                    fresh.changed = True
            if changed:
                gained = gained_on_average(gained, found.gained)
        known = Before(State.FETCHED, 0, now, seen=seen.pack(), gained=gained)
        number = crc32(key)
        place = place_number(path)
        weight = worth(depth, self._priority(host, url), gained, found.is_page)
        if found.is_page:
            checked_at = before.fetched_at if before is not None and found.missing else now
            self._tell(fresh, number, Known(place, seen, checked_at, weight))
        else:
            self._forget(fresh, number)
        origin = self._roster.origin(url[: url.index("/", 8)])
        wait = self._wait(host, origin, path, depth, known, url, found.is_page)
        if before is None:
            wait *= 0.1 + 0.9 * (number & 0xFFFF) / 0x10000  # what came together need not be due together
        if found.missing:
            wait = min(wait, max(self._bounds(host.manners.min_interval, 0.0, url).least, _SOON))
        due = max(int(now + wait), int(now) + 1)
        self._database.due[keys.due_key(due, key)] = b""
        text = found.text or (before.text if before is not None and found.change is Change.SAME else 0)
        return keys.pack_again(due, seen.pack(), text, gained, unasked, found.missing)

    def _seen(self, fresh: HostFreshness, before: Before, found: Found, now: float) -> Seen:
        seen = Seen.unpack(before.seen)
        if before.unasked and fresh.trust.lies:
            seen = Seen()  # what its server said of it cannot be believed
        if found.missing:
            return seen
        passed = now - before.fetched_at
        if found.change is Change.SAME:
            return seen.after(passed, changed=False)
        if before.fetched_at < found.changed_at < now:  # the server says when, so that more is known
            return seen.after(found.changed_at - before.fetched_at, changed=True).told(now - found.changed_at)
        return seen.after(passed, changed=True)

    def put_off(self, host: HostQueue, key: bytes, now: float, failed: bool = False) -> None:
        """A visit in hand was not made, or brought nothing: it stays what it was, and is due later."""
        value = self._database.visit(key)
        if value is None or not keys.has_again(value):
            return
        before = keys.read_before(value)
        longest = self._bounds(host.manners.min_interval, host.manners.max_interval, "").most
        wait = min(_SOON * 2 ** min(before.missing, _MOST_FAILURES), longest) if failed else longest
        if failed:
            value = keys.with_missing(value, before.missing + 1)
        self._put(key, value, now + wait, now)

    def unreachable(self, host: HostQueue, key: bytes, now: float) -> bytes:
        """What a record keeps of a URL of which there was never anything but faults; and it is due again."""
        due = int(now + self._bounds(host.manners.min_interval, host.manners.max_interval, "").most)
        self._database.due[keys.due_key(due, key)] = b""
        return keys.pack_again(due, Seen().pack(), 0, 0, 0, 0)

    def hint(self, key: bytes, changed_at: float, now: float) -> bool:
        """Somebody says that a known page has changed since it was visited: it is due at once, but not sooner than the
        shortest interval allows.
        """
        value = self._database.visit(key)
        if value is None or not keys.has_again(value):
            return False
        due, before = keys.due_of(value), keys.read_before(value)
        soon = max(now, before.fetched_at + self._config.min_interval)
        if changed_at <= before.fetched_at or not due or due <= soon:
            return False
        self._database.due[keys.due_key(due, key)] = None
        self._put(key, value, soon, now)
        return True

    # -- how often ---------------------------------------------------------------------------------------------------

    def _wait(
        self,
        host: HostQueue | None,
        origin: Origin,
        path: str,
        depth: int,
        before: Before,
        url: str,
        is_page: bool = True,
    ) -> float:
        """Seconds between visits to a page, by all that is known now."""
        manners = origin.manners
        bounds = self._bounds(manners.min_interval, manners.max_interval, url)
        seen = Seen.unpack(before.seen)
        self._judge()
        if host is None:
            belief, price = seen.likely(self._prior), self._price
        else:
            fresh = self._fresh(host)
            capacity = 1 / host.delay if host.delay else 0.0
            if _has_new(host):
                capacity *= self._config.revisit_share
            fresh.judge(self._prior, capacity, self._bounds(manners.min_interval, manners.max_interval, ""))
            belief, price = fresh.belief(place_number(path), seen), max(self._price, fresh.price)
        weight = worth(depth, self._priority(origin, url), before.gained, is_page)
        return bounds.wait(belief, price / weight)

    def _priority(self, host: HostQueue | Origin, url: str) -> int:
        by_url = self._policy.urls
        fixed = host.manners.priority
        return fixed if by_url is None else by_url.priority(url, fixed)

    def _bounds(self, least: float, most: float, url: str) -> Bounds:
        """Between which visits to a page are: by what holds for its URL, or its host, or all."""
        by_url = self._policy.urls
        rule = by_url.of(url) if by_url is not None and url else None
        if rule is not None:
            least, most = rule.min_interval or least, rule.max_interval or most
        least, most = least or self._config.min_interval, most or self._config.max_interval
        return Bounds(least, max(least, most))

    def _fresh(self, host: HostQueue) -> HostFreshness:
        found = host.fresh
        if found is None:
            found = host.fresh = HostFreshness()
        return found

    def _tell(self, fresh: HostFreshness, number: int, known: Known) -> None:
        if fresh.census.tell(number, known):
            fresh.told()
        if self._census.tell(number, known):
            self._told += 1
            self._changed = True

    def _forget(self, fresh: HostFreshness, number: int) -> None:
        if fresh.census.forget(number):
            fresh.told()
        if self._census.forget(number):
            self._told += 1
            self._changed = True

    def _judge(self) -> None:
        """Find the prior and the price of all anew, if enough is new."""
        if self._told < _ANEW:
            return
        self._told = 0
        self._changed = True
        self._prior = self._census.prior(self._prior)
        if self._budget:
            # A little less than there is, as long as visits come late: what was put off must be made up for.
            budget = self._budget / (1 + self._lag * self._budget / max(self._census.pages, 1.0))
            bounds = Bounds(self._config.min_interval, self._config.max_interval)
            self._price = self._census.price(budget, bounds, self._prior, self._price or DAY)
        else:
            self._price = 0.0

    # -- how fresh ---------------------------------------------------------------------------------------------------

    def freshness(self, now: float) -> tuple[float, float]:
        """The share of copies that are what their servers show, and the seconds since they are not, as estimated."""
        return self._census.freshness(now, self._prior), self._census.age(now, self._prior)

    def save(self) -> None:
        """Put what changed into the database's changes."""
        if self._changed:
            self._changed = False
            kept = _Kept(self._census.pack(), self._prior, self._price)
            self._database.visits[keys.META + _NAME.encode()] = _encode(kept)

    # -- visits of earlier runs --------------------------------------------------------------------------------------

    def _enrol(self, now: float) -> None:
        """Visits that were settled while nothing was visited again get a time, some in each turn."""
        if self._enrolling is None:
            self._enrolling = self._all_visits(now)
        if next(self._enrolling, _DONE) is _DONE:
            self._counts.enrolled = True
            self._enrolling = None

    def _all_visits(self, now: float) -> Iterator[None]:
        for partition in range(self._counts.partitions):
            visits = self._database.scan_visits(keys.partition_prefix(partition) + b"v")
            for number, (key, value) in enumerate(visits, 1):
                if number % _ENROLLED_AT_ONCE == 0:
                    yield
                if value[0] == State.FETCHED and not keys.has_again(value) and self._database.visit(key) == value:
                    self._enrol_one(key, value, now)

    def _enrol_one(self, key: bytes, value: bytes, now: float) -> None:
        visit = keys.read_visit(key, value)
        cut = visit.url.index("/", 8)
        origin = self._roster.origin(visit.url[:cut])
        is_page = 200 <= visit.status < 300
        known = Before(State.FETCHED, visit.status, visit.fetched_at)
        number = crc32(key)
        if is_page:
            path = visit.url[cut:]
            weight = worth(visit.depth, self._priority(origin, visit.url), 0, True)
            self._told += self._census.tell(number, Known(place_number(path), Seen(), visit.fetched_at, weight))
        wait = self._wait(origin.host, origin, visit.url[cut:], visit.depth, known, visit.url, is_page)
        due = visit.fetched_at + wait * (0.1 + 0.9 * (number & 0xFFFF) / 0x10000)
        value = keys.with_again(value, keys.pack_again(0, Seen().pack(), 0, 0, 0, 0))
        self._put(key, value, due, now)


_DONE: Final = object()


def _has_new(host: HostQueue) -> bool:
    """Something else waits for a host than what is due."""
    return any(level.waits for priority, level in host.levels.items() if FIRST < priority < keys.ASIDE)
