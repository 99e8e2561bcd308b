"""The process that reads PDF files: lengths and files in at stdin, lengths and texts out at stdout."""

from __future__ import annotations

import resource
import sys
from typing import Final

import msgspec

from gossamer.parse.pdf import text_of

_MEMORY: Final = 1 << 30  # bytes of address space
_CPU_SECONDS: Final = 15  # for one file


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    into, out = sys.stdin.buffer, sys.stdout.buffer
    while len(length := into.read(8)) == 8:
        body = into.read(int.from_bytes(length, "big"))
        spent = resource.getrusage(resource.RUSAGE_SELF)
        used = int(spent.ru_utime + spent.ru_stime) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (used + _CPU_SECONDS, resource.RLIM_INFINITY))
        answer = msgspec.msgpack.encode(text_of(body))
        out.write(len(answer).to_bytes(8, "big") + answer)
        out.flush()


if __name__ == "__main__":
    main()
