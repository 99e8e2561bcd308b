from typing import Any

from gossamer.frontier.counts import Counts
from gossamer.frontier.hosts import HostQueue
from gossamer.frontier.schedule import Schedule
from gossamer.model import Visit

class Turns:
    def __new__(
        cls,
        schedule: Schedule,
        hosts: dict[str, HostQueue],
        changes: dict[bytes, bytes | None],
        counts: Counts,
        touch: Any,
        offer: Any,
        /,
    ) -> Turns: ...
    def lease(self, now: float, most: int, visits: list[Visit], /) -> HostQueue | None: ...
    def settle(
        self,
        visit: Visit,
        status: int,
        now: float,
        seconds: float,
        stored: Any,
        address: str,
        digest: bytes,
        validators: tuple[bytes, bytes],
        /,
    ) -> bool: ...

def bind(classes: dict[str, type], things: dict[str, Any], /) -> None: ...
