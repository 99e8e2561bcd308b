"""The process beside a supervised crawl that makes facts as pages come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from gossamer.agent.companion import FIRST_REST, Companion


class FactProcess(Companion):
    """What it has not done when it is stopped, the next report makes."""

    name = "facts"
    called = "the process that makes facts"
    comfort = "the next report makes them"

    def __init__(self, home: Path, notice: Callable[[str], None], rest: float = FIRST_REST) -> None:
        command = (sys.executable, "-m", "gossamer", "report", "--facts", "--follow", "--leash", "--dir", str(home))
        super().__init__(command, home / "logs" / "facts.log", notice, rest=rest)
