"""One index as of a commit, and the check that tells when there is a newer one."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec
from backports import zstd
from tantivy import DocAddress, Index, Query, Searcher

from gossamer.errors import CrawlDirError, GossamerError, IndexDamagedError, IndexVersionError
from gossamer.index.entry import Entry, unpack
from gossamer.index.matching import Matcher
from gossamer.index.schema import POSITION, VERSION, prepared, schema, url_term

FORMAT: Final = "format"
"""The file that says which version of gossamer can read the index."""
META: Final = "meta.json"
_serials = itertools.count()


def check_format(path: Path) -> None:
    """That the index at `path` is one that this version understands."""
    try:
        found = (path / FORMAT).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        found = "unknown"
    if found != str(VERSION):
        raise IndexVersionError(
            f"{path} was made by another version of gossamer (index format {found[:20]}, this one knows {VERSION}). "
            "Make it again from the stored pages: gossamer index --rebuild."
        )


def damaged(path: Path | str, error: BaseException) -> GossamerError:
    if "Lockfile" in str(error):
        return CrawlDirError(
            f"The lock file of the index in {path} cannot be written. Who searches needs the right to write there, too."
        )
    return IndexDamagedError(
        f"The index in {path} cannot be read ({str(error)[:200]}). Make it again from the stored pages: "
        "gossamer index --rebuild."
    )


@contextmanager
def readable(paths: Iterable[Path]) -> Iterator[None]:
    """While an index is read: what tantivy finds wrong in a file, or stumbles over, means that it is damaged."""
    try:
        yield
    except (ValueError, OSError, zstd.ZstdError, msgspec.MsgspecError) as error:
        raise damaged(", ".join(map(str, paths)), error) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # by which Rust says that it met what cannot be
            raise damaged(", ".join(map(str, paths)), error) from error
        raise


class Snapshot:
    """What an index holds at one commit. It stays readable when the index goes on."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        self.serial = next(_serials)  # of this process

    def entry(self, address: DocAddress) -> Entry:
        return unpack(self.searcher.doc(address)["entry"][0])

    def find(self, url: str) -> DocAddress | None:
        found = self.searcher.search(Query.term_query(schema(), "url", url_term(url), "basic"), 1, count=False).hits
        return found[0][1] if found else None

    def values(self, field: str, addresses: list[DocAddress]) -> list[int]:
        # A page has every field; 0 is for the type's sake.
        return [int(value or 0) for value in self.searcher.fast_field_values(field, addresses)]

    @cached_property
    def pages(self) -> int:
        position = self.searcher.search(Query.term_query(schema(), "tags", POSITION, "basic"), 1)
        return self.searcher.num_docs - count_of(position)

    @cached_property
    def hosts(self) -> dict[str, int]:
        """Reversed names of hosts, and how many pages each has."""
        return dict(self.searcher.terms_with_prefix("host", "", Query.all_query()))

    @cached_property
    def matcher(self) -> Matcher:
        languages = [name for name, _ in self.searcher.terms_with_prefix("language", "") if name]
        return Matcher(languages, self.searcher.doc_freq)

    @cached_property
    def newest(self) -> float:
        found = self.searcher.aggregate(Query.all_query(), {"newest": {"max": {"field": "fetched"}}})
        return float(found["newest"]["value"] or 0.0)


def count_of(result: Any) -> int:
    """How many documents matched; the type of tantivy's result does not name it."""
    return int(result.count)


class Shard:
    """An index that others write. Invariant: `snapshot` gives the newest commit, or what stood there before it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._index: Index | None = None
        self._snapshot: Snapshot | None = None
        self._seen: tuple[int, int, int] | None = None

    def snapshot(self) -> Snapshot | None:
        """None if there is no index yet."""
        try:
            state = os.stat(self._path / META)
        except OSError:
            with self._lock:
                self._index = self._snapshot = self._seen = None
            return None
        seen = (state.st_ino, state.st_mtime_ns, state.st_size)
        if seen != self._seen:
            with self._lock:
                if seen != self._seen:
                    self._refresh()
                    self._seen = seen
        return self._snapshot

    def _refresh(self) -> None:
        check_format(self._path)
        try:
            if self._index is not None:
                self._index.reload()
        except ValueError:
            self._index = None  # it was made anew
        try:
            if self._index is None:
                self._index = prepared(Index.open(str(self._path)))
                self._index.config_reader("manual")
                self._index.reload()
            self._snapshot = Snapshot(self._index.searcher())
        except (ValueError, OSError) as error:
            self._index = None
            raise damaged(self._path, error) from error

    def close(self) -> None:
        with self._lock:
            self._index = self._snapshot = self._seen = None
