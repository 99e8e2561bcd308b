"""A command of an operator as a value: to be given to one agent or another, on this machine or elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

from gossamer.agent.control import Control
from gossamer.agent.spool import Answer
from gossamer.rules.policy import USUAL_PRIORITY

Action = Literal[
    "pause", "resume", "checkpoint", "stop", "retry", "limits", "block", "unblock", "seeds", "priority", "purge"
]
_Text = Annotated[str, msgspec.Meta(max_length=5000)]


class Order(msgspec.Struct, frozen=True):
    """`texts` are seeds or patterns, `rank` is a priority."""

    action: Action
    texts: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=10_000)] = ()
    host: _Text = ""
    rank: int | None = None
    limits: dict[str, Any] = {}

    def given_to(self, control: Control) -> Answer:
        """What becomes of it. A crawl that is to stop is not waited for."""
        ways: dict[Action, Callable[[], Answer]] = {
            "pause": control.pause,
            "resume": control.resume,
            "checkpoint": control.checkpoint,
            "stop": lambda: control.stop(wait=False),
            "retry": lambda: control.retry(self.host),
            "limits": lambda: control.set_limits(self.limits),
            "block": lambda: control.block(self.texts),
            "unblock": lambda: control.unblock(self.texts),
            "seeds": lambda: control.add_seeds(self.texts, USUAL_PRIORITY if self.rank is None else self.rank),
            "priority": lambda: control.set_priority(self.host, self.rank),
            "purge": lambda: control.purge(self.host),
        }
        return ways[self.action]()
