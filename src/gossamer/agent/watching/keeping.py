"""Where it is kept that a page matched: in the book, or said to the other agents first, where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Protocol

from gossamer.agent.broker_file import read_broker
from gossamer.agent.watching.book import WatchBook, is_shared
from gossamer.agent.watching.records import MOST_KEYS, MOST_MATCHES, Found, Match, encode, in_parts
from gossamer.agent.watching.watch import Watch


class Keeping(Protocol):
    """Within a change of the book. Invariant: what is new is so once."""

    def is_new(self, base: Connection, watch: Watch, key: int) -> bool:
        """Whether the page was not met before; from now on it was."""

    def keep(self, base: Connection, watch: Watch, matches: Sequence[Match], others: Sequence[int]) -> None:
        """Pages that are new: those that are to be listed, in their order, and the keys of the others."""

    def take_up(self, base: Connection, watch: Watch, part: str) -> None:
        """It was asked of all that this index has."""


def keeping_of(book: WatchBook) -> Keeping:
    return SaidHits(book, read_broker(book.folder.parent).name) if is_shared(book.folder.parent) else OwnHits()


class OwnHits:
    """Of a crawl whose agents have one book."""

    def is_new(self, base: Connection, watch: Watch, key: int) -> bool:
        return bool(base.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (watch.number, key)).rowcount)

    def keep(self, base: Connection, watch: Watch, matches: Sequence[Match], others: Sequence[int]) -> None:
        base.executemany(
            "INSERT INTO hits (watch, url, title, snippet, language, fetched, found, earlier, tell) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    watch.number, each.url, each.title, each.snippet, each.language, each.fetched, each.found,
                    each.earlier, each.tell,
                )
                for each in matches
            ),
        )  # fmt: skip

    def take_up(self, base: Connection, watch: Watch, part: str) -> None:
        base.execute("INSERT OR IGNORE INTO taken_up VALUES (?, ?)", (watch.number, part))


class SaidHits:
    """Of agents on several machines: what one has found is a hit when the log of all says so, by the first who said it.

    Invariant: a page that is claimed was said, or is in the outbox, and nobody has been heard to say it.
    """

    def __init__(self, book: WatchBook, name: str) -> None:
        self._book = book
        self._name = name

    def is_new(self, base: Connection, watch: Watch, key: int) -> bool:
        if base.execute("SELECT 1 FROM seen WHERE watch = ? AND key = ?", (watch.number, key)).fetchone():
            return False
        return bool(base.execute("INSERT OR IGNORE INTO claimed VALUES (?, ?)", (watch.number, key)).rowcount)

    def keep(self, base: Connection, watch: Watch, matches: Sequence[Match], others: Sequence[int]) -> None:
        for some in in_parts(matches, MOST_MATCHES):
            self._say(Found(watch.id, self._name, some))
        for keys in in_parts(others, MOST_KEYS):
            self._say(Found(watch.id, self._name, (), keys))

    def take_up(self, base: Connection, watch: Watch, part: str) -> None:
        base.execute("INSERT OR IGNORE INTO taken_up VALUES (?, ?)", (watch.number, part))
        self._say(Found(watch.id, self._name, part=part))

    def _say(self, record: Found) -> None:
        self._book.send(record.watch, encode(record))
