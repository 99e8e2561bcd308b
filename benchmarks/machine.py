"""What a figure was measured on; without it the figure means little."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def cores() -> list[int]:
    """The cores this process may use."""
    return sorted(os.sched_getaffinity(0))


def load() -> float:
    """Processes that wanted a core over the last minute, ours included."""
    return os.getloadavg()[0]


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def versions(packages: Sequence[str]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def program_version(*command: str) -> str:
    """The first line a program prints about itself."""
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (said.stdout + said.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"


def description(packages: Sequence[str] = ()) -> str:
    names = ", ".join(f"{name} {number}" for name, number in versions(packages).items())
    return (
        f"{processor()}, {len(cores())} cores, Linux {platform.release()}; {names}; "
        f"load average of the last minute {load():.2f}"
    )
