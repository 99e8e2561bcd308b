"""Who may ask: the keys of a crawl, kept as hashes in DIR/keys.json."""

from __future__ import annotations

import fcntl
import hmac
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from gossamer.errors import ConfigError, CrawlDirError, DamagedError

Role = Literal["search", "admin"]
PREFIX = "gsm_"  # so that a key is recognised where it should not be: in a log, in a repository
_LONGEST = 200  # characters of a key that are looked at
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class Key(msgspec.Struct, frozen=True):
    """`digest` is the SHA-256 of the key: 256 random bits cannot be guessed, so nothing slower is needed."""

    name: str
    role: Role
    digest: str
    made_at: float
    rate: float = 0.0  # requests a second; 0: as all

    def allows(self, role: Role) -> bool:
        return self.role in (role, "admin")


class _File(msgspec.Struct):
    format: int = 1
    keys: list[Key] = []


def digest_of(key: str) -> str:
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


class KeyFile:
    """DIR/keys.json. Invariants: it is whole at every moment, its owner alone can read it, and of two writers none
    undoes what the other did.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / "keys.json"

    def read(self) -> list[Key]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=_File).keys
        except FileNotFoundError:
            return []
        except (msgspec.DecodeError, OSError) as error:
            raise DamagedError(
                f"{self.path} cannot be read ({error}): nobody is let in. Put it back from a copy, or remove it and "
                "make new keys with `gossamer keys add`."
            ) from error

    def add(self, name: str, role: Role, rate: float = 0.0) -> str:
        """Make a key; it is given once, here."""
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"NAME: {name!r} is not a name: 1 to 64 letters, digits and . _ @ -, the first a letter or digit"
            )
        key = PREFIX + secrets.token_urlsafe(32)
        with self._changing() as keys:
            if any(known.name == name for known in keys):
                raise ConfigError(f"NAME: there is a key named {name!r} already; revoke it first, or take another name")
            keys.append(Key(name, role, digest_of(key), time.time(), rate))
        return key

    def revoke(self, name: str) -> None:
        with self._changing() as keys:
            left = [known for known in keys if known.name != name]
            if len(left) == len(keys):
                raise ConfigError(f"NAME: there is no key named {name!r}; `gossamer keys list` shows those there are")
            keys[:] = left

    @contextmanager
    def _changing(self) -> Iterator[list[Key]]:
        """The keys, to be changed in place; written when the block has ended well."""
        home = self.path.parent
        try:
            home.mkdir(parents=True, exist_ok=True)
            lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise CrawlDirError(f"{home} cannot be used: {error.strerror}. Choose another --dir.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of the directory itself: the file is another one after each change
            keys = self.read()
            yield keys
            self._write(keys)
            os.fsync(lock)
        finally:
            os.close(lock)

    def _write(self, keys: list[Key]) -> None:
        fresh = self.path.with_suffix(".json.new")
        try:
            fresh.unlink(missing_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(_File(keys=keys)), indent=1) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as error:
            raise CrawlDirError(f"{self.path} cannot be written: {error.strerror}. Change its owner.") from error


class KeyRing:
    """The keys as they are in the file at this moment: looked at before each request, read when it has changed.

    Invariant: a file that cannot be read lets nobody in.
    """

    def __init__(self, home: Path) -> None:
        self._file = KeyFile(home)
        self._stamp: tuple[int, int, int] | None = None
        self._keys: list[Key] = []

    def all(self) -> list[Key]:
        stamp = self._look()
        if stamp != self._stamp:
            self._keys = self._file.read()
            self._stamp = stamp
        return self._keys

    def find(self, presented: str) -> Key | None:
        """Whose key this is. Every key is compared, each in a time that does not tell how much of it agrees."""
        digest = (digest_of(presented) if len(presented) <= _LONGEST else "").encode()
        found = None
        for key in self.all():
            if hmac.compare_digest(key.digest.encode(), digest):
                found = key
        return found

    def _look(self) -> tuple[int, int, int]:
        try:
            found = self._file.path.stat()
        except FileNotFoundError:
            return 0, 0, 0
        except OSError:
            return -1, -1, -1  # reading it says why
        return found.st_mtime_ns, found.st_size, found.st_ino
