"""Reading pages on all cores, in order, whatever a page does to the process that reads it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Final, Literal, Self

from gossamer.report.fact import Wanted
from gossamer.report.reading import FactReader, Places

Task = Literal["lines", "links"]

_AHEAD: Final = 3  # batches for each process that may be under way
_reader: FactReader | None = None


def _begin(places: Places) -> None:
    global _reader
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes; the first one ends the others
    _reader = FactReader(places)


def _work(task: Task, batch: list[Wanted]) -> bytes:
    assert _reader is not None
    return _reader.lines(batch) if task == "lines" else _reader.links(batch)


class Workers:
    """Invariant: results come in the order of the batches. A page that kills its reader is left out of its batch, which
    costs a few more processes and no other page.
    """

    def __init__(self, places: Places, processes: int) -> None:
        """No process at all for 0: the caller reads himself."""
        self._places = places
        self._processes = processes
        self._own = FactReader(places) if not processes else None
        self._pool: ProcessPoolExecutor | None = None
        self.lost = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def results(self, task: Task, batches: Iterable[list[Wanted]]) -> Iterator[bytes]:
        if self._own is not None:
            for batch in batches:
                yield self._own.lines(batch) if task == "lines" else self._own.links(batch)
            return
        waiting: deque[tuple[list[Wanted], Future[bytes]]] = deque()
        for batch in batches:
            waiting.append((batch, self._submit(task, batch)))
            if len(waiting) >= _AHEAD * self._processes:
                yield self._result(task, waiting)
        while waiting:
            yield self._result(task, waiting)

    def _submit(self, task: Task, batch: list[Wanted]) -> Future[bytes]:
        if self._pool is None:
            # Not forked: threads of RocksDB and DuckDB are about.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._processes, context, _begin, (self._places,))
        try:
            return self._pool.submit(_work, task, batch)
        except BrokenProcessPool as error:
            broken: Future[bytes] = Future()
            broken.set_exception(error)
            return broken

    def _result(self, task: Task, waiting: deque[tuple[list[Wanted], Future[bytes]]]) -> bytes:
        batch, future = waiting.popleft()
        try:
            return future.result()
        except BrokenProcessPool:
            self._end()
            result = b"".join(self._one_by_one(task, batch))
            # The others were lost with the processes.
            again = [item for item, _ in waiting]
            waiting.clear()
            waiting.extend((item, self._submit(task, item)) for item in again)
            return result

    def _one_by_one(self, task: Task, batch: list[Wanted]) -> Iterator[bytes]:
        """Halves of a batch in which a process died, until the page is found that killed it."""
        try:
            yield self._submit(task, batch).result()
        except BrokenProcessPool:
            self._end()
            if len(batch) == 1:
                self.lost += 1
                return
            half = len(batch) // 2
            yield from self._one_by_one(task, batch[:half])
            yield from self._one_by_one(task, batch[half:])

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def cores() -> int:
    return len(os.sched_getaffinity(0))
