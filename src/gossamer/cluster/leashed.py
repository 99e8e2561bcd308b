"""Become another program that is killed when the one that started it is no more.

Run as a file of its own, `python leashed.py PARENT COMMAND…`: nothing but the standard library is loaded, and nothing
of it is left when COMMAND runs. nats-server does not look at its standard input, so the leash of other companions, a
pipe, does not hold it; this one is kept by the kernel. It is bound to the *thread* that started the process: start it
from one that lives as long as the process.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != parent:  # it died before the kernel knew
        os._exit(1)
    os.execv(command[0], command)  # noqa: S606 - an argument list, no shell


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
