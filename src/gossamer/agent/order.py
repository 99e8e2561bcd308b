"""A command of an operator as a value: to be given to one agent or another, on this machine or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from gossamer.agent.application import Request
from gossamer.agent.control import Control
from gossamer.agent.spool import Answer
from gossamer.rules.policy import USUAL_PRIORITY

Action = Literal[
    "pause", "resume", "checkpoint", "stop", "retry", "rejudge", "limits", "block", "unblock", "seeds", "priority",
    "purge", "requests",
]  # fmt: skip
T = TypeVar("T")
_LONGEST: Final = 200_000  # bytes: a question may have 256 KB
_OVERHEAD: Final = 40  # bytes of one of several things, names of its fields included
_MOST: Final = 1000
_Text = Annotated[str, msgspec.Meta(max_length=5000)]


class Order(msgspec.Struct, frozen=True):
    """`texts` are seeds or patterns, `rank` is a priority. `links`: what stored seeds link to is visited, too."""

    action: Action
    texts: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=10_000)] = ()
    host: _Text = ""
    rank: int | None = None
    limits: dict[str, Any] = {}
    app: _Text = ""  # whose the requests are
    requests: Annotated[tuple[Request, ...], msgspec.Meta(max_length=1000)] = ()
    links: bool = False

    def given_to(self, control: Control) -> Answer:
        """What becomes of it. A crawl that is to stop is not waited for."""
        ways: dict[Action, Callable[[], Answer]] = {
            "pause": control.pause,
            "resume": control.resume,
            "checkpoint": control.checkpoint,
            "stop": lambda: control.stop(wait=False),
            "retry": lambda: control.retry(self.host),
            "rejudge": control.rejudge,
            "limits": lambda: control.set_limits(self.limits),
            "block": lambda: control.block(self.texts),
            "unblock": lambda: control.unblock(self.texts),
            "seeds": lambda: control.add_seeds(
                self.texts, USUAL_PRIORITY if self.rank is None else self.rank, self.links
            ),
            "priority": lambda: control.set_priority(self.host, self.rank),
            "purge": lambda: control.purge(self.host),
            "requests": lambda: control.request(self.requests, self.app),
        }
        return ways[self.action]()


def parts_of(things: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """As many at a time as fit in what is asked of an agent elsewhere."""
    part: list[T] = []
    room = _LONGEST
    for each in things:
        taken = size(each) + _OVERHEAD
        if part and (taken > room or len(part) == _MOST):
            yield part
            part, room = [], _LONGEST
        part.append(each)
        room -= taken
    if part:
        yield part
