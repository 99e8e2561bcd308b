"""The indexer: stored pages into the index, and what other pages say of them.

captures -> judge -> read -> links and entries -> write, and every few seconds the commit
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from gossamer.agent.in_hand import InHand
from gossamer.agent.indexing import PDF, Reading, Verdict, judge, may_be_page, read_html, read_pdf
from gossamer.agent.pages import content_type_of
from gossamer.agent.pdf_text import PdfReader
from gossamer.config import Config, user_agent
from gossamer.errors import GossamerError
from gossamer.fetch.decode import decoded
from gossamer.index import Entry, IndexWriter
from gossamer.index.backlinks import BLOCKED, INDEXED, KNOWN, Backlinks, Kept, Linked
from gossamer.model import Locator
from gossamer.model.url import host_of
from gossamer.rules.policy import Policy
from gossamer.rules.robots import product_token
from gossamer.store import Capture, Captures, Place, Record, RecordFiles, StorePosition, directories_of

BACKLINKS: Final = "backlinks.db"
_IN_HAND: Final = "in-hand"
_AT_ONCE: Final = 1000  # pages written together: the more, the fewer are written again for each other's links
_AT_ONCE_LETTERS: Final = 8_000_000
_AT_ONCE_LINKED: Final = 20_000  # pages linked to
_PASSED_AT_ONCE: Final = 5_000  # captures that need no reading, between two looks at the clock
_REWRITTEN_AT_ONCE: Final = 200
_MOST_SEARCHES: Final = 20  # through all captures, in one run

_pack = msgspec.msgpack.Encoder().encode
_read_places = msgspec.msgpack.Decoder(dict[str, Place]).decode
_read_names = msgspec.msgpack.Decoder(list[str]).decode


class Indexer:
    """Invariant: the position in the index says up to where its entries reflect the captures; the backlinks are at
    least as far. Going over the same captures again changes nothing, so a crash anywhere does no harm.
    """

    def __init__(
        self,
        path: Path,
        warc: Path,
        config: Config,
        notice: Callable[[str], None],
        clock: Callable[[], float],
        guarded: bool = False,
    ) -> None:
        self.skipped = 0  # pages that could not be read, in this run
        self.taken = 0  # captures, in this run
        self._notice = notice
        self._clock = clock
        self._captures = Captures(warc)
        self._warc = warc
        self._most = config.fetch.max_body
        self._files = RecordFiles([warc], self._most)
        self._token = product_token(user_agent(config.fetch)).lower()
        self._pdf = PdfReader()
        self._writer = IndexWriter(path, config.index.buffer)
        self._backlinks = Backlinks(path / BACKLINKS)
        self._in_hand = InHand(path / _IN_HAND, guarded)
        self.places: dict[str, Place] = _read_places(self._writer.position) if self._writer.position else {}
        self._entries: dict[str, tuple[Entry, Kept]] = {}
        self._letters = 0
        self._dirty = False
        self._checked = False
        self._searches = 0
        self._policy = Policy(config.policy)
        self.change(config)

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
        return self._captures.sizes(self.places, committed)

    # -- captures ------------------------------------------------------------------------------------------------------

    def take(self, committed: StorePosition, seconds: float) -> bool:
        """Read captures for about so long; whether there may be more."""
        if not self._checked:
            self.places = self._captures.checked(self.places, committed)
            self._checked = True
        self._files.directories = list(directories_of(self._warc, committed).values())
        until = monotonic() + seconds
        passed = 0
        for capture in self._captures.after(self.places, committed):
            passed = passed + 1 if self._take(capture) else _PASSED_AT_ONCE
            self.places[capture.directory] = capture.after
            self.taken += 1
            self._dirty = True
            if self._is_full():
                self._write()
            if passed >= _PASSED_AT_ONCE:
                passed = 0
                if monotonic() >= until:
                    return True
        return False

    def _take(self, capture: Capture) -> bool:
        """Whether that was quick."""
        verdict = judge(capture)
        if verdict is Verdict.KEEP:
            return True
        if verdict is Verdict.GONE:
            self._drop(capture.url)
            self._backlinks.forget(capture.url)
            return True
        if not self._in_hand.take(capture.stored):
            self._skip(capture.url, "its reader died of it twice")
            return False
        try:
            self._read(capture.url, capture.stored)
        except GossamerError:
            raise
        except Exception as error:  # whatever a page does to its reader, the next one is read
            self._skip(capture.url, f"{type(error).__name__}: {error}")
        return False

    def _skip(self, url: str, why: str) -> None:
        self.skipped += 1
        self._notice(f"index: {url[:500]} is left out: {why[:500]}")

    def _read(self, url: str, place: Locator) -> None:
        record = self._files.read(place)
        if record is None or record.url != url:
            self._skip(url, f"its record in WARC file {place.file} at {place.offset:,} cannot be read")
            return
        content_type = content_type_of(record.head)
        if not may_be_page(content_type):
            return
        kept = Kept(place, place, record.digest)
        if record.refers_to is not None:
            found = self._payload(record, record.refers_to[0])
            if found is None:
                self._skip(url, f"the payload it shares with {record.refers_to[0][:500]} is not there")
                return
            record.raw, kept = found[0], Kept(place, found[1], record.digest)
        if self._policy.blocks(url, host_of(url)):
            self._drop(url)
            self._backlinks.stand(url, BLOCKED, kept)
            return
        reading = self._reading(record, content_type)
        if reading is None:
            return
        if reading.links:
            self._backlinks.add(url, reading.links)
        if reading.entry is None:
            self._drop(url)
            self._backlinks.stand(url, KNOWN, kept)
            return
        self._entries[url] = reading.entry, kept
        self._letters += len(reading.entry.body) + len(reading.entry.main)

    def _reading(self, record: Record, content_type: str | None) -> Reading | None:
        body = decoded(record.head, record.raw, self._most).body
        if (content_type or "").startswith(PDF) or (content_type is None and body.startswith(b"%PDF-")):
            return read_pdf(record, self._pdf.read(body), self._token)
        return read_html(record, body, content_type, self._token)

    def _payload(self, record: Record, url: str) -> tuple[bytes, Locator] | None:
        """What a revisit refers to, and where that is."""
        for place in self._places_of(url, record.digest):
            first = self._files.read(place)
            if first is not None and first.refers_to is None and first.digest == record.digest:
                return first.raw, place
        return None

    def _places_of(self, url: str, digest: bytes) -> Iterator[Locator]:
        """Pages come in order, so the first one has been met; if it was fetched again since, an older capture of it is
        looked for among all, which is slow and not done often.
        """
        kept = self._entries[url][1] if url in self._entries else self._backlinks.kept(url)
        if kept is not None and kept.digest == digest:
            yield kept.payload
        if self._searches < _MOST_SEARCHES:
            self._searches += 1
            yield from self._captures.places_of(url, self.places)

    def _is_full(self) -> bool:
        return (
            len(self._entries) >= _AT_ONCE
            or self._letters >= _AT_ONCE_LETTERS
            or self._backlinks.waiting >= _AT_ONCE_LINKED
        )

    def _drop(self, url: str) -> None:
        self._entries.pop(url, None)
        self._writer.delete([url])

    def _write(self) -> None:
        """What is gathered goes to the index, links first: so that pages found together know of each other."""
        self._in_hand.put_down()
        if not self._entries and not self._backlinks.waiting:
            return
        self._backlinks.flush(self._clock())
        linked = self._backlinks.linked(list(self._entries))
        for url, (entry, kept) in self._entries.items():
            _adorn(entry, linked[url])
            self._backlinks.stand(url, INDEXED, kept, linked[url])
        self._writer.upsert([entry for entry, _ in self._entries.values()])
        self._entries.clear()
        self._letters = 0

    # -- pages written again -------------------------------------------------------------------------------------------

    def freshen(self, now: float) -> int:
        """Write pages again that others came to link to; how many."""
        self._write()
        urls = self._backlinks.stale(now, _REWRITTEN_AT_ONCE)
        linked = self._backlinks.linked(urls)
        entries = []
        for url in urls:
            entry = self._writer.entry(url)
            if entry is not None:
                _adorn(entry, linked[url])
                entries.append(entry)
            self._backlinks.rewritten(url, linked[url])
        self._writer.upsert(entries)
        self._dirty = self._dirty or bool(urls)
        return len(urls)

    # -- the blocklist -------------------------------------------------------------------------------------------------

    def change(self, config: Config) -> None:
        """Take up other settings: pages that are blocked now go, and those that are no longer come back."""
        self._policy = Policy(config.policy)
        blocklist = sorted(config.policy.blocklist)
        noted = self._backlinks.note("blocklist")
        if blocklist == (_read_names(noted) if noted else []):
            return
        self._write()
        for url, standing in self._backlinks.pages((INDEXED, BLOCKED)):
            blocked = self._policy.blocks(url, host_of(url))
            if blocked == (standing == BLOCKED):
                continue
            kept = self._backlinks.kept(url)
            if kept is None:
                continue
            if blocked:
                self._writer.delete([url])
                self._backlinks.stand(url, BLOCKED, kept)
            else:
                self._read(url, kept.record)
                if self._is_full():
                    self._write()
        self._write()
        self._backlinks.set_note("blocklist", _pack(blocklist))
        self._dirty = True

    # -- the commit ----------------------------------------------------------------------------------------------------

    def commit(self) -> bool:
        """What was taken can be found from here on, and is durable; whether there was anything."""
        if not self._dirty:
            return False
        self._write()
        self._backlinks.commit()
        self._writer.commit(_pack(self.places))
        self._backlinks.committed(self._clock())
        self._dirty = False
        return True

    def close(self) -> None:
        """What was not committed is gone."""
        self._pdf.close()
        self._in_hand.close()
        self._files.close()
        self._backlinks.close()
        self._writer.close()


def _adorn(entry: Entry, linked: Linked) -> None:
    entry.anchors, entry.inlinks = list(linked.anchors), linked.count
