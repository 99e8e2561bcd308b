"""The process beside an agent of several that answers the others' questions about its directory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gossamer.agent.companion import FIRST_REST, Companion

COMMAND: Final = (sys.executable, "-m", "gossamer", "answer", "--leash", "--dir")


class AnswerProcess(Companion):
    """A process of its own: reading takes time that the loop does not have, and it answers while the agent is stuck."""

    name = "answer"
    called = "the process that answers other agents"

    def __init__(
        self, home: Path, notice: Callable[[str], None], command: tuple[str, ...] = COMMAND, rest: float = FIRST_REST
    ) -> None:
        super().__init__((*command, str(home)), home / "logs" / "answer.log", notice, rest=rest)
