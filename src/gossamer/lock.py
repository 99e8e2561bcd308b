"""A lock that one process has at a time, and that is gone with its owner, however that ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def taken(path: Path, mode: int = 0o644) -> int | None:
    """The descriptor that holds the lock of this file until it is closed; None where another one does. The file is made
    if need be, and stays: another process may be waiting for it.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock
