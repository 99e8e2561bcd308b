"""Running a program to its end and knowing what it cost."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn


class Finished(NamedTuple):
    """`cpu_seconds` and `peak_rss` (bytes) are of the program and of the children it waited for."""

    output: str
    errors: str
    status: int
    seconds: float
    cpu_seconds: float
    peak_rss: int


def tidy_when_terminated() -> None:
    """SIGTERM ends this program as Ctrl-C does: servers and crawls that it started are ended, folders removed."""

    def leave(number: int, _: object) -> NoReturn:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)


def pinned(command: Sequence[str], core: int | None) -> list[str]:
    """The command, kept on one core; as it is where there is none to spare."""
    if core is None or shutil.which("taskset") is None:
        return list(command)
    return ["taskset", "-c", str(core), *command]


def resident(pid: int) -> int:
    """Bytes of memory that a process holds now; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def finish(command: Sequence[str], folder: Path, core: int | None = None, limit: float = 600.0) -> Finished:
    """Run a program to its end; past `limit` seconds it is killed, with everything it started."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            pinned(command, core), cwd=folder, stdout=output, stderr=errors, start_new_session=True
        )
        watched = os.pidfd_open(process.pid)
        try:
            if not select.select([watched], [], [], limit)[0]:
                os.killpg(process.pid, signal.SIGKILL)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            os.close(watched)
            # Not Popen.wait: it would take the status without telling what was used.
            _, status, used = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - started
            process.returncode = os.waitstatus_to_exitcode(status)
        return Finished(
            _text(output), _text(errors), process.returncode, seconds, used.ru_utime + used.ru_stime,
            used.ru_maxrss * 1024,
        )  # fmt: skip


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
