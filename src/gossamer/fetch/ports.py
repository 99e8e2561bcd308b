"""Which ports may be connected to. A link may name any; a request to a mail server or a database is at best noise in
its log, and at worst a command.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.config import port_range

# The Fetch standard's bad ports above 1023, and where databases, caches, queues, remote desktops and the like listen.
# Those below are left out by the default ranges already, but a wider range must not let them in.
_NO_HTTP = """
    0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123
    135 137 138 139 143 161 162 179 389 427 445 465 502 512 513 514 515 526 530 531 532 540 543 544 548 554 556 563
    587 601 636 873 989 990 993 995
    1080 1099 1194 1433 1434 1521 1701 1719 1720 1723 1883 2049 2181 2888 3050 3260 3268 3269 3283 3306 3389 3478
    3659 3690 3888 4045 4190 4222 4369 5060 5061 5222 5269 5432 5555 5671 5672 5900 5901 5902 5903 5938 6000 6001
    6002 6003 6222 6379 6380 6432 6566 6650 6665 6666 6667 6668 6669 6679 6697 7687 8009 8883 9042 9050 9092 9093
    9094 9160 9418 10080 11211 25672 26379 27017 27018 27019 33060 61613 61616
"""
NO_HTTP = frozenset(map(int, _NO_HTTP.split()))


class Ports:
    """Invariant: a port passes that is named singly, or that is in a range and no other protocol's."""

    def __init__(self, ranges: Sequence[str]) -> None:
        bounds = [port_range(text) for text in ranges]
        self._named = {first for first, last in bounds if first == last}
        self._ranges = [(first, last) for first, last in bounds if first < last]

    def allows(self, port: int) -> bool:
        if port in self._named:
            return True
        return port not in NO_HTTP and any(first <= port <= last for first, last in self._ranges)

    def refusal(self, port: int) -> str:
        """Why a port may not be connected to; nothing when it may."""
        if self.allows(port):
            return ""
        why = "is used by services that are no web servers" if port in NO_HTTP else "is not one of those allowed"
        return f"port {port} {why}; name it in fetch.ports to allow it"
