"""A crawl as one WACZ file (version 1.1.1): WARC files, an index, a list of pages, and digests of all of it.

What is inside a zip file need not be unpacked to be replayed: a player reads the index, and then the records it needs.
So nothing in it is compressed a second time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from gzip import compress
from hashlib import sha256
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import msgspec

from gossamer.config import user_agent
from gossamer.errors import ConfigError
from gossamer.report.engine import Engine
from gossamer.report.making import Made
from gossamer.report.report import facts_of
from gossamer.report.sources import CrawlSources
from gossamer.store import committed_files
from gossamer.store.rekey import with_key

VERSION: Final = "1.1.1"
_BLOCK: Final = 3000  # lines of the index that are compressed together
_PIECE: Final = 1 << 20
_PAGES: Final = {"format": "json-pages-1.0", "id": "pages", "title": "All pages"}


class Packed(msgspec.Struct):
    name: str
    path: str
    hash: str
    bytes: int


class Archive:
    """A zip file that grows. Invariant: what was put in is in `packed`, with its digest."""

    def __init__(self, file: ZipFile, told: Callable[[int], None] = lambda size: None) -> None:
        self._file = file
        self._told = told
        self.packed: list[Packed] = []

    def put(self, path: str, pieces: Iterable[bytes]) -> Packed:
        info = ZipInfo(path, datetime.now(UTC).timetuple()[:6])
        info.compress_type, info.external_attr = ZIP_STORED, 0o644 << 16
        digest, size = sha256(), 0
        with self._file.open(info, "w", force_zip64=True) as out:
            for piece in pieces:
                out.write(piece)
                digest.update(piece)
                size += len(piece)
                self._told(len(piece))
        done = Packed(path.rpartition("/")[2], path, f"sha256:{digest.hexdigest()}", size)
        self.packed.append(done)
        return done


def export_wacz(home: Path, out: Path, watch: Callable[[Made], None], processes: int | None = None) -> int:
    """How many pages are listed in it."""
    if out.suffix.lower() != ".wacz":
        raise ConfigError(f"--out: {str(out)!r} is not the name of a web archive; let it end with .wacz")
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"--out: there is no directory {str(out.parent)!r}")
    fresh = out.with_name(f".{out.name}.new")
    with CrawlSources(home) as source, facts_of(source, watch, processes) as (engine, _):
        try:
            with (
                tempfile.TemporaryDirectory(prefix=".gossamer-", dir=out.absolute().parent) as scratch,
                open(fresh, "wb") as file,
            ):
                with ZipFile(file, "w", ZIP_STORED) as zipped:
                    pages = _fill(zipped, source, engine, Path(scratch), watch)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(out)
        finally:
            fresh.unlink(missing_ok=True)
    return pages


def _fill(zipped: ZipFile, sources: CrawlSources, engine: Engine, scratch: Path, watch: Callable[[Made], None]) -> int:
    several = len(sources.parts) > 1  # agents number their files alike, so that these need other names
    stored = [
        (f"{source.directory.home.name}-" if several else "", one)
        for source in sorted(sources.parts, key=lambda source: source.directory.home.name)
        for one in committed_files(source.directory.warc, source.position)
    ]
    made = Made(0, 0, sum(one.warc for _, one in stored))

    def told(size: int) -> None:
        made.done = min(made.done + size, made.total)
        watch(made)

    archive = Archive(zipped, told)
    for prefix, one in stored:
        archive.put(f"archive/{prefix}{one.path.name}", _read(one.path, one.warc))
        made.captures += 1
    _put_index(archive, (_lines(one.cdxj_path, one.cdxj, prefix) for prefix, one in stored), scratch)
    pages = _put_pages(archive, engine, scratch)
    description: dict[str, Any] = {
        "profile": "data-package",
        "wacz_version": VERSION,
        "title": f"Crawl {sources.home.absolute().name}",
        "software": user_agent(sources.config.fetch),
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "resources": msgspec.to_builtins(archive.packed),
    }
    first = engine.rows("SELECT url, fetched_at FROM pages WHERE status = 200 ORDER BY depth, fetched_at, url LIMIT 1")
    if first:
        description["mainPageURL"], description["mainPageDate"] = first[0][0], _stamp(first[0][1])
    packed = archive.put("datapackage.json", [msgspec.json.format(msgspec.json.encode(description), indent=2)])
    archive.put("datapackage-digest.json", [msgspec.json.encode({"path": "datapackage.json", "hash": packed.hash})])
    return pages


def _read(path: Path, size: int) -> Iterator[bytes]:
    """So much of a file as was committed: the crawl may be writing on."""
    with open(path, "rb") as file:
        while size > 0 and (piece := file.read(min(_PIECE, size))):
            size -= len(piece)
            yield piece


def _lines(path: Path, size: int, prefix: str = "") -> list[bytes]:
    """Of one CDXJ file, in order. `prefix` comes before the name of the WARC file in each.

    The keys are made anew: a directory that an earlier version has made has others until its crawl goes on.
    """
    lines = sorted(map(with_key, b"".join(_read(path, size)).splitlines()))
    return [_renamed(line, prefix.encode()) for line in lines] if prefix else lines


def _renamed(line: bytes, prefix: bytes) -> bytes:
    """It is the last field that is so called: what stands in a URL comes before."""
    before, mark, name = line.rpartition(b'"filename": "')
    return before + mark + prefix + name if mark else line


def _put_index(archive: Archive, files: Iterable[list[bytes]], scratch: Path) -> None:
    """All lines in order, in blocks that are compressed each by itself, and a list of the blocks."""
    runs = []
    for number, lines in enumerate(files):
        run = scratch / f"run-{number}"
        run.write_bytes(b"".join(line + b"\n" for line in lines))
        runs.append(run)
    listed = [b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
    archive.put("indexes/index.cdx.gz", _blocks(runs, listed))
    archive.put("indexes/index.idx", listed)


def _blocks(runs: list[Path], listed: list[bytes]) -> Iterator[bytes]:
    opened: list[IO[bytes]] = [open(run, "rb") for run in runs]  # noqa: SIM115 - closed below
    offset = 0
    try:
        lines = merge(*opened)
        while block := list(islice(lines, _BLOCK)):
            packed = compress(b"".join(block), 6, mtime=0)
            key = b" ".join(block[0].split(b" ", 2)[:2])
            place = {
                "offset": offset,
                "length": len(packed),
                "digest": f"sha256:{sha256(packed).hexdigest()}",
                "filename": "index.cdx.gz",
            }
            listed.append(key + b" " + msgspec.json.encode(place) + b"\n")
            offset += len(packed)
            yield packed
    finally:
        for file in opened:
            file.close()


def _put_pages(archive: Archive, engine: Engine, scratch: Path) -> int:
    """HTML pages with status 2xx, as they were seen last."""
    listed = scratch / "pages.jsonl"
    wanted = "FROM pages WHERE links IS NOT NULL"
    engine.copy(
        "SELECT lower(digest) || '-' || file || '-' || \"offset\" AS id, url,"
        " strftime(make_timestamp((fetched_at * 1e6)::BIGINT), '%Y-%m-%dT%H:%M:%SZ') AS ts,"
        f" CASE WHEN title = '' THEN url ELSE title END AS title {wanted} ORDER BY depth, fetched_at, url",
        listed,
        ".jsonl",
    )
    pieces = _read(listed, listed.stat().st_size)
    archive.put(
        "pages/pages.jsonl", (piece for part in ([msgspec.json.encode(_PAGES) + b"\n"], pieces) for piece in part)
    )
    return int(engine.row(f"SELECT count(*) {wanted}")[0])


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
