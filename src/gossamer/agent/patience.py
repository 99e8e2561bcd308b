"""How long a strategy may take: it is called in the loop of the agent, where nothing else goes on until it comes back.

Three ways out, each for what the one before cannot end: a call that took too long says so when it comes back; one that
does not is interrupted by an alarm; and where no alarm gets through, a thread ends the process, and says where it hung.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

from gossamer.errors import ConfigError

LONGEST: Final = 30.0  # seconds of a call
LONGEST_RESULT: Final = 600.0  # of the one that writes down what a whole run has found
_GRACE: Final = 5.0  # seconds after which one that is not interrupted is given up
_AGAIN: Final = 1.0  # seconds between alarms: whoever takes the first for something else hears the next
_LOOK_EVERY: Final = 1.0  # seconds
_LONGEST_ABOUT: Final = 200
_PACKAGE: Final = str(Path(__file__).parents[1])

T = TypeVar("T")


class TookTooLong(BaseException):
    """A call of a strategy did not come back in time. No Exception: strategies may take any of those for nothing."""


class Patience:
    """Invariant: what is interrupted is the code of the strategy, never that of the crawl, whose data would be broken.

    `alone`: this process has nothing to do but the crawl, so that alarms may be used, and it may be ended. Otherwise a
    call that does not come back is only told of.
    """

    def __init__(
        self,
        name: str,
        logs: Path,
        notice: Callable[[str], None],
        alone: bool = False,
        *,
        longest: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        end: Callable[[int], object] = os._exit,
        look_every: float = _LOOK_EVERY,
    ) -> None:
        self._name = name
        self._logs = logs
        self._notice = notice
        self._alone = alone
        self._longest = self._bound = LONGEST if longest is None else longest
        self._clock = clock
        self._end_process = end
        self._what = ""  # the call that is being made
        self._about = ""
        self._began = 0.0
        self._told = False
        self._caller = threading.get_ident()
        self._alarmed = alone and _alarm_is_free()
        if self._alarmed:
            signal.signal(signal.SIGALRM, self._alarm)
        self._over = threading.Event()
        watch = threading.Thread(target=self._watch, args=(look_every,), name=f"patience with {name}", daemon=True)
        watch.start()

    def ask(self, what: str, about: str, call: Callable[..., T], *given: Any, longest: float = 0.0) -> T:
        """What a call of the strategy gives. `TookTooLong`: it did not, or too late."""
        self._began, self._about, self._bound = self._clock(), about, longest or self._longest
        self._what = what
        if self._alarmed:
            signal.setitimer(signal.ITIMER_REAL, self._bound, _AGAIN)
        try:
            found = call(*given)
        finally:
            self.rest()
        if (took := self._clock() - self._began) > self._bound:
            raise TookTooLong(f"{_said(what, about)} took {took:.0f} s")
        return found

    def rest(self) -> None:
        """Nothing is asked any more."""
        self._what = ""
        if self._alarmed:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def close(self) -> None:
        self._over.set()
        self.rest()
        if self._alarmed:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            self._alarmed = False

    def _alarm(self, *_: object) -> None:
        if self._what:
            call = _said(self._what, self._about)
            raise TookTooLong(f"{call} took longer than {self._bound:g} s and was interrupted")

    # -- the thread ----------------------------------------------------------------------------------------------------

    def _watch(self, every: float) -> None:
        while not self._over.wait(every):
            self.look()

    def look(self) -> None:
        """Whether a call is given up. Called by another thread."""
        what, took = self._what, self._clock() - self._began
        if not what or took <= self._bound + _GRACE:
            self._told = False
            return
        if self._told:
            return
        self._told = True
        frame = sys._current_frames().get(self._caller)
        call = _said(what, self._about)
        place = self._dump(call, frame)
        said = f"the strategy {self._name} does not come back from {call}, which it was asked {took:.0f} s ago"
        if not self._alone:
            self._notice(f"{said}; it is at {place}. The crawl waits for it")
            return
        with suppress(Exception):  # whatever has become of who tells people
            self._notice(
                f"{said}, and cannot be interrupted; it is at {place}. The crawl ends here, and nothing that was"
                f" committed is lost. Mend the strategy, or go on without it: the same command with"
                " --strategy breadth-first"
            )
        self._end_process(ConfigError.exit_status)  # a supervisor does not start it again: it would hang again

    def _dump(self, call: str, frame: FrameType | None) -> str:
        """Write down where it hangs; gives the last line of it."""
        if frame is None:
            return "a place that is not known"
        stack = traceback.extract_stack(frame)
        file = self._logs / "strategy-hangs.txt"
        with suppress(OSError):
            file.write_text(f"{self._name}: {call}\n{''.join(traceback.format_list(stack))}")
        place = _place(stack)
        return f"{Path(place.filename).name}, line {place.lineno} (see {file})"


def _said(what: str, about: str) -> str:
    return f"{what}({about[:_LONGEST_ABOUT]})"


def place_of(trace: Any) -> traceback.FrameSummary:
    """Where an exception comes from; of an alarm, what it has interrupted."""
    return _place(traceback.extract_tb(trace))


def _place(stack: Sequence[traceback.FrameSummary]) -> traceback.FrameSummary:
    """The last line of the strategy's own code, for the one who wrote it."""
    asked = next((number for number, each in enumerate(stack) if each.filename == __file__), -1)
    inside = [each for each in stack[asked + 1 :] if each.filename != __file__]
    own = [each for each in inside if not each.filename.startswith(_PACKAGE)]
    return (own or inside or stack)[-1]


def _alarm_is_free() -> bool:
    """Whether alarms reach this thread, and nobody else waits for them."""
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, None)
