"""The directory of a crawl: what is in it, who uses it, which version made it."""

from __future__ import annotations

import fcntl
import os
import re
import time
from pathlib import Path
from typing import IO

from gossamer.config import Config, has_secrets
from gossamer.errors import CrawlDirError

FORMAT = 1
_HEADING = "# A crawl of gossamer, directory format {format}."
# All that a crawl stopped in its first moment has left, and keys that were made before it.
_BEFORE_SETTINGS = {"lock", "logs", "gossamer.toml.new", "keys.json"}
_FORMAT = re.compile(r"^# A crawl of gossamer, directory format (\d+)\.$", re.M)

_TRIES, _MOMENT = 5, 0.01  # seconds

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
        self.logs = home / "logs"
        self._lock: IO[str] | None = None

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
            self._check_format()
        if not os.access(home, os.W_OK | os.X_OK):
            raise CrawlDirError(f"{home} cannot be written. Change its owner or choose another --dir.")

    def check_readable(self) -> None:
        """That there is a crawl to be read."""
        if not self.settings.is_file() or not self.frontier.is_dir():
            raise CrawlDirError(
                f"{self.home} is not a crawl: it has no gossamer.toml. Give --dir the crawl's directory."
            )
        self._check_format()

    def _check_format(self) -> None:
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
            raise CrawlDirError(f"{self.home} cannot be written: {error.strerror}. Choose another --dir.") from error
        try:
            _hold(lock)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            lock.close()
            raise CrawlDirError(
                f"{self.home} is in use by another process (pid {owner}). "
                "Wait for it, stop it, or choose another --dir."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock
        self.logs.mkdir(exist_ok=True)

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
        fresh = self.settings.with_suffix(".toml.new")
        # Passwords are for their owner alone, from the first byte on.
        mode = 0o600 if has_secrets(config) else 0o666
        fresh.unlink(missing_ok=True)
        with open(fresh, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            file.write(_HEADING.format(format=FORMAT) + "\n\n" + config.to_toml())
            file.flush()
            os.fsync(file.fileno())
        give_to_owner(fresh, self.home)
        fresh.replace(self.settings)

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _hold(lock: IO[str]) -> None:
    """For ourselves alone. Who asks whether the crawl runs holds it for a moment, which is no reason to give up."""
    for _ in range(_TRIES):
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_MOMENT)
    return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def give_to_owner(path: Path, home: Path) -> None:
    """What root writes into a crawl belongs to whom the crawl belongs."""
    if os.geteuid() == 0:
        owner = home.stat()
        os.chown(path, owner.st_uid, owner.st_gid)
