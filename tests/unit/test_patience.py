"""A strategy that takes too long: told, interrupted, or given up, whichever way it hangs."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gossamer.agent.patience import Patience, TookTooLong, place_of
from gossamer.testing import FakeClock

NEVER = 3600.0  # seconds between two looks of its thread: tests look themselves


@pytest.fixture
def free_alarm() -> Iterator[None]:
    """As in a process of its own: here the runner of tests has set one."""
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    left, interval = signal.setitimer(signal.ITIMER_REAL, 0.0)
    yield
    signal.signal(signal.SIGALRM, before)
    signal.setitimer(signal.ITIMER_REAL, left, interval)


def test_one_that_comes_back_late_has_failed(tmp_path: Path) -> None:
    clock = FakeClock(100.0)
    patience = Patience("mine", tmp_path, print, clock=clock, look_every=NEVER)
    assert patience.ask("order", "http://a.test/", clock.advance, 29.0) == 129.0
    with pytest.raises(TookTooLong, match=r"order\(http://a.test/\) took 31 s"):
        patience.ask("order", "http://a.test/", clock.advance, 31.0)
    patience.close()


def spin() -> None:
    while True:
        pass


def backtrack() -> None:
    """The library that is at it looks for signals, but lets no other thread work."""
    re.fullmatch(r"(a|a)*b", "a" * 200)


def stubborn() -> None:
    while True:
        try:
            spin()
        except Exception:
            continue


@pytest.mark.usefixtures("free_alarm")
@pytest.mark.parametrize("hang", [spin, backtrack, stubborn])
def test_one_that_does_not_come_back_is_interrupted(tmp_path: Path, hang: Callable[[], None]) -> None:
    patience = Patience("mine", tmp_path, print, alone=True, longest=0.05)
    with pytest.raises(TookTooLong, match=r"order\(http://a.test/\) took longer than 0.05 s") as caught:
        patience.ask("order", "http://a.test/", hang)
    assert Path(place_of(caught.tb).filename).name != "patience.py"
    assert patience.ask("order", "http://a.test/", lambda: [4]) == [4]
    patience.close()
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGALRM)
    assert before is not signal.SIG_DFL, "the runner of tests has one"
    patience = Patience("mine", tmp_path, print, alone=True, look_every=NEVER)
    assert patience.ask("order", "", lambda: 1) == 1
    assert signal.getsignal(signal.SIGALRM) is before
    patience.close()
    assert signal.getsignal(signal.SIGALRM) is before


def given_up(tmp_path: Path, alone: bool) -> tuple[list[str], list[int]]:
    """What was said, and with which status the process was ended, when a call has not come back for a minute."""
    clock, said, ended = FakeClock(100.0), list[str](), list[int]()
    patience = Patience(
        "mine", tmp_path, said.append, alone, clock=clock, end=ended.append, look_every=NEVER
    )  # fmt: skip

    def call() -> None:
        clock.advance(34.0)
        patience.look()
        assert not said
        clock.advance(26.0)
        patience.look()
        patience.look()

    with pytest.raises(TookTooLong):
        patience.ask("order", "http://a.test/", call)
    patience.look()  # nothing is asked any more
    patience.close()
    return said, ended


def test_one_that_cannot_be_interrupted_ends_the_crawl_and_says_where_it_is(tmp_path: Path) -> None:
    said, ended = given_up(tmp_path, alone=True)
    assert ended == [2], "with which a supervisor does not start it again"
    assert len(said) == 1
    assert "the strategy mine does not come back from order(http://a.test/), which it was asked 60 s ago" in said[0]
    assert "--strategy breadth-first" in said[0]
    dump = (tmp_path / "strategy-hangs.txt").read_text()
    assert dump.startswith("mine: order(http://a.test/)\n")
    assert "in call" in dump


def test_a_process_that_is_not_the_crawl_s_own_is_not_ended(tmp_path: Path) -> None:
    said, ended = given_up(tmp_path, alone=False)
    assert not ended
    assert len(said) == 1
    assert "The crawl waits for it" in said[0]
