"""Writes the index: entries by URL, and with each commit the position that its follower had reached."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tantivy import Document, Index, Query
from tantivy import IndexWriter as TantivyWriter

from gossamer.errors import CrawlDirError, DiskFullError, GossamerError, IndexInUseError, IndexVersionError
from gossamer.index.entry import Entry, pack, unpack
from gossamer.index.schema import POSITION, VERSION, document_of, host_in, position_document, prepared, schema, url_term
from gossamer.index.snapshot import FORMAT, META, Snapshot, check_format, damaged
from gossamer.model.domain import reversed_host

LEAST_MEMORY: Final = 15_000_000
"""Bytes; tantivy wants no less for the words it gathers before it writes them out."""
_MOST_PENDING: Final = 64 << 20
"""Bytes of entries between two commits that are kept at hand."""
_RESERVE: Final = 32 << 20

Ready = dict[str, list[Any]]
"""The fields of an entry, by name, with its words made: what a process can make that does not write the index."""


def ready(entry: Entry) -> Ready:
    made: Ready = document_of(entry, pack(entry)).to_dict()
    return made


class IndexWriter:
    """Makes the index at `path` or goes on with it. One process writes, any number read.

    Invariant: what is on disk is a whole commit, whenever the process ends: its entries, one a URL, and the position
    that was given with them. Where very much is written between two commits it may have later entries besides, but none
    is missing.
    """

    def __init__(self, path: Path, memory: int) -> None:
        self._path = path
        self._index = _opened(path)
        with self._explained():
            self._writer: TantivyWriter | None = self._index.writer(max(LEAST_MEMORY, memory), 1)
        self._snapshot: Snapshot | None = None
        self._pending: dict[str, bytes | None] = {}  # by URL, since the last commit; None is deleted
        self._pending_bytes = 0
        self._gone: set[str] = set()  # hosts deleted since the last commit
        self.position = self._read_position()

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Each takes the place of what the index has of its URL."""
        for entry in entries:
            packed = pack(entry)
            self._put(url_term(entry.url), packed, document_of(entry, packed))

    def put(self, made: Ready) -> None:
        """The same with an entry that is `ready`."""
        self._put(made["url"][0], made["entry"][0], Document.from_dict(made, schema()))

    def _put(self, term: str, packed: bytes, document: Document) -> None:
        with self._explained():
            # Each deletion is looked up in every segment at the commit; most pages of a crawl are new.
            if term in self._pending or self._committed().searcher.doc_freq("url", term):
                self._working.delete_documents_by_term("url", term)
            self._working.add_document(document)
        self._pending[term] = packed
        self._pending_bytes += len(packed)
        if self._pending_bytes > _MOST_PENDING:
            # An earlier position with later entries is harmless: they are only written again.
            self.commit(self.position)

    def delete(self, urls: Sequence[str]) -> None:
        for url in urls:
            term = url_term(url)
            with self._explained():
                self._working.delete_documents_by_term("url", term)
            self._pending[term] = None

    def delete_hosts(self, hosts: Sequence[str]) -> None:
        """All pages of these hosts, and of no other: not of those below them, nor of another port."""
        for host in hosts:
            with self._explained():
                self._working.delete_documents_by_term("host", reversed_host(host))
            self._gone.add(host)
            for term in self._pending:
                if host_in(term) == host:
                    self._pending[term] = None

    def entry(self, url: str) -> Entry | None:
        """As it was written last, also if that is not committed yet."""
        packed = self.packed(url)
        return unpack(packed) if packed is not None else None

    def packed(self, url: str) -> bytes | None:
        """The same, packed."""
        term = url_term(url)
        if term in self._pending:
            return self._pending[term]
        if self._gone and host_in(url) in self._gone:
            return None
        snapshot = self._committed()
        address = snapshot.find(url)
        if address is None:
            return None
        packed: bytes = snapshot.searcher.doc(address)["entry"][0]
        return packed

    def snapshot(self) -> Snapshot:
        """What the last commit holds."""
        return self._committed()

    def commit(self, position: bytes) -> None:
        """Everything written so far is on disk when this returns, and `position` with it."""
        with self._explained():
            self._working.delete_documents_by_term("tags", POSITION)
            self._working.add_document(position_document(position))
            self._working.commit()
        self.position = position
        self._pending.clear()
        self._pending_bytes = 0
        self._gone.clear()
        self._snapshot = None

    def close(self, merges: bool = True) -> None:
        """What is not committed is forgotten. Merges under way are waited for, or given up: they are begun again."""
        writer, self._writer = self._writer, None
        if writer is not None and merges:
            with self._explained():
                writer.wait_merging_threads()
        self._snapshot = None

    @property
    def _working(self) -> TantivyWriter:
        assert self._writer is not None, "the index was closed"
        return self._writer

    def _committed(self) -> Snapshot:
        if self._snapshot is None:
            with self._explained():
                self._index.reload()
                self._snapshot = Snapshot(self._index.searcher())
        return self._snapshot

    def _read_position(self) -> bytes:
        snapshot = self._committed()
        with self._explained():
            found = snapshot.searcher.search(Query.term_query(schema(), "tags", POSITION, "basic"), 1).hits
            position: bytes = snapshot.searcher.doc(found[0][1])["entry"][0] if found else b""
        return position

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError) as error:
            raise _explanation(self._path, error) from error


def _opened(path: Path) -> Index:
    try:
        path.mkdir(parents=True, exist_ok=True)
        if (path / META).exists():
            check_format(path)
        else:
            (path / FORMAT).write_text(f"{VERSION}\n", encoding="ascii")
        index = prepared(Index(schema(), path=str(path)))
        index.config_reader("manual")
    except (ValueError, OSError) as error:
        raise _explanation(path, error) from error
    return index


def _explanation(path: Path, error: Exception) -> GossamerError:
    """tantivy says what happened in words only."""
    words = str(error)
    if "LockBusy" in words:
        return IndexInUseError(f"{path} is written by another process. Wait for it or stop it.")
    if "schema does not match" in words:
        return IndexVersionError(
            f"{path} was made by another version of gossamer. "
            "Make it again from the stored pages: gossamer index --rebuild."
        )
    code = error.errno if isinstance(error, OSError) else None
    if (
        code in (errno.ENOSPC, errno.EDQUOT)
        or "No space left" in words
        or "os error 28" in words
        or not _has_room(path)
    ):
        return DiskFullError(
            f"The disk that holds {path} is full. Free at least {_RESERVE >> 20} MB, then start again: "
            "nothing committed is lost."
        )
    if code in (errno.EACCES, errno.EROFS, errno.ENOTDIR, errno.EEXIST) or "Permission denied" in words:
        return CrawlDirError(
            f"The index in {path} cannot be written: {words}. Change its owner or choose another --dir."
        )
    return damaged(path, error)


def _has_room(path: Path) -> bool:
    """A thread of tantivy that fails leaves no word of why."""
    try:
        disk = os.statvfs(path)
    except OSError:
        return True
    return disk.f_bavail * disk.f_frsize > 1 << 20
