"""The text of PDF files, read by a process of its own: what a file does to its reader, it does to that process."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from select import select
from time import monotonic
from typing import Final

import msgspec

from gossamer.parse.pdf import PdfText

SECONDS: Final = 20.0  # for one file, by the clock; the process limits its own CPU time
_LONGEST_ANSWER: Final = 8 << 20
_FILES_PER_PROCESS: Final = 200  # then a new one: libraries leak


class PdfReader:
    """Invariant: whatever the file, `read` returns after a bounded time, and this process is none the worse for it.

    The process is started by the first file, and ended by one that takes too long or too much.
    """

    def __init__(self, command: tuple[str, ...] = (sys.executable, "-m", "gossamer.agent.pdf_worker")) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._files = 0

    def read(self, body: bytes, seconds: float = SECONDS) -> PdfText:
        """Raises ValueError where the file cannot be read, or not in time."""
        process = self._running()
        try:
            answer = _asked(process, body, monotonic() + seconds)
            found = msgspec.msgpack.decode(answer, type=PdfText | None)
        except (OSError, EOFError, msgspec.MsgspecError) as error:
            self.close()
            raise ValueError(f"the PDF file cannot be read: {error}") from None
        if found is None:
            raise ValueError("the PDF file is damaged or needs a password")
        return found

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):
                process.communicate()

    def _running(self) -> subprocess.Popen[bytes]:
        self._files += 1
        if self._files > _FILES_PER_PROCESS:
            self.close()
        if self._process is None:
            self._files = 1
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)
        return self._process


def _asked(process: subprocess.Popen[bytes], body: bytes, until: float) -> bytes:
    """What the process says to a file: both are sent as their length and then themselves."""
    assert process.stdin is not None
    assert process.stdout is not None
    into, out = process.stdin.fileno(), process.stdout.fileno()
    rest = memoryview(len(body).to_bytes(8, "big") + body)
    answer = b""
    while len(answer) < 8 or len(answer) < 8 + int.from_bytes(answer[:8], "big"):
        readable, writable, _ = select([out], [into] if rest else [], [], max(0.0, until - monotonic()))
        if not readable and not writable:
            raise OSError("it takes too long")
        if writable:
            rest = rest[os.write(into, rest[: 1 << 16]) :]
        if readable:
            data = os.read(out, 1 << 16)
            if not data:
                raise EOFError("its reader gave up")
            answer += data
            if len(answer) > _LONGEST_ANSWER:
                raise OSError("its text is too long")
    return answer[8:]
