"""Counting the instructions of a program with valgrind, by the shared object that they are in.

Valgrind runs the program on a processor of its own making, one thread at a time. What the kernel does for the program
is not in the count, nor is waiting: the count hardly depends on what else the machine does.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from processes import Finished, finish

INSTALL = "valgrind is not installed: apt-get install valgrind (Debian, Ubuntu), then run this again."
_PATIENCE = 900.0  # seconds; a program takes some fifty times as long as by itself

OTHER = "other"
# The first that matches names the part. A path within a package begins with the package's name.
_PARTS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("gossamer, compiled", r"(^|/src/)gossamer/"),
        ("crypto", r"libcrypto|libssl|/_(hashlib|ssl|blake2|md5|sha\d+)\."),
        ("deflate", r"^isal/|/libz\.so|/zlib\.cpython"),
        ("libcurl, pycurl", r"^pycurl|/libcurl"),
        ("rocksdict", r"^rocksdict/"),
        ("libc", r"/(libc|libm|libpthread|librt|libdl|ld-linux[^/]*)\.so"),
        ("python", r"/libpython|/python[\d.]*$|/lib-dynload/"),
    )
)
PARTS = (*(name for name, _ in _PARTS), OTHER)


def program() -> str | None:
    return shutil.which("valgrind")


def part_of(path: str) -> str:
    """Which part of a crawl a shared object is, by its path."""
    name = path.rpartition("/site-packages/")[2]
    return next((part for part, pattern in _PARTS if pattern.search(name)), OTHER)


def instructions(lines: Iterable[str]) -> Counter[str]:
    """Instructions in each shared object, from the lines of callgrind's file.

    A line of cost is a position and a number, and belongs to the object named last. The line after `calls=` is what the
    called function cost, which is counted where that function stands.
    """
    found: Counter[str] = Counter()
    names: dict[str, str] = {}  # a name is written once, with a number in brackets; then the number stands for it
    here = ""
    called = False
    for line in lines:
        if not line[:1].isalpha():
            position, _, cost = line.strip().partition(" ")
            if position and not called and line[0] != "#":
                found[here] += int(cost)
            called = False
        elif line.startswith(("ob=", "cob=")):
            key, _, name = line.strip().partition("=")[2].partition(" ")
            name = names.setdefault(key, name)
            if line.startswith("ob="):
                here = name
        elif line.startswith("calls="):
            called = True
        elif line.startswith("totals:") and found.total() != int(line.split()[1]):
            raise ValueError(f"callgrind's file adds up to {found.total():,}, and says {line.split()[1]}")
    return found


def by_part(objects: Mapping[str, int]) -> dict[str, float]:
    parts = dict.fromkeys(PARTS, 0.0)
    for path, count in objects.items():
        parts[part_of(path)] += count
    return parts


def counted(command: Sequence[str], folder: Path) -> tuple[Finished, dict[str, float]]:
    """Run a program to its end under valgrind: its instructions by part. Files go to `folder`."""
    file = folder / "callgrind.out"
    file.unlink(missing_ok=True)
    valgrind = [program() or "valgrind", "--tool=callgrind", f"--callgrind-out-file={file}"]
    done = finish([*valgrind, *command], folder, limit=_PATIENCE)
    if done.status or not file.exists():
        return done, {}
    with file.open(errors="replace") as lines:
        return done, by_part(instructions(lines))
