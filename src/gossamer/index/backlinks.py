"""What is known of a page from outside of it: how many pages link to it, and with which words.

And what of it is in the index, so that a page whose links came later is written again. SQLite, beside the index: it is
asked by key, a batch at a time, and its transactions end just before those of the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
from xxhash import xxh3_64_intdigest

from gossamer.errors import DiskFullError, IndexDamagedError, IndexVersionError
from gossamer.index.sources import SourceSketch, rounded
from gossamer.model import Locator

VERSION: Final = 1
_MOST_ANCHORS: Final = 10
_AT_ONCE: Final = 400  # keys asked for in one query
_FIRST_REST: Final = 15.0  # seconds before a page is written again; four times as long each time
_LONGEST_REST: Final = 3600.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pages (
    key INTEGER PRIMARY KEY,
    sources BLOB NOT NULL,
    anchors BLOB NOT NULL,
    url TEXT,
    standing INTEGER NOT NULL DEFAULT 0,
    kept BLOB,
    shown BLOB,
    writes INTEGER NOT NULL DEFAULT 0,
    due REAL
);
CREATE INDEX IF NOT EXISTS stale ON pages (due) WHERE due IS NOT NULL;
"""

KNOWN, INDEXED, BLOCKED = 0, 1, 2
"""Of a page: not in the index (it is only linked to, or may not be there); in it; kept out of it by the blocklist."""

_pack = msgspec.msgpack.Encoder().encode
_NO_ANCHORS: Final = _pack([])
_read_anchors = msgspec.msgpack.Decoder(list[tuple[bool, str]]).decode
_read_kept = msgspec.msgpack.Decoder(tuple[int, int, int, int, int, int, bytes]).decode


class Linked(msgspec.Struct, frozen=True, gc=False):
    """What other pages say of one: at least so many link to it, and these are their words. Where PageRank is known the
    number is that of average links which bring as much as those to this page.
    """

    count: int = 0
    anchors: tuple[str, ...] = ()

    def pack(self) -> bytes:
        return _pack((self.count, self.anchors))


class Kept(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Where a page is stored: its own record, the one with its payload, mostly the same, and the payload's digest."""

    record: Locator
    payload: Locator
    digest: bytes

    def pack(self) -> bytes:
        return _pack((*msgspec.structs.astuple(self.record), *msgspec.structs.astuple(self.payload), self.digest))

    @classmethod
    def unpack(cls, packed: bytes) -> Kept:
        *numbers, digest = _read_kept(packed)
        return cls(Locator(*numbers[:3]), Locator(*numbers[3:]), digest)


Worth = Callable[[int], int | None]


class _Gathered:
    """Links to one page since the last flush."""

    __slots__ = ("anchors", "sources")

    def __init__(self) -> None:
        self.sources: set[int] = set()
        self.anchors: dict[str, bool] = {}  # and whether the page that says so is of another host


class Backlinks:
    """Invariant: what it knows of a page depends on which links were added, not on their order nor on how often; so
    adding the same again after a crash changes nothing. A page that is in the index with other words or another number
    than are known now is stale, until the commit after the one that wrote it again.
    """

    def __init__(self, path: Path, worth: Worth = lambda key: None) -> None:
        """`worth`: how many links those to a page are worth, by its key; None: as many as they are."""
        self._path = path
        self._worth = worth
        self._gathered: dict[int, _Gathered] = {}
        self._rewritten: list[int] = []  # in an index commit that has not come yet
        try:
            self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")  # the index must never be ahead of what is here
            self._base.execute("PRAGMA cache_size = -32768")
            self._base.execute("PRAGMA mmap_size = 0")
            self._check_version()
            self._base.executescript(_SCHEMA)
            self._base.execute("BEGIN IMMEDIATE")
            self.indexed = int(self._base.execute("SELECT count(*) FROM pages WHERE standing = 1").fetchone()[0])
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _check_version(self) -> None:
        version = self._base.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise IndexVersionError(
                f"{self._path} was made by another version of gossamer (format {version}, this one writes {VERSION}). "
                "Make it again from the stored pages: gossamer index --rebuild."
            )
        self._base.execute(f"PRAGMA user_version = {VERSION}")

    # -- links ---------------------------------------------------------------------------------------------------------

    def add(self, source: str, links: Iterable[tuple[str, bool, str]]) -> None:
        """Links of a page: for each the URL, whether it is on another host, its words, empty where they say nothing."""
        number = key_of(source) & 0xFFFFFFFF
        gathered = self._gathered
        for url, elsewhere, words in links:
            key = key_of(url)
            found = gathered.get(key)
            if found is None:
                found = gathered[key] = _Gathered()
            found.sources.add(number)
            if words:
                found.anchors[words] = elsewhere or found.anchors.get(words, False)

    @property
    def waiting(self) -> int:
        """Pages linked to that are not in the database yet."""
        return len(self._gathered)

    def flush(self, now: float) -> None:
        """Take the gathered links into the open transaction."""
        gathered, self._gathered = self._gathered, {}
        keys = iter(sorted(gathered))
        try:
            while chunk := list(islice(keys, _AT_ONCE)):
                self._merge(chunk, gathered, now)
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _merge(self, keys: list[int], gathered: dict[int, _Gathered], now: float) -> None:
        known = {row[0]: row[1:] for row in self._rows("sources, anchors, standing, shown, writes, due", keys)}
        new, changed = [], []
        for key in keys:
            found = gathered[key]
            row = known.get(key)
            if row is None:
                new.append((key, SourceSketch().with_more(found.sources).pack(), _pack(_best([], found.anchors))))
                continue
            packed, packed_anchors, standing, shown, writes, due = row
            sketch = SourceSketch(packed)
            anchors = _read_anchors(packed_anchors)
            sources, best = sketch.with_more(found.sources), _best(anchors, found.anchors)
            if sources is sketch and best == anchors:
                continue
            if standing == INDEXED and due is None and self._linked(key, sources, best).pack() != shown:
                due = _due(now, writes)
            changed.append((sources.pack(), _pack(best), due, key))
        self._base.executemany("INSERT INTO pages (key, sources, anchors) VALUES (?, ?, ?)", new)
        self._base.executemany("UPDATE pages SET sources = ?, anchors = ?, due = ? WHERE key = ?", changed)

    def linked(self, urls: Sequence[str]) -> dict[str, Linked]:
        """What is known of each by now."""
        names = {key_of(url): url for url in urls}
        found = {
            names[key]: self._known(key, sources, anchors)
            for key, sources, anchors in self._rows("sources, anchors", list(names))
        }
        return {url: found[url] if url in found else self._known(key_of(url)) for url in urls}

    def _known(self, key: int, packed: bytes = b"", packed_anchors: bytes = _NO_ANCHORS) -> Linked:
        """What the database has, and what was gathered since."""
        sources, anchors = SourceSketch(packed), _read_anchors(packed_anchors)
        more = self._gathered.get(key)
        if more is not None:
            sources, anchors = sources.with_more(more.sources), _best(anchors, more.anchors)
        return self._linked(key, sources, anchors)

    def _linked(self, key: int, sources: SourceSketch, anchors: list[tuple[bool, str]]) -> Linked:
        worth = self._worth(key)
        return Linked(rounded(sources.count() if worth is None else worth), tuple(text for _, text in anchors))

    def weigh(self, worth: Worth, now: float) -> None:
        """Links are worth something else now. Pages in the index that this makes stale are written again, in turn."""
        self._worth = worth
        last = -(1 << 63)
        ask = (
            "SELECT key, sources, anchors, shown FROM pages WHERE key > ? AND standing = 1 AND due IS NULL"
            " ORDER BY key LIMIT 1000"
        )
        try:
            while rows := self._base.execute(ask, (last,)).fetchall():
                last = rows[-1][0]
                stale = [
                    (now, key)
                    for key, sources, anchors, shown in rows
                    if self._known(key, sources, anchors).pack() != shown
                ]
                self._base.executemany("UPDATE pages SET due = ? WHERE key = ?", stale)
        except sqlite3.Error as error:
            raise self._explained(error) from error

    # -- pages ---------------------------------------------------------------------------------------------------------

    def stand(self, url: str, standing: int, kept: Kept, shown: Linked | None = None, now: float = 0.0) -> None:
        """A page was seen: whether it is in the index, with which links, and where it is stored. Links that came since
        those were asked for make it stale at once.
        """
        due = None
        self.indexed += standing == INDEXED
        for key, was, writes, sources, anchors in self._rows("standing, writes, sources, anchors", [key_of(url)]):
            self.indexed -= was == INDEXED
            if shown is not None and self._known(key, sources, anchors) != shown:
                due = _due(now, writes)
        row = (key_of(url), b"", _NO_ANCHORS, url, standing, kept.pack(), shown.pack() if shown else None, due)
        try:
            self._base.execute(
                "INSERT INTO pages (key, sources, anchors, url, standing, kept, shown, due)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET url = excluded.url, standing = excluded.standing,"
                " kept = excluded.kept, shown = excluded.shown, due = excluded.due",
                row,
            )
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def forget(self, url: str) -> None:
        """It is gone from the web. Links to it are kept: it may come back."""
        self.indexed -= self._is_indexed(url)
        try:
            self._base.execute(
                "UPDATE pages SET url = NULL, standing = 0, kept = NULL, shown = NULL, due = NULL WHERE key = ?",
                (key_of(url),),
            )
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def kept(self, url: str) -> Kept | None:
        """Where a page is stored."""
        for _, packed in self._rows("kept", [key_of(url)]):
            return None if packed is None else Kept.unpack(packed)
        return None

    def pages(self, standings: Sequence[int]) -> Iterator[tuple[str, int]]:
        """URLs and standings of all pages of these standings; may be changed on the way."""
        last = -(1 << 63)
        marks = ",".join("?" * len(standings))
        ask = f"SELECT key, url, standing FROM pages WHERE key > ? AND standing IN ({marks}) ORDER BY key LIMIT 1000"  # noqa: S608
        while rows := self._ask(ask, (last, *standings)):
            last = rows[-1][0]
            for _, url, standing in rows:
                if url is not None:
                    yield url, standing

    def _is_indexed(self, url: str) -> bool:
        return any(standing == INDEXED for _, standing in self._rows("standing", [key_of(url)]))

    # -- pages to be written again -------------------------------------------------------------------------------------

    def stale(self, now: float, most: int) -> list[str]:
        """Pages in the index whose links are others than it knows, and whose rest is over; the longest first."""
        ask = "SELECT key, url FROM pages WHERE due <= ? ORDER BY due LIMIT ?"
        taken = set(self._rewritten)
        rows = self._ask(ask, (now, most + len(taken)))
        for key, url in rows:
            if url is not None and key_of(url) != key:  # it would never be the one that was written again
                raise self._explained(sqlite3.DatabaseError("a page has the key of another one"))
        return [url for key, url in rows if key not in taken and url is not None][:most]

    def rewritten(self, url: str, shown: Linked) -> None:
        """It was written again. That holds from the next commit of the index on, so it stays stale until then."""
        self._ask("UPDATE pages SET shown = ?, writes = writes + 1 WHERE key = ?", (shown.pack(), key := key_of(url)))
        self._rewritten.append(key)

    # -- the commit ----------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Everything so far is durable when this returns. The commit of the index comes next."""
        try:
            self._base.execute("COMMIT")
            self._base.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def committed(self, now: float) -> None:
        """The index has committed, too: what was written again is no longer stale, unless more links came meanwhile."""
        rewritten, self._rewritten = self._rewritten, []
        keys = iter(rewritten)
        while chunk := list(islice(keys, _AT_ONCE)):
            again = []
            for key, sources, anchors, shown, writes in self._rows("sources, anchors, shown, writes", chunk):
                differs = self._linked(key, SourceSketch(sources), _read_anchors(anchors)).pack() != shown
                again.append((_due(now, writes) if differs else None, key))
            self._base.executemany("UPDATE pages SET due = ? WHERE key = ?", again)

    def note(self, name: str) -> bytes | None:
        found = self._ask("SELECT value FROM notes WHERE name = ?", (name,))
        return bytes(found[0][0]) if found else None

    def set_note(self, name: str, value: bytes) -> None:
        self._ask("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """What was not committed is gone."""
        with suppress(sqlite3.Error):
            self._base.execute("ROLLBACK")
        self._base.close()

    def _rows(self, columns: str, keys: list[int]) -> list[Any]:
        marks = ",".join("?" * len(keys))
        return self._ask(f"SELECT key, {columns} FROM pages WHERE key IN ({marks})", keys)  # noqa: S608

    def _ask(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._base.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.Error) -> Exception:
        words = str(error)
        if "full" in words:
            return DiskFullError(
                f"The disk that holds {self._path} is full. Free some space, then run the same command again."
            )
        return IndexDamagedError(
            f"{self._path} cannot be read: {words}. "
            "gossamer index --rebuild makes the index again from the stored pages."
        )


def _due(now: float, writes: int) -> float:
    return now + min(_FIRST_REST * 4.0 ** min(writes, 8), _LONGEST_REST)


def key_of(url: str) -> int:
    """64 bits, as SQLite counts: with a sign."""
    number = xxh3_64_intdigest(url.encode())
    return number - (1 << 64) if number >> 63 else number


def _best(known: list[tuple[bool, str]], more: dict[str, bool]) -> list[tuple[bool, str]]:
    """The words to keep: those of other hosts first, then by hash. Any order of adding leads to the same."""
    texts = {text: elsewhere for elsewhere, text in known}
    if all(texts.get(text, not elsewhere) >= elsewhere and text in texts for text, elsewhere in more.items()):
        return known
    for text, elsewhere in more.items():
        texts[text] = texts.get(text, False) or elsewhere
    ordered = sorted(texts.items(), key=lambda item: (not item[1], xxh3_64_intdigest(item[0].encode())))
    return [(elsewhere, text) for text, elsewhere in ordered[:_MOST_ANCHORS]]
