"""Processes that read pages, as many as there are cores: work goes to whichever is free, and comes back in order."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from select import POLLIN, POLLOUT, poll
from time import monotonic
from typing import Final

from gossamer.agent.page_work import LENGTH, Result, Task, Work, message, read_result
from gossamer.errors import GossamerError

COMMAND: Final = (sys.executable, "-m", "gossamer.agent.page_worker")
_MOST: Final = 6  # processes: more than one writer can keep up with
_GIVEN: Final = 2  # batches that one has at a time: one that it works on, and the next
_MOST_HELD: Final = 64 << 20  # bytes of results that wait for earlier ones; then nothing more is given
_MOST_DEATHS: Final = 2  # at one page, or before the first
_PATIENCE: Final = 300.0  # seconds without a word; the process limits its own CPU time
_LONGEST: Final = 64 << 20  # bytes of one result
_BLOCK: Final = 1 << 18


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0))


class _Batch:
    """Tasks given together. `results` are those of the first ones, as they came."""

    __slots__ = ("results", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.results: list[bytes | str] = []  # a text: why there is none

    @property
    def is_done(self) -> bool:
        return len(self.results) == len(self.work.tasks)


class _Worker:
    """One process after the other. Invariant: what was given and not answered is told to each new one."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._deaths = 0  # of the page that it is at
        self._stillbirths = 0
        self.given: deque[_Batch] = deque()
        self._start()

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                process_group=0,  # Ctrl-C is for the indexer, which then ends this one
            )
        except OSError as error:
            raise GossamerError(f"A process that reads pages cannot be started: {error}.") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.into, self.out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self.into, False)
        self.is_ready = False
        self._came = bytearray()
        self._heard = monotonic()
        self.rest = bytearray()
        for batch in self.given:
            self._tell(batch)

    def give(self, batch: _Batch) -> None:
        if not self.given:
            self._heard = monotonic()
        self.given.append(batch)
        self._tell(batch)

    def _tell(self, batch: _Batch) -> None:
        work = batch.work
        rest = work.tasks[len(batch.results) :]
        self.rest += message(Work(work.directories, work.most, work.token, rest))

    def write(self) -> None:
        try:
            del self.rest[: os.write(self.into, self.rest[:_BLOCK])]
        except BlockingIOError:
            pass
        except OSError:
            self.rest.clear()  # it has died; what it said is read first

    def read(self) -> int:
        """Take in what it says; how many bytes of results that was."""
        data = os.read(self.out, _BLOCK)
        if not data:
            self._again()
            return 0
        self._heard = monotonic()
        self._came += data
        came, at = self._came, 0
        held = 0
        while len(came) - at >= LENGTH:
            end = at + LENGTH + int.from_bytes(came[at : at + LENGTH], "big")
            if end > len(came):
                break
            held += self._answered(bytes(came[at + LENGTH : end]))
            at = end
        del came[:at]
        if len(came) > _LONGEST:
            self.kill()  # and that is noticed when what it said has been read
        return held

    def _answered(self, data: bytes) -> int:
        if not self.is_ready:
            self.is_ready = True
            self._stillbirths = 0
            return 0
        self._deaths = 0
        batch = self.given[0]
        batch.results.append(data)
        if batch.is_done:
            self.given.popleft()
        return len(data)

    def _again(self) -> None:
        """It is dead. The page that it was at may have killed it; the second time that one is left out."""
        self.close()
        if not self.is_ready:
            self._stillbirths += 1
            if self._stillbirths >= _MOST_DEATHS:
                raise GossamerError(
                    "Processes that read pages end before they begin. What they said is above, or in logs/indexer.log."
                )
        elif self.given:
            self._deaths += 1
            if self._deaths >= _MOST_DEATHS:
                self._deaths = 0
                self.given[0].results.append("its reader died of it twice")
                if self.given[0].is_done:
                    self.given.popleft()
        self._start()

    @property
    def silence(self) -> float:
        """Seconds since it said something, or was given something after it had done all."""
        return monotonic() - self._heard

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


class Workers:
    """Invariant: results come in the order in which work was given, whatever becomes of the processes. What is given
    and not fetched is bounded by `has_room`.
    """

    def __init__(
        self, most: int, token: str, command: Sequence[str] = COMMAND, number: int = 0, patience: float = _PATIENCE
    ) -> None:
        self._most = most
        self._token = token
        self._command = command
        self._number = number or min(_MOST, cores())
        self._patience = patience
        self._workers: list[_Worker] = []  # started when there is work for them
        self._batches: deque[_Batch] = deque()
        self._held = 0

    @property
    def has_room(self) -> bool:
        return (
            len(self._workers) < self._number or any(len(worker.given) < _GIVEN for worker in self._workers)
        ) and self._held < _MOST_HELD

    @property
    def waiting(self) -> int:
        """Batches given, and not fetched."""
        return len(self._batches)

    def give(self, directories: Sequence[str], tasks: list[Task]) -> None:
        batch = _Batch(Work(list(directories), self._most, self._token, tasks))
        self._batches.append(batch)
        if not tasks:
            return
        if len(self._workers) < self._number and all(len(worker.given) >= _GIVEN for worker in self._workers):
            self._workers.append(_Worker(self._command))
        min(self._workers, key=lambda worker: len(worker.given)).give(batch)
        self._exchange(0.0)

    def done(self, seconds: float) -> list[Result] | None:
        """The results of the batch that was given first; None where they do not come in time."""
        until = monotonic() + seconds
        while not self._batches[0].is_done:
            left = until - monotonic()
            if not self._exchange(max(0.0, left)) and left <= 0:
                return None
        batch = self._batches.popleft()
        self._held -= sum(len(data) for data in batch.results if isinstance(data, bytes))
        return [Result(why=data) if isinstance(data, str) else read_result(data) for data in batch.results]

    def _exchange(self, seconds: float) -> bool:
        """Whether anything moved."""
        watched = poll()
        ends: dict[int, _Worker] = {}
        for worker in self._workers:
            watched.register(worker.out, POLLIN)
            ends[worker.out] = worker
            if worker.rest:
                watched.register(worker.into, POLLOUT)
                ends[worker.into] = worker
        moved = [number for number, _ in watched.poll(1000 * min(seconds, 1.0))]
        for number in moved:
            worker = ends[number]
            if number == worker.into:
                worker.write()
            elif number == worker.out:  # and not of a process that has died since
                self._held += worker.read()
        for worker in self._workers:
            if worker.given and worker.silence > (self._patience if worker.is_ready else _PATIENCE):
                worker.kill()
        return bool(moved)

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
        self._workers.clear()
        self._batches.clear()
