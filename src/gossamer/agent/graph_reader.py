"""The link graph brought up to date from the stored pages: for crawls without an index, and old ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from gossamer.agent.batches import Batch, Batches
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.follower import Committed
from gossamer.agent.graph_keeper import LinkRows, pack_places, read_places
from gossamer.agent.page_work import ReadLinks, Task
from gossamer.agent.workers import COMMAND, Workers
from gossamer.config import load, user_agent
from gossamer.graph.log import GraphLog, position_of
from gossamer.model.url import host_of
from gossamer.rules.policy import Policy
from gossamer.rules.robots import product_token
from gossamer.store import Captures, Place, StorePosition

_FRAME: Final = 10_000  # captures of a frame
_SECONDS: Final = 30.0  # after which what there is becomes one: a kill loses no more
_TIMES: Final = 5  # that what came meanwhile is read, too: then an index process beside it has nothing missing
_PATIENCE: Final = 10.0  # seconds to wait for a batch


class Gathered(msgspec.Struct):
    """How far the graph is: captures read by this call, and bytes of CDXJ, of which `behind` are not in the graph."""

    captures: int = 0
    done: int = 0
    total: int = 0

    @property
    def behind(self) -> int:
        return self.total - self.done


Watch = Callable[[Gathered], None]


def gather_links(
    home: Path,
    watch: Watch = lambda gathered: None,
    stop: Callable[[], bool] = lambda: False,
    command: Sequence[str] = COMMAND,
) -> Gathered:
    """Read what is committed and not in the graph, or until `stop`. Where another process writes the graph nothing is
    read: the one that indexes is seconds behind the crawl.
    """
    directory = CrawlDir(home)
    directory.check_readable()
    committed = Committed(directory)
    log = GraphLog(directory.graph)
    try:
        if not log.take():
            places = read_places(position_of(directory.graph))
            return Gathered(0, *Captures(directory.warc).sizes(places, committed.now()))
        return _Gathering(directory, log, committed, watch, command).run(stop)
    finally:
        log.close()


class _Gathering:
    def __init__(
        self, directory: CrawlDir, log: GraphLog, committed: Committed, watch: Watch, command: Sequence[str]
    ) -> None:
        config = load(directory.settings, resumed=True)
        self._committed = committed
        self._watch = watch
        self._policy = Policy(config.policy)
        self._log = log
        self._rows = LinkRows(log)
        self._given: deque[Batch] = deque()
        self._gathered = Gathered()
        self._waiting = 0  # captures that are in no frame
        self._wrote = monotonic()
        token = product_token(user_agent(config.fetch)).lower()
        with ExitStack() as opened:
            self._batches = Batches(directory.warc, config.fetch.max_body, lambda url: None, same=False)
            opened.callback(self._batches.close)
            self._places: dict[str, Place] = self._batches.check(read_places(log.position), committed.now())
            self._workers = Workers(config.fetch.max_body, token, command)
            opened.callback(self._workers.close)
            self._opened = opened.pop_all()

    def run(self, stop: Callable[[], bool]) -> Gathered:
        with self._opened:
            self._tell()
            for _ in range(_TIMES):
                captures = self._gathered.captures
                self._read(self._committed.now(), stop)
                if self._gathered.captures == captures:
                    break
        return self._tell()

    def _read(self, committed: StorePosition, stop: Callable[[], bool]) -> None:
        batches = self._batches.after(committed)
        while not stop():
            while self._workers.has_room and (batch := next(batches, None)) is not None:
                self._give(batch)
            if not self._given:
                break
            self._land()
        if self._waiting:
            self._write()

    def _give(self, batch: Batch) -> None:
        blocks = self._policy.blocks
        batch.pages = [page for page in batch.pages if page.record is None or not blocks(page.url, host_of(page.url))]
        self._given.append(batch)
        tasks: list[Task] = [
            ReadLinks(page.url, page.record, page.payload)
            for page in batch.pages
            if page.record is not None and page.payload is not None
        ]
        self._workers.give(self._batches.directories, tasks)

    def _land(self) -> None:
        results = self._workers.done(_PATIENCE)
        if results is None:
            return
        batch = self._given.popleft()
        came = iter(results)
        for page in batch.pages:
            self._rows.take(page, None if page.record is None else next(came))
            self._batches.landed(page)
        self._places.update(batch.places)
        self._gathered.captures += batch.captures
        self._waiting += batch.captures
        if self._waiting >= _FRAME or monotonic() - self._wrote >= _SECONDS:
            self._write()
        self._tell()

    def _write(self) -> None:
        self._rows.write(pack_places(self._places))
        self._waiting = 0
        self._wrote = monotonic()

    def _tell(self) -> Gathered:
        done, total = self._batches.sizes(self._places, self._committed.now())
        gathered = self._gathered
        gathered.done, gathered.total = done, total
        self._watch(gathered)
        return gathered
