"""An application at work: it follows the store of a crawl, and sends what it asks for through the spool.

captures -> pages that it wants -> the application -> records written, then the note, then the command
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.app_note import (
    AppNote,
    folder_of,
    forget_state,
    packed_state,
    read_note,
    read_state,
    write_note,
    write_state,
)
from gossamer.agent.app_records import AppRecords, Convert
from gossamer.agent.application import Application, AppPage, Host, Request, Wants, Yielded
from gossamer.agent.asked import MOST_AT_ONCE, Given
from gossamer.agent.commands import APPLICATION
from gossamer.agent.control import Control
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.follower import Committed
from gossamer.agent.pages import PageReader, StoredPage
from gossamer.agent.settings import stamp_of
from gossamer.agent.spool import Answer, Command, Spool
from gossamer.errors import AppError, ConfigError, ControlError, CrawlDirError
from gossamer.model import Change
from gossamer.model.url import host_name, split
from gossamer.store import Capture, Captures

_COMMIT_EVERY: Final = 1.0  # seconds, while there is more to see
_LOOK_EVERY: Final = 0.1  # seconds between two looks for more
_PAGES: Final = 256  # in a batch, at most
_BYTES: Final = 32 << 20  # of their bodies, at most, but for the last one
_MOST_HOSTS: Final = 1000  # of which it may say how they are to be treated
_CAPTURES: Final = 5000  # looked at for a batch
_UNANSWERED: Final = 4  # commands: who asks faster than the crawl takes it up waits
_LONGEST_WAIT: Final = 30.0  # for the lock of a process that is ending

Notice = Callable[[str], None]
Watched = Callable[[], AbstractContextManager[object]]


class AppRunner:
    """Invariant: the note says which pages were seen, where the records that belong to them end, and what was asked for
    because of them and is not in the spool yet. It changes as a whole, so a crash at any moment loses nothing and
    repeats nothing.
    """

    def __init__(
        self,
        home: Path,
        name: str,
        application: Application,
        notice: Notice,
        *,
        convert: Convert | None = None,
        watched: Watched = nullcontext,
        clock: Callable[[], float] = time.time,
        process: str = "",
    ) -> None:
        """`watched` is entered around each call of the application: who takes too long is ended by it. `process`: by
        what the crawl knows who has written the note, if that is not the number of this process.
        """
        directory = CrawlDir(home)
        directory.check_readable()
        self._home = home
        self.name = name
        self._application = application
        self._wants: Wants = application.wants
        self._notice = notice
        self._watched = watched
        self._clock = clock
        self._process = process or str(os.getpid())
        self._folder = folder_of(home, name)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self._folder / "lock")
        self.note = read_note(self._folder)
        self.note.series = self.note.series or secrets.token_hex(8)
        self._records = AppRecords(self._folder, self.note.records, convert)
        self._spool = Spool(home)
        self._sent: list[str] = []  # commands that were not answered
        self._committed = Committed(directory)
        self._captures = Captures(directory.warc)
        self._reader = PageReader(home)
        self._checked = False
        self._asked: list[Given] = []
        self._dirty = False
        self._committed_at = float("-inf")
        self._state = b""
        self._settings = directory.settings
        self._treated = (0, 0, 0)  # by what was in that file the wishes for hosts were seen to
        self._left: set[str] = set()  # hosts for which others have said more
        if self.note.state:
            application.restore(read_state(self._folder, self.note.state))

    # -- following -----------------------------------------------------------------------------------------------------

    def follow(self, wait: Callable[[float], bool], stop: Callable[[], bool] = lambda: False) -> AppNote:
        """Until `wait`, which sleeps for the time it is given or less, says that no more will come; then the rest."""
        self._resend()
        self._begin()
        while not stop():
            more = self.step()
            if wait(0.0 if more else _LOOK_EVERY):
                break
        while not stop() and self.step():
            pass
        self.finish()
        return self.note

    def step(self) -> bool:
        """See what is there, up to a batch, and commit if it is time; whether there may be more."""
        self._treat()
        if self._is_held_back():
            self._commit_if_due()
            return False
        committed = self._committed.now()
        note = self.note
        if not self._checked:
            note.places = self._captures.checked(note.places, committed)
            self._checked = True
        captures = self._captures.after(note.places, committed)
        pages, taken = self._next_pages(captures)
        if taken:
            self._dirty = True
            note.position = None
        if pages:
            self._take(lambda: self._application.pages(pages))
            note.pages += len(pages)
        if taken:
            self._commit_if_due()
            return True
        if note.position != committed or self._dirty or note.process != self._process:
            self._commit()
            note.position, note.process = committed, self._process  # all that it led to is in the spool by now
            write_note(self._folder, self._home, note)
        return False

    def finish(self) -> None:
        """All that was seen is kept; files are closed as they are to be read."""
        self._records.finish()
        self._dirty = True
        self._commit()

    def close(self) -> None:
        self._records.close()
        self._reader.close()
        os.close(self._lock)

    def stopped(self, why: str) -> None:
        """Note that it failed. What it did since the last commit is as if it had not been."""
        note = read_note(self._folder)
        note.why = why
        note.updated_at = self._clock()
        write_note(self._folder, self._home, note)

    # -- pages ---------------------------------------------------------------------------------------------------------

    def _next_pages(self, captures: Iterator[Capture]) -> tuple[list[AppPage], int]:
        """Pages that it wants, and how many captures were looked at for them."""
        pages: list[AppPage] = []
        size = taken = 0
        for capture in captures:
            taken += 1
            self.note.places = {**self.note.places, capture.directory: capture.after}
            page = None
            if is_wanted(self._wants, capture):
                stored = self._reader.by_place(capture.stored)
                self.note.unreadable += stored is None
                page = wanted_page(self._wants, capture, stored)
            if page is not None:
                pages.append(page)
                size += len(page.body)
            if len(pages) >= _PAGES or size >= _BYTES or taken >= _CAPTURES:
                break
        return pages, taken

    def _begin(self) -> None:
        if self.note.begun:
            self._take(self._application.resume)
        else:
            self._take(self._application.begin)
            self.note.begun = self._dirty = True
        self._commit()

    def _take(self, ask: Callable[[], Iterable[Yielded]]) -> None:
        """What the application yields; nothing of it is kept if it fails."""
        records = []
        asked = []
        hosts: dict[str, Host] = {}
        try:
            with self._watched():
                for found in ask() or ():
                    if isinstance(found, Request):
                        asked.append(Given(found.url[:8192], found.priority, found.tag, found.body, found.max_age))
                    elif isinstance(found, Host):
                        name = str(host_name(found.name))
                        hosts[name] = _wish(hosts.get(name) or self.note.hosts.get(name), found)
                        if len({**self.note.hosts, **hosts}) > _MOST_HOSTS:
                            raise ValueError(f"it wishes something for more than {_MOST_HOSTS:,} hosts")
                    else:
                        records.append(found)
                    if len(asked) > MOST_AT_ONCE * 10:
                        raise ValueError(f"it asks for more than {MOST_AT_ONCE * 10:,} pages at once")
                self._records.append(records)
        except AppError:
            raise
        except Exception as error:  # whatever it is, it is the application's
            where = _where(error)
            raise AppError(f"{type(error).__name__}: {error}{where}") from error
        self._asked += asked
        self.note.requests += len(asked)
        if any(self.note.hosts.get(name) != host for name, host in hosts.items()):
            self.note.hosts = {**self.note.hosts, **hosts}
            self._treated, self._dirty = (0, 0, 0), True
        self._dirty = self._dirty or bool(records or asked)

    # -- the commit ----------------------------------------------------------------------------------------------------

    def _commit_if_due(self) -> None:
        if not 0 <= self._clock() - self._committed_at < _COMMIT_EVERY or len(self._asked) >= MOST_AT_ONCE:
            self._commit()

    def _commit(self) -> None:
        if not self._dirty:
            return
        note = self.note
        note.records = self._records.sync()
        old, note.state = note.state, self._keep_state()
        note.updated_at, note.why = self._clock(), ""
        note.pending, self._asked = self._asked, []
        note.batch += -(-len(note.pending) // MOST_AT_ONCE)
        write_note(self._folder, self._home, note)
        self._records.noted()
        self._treat()
        if old != note.state:
            forget_state(self._folder, old)
        self._resend()
        self._dirty = False
        self._committed_at = self._clock()

    def _keep_state(self) -> int:
        """The number of the file that has what it remembers."""
        try:
            found = self._application.state()
            data = b"" if found is None else packed_state(found)
        except Exception as error:
            raise AppError(f"its state cannot be kept: {type(error).__name__}: {error}") from error
        if not data or data == self._state:
            return self.note.state
        self._state = data
        number = self.note.state + 1
        write_state(self._folder, self._home, number, data)
        return number

    def _resend(self) -> None:
        """Put what the note has pending into the spool. A batch that is there twice the crawl takes up once."""
        note = self.note
        batches = [note.pending[start : start + MOST_AT_ONCE] for start in range(0, len(note.pending), MOST_AT_ONCE)]
        for number, batch in enumerate(batches, note.batch - len(batches) + 1):
            about = {"app": self.name, "series": note.series, "batch": number, "requests": msgspec.to_builtins(batch)}
            self._sent.append(self._spool.send(Command("requests", APPLICATION + self.name, self._clock(), about)))
        note.pending = []

    def _treat(self) -> None:
        """Bring what it wishes for hosts into the settings, and once more whenever somebody has changed these: of
        several agents that change them at the same moment one is heard.
        """
        if not self.note.hosts or (stamp := stamp_of(self._settings)) == self._treated:
            return
        self._treated = stamp
        try:
            answer = Control(self._home, APPLICATION + self.name, patience=0.0).treat(
                list(self.note.hosts.values()), self.name
            )
        except (ConfigError, ControlError) as error:
            self._notice(f"application {self.name}: hosts are not treated as it wishes: {error}")
            return
        self._treated = stamp_of(self._settings)
        if left := set(answer.facts["left"]) - self._left:
            self._left |= left
            tables = ", ".join(f'[hosts."{name}"]' for name in sorted(left))
            self._notice(f"application {self.name}: {tables} of the settings holds, not what it wishes for that host")

    def _is_held_back(self) -> bool:
        """Whether the crawl has not taken up what was asked for last."""
        left = []
        for id in self._sent:
            answer = self._spool.answer_of(id)
            if answer is None:
                left.append(id)
            else:
                self._heard(answer)
        self._sent = left
        return len(left) >= _UNANSWERED

    def _heard(self, answer: Answer) -> None:
        if not answer.ok:
            self._notice(f"application {self.name}: the crawl does not take what it asks for: {answer.text}")


def _wish(before: Host | None, now: Host) -> Host:
    """What is not said stays as it was."""
    if before is None:
        return now
    delay = before.delay if now.delay is None else now.delay
    return Host(now.name, delay, before.timeout if now.timeout is None else now.timeout)


def is_wanted(wants: Wants, capture: Capture) -> bool:
    """As far as the line about it tells."""
    if capture.status not in wants.statuses or (capture.change == Change.SAME and not wants.same):
        return False
    if not capture.is_revisit and not wants.type(capture.mime):
        return False
    return wants.url(capture.url) and split(capture.url)[1] != "/robots.txt"


def wanted_page(wants: Wants, capture: Capture, stored: StoredPage | None) -> AppPage | None:
    return AppPage(stored, capture.change) if stored is not None and wants.type(stored.content_type) else None


def _locked(path: Path) -> int:
    """One process works for an application; the one of the last run may be about to end."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    until = time.monotonic() + _LONGEST_WAIT
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            if time.monotonic() >= until:
                os.close(lock)
                raise CrawlDirError(f"{path.parent} is in use by another process; wait until that has ended") from None
            time.sleep(0.05)


def _where(error: Exception) -> str:
    """The last line of its own code, for the one who wrote it."""
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return f" ({Path(code.co_filename).name}:{trace.tb_lineno}, in {code.co_name})"
