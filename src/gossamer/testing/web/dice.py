"""Numbers that look random and are functions of their arguments, the same on every machine and Python."""

from __future__ import annotations

_MASK = 0xFFFF_FFFF_FFFF_FFFF


def mix(seed: int, a: int = 0, b: int = 0) -> int:
    """64 well-mixed bits of three integers (the finisher of splitmix64 over a linear combination)."""
    x = (seed * 0x9E3779B97F4A7C15 + a * 0xC2B2AE3D27D4EB4F + b * 0x165667B19E3779F9 + 0x27D4EB2F165667C5) & _MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31


def step(x: int) -> int:
    """The next state of a cheap stream; use its high bits (`>> 33`), the low ones repeat soon."""
    return (x * 6364136223846793005 + 1442695040888963407) & _MASK


def share(x: int) -> float:
    """The number in [0, 1) that 64 mixed bits stand for."""
    return (x >> 11) / 9007199254740992.0


def pick(x: int, weights: tuple[tuple[str, int], ...]) -> str:
    """One of the names, each as likely as its weight."""
    rest = (x >> 16) % sum(weight for _, weight in weights)
    for name, weight in weights:
        if rest < weight:
            return name
        rest -= weight
    raise AssertionError("weights are positive")


class Draws:
    """A stream of draws from one state, for building tables where speed does not matter."""

    __slots__ = ("_x",)

    def __init__(self, x: int) -> None:
        self._x = x

    def below(self, n: int) -> int:
        self._x = step(self._x)
        return (self._x >> 33) % n
