"""What of a crawl's directory is damaged or lost, and how it is made anew from what is there.

The pages in WARC files are what cannot be made again; all else follows from them. CDXJ lines are made from the records;
the frontier by taking in every stored response once more, in the order of their coming, as if it had just been fetched.
So links, repetitions and counts come out as in the crawl itself. What no response tells is asked again: URLs that were
refused or dead, and robots.txt files.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.agent import Agent
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.earlier import Earlier
from gossamer.agent.follower import rebuild
from gossamer.agent.index_status import IndexStatus
from gossamer.agent.indexing import is_robots
from gossamer.config import load, store_directory
from gossamer.errors import CrawlDirError, DamagedError
from gossamer.fetch import Resolver
from gossamer.fetch.transfer import Limits
from gossamer.frontier.database import Database
from gossamer.frontier.keys import META
from gossamer.frontier.reader import FrontierReader
from gossamer.index.search import Search
from gossamer.model import Change, Page
from gossamer.rules.policy import BUSY, USUAL_PRIORITY
from gossamer.store import Capture, Captures, CommittedNote, Place, Store, StorePosition, read_committed
from gossamer.store.members import FileCheck, check_file, write_lines
from gossamer.store.writer import KEYS, Position, cdxj_name, file_name, warc_numbers

_NOWHERE: Final = Position()
_GONE: Final = 100  # visits in a row that found nothing: more than any page is given
_AT_ONCE: Final = 200  # responses between two words on how far it is
_TOLD: Final = 5  # damages of a file that are named one by one
_PURGED: Final = "/*"  # behind a host in the blocklist (`Control.purge`)

Update = Callable[[str, int, int, int], None]
"""Told of the step, items, bytes done and bytes in all."""


class Part(msgspec.Struct, frozen=True):
    """What was found of one part of a directory, or done about it."""

    name: str
    fine: bool
    text: str


class Repair:
    """Invariant: WARC files are only read. What takes the place of something is whole before it does."""

    def __init__(self, home: Path, notice: Callable[[str], None], update: Update) -> None:
        self._directory = CrawlDir(home)
        if (home / "agents").is_dir() or (home / "cluster.json").exists():
            raise CrawlDirError(
                f"{home} is part of a crawl with several agents, whose frontier cannot be made from one directory. Put "
                "it back from a copy, or from a checkpoint (gossamer cluster --help)."
            )
        if not self._directory.settings.is_file():
            raise CrawlDirError(f"{home} has no gossamer.toml. Give the directory of a crawl, or put that file back.")
        self._directory.check_format()
        self._config = load(self._directory.settings, resumed=True)
        self._notice = notice
        self._update = update
        self._fresh = self._directory.frontier.with_name("frontier.new")
        self._stores = {"": self._directory.warc}
        for text in self._config.store.directories:
            path, _ = store_directory(text)
            self._stores[str(path.absolute())] = path
        self._files: dict[str, dict[int, FileCheck]] = {}

    def check(self) -> Iterator[Part]:
        """Look at everything, and change nothing."""
        self._directory.take()
        try:
            yield from self._check_pages()
            yield self._check_frontier()
            yield self._check_index()
        finally:
            self._directory.release()

    def repair(self, stop: Callable[[], bool] = lambda: False) -> Iterator[Part]:
        """Make anew what is damaged or lost. Broken off, it goes on with the next call."""
        self._directory.take()
        try:
            pages, lines = self._check_pages()
            yield pages
            frontier = self._check_frontier()
            if not lines.fine:
                self._write_lines(has_frontier=frontier.fine)
                lines = Part("cdxj", True, f"{lines.text}; the lines were made anew from the records")
            yield lines
            if not frontier.fine:
                made = asyncio.run(self._make_frontier(stop))
                if made is None:
                    yield Part("frontier", False, "broken off; the same command goes on")
                    return
                frontier = Part("frontier", True, f"{frontier.text}; it was made anew from {made:,} responses")
            yield frontier
            index = self._check_index()
        finally:
            self._directory.release()
        if not index.fine:
            status = rebuild(self._directory.home, self._notice, self._tell_index, stop)
            index = Part("index", not stop(), f"{index.text}; it was made anew: {status.pages:,} pages")
        yield index

    # -- pages and their lines -----------------------------------------------------------------------------------------

    def _check_pages(self) -> tuple[Part, Part]:
        paths = [
            (name, number, path)
            for name, path in self._stores.items()
            for number in (warc_numbers(path) if path.is_dir() else [])
        ]
        total = sum((path / file_name(number)).stat().st_size for _, number, path in paths)
        done = captures = 0
        damaged: list[str] = []
        wrong: list[str] = []

        def told(size: int) -> None:
            nonlocal done
            done += size
            self._update("pages", captures, done, total)

        self._files = {name: {} for name in self._stores}
        committed = self._committed().writers
        for name, number, path in paths:
            warc, cdxj = path / file_name(number), path / cdxj_name(number)
            end = committed.get(name, _NOWHERE)
            if number > end.file >= 0:
                continue  # the next run takes it away, as after every crash: it belongs to no commit
            # What is behind the last commit, too.
            stop, lines = (end.warc, end.cdxj) if number == end.file else (None, None)
            found = self._files[name][number] = check_file(warc, cdxj, stop, lines, told)
            captures += found.captures
            size = warc.stat().st_size if stop is None else stop
            inside = [offset for offset in found.damaged if offset < found.end]
            damaged += [f"{warc} at byte {offset:,}" for offset in inside[:_TOLD]]
            damaged += [f"{warc}: {len(inside) - _TOLD:,} more"] if len(inside) > _TOLD else []
            if found.end < size:
                damaged.append(f"{warc} is not whole behind byte {found.end:,} of {size:,}")
            if found.wrong or not cdxj.exists():
                wrong.append(f"{cdxj} is lost" if not cdxj.exists() else f"{cdxj}: {found.wrong:,} lines do not fit")
        for name, end in committed.items():
            if end.file >= 0 and end.file not in self._files.get(name, {}):
                damaged.append(f"{self._stores.get(name, Path(name)) / file_name(end.file)} is lost")
        pages = f"{captures:,} responses in {len(paths):,} files"
        return (
            Part("warc", not damaged, f"{pages}; damaged: {'; '.join(damaged)}" if damaged else f"{pages}, all whole"),
            Part("cdxj", not wrong, "; ".join(wrong) if wrong else "has a line for each response"),
        )

    def _committed(self) -> StorePosition:
        """How far the store was, as the frontier or the note beside the pages says: whichever says more."""
        noted = read_committed(self._directory.warc) or StorePosition()
        if not (self._directory.frontier / "CURRENT").exists():
            return noted
        with suppress(Exception), tempfile.TemporaryDirectory(prefix="gossamer-") as scratch:
            reader = FrontierReader(self._directory.frontier, Path(scratch))
            try:
                stored = reader.meta("store")
            finally:
                reader.close()
            known = StorePosition() if stored is None else msgspec.msgpack.decode(stored, type=StorePosition)
            return noted if noted.is_beyond(known) else known
        return noted

    def _write_lines(self, has_frontier: bool) -> None:
        for name, files in self._files.items():
            path = self._stores[name]
            for number, found in files.items():
                cdxj = path / cdxj_name(number)
                if found.wrong or not cdxj.exists():
                    write_lines(path / file_name(number), cdxj, found.end)
                    self._notice(f"{cdxj} was made anew")
        shutil.rmtree(self._fresh, ignore_errors=True)  # it has come to places in the old ones
        if has_frontier:  # which knows how long they were
            end = self._end()
            database = Database(self._directory.frontier, self._config.frontier.memory)
            try:
                database.visits[META + b"store"] = msgspec.msgpack.encode(end)
                database.commit()
            finally:
                database.close()
            self._note(end)

    def _note(self, end: StorePosition) -> None:
        note = CommittedNote(self._directory.warc)
        note.write(end)
        note.close()

    def _end(self) -> StorePosition:
        """Behind all that is whole."""
        writers, last = {}, -1
        for name, files in self._files.items():
            if files:
                number = max(files)
                cdxj = self._stores[name] / cdxj_name(number)
                writers[name] = Position(number, files[number].end, cdxj.stat().st_size, KEYS)
                last = max(last, number)
        return StorePosition(last, writers)

    # -- the index -----------------------------------------------------------------------------------------------------

    def _check_index(self) -> Part:
        path = self._directory.index
        if not path.is_dir():
            return Part("index", True, "there is none")
        try:
            search = Search([path])
            try:
                pages = search.size().pages
            finally:
                search.close()
        except Exception as error:  # of Tantivy, which has many
            return Part("index", False, f"{path} cannot be read ({error})")
        return Part("index", True, f"{pages:,} pages can be found")

    def _tell_index(self, status: IndexStatus) -> None:
        self._update("index", status.pages, status.done, status.total)

    # -- the frontier --------------------------------------------------------------------------------------------------

    def _check_frontier(self) -> Part:
        path = self._directory.frontier
        if not (path / "CURRENT").exists():
            return Part("frontier", False, f"{path} is lost")
        try:
            with tempfile.TemporaryDirectory(prefix="gossamer-") as scratch:
                position, known, unknown, gone = self._read_frontier(Path(scratch))
        except DamagedError as error:
            return Part("frontier", False, str(error).partition(". ")[0])
        except Exception as error:  # of RocksDB, which has many
            return Part("frontier", False, f"{path} cannot be read ({error})")
        noted = read_committed(self._directory.warc)
        if noted is not None and noted.is_beyond(position):
            return Part("frontier", False, f"{path} is older than the pages")
        if unknown:
            return Part("frontier", False, f"{unknown:,} stored URLs are not in it")
        if gone:
            return Part("frontier", False, f"the pages of {gone:,} URLs in it are damaged or not there")
        return Part("frontier", True, f"{known:,} URLs, every stored one among them")

    def _read_frontier(self, scratch: Path) -> tuple[StorePosition, int, int, int]:
        """How far it has come, how many URLs it knows, how many stored ones before that it does not, and of how many
        that it knows the page cannot be read.
        """
        ends = {
            number: (found.end, frozenset(found.damaged))
            for files in self._files.values()
            for number, found in files.items()
        }
        known = gone = 0
        reader = FrontierReader(self._directory.frontier, scratch)
        try:
            stored = reader.meta("store")
            position = StorePosition() if stored is None else msgspec.msgpack.decode(stored, type=StorePosition)
            for visit in reader.visits():
                known += 1
                if visit.stored is not None:
                    end, damaged = ends.get(visit.stored.file, (0, frozenset()))
                    gone += visit.stored.offset >= end or visit.stored.offset in damaged
            captures = Captures(self._directory.warc).after({}, position)
            unknown = sum(not is_robots(capture) and reader.visit(capture.url) is None for capture in captures)
            return position, known, unknown, gone
        finally:
            reader.close()

    async def _make_frontier(self, stop: Callable[[], bool]) -> int | None:
        """From all stored responses, beside what is left of the old one; gives how many, or None when broken off."""
        directory, end = self._directory, self._end()
        fresh = CrawlDir(directory.home)
        fresh.frontier = self._fresh
        store = _AsItIs(list(self._stores.values()))
        config = self._config
        resolver = Resolver(config.fetch.connect, config.fetch.dns, time.time)
        agent = Agent(config, fresh, resolver, time.time, self._notice, alone=True, store=store)
        try:
            store.position = agent.position
            self._admit(agent, end)
            made, whole = self._take_in(agent, store, end, stop)
            if whole:
                store.position = end
                self._purge(agent)
            agent.commit("repaired" if whole else "")
        finally:
            await agent.close()
        if whole:
            self._put_in_place(fresh.frontier)
            self._note(end)  # which may have known of pages that are gone
        return made if whole else None

    def _admit(self, agent: Agent, end: StorePosition) -> None:
        """The hosts of seeds, to which the scope leads back."""
        hosts = self._directory.seed_hosts()
        if hosts is None:  # of a crawl from before they were kept
            captures = Captures(self._directory.warc).after({}, end)
            hosts = sorted({capture.url.split("/", 3)[2] for capture in captures if not is_robots(capture)})
            self._notice(
                f"note: {self._directory.seeds} is not there; all {len(hosts):,} hosts that have pages count as hosts "
                "of seeds"
            )
        agent.admit(hosts)

    def _take_in(self, agent: Agent, store: _AsItIs, end: StorePosition, stop: Callable[[], bool]) -> tuple[int, bool]:
        """Gives how many responses were taken in, and whether these are all."""
        captures = Captures(self._directory.warc)
        places = {name: Place(at.file, at.cdxj) for name, at in agent.position.writers.items()}
        earlier = Earlier(self._stores.values(), self._config.fetch.max_body, agent.frontier.stored)
        limits = Limits(self._config.fetch.max_body, self._config.fetch.max_headers, self._config.scope.types)
        made = 0
        try:
            for capture in captures.after(places, end):
                if stop():
                    return made, False
                page = None if is_robots(capture) else earlier.page(capture.stored)
                if page is not None:
                    self._take(agent, store, capture, page, limits)
                    made += 1
                elif not is_robots(capture):
                    agent.frontier.add([capture.url], 0, USUAL_PRIORITY)  # perhaps nothing else leads there
                store.passed(capture)
                agent.commit_if_due()
                places[capture.directory] = capture.after
                if made % _AT_ONCE == 0:
                    self._update("frontier", made, *captures.sizes(places, end))
        finally:
            earlier.close()
        return made, True

    def _take(self, agent: Agent, store: _AsItIs, capture: Capture, page: Page, limits: Limits) -> None:
        """A response as if it had just come; its line says how it compared with the one before."""
        visit = agent.frontier.recall(page.url, page.fetched_at)
        if visit is None:
            return
        store.place = capture.stored.file, capture.stored.offset, capture.stored.length
        agent.statistics.bytes += len(page.head) + len(page.raw)
        if page.status in BUSY:
            visit.tries = self._config.policy.max_tries - 1  # else it would not have been stored
        if visit.before is not None:
            missing = _GONE if capture.change == Change.GONE else visit.before.missing
            visit.before = msgspec.structs.replace(visit.before, missing=missing)
            visit.validators = visit.before.validators if page.status == 304 else (b"", b"")
        if page.status // 100 != 2 or limits.content_type(page.head)[1]:
            agent.responses.visited([(visit, page)])
        else:
            agent.responses.source_visited(visit, page)

    def _purge(self, agent: Agent) -> None:
        """What left the crawl because its owner asked for it stays away."""
        agent.commit()  # what is not in the database yet is not gone over
        for pattern in self._config.policy.blocklist:
            if pattern.endswith(_PURGED):
                for _ in agent.frontier.review.purge(pattern.removesuffix(_PURGED)):
                    pass

    def _put_in_place(self, fresh: Path) -> None:
        """What was there is kept, until somebody deletes it."""
        path = self._directory.frontier
        old = path.with_name("frontier.damaged")
        if path.exists():
            with suppress(FileNotFoundError):
                shutil.rmtree(old)
            path.rename(old)
            self._notice(f"note: what was in {path} is in {old} now, and can be deleted")
        fresh.rename(path)


class _AsItIs(Store):
    """The store of a crawl that is taken in again: pages are where they are, and nothing is written."""

    def __init__(self, directories: list[Path]) -> None:
        self._homes = directories
        self.position = StorePosition()
        self.place = -1, 0, 0  # of the response that is taken in

    def append(
        self, page: Page, digest: bytes | None = None, same_as: tuple[str, float] | None = None, change: str = ""
    ) -> tuple[int, int, int]:
        return self.place

    @property
    def directories(self) -> list[Path]:
        return self._homes

    def passed(self, capture: Capture) -> None:
        """All up to it is taken in."""
        stored, after = capture.stored, capture.after
        here = Position(after.file, stored.offset + stored.length, after.cdxj, KEYS)
        writers = {**self.position.writers, capture.directory: here}
        self.position = StorePosition(max(self.position.last, after.file), writers)

    def sync(self) -> StorePosition:
        return self.position

    def close(self) -> None:
        pass
