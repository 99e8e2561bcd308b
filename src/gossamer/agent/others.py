"""What the loop knows of the other agents of a crawl."""

from __future__ import annotations

from typing import Protocol


class Others(Protocol):
    """The other agents of a crawl, as far as the loop must know of them."""

    def room(self, room: int, pages: int) -> int:
        """How many visits may be started, of so many; so many pages are stored or in flight."""

    def reason_to_end(self) -> str: ...

    def end_all(self, reason: str) -> None:
        """Tell all agents to end for this reason; this one hears of it, too."""

    @property
    def gone(self) -> dict[str, int]:
        """Of a crawl that has ended: pages that are not at hand, by the name of the agent that has stored them."""

    @property
    def held(self) -> int:
        """Partitions that are ours."""

    def checkpoint(self) -> int:
        """Make copies of what has changed, for others to go on from; of how many partitions."""

    def notes(self) -> dict[str, bytes]:
        """What the commit keeps for them."""

    @property
    def committed(self) -> int:
        """The number of the last commit that has something for them."""

    def logged(self, commit: int) -> bool:
        """Whether they would know what that one has, if this agent were no more."""
