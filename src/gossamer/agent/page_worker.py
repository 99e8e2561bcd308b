"""A process that reads pages for the indexer: tasks in at stdin, results out at stdout, each as soon as it is there.

Whatever a page does to its reader, it does to this process. It ends when its standard input does.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.agent.anchor_words import LINKS
from gossamer.agent.indexing import PDF, Reading, may_be_page, read_html, read_pdf
from gossamer.agent.page_work import LENGTH, Read, ReadLinks, Result, Task, Work, message, read_work
from gossamer.agent.pdf_text import PdfReader
from gossamer.fetch.decode import decoded
from gossamer.index import Entry
from gossamer.index.backlinks import Linked
from gossamer.index.entry import unpack
from gossamer.index.writer import ready
from gossamer.model.media_type import content_type_of
from gossamer.parse import LinkScanner
from gossamer.parse.mime import Reader, reader_of
from gossamer.rules.robots_tag import robots_tag
from gossamer.store import Record, RecordFiles

CPU_SECONDS: Final = 60.0  # for one page
SECONDS: Final = 600.0  # by the clock: nobody may be there any more who would end it


class PageWorker:
    """Invariant: nothing that a page holds makes `result` raise."""

    def __init__(self) -> None:
        self._pdf = PdfReader()
        self._files: RecordFiles | None = None
        self._most = 0
        self._token = ""
        self._scanner = LinkScanner(LINKS)

    def prepare(self, work: Work) -> None:
        if self._files is None:
            self._files = RecordFiles([], work.most)
        self._files.directories = [Path(directory) for directory in work.directories]
        self._most, self._token = work.most, work.token

    def result(self, task: Task) -> Result:
        try:
            if isinstance(task, Read | ReadLinks):
                return self._read(task)
            return Result(entry=ready(_adorned(unpack(task.packed), task.linked)))
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            return Result(why=words[:500].encode("utf-8", "replace").decode())

    def _read(self, task: Read | ReadLinks) -> Result:
        assert self._files is not None
        place = task.record
        record = self._files.read(place)
        if record is None or record.url != task.url:
            return Result(why=f"its record in WARC file {place.file} at {place.offset:,} cannot be read")
        content_type = content_type_of(record.head)
        if not may_be_page(content_type):
            return Result(is_page=False)
        if task.payload != place:
            first = self._files.read(task.payload)
            if first is None or first.digest != record.digest:
                return Result(why="the payload that it shares with another page is not there")
            record.raw = first.raw
        if isinstance(task, ReadLinks):
            return self._links(record, content_type)
        if task.blocked:
            return Result(digest=record.digest)
        reading = self._reading(record, content_type)
        if reading is None:
            return Result(is_page=False)
        entry = None if reading.entry is None else ready(_adorned(reading.entry, task.linked))
        return Result(True, entry, reading.links, record.digest)

    def _links(self, record: Record, content_type: str | None) -> Result:
        body = decoded(record.head, record.raw, self._most).body
        if reader_of(body, content_type) is Reader.NONE or robots_tag(record.head, self._token)[1]:
            return Result()
        found = self._scanner.scan(body, record.url, content_type)
        return Result(links=[(url, False, "") for url in found.urls])

    def _reading(self, record: Record, content_type: str | None) -> Reading | None:
        body = decoded(record.head, record.raw, self._most).body
        if (content_type or "").startswith(PDF) or (content_type is None and body.startswith(b"%PDF-")):
            return read_pdf(record, self._pdf.read(body), self._token)
        return read_html(record, body, content_type, self._token)


def _adorned(entry: Entry, linked: Linked) -> Entry:
    entry.anchors, entry.inlinks = list(linked.anchors), linked.count
    return entry


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    into, out = sys.stdin.buffer, sys.stdout.fileno()
    worker = PageWorker()
    with suppress(BrokenPipeError):  # nobody is there any more
        _send(out, message(None))
        _work(worker, into, out)


def _work(worker: PageWorker, into: BinaryIO, out: int) -> None:
    while len(length := into.read(LENGTH)) == LENGTH:
        work = read_work(into.read(int.from_bytes(length, "big")))
        worker.prepare(work)
        for task in work.tasks:
            # Nobody handles these signals: they end even a library that hangs.
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            _send(out, message(worker.result(task)))
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _send(out: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(out, rest) :]


if __name__ == "__main__":
    main()
