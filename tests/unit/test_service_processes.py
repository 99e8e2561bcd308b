"""What processes and folders take."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gossamer.service.processes import Usage, cpu_seconds, size_of


def test_the_share_of_a_core_between_two_looks() -> None:
    now = 0.0
    usage = Usage(lambda: now)
    usage.look(os.getpid())
    assert usage.core == 0.0
    assert usage.memory > 1_000_000
    before = cpu_seconds(os.getpid())
    while cpu_seconds(os.getpid()) - before < 0.05:
        pass
    now += 1.0
    usage.look(os.getpid())
    assert 0.04 < usage.core < 5


def test_a_process_that_is_not_there_and_one_that_is_another() -> None:
    usage = Usage(lambda: 1.0)
    for pid, word in ((0, ""), (2**22 + 1, ""), (os.getpid(), "surely-no-word-of-ours"), (2**22 + 1, "index")):
        usage.look(pid, word)
        assert (usage.core, usage.memory) == (0.0, 0)
    usage.look(os.getpid(), Path("/proc/self/cmdline").read_bytes().split(b"\0")[0].decode() or sys.argv[0])
    assert usage.memory > 0


def test_the_size_of_a_folder_with_those_below(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "one").write_bytes(b"1")
    (tmp_path / "a" / "b" / "thousand").write_bytes(bytes(1000))
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    assert 1001 <= size_of(tmp_path) < 2000
    assert size_of(tmp_path / "none") == 0
