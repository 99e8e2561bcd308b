"""Writes the index: entries by URL, and with each commit the position its follower had reached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tantivy import Index, Query
from tantivy import IndexWriter as TantivyWriter

from gossamer.errors import DamagedError, IndexInUseError, IndexVersionError
from gossamer.index.entry import Entry, unpack
from gossamer.index.schema import POSITION, VERSION, document_of, position_document, prepared, schema, url_term
from gossamer.model.domain import reversed_host

_LEAST_MEMORY: Final = 15_000_000


class IndexWriter:
    """Makes the index at `path` or goes on with it. One process writes, any number read.

    Invariant: what is on disk is a whole commit: its entries, one a URL, and the position that was given with them.
    """

    def __init__(self, path: Path, memory: int) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._index = prepared(Index(schema(), path=str(path)))
        try:
            self._writer: TantivyWriter = self._index.writer(max(_LEAST_MEMORY, memory), 1)
        except ValueError as error:
            raise IndexInUseError(f"{path} is written by another process. Wait for it or stop it.") from error
        self.position = b""
        self._pending: dict[str, Entry | None] = {}
        self._changed = False
        searcher = self._searcher()
        found = searcher.search(Query.term_query(schema(), "tags", POSITION), 1).hits
        if found:
            stored: bytes = searcher.doc(found[0][1])["entry"][0]
            if stored[0] != VERSION:
                raise IndexVersionError(
                    f"{path} was made by another version of gossamer (index format {stored[0]}, this one writes {VERSION}). "
                    "Make it again from the stored pages: gossamer index --rebuild."
                )
            self.position = stored[1:]

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Each replaces what the index has of its URL."""
        for entry in entries:
            term = url_term(entry.url)
            self._writer.delete_documents_by_term("url", term)
            self._writer.add_document(document_of(entry))
            self._pending[term] = entry

    def delete(self, urls: Sequence[str]) -> None:
        for url in urls:
            term = url_term(url)
            self._writer.delete_documents_by_term("url", term)
            self._pending[term] = None

    def delete_hosts(self, hosts: Sequence[str]) -> None:
        for host in hosts:
            self._writer.delete_documents_by_term("host", reversed_host(host))

    def entry(self, url: str) -> Entry | None:
        """As it was written last, also if that is not committed yet."""
        term = url_term(url)
        if term in self._pending:
            return self._pending[term]
        searcher = self._searcher()
        found = searcher.search(Query.term_query(schema(), "url", term), 1).hits
        return unpack(searcher.doc(found[0][1])["entry"][0]) if found else None

    def commit(self, position: bytes) -> None:
        self._writer.delete_documents_by_term("tags", POSITION)
        self._writer.add_document(position_document(position))
        self._writer.commit()
        self.position = position
        self._pending.clear()

    def close(self) -> None:
        self._writer.wait_merging_threads()

    def _searcher(self):  # type: ignore[no-untyped-def]
        self._index.reload()
        return self._index.searcher()
