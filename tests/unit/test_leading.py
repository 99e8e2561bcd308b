"""When it is known that a crawl of several agents is complete."""

from __future__ import annotations

from gossamer.agent.leading import Quiet, settled_at
from gossamer.cluster.session import Beat, Told


def beats(**told: tuple[int, int, int]) -> dict[str, Beat]:
    """By agent: number of the beat, work, polls."""
    return {
        name: Beat(f"session of {name}", beat, told=Told(idle=True, work=work, polls=polls))
        for name, (beat, work, polls) in told.items()
    }


def test_it_is_over_when_all_were_told_twice_that_there_is_nothing_after_their_next_beat_but_one() -> None:
    quiet = Quiet(beats(a=(10, 5, 100), b=(70, 6, 7)))
    for now, over in (
        (beats(a=(11, 5, 103), b=(71, 6, 9)), False),  # told before the others' first, perhaps
        (beats(a=(12, 5, 106), b=(71, 6, 9)), False),
        (beats(a=(13, 5, 109), b=(72, 6, 11)), False),  # b has just been told
        (beats(a=(14, 5, 112), b=(73, 6, 12)), False),  # and was asking before that
        (beats(a=(15, 5, 115), b=(74, 6, 13)), True),
    ):
        assert quiet.holds(now)
        assert quiet.is_over(now) == over


def test_one_beat_that_was_missed_does_not_matter() -> None:
    quiet = Quiet(beats(a=(10, 5, 100)))
    assert not quiet.is_over(beats(a=(17, 5, 120)))
    assert not quiet.is_over(beats(a=(17, 5, 120)))
    assert quiet.is_over(beats(a=(18, 5, 122)))


def test_whoever_does_something_comes_or_goes_begins_it_anew() -> None:
    quiet = Quiet(beats(a=(10, 5, 100), b=(70, 6, 7)))
    assert not quiet.holds(beats(a=(11, 6, 100), b=(71, 6, 7)))
    assert not quiet.holds(beats(a=(11, 5, 100)))
    assert not quiet.holds(beats(a=(11, 5, 100), b=(71, 6, 7), c=(1, 0, 0)))
    again = beats(a=(11, 5, 100), b=(71, 6, 7))
    again["a"] = Beat("another session", 0, told=Told(idle=True, work=5, polls=200))
    assert not quiet.holds(again)


def test_who_comes_may_be_followed_by_others() -> None:
    assert settled_at(100.0, (), ("a",), agents=1) > 100.0  # nobody has said how many there will be
    assert settled_at(100.0, (), ("a",), agents=3) > 100.0
    assert settled_at(100.0, ("a", "b"), ("a", "c"), agents=3) > 100.0
    assert settled_at(100.0, ("a", "b", "c"), ("a", "b", "c", "d"), agents=3) > 100.0


def test_nobody_is_waited_for_when_all_have_come_or_somebody_has_gone() -> None:
    assert settled_at(100.0, ("a",), ("a", "b", "c"), agents=3) == 100.0
    assert settled_at(100.0, ("a", "b", "c"), ("a", "c"), agents=3) == 100.0
    assert settled_at(100.0, ("a", "b"), ("a",), agents=1) == 100.0
