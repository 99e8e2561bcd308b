"""RocksDB, and what is not in it yet: the changes since the last commit."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from rocksdict import (
    AccessType,
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    DBCompactionStyle,
    DBCompressionType,
    Options,
    Rdict,
    WriteBatch,
    WriteOptions,
)

from gossamer.errors import CrawlDirError, DamagedError, DiskFullError
from gossamer.frontier import keys

_ROOM = 128 << 20  # bytes that RocksDB needs to write out its memory and to merge files
_READ_ONLY_MEMORY = 8 << 20
_VISITS, _HOSTS, _PAYLOADS, _DUE = "default", "hosts", "payloads", "due"  # RocksDB insists on the first name
_OUTBOX = "outbox"
_PAYLOAD_FILES = 16  # before some of them are merged

Changes = dict[bytes, bytes | None]
Rows = Iterator[tuple[bytes, bytes]]


def _options(memory: int) -> dict[str, Options]:
    """For each column family. What most data ends up with, on the last level, is chosen for size, the rest for speed;
    docs/decisions/0010-frontier-layout.md has the figures.
    """
    cache = Cache(max(memory, _READ_ONLY_MEMORY))
    visits, hosts = _general(32 << 20), _general(16 << 20)
    # A link to a known URL reads one block: small blocks that unpack fast.
    visits.set_bottommost_compression_type(DBCompressionType.lz4hc())
    _dictionary(visits, level=4, size=64 << 10)
    visits.set_block_based_table_factory(_tables(cache, 8 << 10, entries_between_restarts=64, filter_bits=7))
    # A host is read now and then, from its record on; only hosts that are new would gain by a filter.
    hosts.set_bottommost_compression_type(DBCompressionType.zstd())
    _dictionary(hosts, level=9, size=128 << 10)
    hosts.set_block_based_table_factory(_tables(cache, 12 << 10, entries_between_restarts=16, filter_bits=0))
    # Most keys asked for are new: a filter says so without a search through all that is not yet in a file.
    visits.set_memtable_prefix_bloom_ratio(0.1)
    visits.set_memtable_whole_key_filtering(True)
    # Keys are hashes, so that a merge writes all that it reads again: merges are few, of files of about the same size.
    # What is new is seldom asked for (`Contents`), so there may be many files.
    payloads = _general(8 << 20)
    payloads.set_compaction_style(DBCompactionStyle.universal())
    payloads.set_level_zero_file_num_compaction_trigger(_PAYLOAD_FILES)
    payloads.set_bottommost_compression_type(DBCompressionType.zstd())
    payloads.set_block_based_table_factory(_tables(cache, 8 << 10, entries_between_restarts=16, filter_bits=10))
    # Read from its beginning only.
    due = _general(8 << 20)
    due.set_bottommost_compression_type(DBCompressionType.zstd())
    _dictionary(due, level=3, size=64 << 10)
    due.set_block_based_table_factory(_tables(cache, 16 << 10, entries_between_restarts=16, filter_bits=0))
    # Written, read once from memory, and removed; what it holds is packed already.
    outbox = _general(8 << 20)
    return {_VISITS: visits, _HOSTS: hosts, _PAYLOADS: payloads, _DUE: due, _OUTBOX: outbox}


def _general(write_buffer: int) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_write_buffer_size(write_buffer)
    options.set_max_write_buffer_number(2)
    options.set_max_background_jobs(2)
    options.set_max_total_wal_size(64 << 20)  # a start after a crash reads this much at most
    options.set_compression_type(DBCompressionType.lz4())
    options.set_keep_log_file_num(2)
    options.set_max_log_file_size(1 << 20)
    return options


def _dictionary(options: Options, level: int, size: int) -> None:
    """One for each file: blocks are too small to show what they have in common with others."""
    default_window, default_strategy = -14, 0
    options.set_bottommost_compression_options(default_window, level, default_strategy, size, True)
    options.set_bottommost_zstd_max_train_bytes(100 * size, True)


def _tables(cache: Cache, block: int, entries_between_restarts: int, filter_bits: int) -> BlockBasedOptions:
    table = BlockBasedOptions()
    if filter_bits:
        table.set_bloom_filter(filter_bits, False)
        table.set_partition_filters(True)
    table.set_block_size(block)
    table.set_block_restart_interval(entries_between_restarts)
    table.set_format_version(6)
    # Filters and indexes count as cache, in small parts: whole ones are larger than a shard of the cache, and would be
    # read again for every question.
    table.set_index_type(BlockBasedIndexType.two_level_index_search())
    table.set_index_block_restart_interval(16)
    table.set_cache_index_and_filter_blocks(True)
    table.set_pin_top_level_index_and_filter(True)
    table.set_pin_l0_filter_and_index_blocks_in_cache(True)
    table.set_block_cache(cache)
    return table


def _opened(path: Path, memory: int, access: AccessType | None = None) -> Any:  # its types know nothing of raw mode
    options = _options(memory)
    if access is not None:
        # Nobody reads them from outside, and crawls of older versions have none.
        del options[_PAYLOADS], options[_DUE], options[_OUTBOX]
        for each in options.values():
            each.create_if_missing(False)
            each.create_missing_column_families(False)
            each.set_max_open_files(-1)  # a secondary must hold files that the crawl may delete meanwhile
    try:
        # The families are named even where there is but one: for those not named rocksdict takes the options that the
        # database has noted down, in which filters and the cache are missing.
        if access is None:
            return Rdict(str(path), options[_VISITS], column_families=options)
        return Rdict(str(path), options[_VISITS], column_families=options, access_type=access)
    except Exception as error:  # rocksdict raises plain Exception with RocksDB's words
        raise _explained(path, error) from error


class Database:
    """Reads see uncommitted changes by key, scans do not; `commit` makes all of them durable at once, or none.

    Invariant: `visits`, `hosts`, `payloads`, `due`, `outbox` map a key to its new value, or to None where it is to go;
    `dropped` are the partitions of which nothing is left after the next commit. Of a partition that is `closed`, as it
    comes or goes, nobody changes anything but `Moving`.
    """

    def __init__(self, path: Path, memory: int) -> None:
        self.path = path
        self.visits: Changes = {}
        self.hosts: Changes = {}
        self.payloads: Changes = {}
        self.due: Changes = {}
        self.outbox: Changes = {}
        self.dropped: list[bytes] = []
        self._synced = WriteOptions()
        self._synced.sync = True
        self._full = False
        self._rocks = _opened(path, memory)
        self._stored_hosts = self._rocks.get_column_family(_HOSTS)
        self._stored_payloads = self._rocks.get_column_family(_PAYLOADS)
        self._stored_due = self._rocks.get_column_family(_DUE)
        self._stored_outbox = self._rocks.get_column_family(_OUTBOX)
        families = _HOSTS, _PAYLOADS, _DUE, _OUTBOX
        self._handles: list[Any] = [self._rocks.get_column_family_handle(name) for name in families]
        self.closed = {keys.taking_prefix(key) for key, _ in self.scan_visits(keys.TAKING)}

    def visit(self, key: bytes) -> bytes | None:
        if key in self.visits:
            return self.visits[key]
        return _value(self.path, self._rocks, key)

    def known(self, keys: list[bytes]) -> list[bool]:
        """For each key of a visit, whether it is there; in one call to RocksDB."""
        changes = self.visits
        asked = [key for key in keys if key not in changes]
        if not asked:
            return [True] * len(keys)
        found = _values(self.path, self._rocks, asked)
        if len(asked) == len(keys):
            return [value is not None for value in found]
        stored = dict(zip(asked, found, strict=True))
        return [stored.get(key) is not None if key in stored else True for key in keys]

    def visits_at(self, keys: list[bytes]) -> list[bytes | None]:
        """What is there under each key of a visit; in one call to RocksDB."""
        found = _values(self.path, self._rocks, keys)
        changes = self.visits
        return [changes.get(key, value) for key, value in zip(keys, found, strict=True)]

    def scan_visits(self, prefix: bytes) -> Rows:
        """Committed records of visits whose keys begin with `prefix`."""
        return _rows(self.path, self._rocks.iter(), prefix, prefix)

    def scan_due(self, start: bytes) -> Rows:
        """Committed records of what is due from `start` on, in their order."""
        return _rows(self.path, self._stored_due.iter(), start, b"")

    def snapshot(self, partition: bytes) -> tuple[Rows, Rows, Rows]:
        """Committed records of the visits and of the hosts of a partition, and all notes, as they are now, whatever is
        committed until they are read. They hold the database open.
        """
        visits, hosts, notes = self._rocks.iter(), self._stored_hosts.iter(), self._rocks.iter()
        return (
            _rows(self.path, visits, partition, partition),
            _rows(self.path, hosts, partition, partition),
            _rows(self.path, notes, keys.META, keys.META),
        )

    def host(self, key: bytes) -> bytes | None:
        if key in self.hosts:
            return self.hosts[key]
        return _value(self.path, self._stored_hosts, key)

    def payload(self, key: bytes) -> bytes | None:
        if key in self.payloads:
            return self.payloads[key]
        return _value(self.path, self._stored_payloads, key)

    def payload_keys(self, after: bytes, most: int) -> list[bytes]:
        """Committed ones after this one, up to so many, in their order."""
        return [key for key, _ in islice(_rows(self.path, self._stored_payloads.iter(), after + b"\0", b""), most)]

    def scan_outbox(self) -> Iterator[tuple[bytes, bytes]]:
        """What was committed and is still to be sent, or kept, in the order of its keys."""
        return _rows(self.path, self._stored_outbox.iter(), b"", b"")

    def hosts_cursor(self) -> Any:
        """RocksDB's own iterator over committed records of hosts. Where it says that there are no more it must be
        `checked`.
        """
        return self._stored_hosts.iter()

    def checked(self, cursor: Any) -> None:
        """DamagedError if the cursor has met what it could not read, which it takes for the end."""
        _check(self.path, cursor)

    def scan_hosts(self, start: bytes, prefix: bytes) -> Rows:
        """Committed records of hosts from `start` on, as long as keys begin with `prefix`."""
        return _rows(self.path, self._stored_hosts.iter(), start, prefix)

    @property
    def changed(self) -> bool:
        return bool(self.visits or self.hosts or self.payloads or self.due or self.outbox or self.dropped)

    def commit(self) -> None:
        if not self.changed:
            return
        self._write(self._synced, self.visits, self.hosts, self.payloads, self.due, self.outbox, self.dropped)
        self.visits.clear()
        self.hosts.clear()
        self.payloads.clear()
        self.due.clear()
        self.outbox.clear()
        self.closed.difference_update(self.dropped)
        self.dropped.clear()

    def write(self, visits: Changes, hosts: Changes, due: Changes) -> None:
        """Changes beside those of the next commit, which become durable with it or before, all or none."""
        self._write(None, visits, hosts, {}, due, {}, [])

    def _write(
        self,
        options: WriteOptions | None,
        visits: Changes,
        hosts: Changes,
        payloads: Changes,
        due: Changes,
        outbox: Changes,
        dropped: list[bytes],
    ) -> None:
        batch = WriteBatch(raw_mode=True)
        for start in dropped:
            end = (int.from_bytes(start, "big") + 1).to_bytes(2, "big")
            batch.delete_range(start, end)
            batch.delete_range(start, end, self._handles[0])
        _fill(batch, visits)
        for handle, changes in zip(self._handles, (hosts, payloads, due, outbox), strict=True):
            batch.set_default_column_family(handle)
            _fill(batch, changes)
        try:
            self._rocks.write(batch, options)
        except Exception as error:
            raise self._failed(error) from error

    @property
    def merging(self) -> bool:
        """RocksDB is merging files in the background, or will in a moment."""
        ask = self._rocks.property_int_value
        return bool(ask("rocksdb.num-running-compactions") or ask("rocksdb.compaction-pending"))

    def compact(self) -> None:
        """Merge all files, as RocksDB does by itself in time."""
        self._rocks.compact_range(None, None)
        self._stored_hosts.compact_range(None, None)
        self._stored_payloads.compact_range(None, None)
        self._stored_due.compact_range(None, None)

    def close(self) -> None:
        self._handles.clear()  # they hold the database open
        parts = [self._rocks, self._stored_hosts, self._stored_payloads, self._stored_due, self._stored_outbox]
        # One that fails is closed by being let go.
        self._rocks = self._stored_hosts = self._stored_payloads = self._stored_due = self._stored_outbox = None
        failed = None
        while parts:
            try:
                parts.pop().close()
            except Exception as error:
                failed = self._failed(error)
        # It tidies up on closing, for which a full disk has no room; what was committed is in its log.
        if failed and not isinstance(failed, DiskFullError):
            raise failed

    def _failed(self, error: Exception) -> Exception:
        """Once the disk was full, that is what ails it: RocksDB names the reason the first time only."""
        explained = _full(self.path) if self._full else _explained(self.path, error)
        self._full = isinstance(explained, DiskFullError)
        return explained


def _fill(batch: WriteBatch, changes: Changes) -> None:
    if None not in changes.values():
        deque(map(batch.put, changes.keys(), changes.values()), maxlen=0)  # no step of Python for each
        return
    for key, value in changes.items():
        if value is None:
            batch.delete(key)
        else:
            batch.put(key, value)


def _value(path: Path, rocks: Any, key: bytes) -> bytes | None:
    try:
        value: bytes | None = rocks.get(key)
    except Exception as error:
        raise _explained(path, error) from error
    return value


def _values(path: Path, rocks: Any, keys: list[bytes]) -> list[bytes | None]:
    try:
        values: list[bytes | None] = rocks.get(keys)
    except Exception as error:
        raise _explained(path, error) from error
    return values


def _check(path: Path, cursor: Any) -> None:
    try:
        cursor.status()
    except Exception as error:
        raise _explained(path, error) from error


def _rows(path: Path, found: Any, start: bytes, prefix: bytes) -> Rows:
    found.seek(start)
    while found.valid():
        key = found.key()
        if not key.startswith(prefix):
            return
        yield key, found.value()
        found.next()
    _check(path, found)


class ReadOnlyDatabase:
    """The last commit, read beside a running crawl or without one."""

    def __init__(self, path: Path, scratch: Path) -> None:
        self._path = path
        self._rocks = _opened(path, _READ_ONLY_MEMORY, AccessType.secondary(str(scratch)))
        self.refresh()
        self._hosts = self._rocks.get_column_family(_HOSTS)

    def refresh(self) -> None:
        try:
            self._rocks.try_catch_up_with_primary()
        except Exception as error:
            raise _explained(self._path, error) from error

    def visit(self, key: bytes) -> bytes | None:
        return _value(self._path, self._rocks, key)

    def scan_visits(self, prefix: bytes, start: bytes = b"") -> Rows:
        return _rows(self._path, self._rocks.iter(), start or prefix, prefix)

    def host(self, key: bytes) -> bytes | None:
        return _value(self._path, self._hosts, key)

    def scan_hosts(self, prefix: bytes) -> Rows:
        return _rows(self._path, self._hosts.iter(), prefix, prefix)

    def close(self) -> None:
        self._hosts.close()
        self._rocks.close()


def _explained(path: Path, error: Exception) -> Exception:
    """RocksDB's words as one of our errors, saying what to do."""
    words = str(error)
    if "No space left" in words or "NoSpace" in words or ("previous error" in words and _is_full(path)):
        return _full(path)
    if "lock" in words.lower() and ("Resource temporarily unavailable" in words or "No locks available" in words):
        return CrawlDirError(f"{path} is in use by another process. Stop it, or choose another --dir.")
    if "olumn famil" in words:
        return CrawlDirError(
            f"{path} was made by another version of gossamer, which stored it differently. "
            "Go on with that version, or choose another --dir."
        )
    if "Permission denied" in words:
        return CrawlDirError(f"{path} cannot be written: permission denied. Choose another --dir or change its owner.")
    return DamagedError(
        f"{path} cannot be read: {words}. The pages in warc/ are untouched; "
        "restore frontier/ from a copy, or run gossamer repair on the crawl's directory."
    )


def _full(path: Path) -> DiskFullError:
    return DiskFullError(
        f"The disk that holds {path} is full. Free at least {_ROOM >> 20:,} MiB, then run the same command again: "
        "nothing committed is lost."
    )


def _is_full(path: Path) -> bool:
    """The first error can fall to a thread of RocksDB's own; whoever writes next is told only that there was one."""
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize < _ROOM
