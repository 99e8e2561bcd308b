"""How a process that crawls for weeks keeps its memory."""

from __future__ import annotations

import ctypes
import gc

_M_ARENA_MAX = -8  # of glibc's malloc.h


def prepare() -> None:
    """To be called once, before there are threads."""
    # Hardly anything of a crawl is in a cycle: looking for garbage every 700 objects costs more than it finds.
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
    # glibc gives threads arenas of their own, and what RocksDB's threads have freed there nobody else can use: after
    # 400,000 pages that was 80 of 390 MB. Other libraries of C have no such function.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)
