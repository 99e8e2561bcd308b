"""The directory of a crawl: what is in it, who uses it, which version made it."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import IO

from gossamer.config import Config, has_secrets
from gossamer.errors import CrawlDirError, DamagedError, DiskFullError
from gossamer.regex import compiled_later
from gossamer.store import StorePosition, read_committed

FORMAT = 1
_HEADING = "# A crawl of gossamer, directory format {format}."
# All that a crawl stopped in its first moment has left, and what was made for it before.
_BEFORE_SETTINGS = {
    "lock",
    "logs",
    "control",
    "gossamer.toml.new",
    "keys.json",
    "cluster.json",
    "checkpoints",
    "watches",
}
_PROBED = 1.0  # seconds that those who only look may keep us from taking it; each takes a moment
_RELEASED = 3.0  # that a crawl whose supervisor was killed may take to end
_FORMAT = compiled_later(r"^# A crawl of gossamer, directory format (\d+)\.$", re.M)

SEED_HOST = "seed "  # in the frontier, before the name of each seed's host


class CrawlDir:
    """Paths of a crawl, and the lock that keeps a second process out.

    Invariant: nothing in the directory is touched before `check` has passed.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = home / "gossamer.toml"
        self.frontier = home / "frontier"
        self.warc = home / "warc"
        self.index = home / "index"
        self.graph = home / "graph"
        self.rank = home / "rank"
        self.logs = home / "logs"
        self.strategy = home / "strategy"  # what a strategy writes, if it does
        self.seeds = home / "seed-hosts"  # a line each: the frontier knows them, too, and may be lost
        self._lock: IO[str] | None = None

    @property
    def is_one_of_several(self) -> bool:
        """Whether it is an agent's own, and others are elsewhere."""
        return (self.home / "cluster.json").is_file() and not (self.home / "agents").is_dir()

    def check(self) -> None:
        """That this is a crawl we can go on with, or a place where one can begin."""
        home = self.home
        if not home.exists():
            parent = next(path for path in home.absolute().parents if path.exists())
            if not os.access(parent, os.W_OK | os.X_OK) or not parent.is_dir():
                raise CrawlDirError(f"{home} cannot be made: {parent} is not a directory that can be written.")
            return
        if not home.is_dir():
            raise CrawlDirError(f"{home} is a file, not a directory. Choose another --dir.")
        if not self.settings.is_file():
            if {path.name for path in home.iterdir()} - _BEFORE_SETTINGS:
                raise CrawlDirError(
                    f"{home} is not a crawl (it has no gossamer.toml) and is not empty. Choose another --dir."
                )
        else:
            self.check_format()
            self._check_whole()
        if not os.access(home, os.W_OK | os.X_OK):
            raise CrawlDirError(f"{home} cannot be written. Change its owner or choose another --dir.")

    def _check_whole(self) -> None:
        """That what is known of the pages is not lost while they are there."""
        several = (self.home / "agents").is_dir()
        if not several and not (self.frontier / "CURRENT").exists() and any(self.warc.glob("*.warc.gz")):
            raise DamagedError(
                f"{self.frontier} is lost, and {self.warc} has pages that only it knows of. Nothing was changed. "
                f"Put frontier/ back from a copy, or make it anew from the pages: {self._repair}"
            )

    @property
    def _repair(self) -> str:
        import shlex  # few crawls need it

        return f"gossamer repair --dir {shlex.quote(str(self.home))}"

    def check_fits(self, position: StorePosition) -> None:
        """That the frontier, which has come to this position of the store, is not older than the pages: what is beyond
        it would be cut off.
        """
        noted = read_committed(self.warc)
        if noted is not None and noted.is_beyond(position):
            raise DamagedError(
                f"{self.frontier} is older than {self.warc}: pages are stored that it knows nothing of. Nothing was "
                f"changed. Put the newer frontier/ back, or make it anew from the pages: {self._repair}"
            )

    def check_readable(self) -> None:
        """That there is a crawl to be read."""
        if not self.settings.is_file() or not self.frontier.is_dir():
            raise CrawlDirError(
                f"{self.home} is not a crawl: it has no gossamer.toml. Give --dir the crawl's directory."
            )
        self.check_format()

    def check_format(self) -> None:
        """That it is of this version, or an older one."""
        found = _FORMAT.search(self.settings.read_text(encoding="utf-8", errors="replace"))
        if found and int(found[1]) > FORMAT:
            raise CrawlDirError(
                f"{self.home} was made by a newer version of gossamer (directory format {found[1]}, this version knows "
                f"{FORMAT}). Upgrade gossamer, or choose another --dir."
            )

    def take(self) -> None:
        """Make the directory if it is not there, and keep other processes out until `release`."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            lock = open(self.home / "lock", "a+", encoding="ascii")  # noqa: SIM115 - held until release
        except OSError as error:
            _raise_if_full(error, self.home)
            raise CrawlDirError(f"{self.home} cannot be written: {error.strerror}. Choose another --dir.") from error
        try:
            _lock_patiently(lock)
        except BlockingIOError:
            lock.close()
            raise self._in_use() from None
        try:
            os.ftruncate(lock.fileno(), 0)
            os.write(lock.fileno(), str(os.getpid()).encode())
            self.logs.mkdir(exist_ok=True)
        except OSError as error:
            lock.close()
            _raise_if_full(error, self.home)
            raise
        self._lock = lock

    def check_free(self) -> None:
        """Raise CrawlDirError where another process has taken the directory; `take` does so, too, and keeps it."""
        try:
            with open(self.home / "lock", encoding="ascii") as lock:
                _lock_patiently(lock, fcntl.LOCK_SH, _RELEASED)
        except BlockingIOError:
            raise self._in_use() from None
        except OSError:  # there is nothing yet, or what `check` finds wrong
            pass

    def _in_use(self) -> CrawlDirError:
        owner = (self.home / "lock").read_text("ascii").strip() or "unknown"
        return CrawlDirError(
            f"{self.home} is in use by another process (pid {owner}). Wait for it, stop it, or choose another --dir."
        )

    def in_use(self) -> bool:
        """Whether a process has taken the directory."""
        try:
            with open(self.home / "lock", encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def save(self, config: Config) -> None:
        """Write what the crawl runs with; whole or not at all."""
        # Passwords are for their owner alone, from the first byte on.
        mode = 0o600 if has_secrets(config) else 0o666
        text = _HEADING.format(format=FORMAT) + "\n\n" + config.to_toml()
        write_whole(self.settings, text.encode("utf-8"), self.home, mode)

    def seed_hosts(self) -> list[str] | None:
        """The hosts of seeds that a frontier was given; None where that was not written down."""
        try:
            return self.seeds.read_text(encoding="utf-8", errors="replace").split()
        except OSError:
            return None

    def keep_seed_hosts(self, hosts: Iterable[str]) -> None:
        """Write down more of them. What is only for the case that the frontier is lost stops no crawl."""
        text = "".join(f"{host}\n" for host in hosts)
        with suppress(OSError), open(self.seeds, "a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            give_to_owner(file.fileno(), self.home)

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _lock_patiently(lock: IO[str], kind: int = fcntl.LOCK_EX, patience: float = _PROBED) -> None:
    """Who asks whether the directory is in use has it for a moment, too (`in_use`)."""
    until = monotonic() + patience
    while True:
        try:
            return fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() >= until:
                raise
            sleep(0.01)


def write_whole(path: Path, data: bytes, home: Path, mode: int) -> None:
    """A file of the crawl in `home`, durable when this returns; whole or not at all."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        # Made anew, so that nobody's link leads us elsewhere: this may be root at work in another user's directory.
        with open(fresh, "xb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            give_to_owner(file.fileno(), home)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        _raise_if_full(error, path)
        raise
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _raise_if_full(error: OSError, path: Path) -> None:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise DiskFullError(
            f"The disk that holds {path} is full. Free some room, then run the same command again: nothing committed "
            "is lost."
        ) from error


def give_to_owner(descriptor: int, home: Path) -> None:
    """What root writes into a crawl belongs to whom the crawl belongs."""
    if os.geteuid() == 0:
        owner = home.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
