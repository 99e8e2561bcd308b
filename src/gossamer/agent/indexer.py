"""The indexer: stored pages into the index, and what other pages say of them.

captures -> batches -> read by other processes -> links and entries written, in order; every few seconds the commit
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from gossamer.agent.batches import Batch, Batches, Wanted
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.graph_keeper import GraphKeeper
from gossamer.agent.page_work import Result, WriteAgain
from gossamer.agent.parts import whole_of
from gossamer.agent.rank_scores import Ranks
from gossamer.agent.watching.matching import Matching
from gossamer.agent.workers import COMMAND, Workers
from gossamer.config import Config, user_agent
from gossamer.errors import IndexDamagedError
from gossamer.index import IndexWriter
from gossamer.index.backlinks import BLOCKED, INDEXED, KNOWN, Backlinks, Kept
from gossamer.index.writer import Ready
from gossamer.model.url import host_of
from gossamer.rules.policy import Policy
from gossamer.rules.robots import product_token
from gossamer.store import Place, StorePosition

BACKLINKS: Final = "backlinks.db"
_BEGUN: Final = "begun"
_RANKED: Final = "ranked"  # by which ranks links are weighed
_IDENTITY: Final = "identity"
_AT_ONCE_LINKED: Final = 20_000  # pages linked to, between two times that links are written
_REWRITTEN_AT_ONCE: Final = 1000
_TOGETHER: Final = 32  # pages that one process is given to write again

_pack = msgspec.msgpack.Encoder().encode
_read_places = msgspec.msgpack.Decoder(dict[str, Place]).decode
_read_names = msgspec.msgpack.Decoder(list[str]).decode


class Indexer:
    """Invariant: the position in the index says up to where its entries reflect the captures; the backlinks, and the
    link graph where nothing was missing in it, are at least as far. Going over the same captures again changes nothing,
    so a crash anywhere does no harm.

    Pages are read ahead, and written in the order of their captures.
    """

    def __init__(
        self,
        path: Path,
        directory: CrawlDir,
        config: Config,
        notice: Callable[[str], None],
        clock: Callable[[], float],
        command: Sequence[str] = COMMAND,
        watched: Path | None = None,
    ) -> None:
        """`watched` is the directory of the crawl whose watches are matched, if any are to be."""
        self.skipped = 0  # pages that could not be read, in this run
        self.taken = 0  # captures, in this run
        self._notice = notice
        self._clock = clock
        self._given: deque[Batch] = deque()
        self._dirty = False
        self._checked = False
        self._policy = Policy(config.policy)
        with ExitStack() as opened:  # what was opened is closed again if the rest cannot be
            self._writer = IndexWriter(path, config.index.buffer)
            opened.callback(self._writer.close)
            self._ranks = Ranks(whole_of(directory.home))
            opened.callback(self._ranks.close)
            self._backlinks = Backlinks(path / BACKLINKS, self._ranks.worth)
            opened.callback(self._backlinks.close)
            self._batches = Batches(directory.warc, config.fetch.max_body, self._backlinks.kept)
            opened.callback(self._batches.close)
            token = product_token(user_agent(config.fetch)).lower()
            self._workers = Workers(config.fetch.max_body, token, command)
            opened.callback(self._workers.close)
            self.places = self._position(path)
            self._graph = GraphKeeper(directory.graph, self.places)
            opened.callback(self._graph.close)
            self.watching: Matching | None = None
            if watched is not None:
                self.watching = Matching(watched, self._identity(), notice, clock)
                opened.callback(self.watching.close)
                self.watching.recover(self._writer.packed)
            self.change(config)
            self.weigh()
            self._opened = opened.pop_all()

    def _position(self, path: Path) -> dict[str, Place]:
        """Where to go on. An index that has read something knows links."""
        if not self._writer.position:
            return {}
        if self._backlinks.note(_BEGUN) is None:
            raise IndexDamagedError(
                f"{path / BACKLINKS} is gone or new, but the index is not. "
                "gossamer index --rebuild makes both again from the stored pages."
            )
        return _read_places(self._writer.position)

    def _identity(self) -> bytes:
        """By which this index is told from one that was made anew."""
        noted = self._backlinks.note(_IDENTITY)
        if noted is None:
            noted = os.urandom(8)
            self._backlinks.set_note(_IDENTITY, noted)
            self._backlinks.commit()  # watches are about to be told by it
        return noted

    @property
    def pages(self) -> int:
        """In the index."""
        return self._backlinks.indexed

    @property
    def is_stale(self) -> bool:
        """Pages are to be written again."""
        return bool(self._backlinks.stale(float("inf"), 1))

    def progress(self, committed: StorePosition) -> tuple[int, int]:
        """Bytes of CDXJ read, and in all."""
        return self._batches.sizes(self.places, committed)

    # -- captures ------------------------------------------------------------------------------------------------------

    def take(self, committed: StorePosition, seconds: float) -> bool:
        """Read captures for about so long; whether there may be more. What is being read then, the next call takes."""
        if not self._checked:
            self.places = self._batches.check(self.places, committed)
            self._checked = True
        until = monotonic() + seconds
        batches = self._batches.after(committed)
        while True:
            while self._workers.has_room and (batch := next(batches, None)) is not None:
                self._give(batch)
            if not self._given:
                return False
            self._land(until - monotonic())
            if monotonic() >= until:
                return True

    def _give(self, batch: Batch) -> None:
        linked = self._backlinks.linked([page.url for page in batch.pages if page.record is not None])
        for page in batch.pages:
            if page.record is not None:
                page.linked = linked[page.url]
                page.blocked = self._policy.blocks(page.url, host_of(page.url))
        self._given.append(batch)
        self._workers.give(self._batches.directories, [task for page in batch.pages if (task := page.task) is not None])

    def _land(self, seconds: float = float("inf")) -> None:
        """Write the batch that was given first, if it is read in time."""
        results = self._workers.done(seconds)
        if results is None:
            return
        batch = self._given.popleft()
        came = iter(results)
        for page in batch.pages:
            if page.record is None:
                self._lose(page)
                self._graph.take(page)
            else:
                result = next(came)
                self._write(page, result)
                self._graph.take(page, result)
            self._batches.landed(page)
        self.places.update(batch.places)
        self.taken += batch.captures
        self._dirty = True
        if self._backlinks.waiting >= _AT_ONCE_LINKED:
            self._backlinks.flush(self._clock())
        self._commit_if_full()

    def _land_all(self) -> None:
        while self._given:
            self._land()

    def _lose(self, page: Wanted) -> None:
        if page.why:
            self._skip(page.url, page.why)
        elif page.gone:
            self._delete(page.url)
            self._backlinks.forget(page.url)

    def _skip(self, url: str, why: str) -> None:
        self.skipped += 1
        self._notice(f"index: {url[:500]} is left out: {why[:500]}")

    def _write(self, page: Wanted, result: Result) -> None:
        assert page.record is not None
        assert page.payload is not None
        if result.why:
            self._skip(page.url, result.why)
            return
        if not result.is_page:
            return
        kept = Kept(page.record, page.payload, result.digest)
        if result.links:
            self._backlinks.add(page.url, result.links)
        if result.entry is not None:
            self._put(result.entry)
            self._backlinks.stand(page.url, INDEXED, kept, page.linked, self._clock())
        else:
            self._delete(page.url)
            self._backlinks.stand(page.url, BLOCKED if page.blocked else KNOWN, kept)

    def _put(self, entry: Ready) -> None:
        self._writer.put(entry)
        if self.watching is not None and self.watching.on:
            self.watching.put(entry)

    def _delete(self, url: str) -> None:
        self._writer.delete([url])
        if self.watching is not None:
            self.watching.drop(url)

    # -- pages written again -------------------------------------------------------------------------------------------

    def freshen(self, now: float) -> int:
        """Write pages again that others came to link to; how many."""
        self._land_all()
        self._backlinks.flush(self._clock())
        urls = self._backlinks.stale(now, _REWRITTEN_AT_ONCE)
        waiting: deque[list[str]] = deque()
        for at in range(0, len(urls), _TOGETHER):
            some = urls[at : at + _TOGETHER]
            linked = self._backlinks.linked(some)
            found = {url: packed for url in some if (packed := self._writer.packed(url)) is not None}
            for url in some:
                self._backlinks.rewritten(url, linked[url])
            while not self._workers.has_room:
                self._land_again(waiting.popleft())
            waiting.append(list(found))
            self._workers.give([], [WriteAgain(packed, linked[url]) for url, packed in found.items()])
        while waiting:
            self._land_again(waiting.popleft())
        self._dirty = self._dirty or bool(urls)
        self._commit_if_full()
        return len(urls)

    def _land_again(self, urls: list[str]) -> None:
        results = self._workers.done(float("inf"))
        assert results is not None
        for url, result in zip(urls, results, strict=True):
            if result.entry is not None:
                self._put(result.entry)
            else:
                self._skip(url, f"(its links) {result.why}")

    # -- the blocklist -------------------------------------------------------------------------------------------------

    def change(self, config: Config) -> None:
        """Take up other settings: pages that are blocked now go, and those that are no longer come back."""
        self._land_all()
        self._policy = Policy(config.policy)
        blocklist = sorted(config.policy.blocklist)
        noted = self._backlinks.note("blocklist")
        if blocklist == (_read_names(noted) if noted else []):
            return
        back = Batch()
        for url, standing in self._backlinks.pages((INDEXED, BLOCKED)):
            blocked = self._policy.blocks(url, host_of(url))
            if blocked == (standing == BLOCKED):
                continue
            kept = self._backlinks.kept(url)
            if kept is None:
                continue
            if blocked:
                self._delete(url)
                self._backlinks.stand(url, BLOCKED, kept)
            else:
                back.pages.append(Wanted(url, kept.record, kept.payload))
                if len(back.pages) >= _TOGETHER:
                    while not self._workers.has_room:
                        self._land()
                    self._give(back)
                    back = Batch()
        self._give(back)
        self._land_all()
        self._backlinks.set_note("blocklist", _pack(blocklist))
        self._dirty = True

    # -- ranks ---------------------------------------------------------------------------------------------------------

    def weigh(self) -> None:
        """Take up what `gossamer rank` has found since: links count by the ranks of the pages they are on."""
        noted = self._backlinks.note(_RANKED) or b""
        if self._ranks.look() != noted:
            self._land_all()
            self._backlinks.weigh(self._ranks.worth, self._clock())
            self._backlinks.set_note(_RANKED, self._ranks.name)
            self._dirty = True

    # -- the commit ----------------------------------------------------------------------------------------------------

    def commit(self) -> bool:
        """What was taken can be found from here on, and is durable; whether there was anything."""
        if not self._dirty:
            return False
        self._backlinks.flush(self._clock())
        self._backlinks.set_note(_BEGUN, b"")
        self._graph.commit(self.places)
        self._backlinks.commit()
        if self.watching is not None:
            self.watching.prepare()
        self._writer.commit(_pack(self.places))
        self._backlinks.committed(self._clock())
        self._dirty = False
        if self.watching is not None:
            self.watching.match()
        return True

    def _commit_if_full(self) -> None:
        """Pages that watches are still to be asked of are in memory."""
        if self.watching is not None and self.watching.is_full:
            self.commit()

    def look_at_watches(self) -> None:
        """Take up those that are new, at a moment when the index has committed all that was written, and tell the crawl
        where to go on.
        """
        if self.watching is None:
            return
        if self.watching.look():
            self.commit()
            self.watching.take_up(self._writer.snapshot())
        self.watching.lead_on()

    def close(self) -> None:
        """What was not committed is gone."""
        self._opened.close()
