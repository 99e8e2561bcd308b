"""The indexer at work: catching up with a crawl, following it, making the index again from the stored pages."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.index_status import IndexStatus, read_status, write_status
from gossamer.agent.indexer import Indexer
from gossamer.agent.settings import LiveSettings
from gossamer.agent.watching.beside import DeliveryThread
from gossamer.agent.watching.book import is_shared
from gossamer.agent.workers import COMMAND
from gossamer.config import Config, load
from gossamer.errors import CrawlDirError, IndexDamagedError, IndexInUseError, IndexVersionError
from gossamer.frontier.reader import FrontierReader
from gossamer.store import StorePosition, read_committed

_COMMIT_EVERY: Final = 2.0  # seconds of work, while it follows
_COMMIT_EVERY_BEHIND: Final = 15.0  # while it catches up: large commits cost less
_LOOK_EVERY: Final = 0.5  # seconds between two looks for more
_STEP: Final = 0.25  # seconds of work between two looks at everything else
_AT_THE_END: Final = 10.0  # seconds for calls of webhooks that are due then
_OF_ALL_AGENTS: Final = 15.0  # the same, where another one may have been killed at it
_WHEN_STOPPED: Final = 0.5
_TRY_EVERY: Final = 0.1  # seconds, where another process writes the index
_LEFT_BEHIND: Final = 30.0  # seconds for the indexing process of a crawl that was killed to catch up and end
_AT_FDCWD, _EXCHANGE = -100, 2

Notice = Callable[[str], None]


class Committed:
    """How far a crawl is committed: at first by its database, which is what counts; then by the note beside the store,
    once that changes.
    """

    def __init__(self, directory: CrawlDir) -> None:
        self._warc = directory.warc
        self._first = read_committed(self._warc)
        self._position = _in_frontier(directory)

    def now(self) -> StorePosition:
        noted = read_committed(self._warc)
        if noted is not None and noted != self._first:
            self._first, self._position = None, noted
        return self._position


def _in_frontier(directory: CrawlDir) -> StorePosition:
    with tempfile.TemporaryDirectory(prefix="gossamer-") as scratch:
        reader = FrontierReader(directory.frontier, Path(scratch))
        try:
            stored = reader.meta("store")
        finally:
            reader.close()
    return msgspec.msgpack.decode(stored, type=StorePosition) if stored else StorePosition()


class Follower:
    """Invariant: it only reads the crawl, and takes no lock of it."""

    def __init__(
        self,
        home: Path,
        notice: Notice,
        watch: Callable[[IndexStatus], None] = lambda _: None,
        *,
        clock: Callable[[], float] = time.time,
        path: Path | None = None,
        command: Sequence[str] = COMMAND,
        wait: Callable[[], bool] = lambda: False,
    ) -> None:
        """`wait` is called where another process writes the index: it rests, and says whether to try again."""
        self._directory = CrawlDir(home)
        self._directory.check_readable()
        self._path = path or self._directory.index
        self._notice = notice
        self._watch = watch
        self._clock = clock
        self._command = command
        self._config = load(self._directory.settings, resumed=True)
        self._settings = LiveSettings(self._directory.settings, self._config, lambda _: None)
        self._committed = Committed(self._directory)
        self._stop: Callable[[], bool] = lambda: False
        self._watched = home if path is None else None  # an index that is made aside finds nothing new
        self._delivery = DeliveryThread(home, self._config.fetch, notice)
        self._indexer = self._opened_in_turn(wait)
        self._folder = _identity(self._path)
        self._committed_at = float("-inf")  # what is taken first is found first

    def _opened_in_turn(self, wait: Callable[[], bool]) -> Indexer:
        while True:
            try:
                return self._opened(self._config)
            except IndexInUseError:
                if not wait():
                    raise

    def _opened(self, config: Config) -> Indexer:
        return Indexer(self._path, self._directory, config, self._notice, self._clock, self._command, self._watched)

    def catch_up(self, stop: Callable[[], bool] = lambda: False) -> IndexStatus:
        """All that is stored now, with all links; or until `stop`."""
        self._stop = stop
        while not stop() and self._step(_COMMIT_EVERY_BEHIND):
            self._tell()
        while not stop() and self._indexer.freshen(float("inf")):
            self._commit_if_due(_COMMIT_EVERY_BEHIND)
        self._indexer.commit()
        self._look_at_watches()
        return self._tell()

    def follow(self, wait: Callable[[float], bool], stop: Callable[[], bool] = lambda: False) -> IndexStatus:
        """Until `wait`, which sleeps for the time it is given or less, says that no more will come."""
        self._stop = stop
        self._tell()
        while not stop():
            self._look_around()
            if self._step(_COMMIT_EVERY):
                if wait(0.0):
                    break
                continue
            # Nothing is left to read: what is there is committed, and pages are written again whose links came later.
            if self._indexer.commit():
                self._after_commit()
            elif self._indexer.freshen(self._clock()):
                self._commit_if_due(_COMMIT_EVERY)
                if wait(0.0):
                    break
                continue
            if wait(_LOOK_EVERY):
                break
        return self.catch_up(stop)

    def close(self) -> None:
        seconds = _AT_THE_END if not self._stop() else _WHEN_STOPPED
        self._delivery.finish(seconds)
        self._indexer.close()
        if self._watched is not None and is_shared(self._watched):
            from gossamer.agent.watching.sharing import let_out

            let_out(self._watched, seconds if self._stop() else _OF_ALL_AGENTS)

    def _step(self, interval: float) -> bool:
        self._look_at_watches()
        more = self._indexer.take(self._committed.now(), _STEP)
        self._commit_if_due(interval)
        return more

    def _commit_if_due(self, interval: float) -> None:
        now = self._clock()
        if not 0 <= now - self._committed_at < interval and self._indexer.commit():
            self._after_commit()

    def _after_commit(self) -> None:
        self._committed_at = self._clock()
        self._tell_webhooks()
        self._tell()

    def _look_at_watches(self) -> None:
        self._indexer.look_at_watches()
        self._tell_webhooks()

    def _tell_webhooks(self) -> None:
        if self._indexer.watching is not None and self._indexer.watching.calls:
            self._delivery.poke()

    def _look_around(self) -> None:
        """Settings may have changed, and the index may have been made anew."""
        changed = self._settings.look()
        if changed is not None:
            self._config = changed
            self._indexer.change(changed)
        self._indexer.weigh()
        if _identity(self._path) != self._folder:
            self._indexer.close()
            self._indexer = self._opened(self._config)
            self._folder = _identity(self._path)

    def _tell(self) -> IndexStatus:
        indexer = self._indexer
        done, total = indexer.progress(self._committed.now())
        status = IndexStatus(
            indexer.pages, done, total, indexer.is_stale, indexer.skipped, indexer.taken, os.getpid(), self._clock()
        )
        write_status(self._path, status)
        self._watch(status)
        return status


def by_itself(
    home: Path,
    notice: Notice,
    watch: Callable[[IndexStatus], None],
    stop: Callable[[], bool],
    clock: Callable[[], float] = time.monotonic,
) -> Follower:
    """The process that a killed crawl left catches up and ends: it is waited for. That of a crawl that runs is not."""
    directory = CrawlDir(home)
    until: float | None = None

    def wait() -> bool:
        nonlocal until
        if stop() or directory.in_use():
            return False
        if until is None:
            until = clock() + _LEFT_BEHIND
            status = read_status(directory.index)
            who = f" (pid {status.pid})" if status is not None and status.pid else ""
            notice(f"index: another process{who} writes it and no crawl runs; waits up to {_LEFT_BEHIND:g} s for it")
        time.sleep(_TRY_EVERY)
        return clock() < until

    return Follower(home, notice, watch, wait=wait)


def beside_a_crawl(
    home: Path,
    notice: Notice,
    watch: Callable[[IndexStatus], None],
    stop: Callable[[], bool],
    ended: Callable[[float], bool],
    clock: Callable[[], float] = time.monotonic,
) -> Follower:
    """For the process that nobody looks at: an index that another version made is made again, rather than refused, and
    one that another process writes is waited for: as long as the crawl goes on, and a while longer. `ended` sleeps for
    the time it is given or less, and says whether the crawl has ended.
    """
    until: float | None = None

    def wait() -> bool:
        nonlocal until
        if ended(_TRY_EVERY):
            if until is None:
                until = clock() + _LEFT_BEHIND
            time.sleep(_TRY_EVERY)
        return not stop() and (until is None or clock() < until)

    try:
        return Follower(home, notice, watch, wait=wait)
    except (IndexVersionError, IndexDamagedError) as error:
        make_again(home, notice, watch, stop, error)
    return Follower(home, notice, watch, wait=wait)


def make_again(
    home: Path, notice: Notice, watch: Callable[[IndexStatus], None], stop: Callable[[], bool], why: Exception
) -> None:
    """Where nobody looks who could do it. Until then the old index is searched, as far as it can be read."""
    notice(f"index: {why} That is done now; until then not all pages can be found.")
    index = CrawlDir(home).index

    def tell(status: IndexStatus) -> None:
        status.again = str(why)
        write_status(index, status)  # where the crawl looks for it
        watch(status)

    rebuild(home, notice, tell, stop)


def rebuild(
    home: Path,
    notice: Notice,
    watch: Callable[[IndexStatus], None],
    stop: Callable[[], bool] = lambda: False,
) -> IndexStatus:
    """The index made again from the stored pages, beside the old one, which is searched until the new one is whole.

    One that was broken off is gone on with.
    """
    directory = CrawlDir(home)
    directory.check_readable()
    path = directory.index.with_name("index.new")
    try:
        follower = Follower(home, notice, watch, path=path)
    except IndexVersionError:  # begun by another version
        shutil.rmtree(path)
        follower = Follower(home, notice, watch, path=path)
    try:
        status = follower.catch_up(stop)
    finally:
        follower.close()
    if not stop():
        swap(path, directory.index)
    return status


def swap(new: Path, old: Path) -> None:
    """`new` takes the place of `old`, in one step where the file system can do that."""
    if not old.exists():
        new.rename(old)
        return
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None or call(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _EXCHANGE):
        aside = old.with_name(f"{old.name}.old")
        shutil.rmtree(aside, ignore_errors=True)
        old.rename(aside)
        new.rename(old)
        new = aside
    shutil.rmtree(new, ignore_errors=True)  # what a process still writes there goes with it


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise CrawlDirError(f"{path} is gone: {error.strerror}. gossamer index makes it again.") from error
    return found.st_dev, found.st_ino
