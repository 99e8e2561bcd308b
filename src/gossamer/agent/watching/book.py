"""The watches of a crawl, what matched them, and the calls that tell of it: SQLite in DIR/watches.

Written by those who add watches, by the process that indexes and by whoever delivers, each in short transactions.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from gossamer.agent.broker_file import NAME
from gossamer.agent.crawl_dir import give_to_owner
from gossamer.agent.parts import AGENTS, is_part
from gossamer.agent.watching.watch import (
    MOST_WATCHES,
    REMEMBERED_FOR,
    Tally,
    Told,
    Watch,
    WatchHit,
    checked_name,
    checked_query,
    new_id,
    new_secret,
)
from gossamer.errors import ConfigError, ControlError, CrawlDirError, DamagedError, DiskFullError

FOLDER: Final = "watches"
VERSION: Final = 1
_PATIENCE: Final = 20.0  # seconds that another process may keep us from writing
_MOST_LISTED: Final = 1001
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS watches (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    query TEXT NOT NULL,
    webhook TEXT NOT NULL,
    secret TEXT NOT NULL,
    notify_earlier INTEGER NOT NULL,
    created REAL NOT NULL,
    crawl INTEGER NOT NULL DEFAULT 0,
    remembered INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS onward (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    part TEXT NOT NULL,
    watch INTEGER NOT NULL REFERENCES watches ON DELETE CASCADE,
    url TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS taken_up (
    watch INTEGER NOT NULL REFERENCES watches ON DELETE CASCADE, part TEXT NOT NULL, PRIMARY KEY (watch, part)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (
    watch INTEGER NOT NULL REFERENCES watches ON DELETE CASCADE, key INTEGER NOT NULL, PRIMARY KEY (watch, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    watch INTEGER NOT NULL REFERENCES watches ON DELETE CASCADE,
    made REAL NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    due REAL,
    state TEXT NOT NULL DEFAULT 'waiting',
    tried REAL NOT NULL DEFAULT 0,
    status INTEGER NOT NULL DEFAULT 0,
    why TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS calls_due ON calls (due) WHERE due IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_by_id ON calls (id);
CREATE INDEX IF NOT EXISTS calls_of ON calls (watch, number);
CREATE TABLE IF NOT EXISTS hits (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    watch INTEGER NOT NULL REFERENCES watches ON DELETE CASCADE,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    snippet TEXT NOT NULL,
    language TEXT NOT NULL,
    fetched REAL NOT NULL,
    found REAL NOT NULL,
    earlier INTEGER NOT NULL,
    tell INTEGER NOT NULL,
    call INTEGER
);
CREATE INDEX IF NOT EXISTS hits_of ON hits (watch, number);
CREATE INDEX IF NOT EXISTS hits_counted ON hits (watch, earlier, tell, call, found);
CREATE INDEX IF NOT EXISTS hits_to_tell ON hits (watch, number) WHERE tell = 1 AND call IS NULL;
CREATE INDEX IF NOT EXISTS hits_in ON hits (call) WHERE call IS NOT NULL;
CREATE TABLE IF NOT EXISTS pending (part TEXT NOT NULL, url TEXT NOT NULL, PRIMARY KEY (part, url)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claimed (
    watch INTEGER NOT NULL REFERENCES watches ON DELETE CASCADE, key INTEGER NOT NULL, PRIMARY KEY (watch, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, about TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS telling (
    watch INTEGER PRIMARY KEY REFERENCES watches ON DELETE CASCADE,
    last INTEGER NOT NULL,
    call TEXT NOT NULL,
    by TEXT NOT NULL,
    seen REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_HITS: Final = (
    "SELECT h.number, h.url, h.title, h.snippet, h.fetched, h.found, h.language, h.earlier, h.tell, c.state "
    "FROM hits h LEFT JOIN calls c ON c.number = h.call"
)
_AFTER_ALL: Final = (1 << 63) - 1
_WATCH: Final = "number, id, name, query, webhook, notify_earlier, created, crawl, remembered"
_NEW_COLUMNS: Final = ("crawl", "remembered")  # of watches, since the first version of the file


def folder_of(home: Path) -> Path:
    """Where the watches of a crawl are; agents on one machine share those of the whole crawl."""
    return (home.absolute().parent.parent if is_part(home) else home) / FOLDER


def is_shared(home: Path) -> bool:
    """Whether the watches are those of several agents that have nothing in common but a broker."""
    return (home / NAME).is_file() and not is_part(home) and not (home / AGENTS).is_dir()


def has_watches(home: Path) -> bool:
    """Whether there ever were any."""
    return (folder_of(home) / "watches.db").is_file()


class WatchBook:
    """Invariants: a page is among what a watch has seen once, and is a hit of it once, told or not; its owner alone can
    read the file, since secrets are in it.

    For one thread. Opened by several processes at once.
    """

    def __init__(self, home: Path, *, threads: bool = False) -> None:
        self.folder = folder_of(home)
        self.path = self.folder / "watches.db"
        self._home = home
        self._make()
        try:
            self._base = sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=not threads
            )
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")  # hits must never be behind the index
            self._base.execute("PRAGMA foreign_keys = ON")
            self._base.execute("PRAGMA mmap_size = 0")
            self._check_version()
            self._base.executescript(_SCHEMA)
            self._add_columns()
        except sqlite3.Error as error:
            raise self.explained(error) from error

    def _make(self) -> None:
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.folder.mkdir(mode=0o700)
                _give(self.folder, os.O_DIRECTORY, self._home)
            # Made for its owner alone from the first byte on; SQLite gives its other files the same rights.
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
                _give(self.path, 0, self._home)
        except OSError as error:
            raise CrawlDirError(
                f"{self.folder} cannot be written: {error.strerror}. Change its owner or choose another --dir."
            ) from error

    def _check_version(self) -> None:
        version = self._base.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise CrawlDirError(
                f"{self.path} was made by another version of gossamer (format {version}, this one knows {VERSION}). "
                "Upgrade gossamer, or remove the file and add the watches again."
            )
        if version == 0:
            self._base.execute(f"PRAGMA user_version = {VERSION}")

    def _add_columns(self) -> None:
        """A file made by an earlier version lacks some."""
        known = {row[1] for row in self._base.execute("PRAGMA table_info(watches)")}
        for column in _NEW_COLUMNS:
            if column not in known:
                with suppress(sqlite3.OperationalError):  # another process was faster
                    self._base.execute(f"ALTER TABLE watches ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")

    # -- watches -------------------------------------------------------------------------------------------------------

    def add(
        self,
        query: str,
        webhook: str,
        name: str,
        notify_earlier: bool,
        now: float,
        crawl: bool = False,
        remembered: bool = False,
    ) -> tuple[Watch, str]:
        """A new watch and its secret, which is given this once; empty without a webhook."""
        checked_query(query)
        secret = new_secret() if webhook else ""
        with self.changing():
            last = self._count("SELECT coalesce(max(number), 0) FROM watches")
            chosen = self.check_room(checked_name(name, query, last + 1), bool(name))
            row = (new_id(), chosen, query.strip(), webhook, secret, notify_earlier, now, crawl, remembered)
            self._base.execute(
                "INSERT INTO watches (id, name, query, webhook, secret, notify_earlier, created, crawl, remembered) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        found = self.find(row[0])
        assert found is not None
        return found, secret

    def check_room(self, name: str, given: bool) -> str:
        """What a new watch is called; raises ConfigError if there can be none, or the name was given and is taken."""
        count = self._count("SELECT count(*) FROM watches")
        if count >= MOST_WATCHES:
            raise ConfigError(
                f"there are {count:,} watches, which is as many as there may be; remove some first: "
                "gossamer watch remove"
            )
        taken = {row[0] for row in self._base.execute("SELECT name FROM watches")}
        if given and name in taken:
            raise ConfigError(f"--name: there is a watch named {name!r} already; remove it first, or take another name")
        number, free = 1, name
        while free in taken:
            number += 1
            free = f"{name}-{number}"
        return free

    def send(self, about: str, data: bytes) -> None:
        """To the other agents, within a change."""
        self._base.execute("INSERT INTO outbox (about, data) VALUES (?, ?)", (about, data))

    def find(self, name: str) -> Watch | None:
        """By id or by name."""
        ask = f"SELECT {_WATCH} FROM watches WHERE id = ? OR name = ? ORDER BY id = ? DESC LIMIT 1"  # noqa: S608
        row = self._one(ask, (name, name, name))
        return None if row is None else _watch(row)

    def known(self, name: str) -> Watch:
        found = self.find(name)
        if found is None:
            raise ConfigError(f"there is no watch {name[:80]!r}; `gossamer watch list` shows those there are")
        return found

    def secret(self, watch: Watch) -> str:
        row = self._one("SELECT secret FROM watches WHERE number = ?", (watch.number,))
        return "" if row is None else str(row[0])

    def all(self) -> list[Watch]:
        """In the order in which they were added."""
        return [_watch(row) for row in self._rows(f"SELECT {_WATCH} FROM watches ORDER BY number")]  # noqa: S608

    def remove(self, watch: Watch) -> None:
        """With all that is known of it."""
        with self.changing():
            self._base.execute("DELETE FROM hits WHERE watch = ?", (watch.number,))
            self._base.execute("DELETE FROM watches WHERE number = ?", (watch.number,))

    def forget_old(self, now: float) -> None:
        """Remove the remembered watches whose time is over."""
        old = "SELECT number FROM watches WHERE remembered = 1 AND created < ?"
        if self._rows(old, (now - REMEMBERED_FOR,)):
            for watch in self.all():
                if watch.remembered and watch.created_at < now - REMEMBERED_FOR:
                    self.remove(watch)

    @property
    def version(self) -> int:
        """Changes when another process has written."""
        return int(self._rows("PRAGMA data_version")[0][0])

    # -- what matched --------------------------------------------------------------------------------------------------

    def hits(self, watch: Watch, before: int = 0, limit: int = 100) -> list[WatchHit]:
        """The newest first; those before a number, if one is given."""
        rows = self._rows(
            f"{_HITS} WHERE h.watch = ? AND h.number < ? ORDER BY h.number DESC LIMIT ?",
            (watch.number, before or _AFTER_ALL, max(1, min(limit, _MOST_LISTED))),
        )
        return [_hit(watch, row) for row in rows]

    def hits_after(self, watch: Watch, after: int, limit: int) -> list[WatchHit]:
        """In the order in which they were found."""
        rows = self._rows(
            f"{_HITS} WHERE h.watch = ? AND h.number > ? ORDER BY h.number LIMIT ?",
            (watch.number, after, max(1, min(limit, _MOST_LISTED))),
        )
        return [_hit(watch, row) for row in rows]

    def tally(self, watch: Watch) -> Tally:
        found = Tally()
        row = self._one(
            "SELECT count(*), coalesce(sum(earlier), 0), coalesce(max(found), 0), "
            "coalesce(sum(tell AND call IS NULL), 0) FROM hits WHERE watch = ?",
            (watch.number,),
        )
        assert row is not None
        found.hits, found.earlier, found.newest_at, found.waiting = row
        for state, count in self._rows(
            "SELECT c.state, count(*) FROM calls c JOIN hits h ON h.call = c.number WHERE c.watch = ? GROUP BY 1",
            (watch.number,),
        ):
            setattr(found, state, getattr(found, state) + count)
        last = self._one(
            "SELECT tried, status, why FROM calls WHERE watch = ? AND tried > 0 ORDER BY tried DESC LIMIT 1",
            (watch.number,),
        )
        if last is not None:
            found.last_try_at, found.last_status, found.trouble = last
        due = self._one("SELECT min(due) FROM calls WHERE watch = ?", (watch.number,))
        found.next_try_at = float(due[0] or 0.0) if due else 0.0
        found.seen = self._count("SELECT count(*) FROM seen WHERE watch = ?", watch.number)
        found.taken_up = bool(self._count("SELECT count(*) FROM taken_up WHERE watch = ?", watch.number))
        return found

    # -- for those who write more --------------------------------------------------------------------------------------

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; durable at the end of the block, or nothing of it."""
        try:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield self._base
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            raise self.explained(error) from error

    def rows(self, ask: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._rows(ask, values)

    def close(self) -> None:
        self._base.close()

    def __enter__(self) -> WatchBook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _count(self, ask: str, *values: Any) -> int:
        return int(self._rows(ask, values)[0][0])

    def _one(self, ask: str, values: Sequence[Any]) -> Any:
        return next(iter(self._rows(ask, values)), None)

    def _rows(self, ask: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._base.execute(ask, values).fetchall()
        except sqlite3.Error as error:
            raise self.explained(error) from error

    def explained(self, error: sqlite3.Error) -> Exception:
        words = str(error)
        if "full" in words:
            return DiskFullError(
                f"The disk that holds {self.path} is full. Free some space, then run the same command again."
            )
        if "locked" in words or "busy" in words:
            return ControlError(f"{self.path} is being written by another process. Try again in a moment.")
        if "readonly" in words or "unable to open" in words:
            return CrawlDirError(f"{self.path} cannot be written: {words}. Change its owner.")
        return DamagedError(
            f"{self.path} cannot be read: {words}. Put it back from a copy, or remove it and add the watches again."
        )


def _give(path: Path, flags: int, home: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | flags)
    try:
        give_to_owner(descriptor, home)
    finally:
        os.close(descriptor)


def _watch(row: Any) -> Watch:
    number, id_, name, query, webhook, notify_earlier, created, crawl, remembered = row
    return Watch(number, id_, name, query, webhook, bool(notify_earlier), created, bool(crawl), bool(remembered))


def _hit(watch: Watch, row: Any) -> WatchHit:
    number, url, title, snippet, fetched, found, language, earlier, tell, state = row
    told: Told = state or ("waiting" if tell else "")
    return WatchHit(number, hit_id(watch, number), url, title, snippet, fetched, found, language, bool(earlier), told)


def hit_id(watch: Watch, number: int) -> str:
    return f"{watch.id}-{number}"
