"""The port to other agents' knowledge: a question goes to several, and each answers from its own directory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

MOST_QUESTION: Final = 256 << 10  # bytes
MOST_ANSWER: Final = 16 << 20

Answer = Callable[[bytes], Awaitable[bytes]]
"""What an agent says to a question. It takes what it cannot read as well, and does not fail."""


class Questions(Protocol):
    """Invariant: an answer is whole, or it is none."""

    async def ask(self, asked: Mapping[str, bytes], patience: Callable[[str], float]) -> dict[str, bytes]:
        """Ask agents by their names, each its question and all at once. Gives what those say who answer within the
        seconds that `patience` has for them. UnavailableError if nobody can be asked.
        """

    async def answer(self, name: str, answer: Answer) -> None:
        """Answer what is asked of this agent from now on. Of several who answer for one, one is asked."""

    async def close(self) -> None: ...
