"""How many hosts a registered domain has: some have a new one for every link (`scope.domain_hosts`)."""

from __future__ import annotations

from gossamer.frontier.database import Database
from gossamer.frontier.hosts import Origin
from gossamer.frontier.roster import Roster
from gossamer.model.domain import registered_domain, reversed_host

_DOMAINS_AT_HAND = 65_536
_AFTER = b"\xff"  # behind all keys of a host


class DomainHosts:
    """Nothing is kept for it: hosts of a domain are neighbours in the database, and are counted there when a domain is
    first met.

    Invariant: `_counts` has, of the domains in it, all hosts in the database and those let in since the last commit.
    """

    def __init__(self, limit: int, database: Database, roster: Roster) -> None:
        self._limit = limit
        self._database = database
        self._roster = roster
        self._counts: dict[str, int] = {}

    def lets_in(self, origin: Origin, seed: bool) -> bool:
        """Whether the host is known or may become so now. Seeds may always, and count. To be asked once an origin."""
        if origin.host is not None or self._roster.knows(origin):
            return True
        domain = registered_domain(origin.name)
        count = self._counts.get(domain)
        if count is None:
            count = self._counts[domain] = self._hosts_of(domain, origin.host_prefix[:2])
        if count >= self._limit and not seed:
            return False
        self._counts[domain] = count + 1
        return True

    def committed(self) -> None:
        """Everything is in the database, and can be counted again."""
        if len(self._counts) > _DOMAINS_AT_HAND:
            self._counts.clear()

    def forget(self) -> None:
        """Hosts came or went otherwise; all is committed."""
        self._counts.clear()

    def _hosts_of(self, domain: str, partition: bytes) -> int:
        """As of the last commit, up to the limit."""
        count = 0
        found = self._database.hosts_cursor()
        name = partition + reversed_host(domain).encode()
        for next_byte in (b"\0", b".", b":"):  # the domain itself, hosts below it, and its other ports
            beginning = name + next_byte
            found.seek(beginning)
            while count < self._limit and found.valid() and (key := found.key()).startswith(beginning):
                count += 1
                found.seek(key[: key.index(b"\0", 2) + 1] + _AFTER)
            self._database.checked(found)
        return count
