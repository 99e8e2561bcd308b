"""Which page links to which: sixteen links a page, some thirteen of them inside its host.

Inside a host the pages form a tree of eight children each, with a way home and random links over it, so the root leads
to every page. Between hosts, the roots link to hosts 3h, 3h+1 and 3h+2 modulo the number of hosts (a generalised
de Bruijn graph): every root leads to every host in log3(hosts) steps, whatever their number.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.testing.web.dice import mix, step

CHILDREN = 8
_INSIDE = 13
_ACROSS = 3
_PRIVATE_EVERY = 8


class Graph:
    """The links every profile has.

    Invariant: all targets exist; with no faults every page of every host is reachable from every root.
    """

    __slots__ = ("_hosts", "_seed", "_size")

    def __init__(self, seed: int, hosts: int, size: Callable[[int], int]) -> None:
        self._seed = seed
        self._hosts = hosts
        self._size = size

    def links(self, host: int, page: int, size: int) -> tuple[list[int], list[tuple[int, int]], int]:
        """Pages of the same host, (host, page) of others, and the number of a private page or -1."""
        x = mix(self._seed, host, page)
        private = page // _PRIVATE_EVERY if page % _PRIVATE_EVERY == 0 else -1
        first = CHILDREN * page + 1
        inside = [0, *range(first, min(first + CHILDREN, size))] if first < size else [0]
        # Random pages, as steps of a random stride from a random place: one draw serves them all.
        place, stride = x >> 32, x & 0xFFFF_FFFF | 1
        inside += [(place + stride * turn) % size for turn in range(_INSIDE - len(inside) - (private >= 0))]
        hosts = self._hosts
        if page == 0:
            across = [((3 * host + digit) % hosts, 0) for digit in range(_ACROSS)]
            return inside, [((host + 1) % hosts, 0) if target[0] == host else target for target in across], private
        across = []
        for _ in range(_ACROSS):
            x = step(x)
            other = (x >> 33) % hosts
            across.append((other, 0 if x & 0x8000_0000 else (x & 0x7FFF_FFFF) % self._size(other)))
        return inside, across, private

    def is_leaf(self, page: int, size: int) -> bool:
        return CHILDREN * page + 1 >= size


def private_pages(size: int) -> int:
    """How many private pages a host of that size links to."""
    return (size - 1) // _PRIVATE_EVERY + 1
