"""RocksDB, and what is not in it yet: the changes since the last commit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rocksdict import (
    AccessType,
    BlockBasedOptions,
    Cache,
    DBCompressionType,
    Options,
    Rdict,
    WriteBatch,
    WriteOptions,
)

from gossamer.errors import CrawlDirError, DamagedError, DiskFullError

_ROOM = 128 << 20  # bytes that RocksDB needs to write out its memory and to merge files


def _options(memory: int) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_write_buffer_size(32 << 20)
    options.set_max_write_buffer_number(2)
    options.set_max_background_jobs(2)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_bottommost_compression_type(DBCompressionType.zstd())
    options.set_keep_log_file_num(2)
    options.set_max_log_file_size(1 << 20)
    table = BlockBasedOptions()
    table.set_bloom_filter(10, False)
    table.set_block_size(16 << 10)
    table.set_format_version(5)
    table.set_cache_index_and_filter_blocks(True)
    table.set_pin_l0_filter_and_index_blocks_in_cache(True)
    table.set_block_cache(Cache(max(memory, 8 << 20)))
    options.set_block_based_table_factory(table)
    return options


class Database:
    """Reads see uncommitted changes by key; `commit` makes all of them durable at once, or none.

    Invariant: `changes` maps a key to its new value, or to None where it is to be deleted.
    """

    def __init__(self, path: Path, memory: int) -> None:
        self.path = path
        self.changes: dict[bytes, bytes | None] = {}
        self._synced = WriteOptions()
        self._synced.sync = True
        try:
            self._rocks: Any = Rdict(str(path), _options(memory))  # its types know nothing of raw mode
        except Exception as error:  # rocksdict raises plain Exception with RocksDB's words
            raise _explained(path, error) from error

    def get(self, key: bytes) -> bytes | None:
        if key in self.changes:
            return self.changes[key]
        value: bytes | None = self._rocks.get(key)
        return value

    def known(self, keys: list[bytes]) -> list[bool]:
        """For each key, whether it is there; in one call to RocksDB."""
        changes = self.changes
        asked = [key for key in keys if key not in changes]
        if not asked:
            return [True] * len(keys)
        stored = dict(zip(asked, self._rocks.get(asked), strict=True))
        return [stored.get(key) is not None if key in stored else True for key in keys]

    def scan(self, start: bytes, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Committed records from `start` on, as long as keys begin with `prefix`."""
        for key, value in self._rocks.items(from_key=start):
            if not key.startswith(prefix):
                return
            yield key, value

    def commit(self) -> None:
        if not self.changes:
            return
        batch = WriteBatch(raw_mode=True)
        put, delete = batch.put, batch.delete
        for key, value in self.changes.items():
            if value is None:
                delete(key)
            else:
                put(key, value)
        try:
            self._rocks.write(batch, self._synced)
        except Exception as error:
            raise _explained(self.path, error) from error
        self.changes.clear()

    def close(self) -> None:
        try:
            self._rocks.close()
        except Exception as error:
            # It tidies up on closing, for which a full disk has no room; what was committed is in its log.
            explained = _explained(self.path, error)
            if not isinstance(explained, DiskFullError):
                raise explained from error


class ReadOnlyDatabase:
    """The last commit, read beside a running crawl or without one."""

    def __init__(self, path: Path, scratch: Path) -> None:
        options = Options(raw_mode=True)
        options.create_if_missing(False)
        options.set_max_open_files(-1)  # a secondary must hold files that the crawl may delete meanwhile
        try:
            self._rocks: Any = Rdict(str(path), options, access_type=AccessType.secondary(str(scratch)))
            self._rocks.try_catch_up_with_primary()
        except Exception as error:
            raise _explained(path, error) from error

    def get(self, key: bytes) -> bytes | None:
        value: bytes | None = self._rocks.get(key)
        return value

    def scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        for key, value in self._rocks.items(from_key=prefix):
            if not key.startswith(prefix):
                return
            yield key, value

    def close(self) -> None:
        self._rocks.close()


def _explained(path: Path, error: Exception) -> Exception:
    """RocksDB's words as one of our errors, saying what to do."""
    words = str(error)
    if "No space left" in words or "NoSpace" in words:
        return DiskFullError(
            f"The disk that holds {path} is full. Free at least {_ROOM >> 20:,} MiB, then run the same command again: "
            "nothing committed is lost."
        )
    if "lock" in words.lower() and "Resource temporarily unavailable" in words:
        return CrawlDirError(f"{path} is in use by another process. Stop it, or choose another --dir.")
    if "Permission denied" in words:
        return CrawlDirError(f"{path} cannot be written: permission denied. Choose another --dir or change its owner.")
    return DamagedError(
        f"{path} cannot be read: {words}. The pages in warc/ are untouched; "
        "restore frontier/ from a copy, or crawl into a new directory."
    )
