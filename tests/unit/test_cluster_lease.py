"""Two agents never fetch from one host at a time: the arithmetic of it, under any delays, pauses and clocks."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import accumulate, count
from math import inf
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.cluster.lease import Observer, Tenure, Terms, boot_time
from gossamer.errors import ConfigError

TERMS = Terms()
SECONDS = 60
TOLERANCE = 1e-6

# -- a world with a true time that nobody knows ------------------------------------------------------------------------


class Clock:
    """Runs too fast or too slow, otherwise in each second, by what the terms allow."""

    def __init__(self, rates: list[float]) -> None:
        self._rates = rates
        self._starts = [1000.0]
        for second in range(10 * SECONDS):
            self._starts.append(self._starts[-1] + self._rate(second))

    def _rate(self, second: int) -> float:
        return 1 + TERMS.drift * self._rates[second % len(self._rates)]

    def at(self, true: float) -> float:
        second = int(true)
        return self._starts[second] + (true - second) * self._rate(second)

    def true(self, shown: float) -> float:
        """When it shows that."""
        second = max(number for number, start in enumerate(self._starts) if start <= shown)
        return second + (shown - self._starts[second]) / self._rate(second)


class Send(NamedTuple):
    pause: float  # before it is sent, after the one before
    out: float  # seconds to the broker; never if infinite
    back: float  # of the answer


class Look(NamedTuple):
    pause: float
    age: float  # of what is seen


class Change(NamedTuple):
    at: float
    beat: int  # -1: revoked
    revision: int


class Broker:
    """A register: what it was at which time."""

    def __init__(self) -> None:
        self.changes = [Change(0.0, 0, 1)]

    def change(self, at: float, beat: int, expected: int) -> bool:
        if self.changes[-1].revision != expected:
            return False
        self.changes.append(Change(at, beat, expected + 1))
        return True

    def then(self, at: float) -> Change:
        return [change for change in self.changes if change.at <= at][-1]


class Owner:
    """Sends beats as a session does: one at a time, the same again while its answer has not come."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.tenure = Tenure(TERMS)
        self.beat, self.revision = 0, 1
        self.waiting = False
        self.latest = -inf  # true time up to which it ever believed that it may fetch
        self.tenure.sent(clock.at(0.0))
        self.accepted()

    def accepted(self) -> None:
        self.tenure.accepted()
        self.latest = max(self.latest, self.clock.true(self.tenure.deadline))


def simulated(sends: list[Send], looks: list[Look], owner_rates: list[float], observer_rates: list[float]) -> None:
    """Everything in the order of true time. The owner's last fetch is `gap` before a successful revocation."""
    broker, owner = Broker(), Owner(Clock(owner_rates))
    clock, observer = Clock(observer_rates), Observer(TERMS)
    number = count()
    events: list[tuple[float, int, str, tuple[float, ...]]] = []

    def happens(at: float, what: str, *details: float) -> None:
        if at < 5 * SECONDS:
            heappush(events, (at, next(number), what, details))

    for at, send in zip(accumulate(send.pause for send in sends), sends, strict=True):
        happens(at, "send", send.out, send.back)
    for at, look in zip(accumulate(look.pause for look in looks), looks, strict=True):
        happens(at, "look", look.age)
    revoked = inf
    while events:
        at, _, what, details = heappop(events)
        if what == "send":
            if not owner.waiting:
                owner.beat, owner.waiting = owner.beat + 1, True
            owner.tenure.sent(owner.clock.at(at))
            happens(at + details[0], "arrive", owner.beat, owner.revision, details[1])
        elif what == "arrive":
            beat, expected, back = details
            broker.change(at, int(beat), int(expected))
            # A copy of what was done is refused, and then found to be done.
            if broker.changes[-1].beat == beat:
                happens(at + back, "answer", beat, broker.changes[-1].revision)
        elif what == "answer":
            if details[0] == owner.beat and owner.waiting:
                owner.waiting, owner.revision = False, int(details[1])
                owner.accepted()
        elif what == "look":
            observer.saw("a", broker.then(max(0.0, at - details[0])).revision, clock.at(at))
            happens(clock.true(clock.at(at) + TERMS.others) + 1e-7, "act")  # as soon as it may
        else:
            for _, revision in observer.expired(clock.at(at)):
                if revoked == inf and broker.change(at, -1, revision):
                    revoked = at
    assert owner.latest + TERMS.gap <= revoked + TOLERANCE


rates = st.lists(st.floats(-1, 1) | st.sampled_from([-1.0, 1.0]), min_size=1, max_size=5)
delays = st.floats(0, 0.1) | st.floats(0, 20) | st.just(0.0)
sending = st.lists(st.builds(Send, st.floats(0, 12) | st.just(1.0), delays, delays), max_size=30)
looking = st.lists(st.builds(Look, st.floats(0, 12) | st.just(0.5), delays), min_size=1, max_size=40)


@given(sending, looking, rates, rates)
@example([], [Look(0.0, 0.0)], [-1.0], [1.0])  # seen at the very moment: nothing to spare but what is asked for
@example([Send(1.0, 0.0, 0.0)], [Look(1.0, 0.0)], [-1.0], [1.0])
@example([Send(1.0, 4.0, 0.0), Send(1.0, 1.0, 0.0)], [Look(6.5, 0.0)], [-1.0], [1.0])
def test_the_last_fetch_is_a_gap_before_the_revocation(
    sends: list[Send], looks: list[Look], owner_rates: list[float], observer_rates: list[float]
) -> None:
    simulated(sends, looks, owner_rates, observer_rates)


def keep_first(seen: dict[str, tuple[int, float]], revision: int, now: float) -> None:
    seen["a"] = revision, seen.get("a", (0, now))[1]


EXACT = ([], [Look(0.0, 0.0)], [-1.0], [1.0])
TWICE = ([Send(1.0, 0.0, 0.0)], [Look(0.0, 0.0), Look(5.5, 0.0)], [0.0], [0.0])
LATE = ([Send(1.0, 4.0, 7.5), Send(7.0, 9.0, 0.0)], [Look(5.5, 0.0)], [0.0], [0.0])


@pytest.mark.parametrize(
    ("broken", "name", "by", "case"),
    [
        (Terms, "others", property(lambda terms: terms.lease), EXACT),
        (Terms, "own", property(lambda terms: terms.lease - terms.gap), EXACT),
        (Tenure, "sent", lambda tenure, now: setattr(tenure, "_sent", now), LATE),
        (Observer, "saw", lambda observer, name, revision, now: keep_first(observer._seen, revision, now), TWICE),
    ],
)
def test_a_promise_that_is_not_kept_is_noticed(
    broken: type,
    name: str,
    by: object,
    case: tuple[list[Send], list[Look], list[float], list[float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So the simulation comes as far as revocations, and is as tight as it can be."""
    simulated(*case)
    monkeypatch.setattr(broken, name, by)
    with pytest.raises(AssertionError):
        simulated(*case)


# -- the owner ---------------------------------------------------------------------------------------------------------


def test_an_owner_counts_from_before_it_sent() -> None:
    tenure = Tenure(TERMS)
    assert not tenure.may_fetch(0.0)
    tenure.sent(10.0)
    assert not tenure.may_fetch(10.0)
    tenure.accepted()
    assert tenure.deadline == pytest.approx(14.994)
    assert tenure.may_fetch(14.99)
    assert not tenure.may_fetch(tenure.deadline)


def test_a_beat_that_was_sent_again_counts_from_the_first_time() -> None:
    tenure = Tenure(TERMS)
    tenure.sent(10.0)
    tenure.sent(13.0)
    tenure.accepted()
    assert tenure.deadline == pytest.approx(14.994)
    assert tenure.beat_due(13.0) == 0.0
    tenure.sent(13.0)
    tenure.accepted()
    assert tenure.deadline == pytest.approx(17.994)
    assert tenure.beat_due(13.25) == pytest.approx(0.75)


def test_who_has_lost_it_may_not_fetch() -> None:
    tenure = Tenure(TERMS)
    tenure.sent(10.0)
    tenure.accepted()
    tenure.lost()
    assert not tenure.may_fetch(10.0)


# -- the observer ------------------------------------------------------------------------------------------------------


def test_an_observer_waits_a_window_after_the_last_news() -> None:
    observer = Observer(TERMS)
    observer.saw("a", 5, 100.0)
    observer.saw("b", 6, 101.0)
    observer.saw("a", 5, 103.0)  # no news
    assert observer.expired(106.0) == []
    assert observer.expired(106.006) == [("a", 5)]
    observer.saw("a", 9, 106.1)
    observer.saw("a", 8, 120.0)  # from a server that is behind
    assert observer.expired(107.006) == [("b", 6)]
    observer.forget("b")
    assert observer.expired(112.2) == [("a", 9)]


def test_a_failure_of_the_broker_lets_nobody_expire() -> None:
    observer = Observer(TERMS)
    observer.saw("a", 5, 100.0)
    observer.restart(106.0)
    assert observer.expired(112.0) == []
    assert observer.expired(112.006) == [("a", 5)]


# -- the terms ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"lease": 0},
        {"gap": -1},
        {"renewal": 0},
        {"drift": -0.1},
        {"drift": 0.5},
        {"lease": 2.9},
        {"lease": float("nan")},
    ],
)
def test_terms_that_cannot_be_kept_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Terms(**wrong)


def test_the_clock_only_rises() -> None:
    assert boot_time() <= boot_time()
