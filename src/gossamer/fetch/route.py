"""How a host is reached: found once a host while the answer of DNS holds, and not with each request."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gossamer.fetch.guard import Guard
from gossamer.fetch.ports import Ports
from gossamer.fetch.resolver import Answer, Resolver, literal
from gossamer.model import Fault, Page, Reason
from gossamer.regex import compiled_later

_MOST_ROUTES = 100_000
_BROKEN = frozenset({Reason.CONNECT, Reason.TIMEOUT, Reason.TLS})
_plain_name = compiled_later(r"[a-z0-9_.-]+")  # libcurl reads other things into some of the others, such as `*`


class Told:
    """Whose addresses libcurl was told (RESOLVE), for good, and is to forget again. It keeps nothing that it finds out
    by itself: it looks through all that it keeps after each request.

    Invariant: it knows those of a host while a transfer is under way that was told them, and soon after forgets them.
    """

    __slots__ = ("_over", "_under_way")

    def __init__(self) -> None:
        self._under_way: dict[str, int] = {}  # NAME:PORT -> transfers
        self._over: dict[str, None] = {}

    def begin(self, place: str, addresses: str) -> list[str]:
        """The lines of RESOLVE for a transfer to NAME:PORT."""
        self._under_way[place] = self._under_way.get(place, 0) + 1
        self._over.pop(place, None)
        forgotten = [f"-{each}" for each in self._over]
        self._over.clear()
        return [*forgotten, f"{place}:{addresses}"]

    def end(self, place: str) -> None:
        left = self._under_way[place] - 1
        if left:
            self._under_way[place] = left
        else:
            del self._under_way[place]
            self._over[place] = None


class Route:
    """What libcurl is told of a host: one address through CONNECT_TO (`target`), several through RESOLVE, or nothing
    where the URL says it all.

    Several are tried by libcurl, which begins with IPv6. Invariant: the one that answered last comes first until it
    fails, so that an address that is dead costs its time once and not with each connection.
    """

    __slots__ = (
        "_addresses", "_chosen", "_name", "_port", "_told", "is_rule", "is_used", "refused", "several", "target",
        "until",
    )  # fmt: skip

    def __init__(
        self,
        host: str,
        target: str = "",
        addresses: Sequence[str] = (),
        until: float = math.inf,
        is_rule: bool = False,
        told: Told | None = None,
    ) -> None:
        self._name, self._port = split_host(host)
        self._told = told or Told()
        self._addresses = self._chosen = [f"[{one}]" if ":" in one else one for one in addresses]
        self.target = target
        self.several = bool(addresses)
        self.until = until
        self.is_rule = is_rule
        self.is_used = False  # by a visit
        self.refused: dict[str, str] = {}  # scheme -> why it may not be connected to

    @property
    def address(self) -> str:
        """Where it leads, or begins to try; empty where a --connect rule says so, or the URL itself."""
        if self.is_rule:
            return ""
        return (self._chosen[0] if self._chosen else self.target.rpartition(":")[0]).strip("[]")

    def resolve(self, url: str) -> list[str]:
        """For CURLOPT_RESOLVE, with the request for a URL; `over` must follow."""
        return self._told.begin(self._place(url), ",".join(self._chosen))

    def over(self, url: str) -> None:
        self._told.end(self._place(url))

    def _place(self, url: str) -> str:
        return f"{self._name}:{self._port or port_of(url)}"

    def learn(self, outcome: Page | Fault) -> None:
        if isinstance(outcome, Page):
            address = f"[{outcome.address}]" if ":" in outcome.address else outcome.address
            is_new = self._chosen is self._addresses or address != self._chosen[0]
            if is_new and address in self._addresses:
                others = [one for one in self._addresses if one != address]
                # While IPv4 is what works, IPv6 is not told: it would be tried first.
                self._chosen = [address, *(one for one in others if "[" in address or "[" not in one)]
        elif outcome.reason in _BROKEN:
            self._chosen = self._addresses

    def refusal(self, url: str) -> str:
        return self.refused.get(url[: url.index(":")], "")


class Routes:
    """Invariant: an address that the guard refuses is never told to libcurl as one of several."""

    def __init__(self, resolver: Resolver, guard: Guard, ports: Ports) -> None:
        self._resolver = resolver
        self._guard = guard
        self._ports = ports
        self.by_host: dict[str, Route] = {}
        self._told = Told()

    def known(self, host: str, now: float, answer: Answer | None = None) -> Route | None:
        """The way to a host (of a URL, with its port) by this answer or what is known; None if that is not enough."""
        route = self.by_host.get(host)
        if route is not None and route.until > now:
            return route
        name, port = split_host(host)
        rule = self._resolver.redirect(host)
        if rule is not None:
            return self._keep(host, Route(host, _target(*rule), is_rule=True))
        refused = self._refused_ports(port)
        if literal(name) is not None or len(refused) == 2:
            route = Route(host)
        else:
            answer = answer or self._resolver.known(name)
            if answer is None or not answer.addresses:
                return None
            route = self._from_answer(host, answer)
        route.refused = {**route.refused, **refused}
        return self._keep(host, route)

    def through_proxy(self, host: str, answer: Answer | None = None) -> Route:
        """To a host by its name, which the proxy resolves, or by the first address of an answer that is allowed."""
        allowed = [address for address in answer.addresses if self._guard.allows(address, host)] if answer else []
        route = Route(host, _target(allowed[0], 0) if allowed else "")
        route.refused = self._refused_ports(split_host(host)[1])
        return route

    def _from_answer(self, host: str, answer: Answer) -> Route:
        allowed = [address for address in answer.addresses if self._guard.allows(address, host)]
        if len(allowed) > 1 and _plain_name.fullmatch(split_host(host)[0]):
            return Route(host, addresses=allowed, until=answer.until, told=self._told)
        # A single one costs nothing when it stays the same; one that is not allowed is refused when it is connected to.
        return Route(host, _target((allowed or answer.addresses)[0], 0), until=answer.until)

    def _refused_ports(self, port: int) -> dict[str, str]:
        ports = {"http": port or 80, "https": port or 443}
        return {scheme: why for scheme, number in ports.items() if (why := self._ports.refusal(number))}

    def _keep(self, host: str, route: Route) -> Route:
        if len(self.by_host) >= _MOST_ROUTES:
            self.by_host.clear()
        self.by_host[host] = route
        return route


def split_host(host: str) -> tuple[str, int]:
    """Name and port, 0 when it is the scheme's."""
    name, colon, port = host.rpartition(":")
    return (name, int(port)) if colon and port.isdigit() else (host, 0)


def port_of(url: str) -> int:
    """The port of a normalised URL."""
    return split_host(url.split("/", 3)[2])[1] or (443 if url.startswith("https:") else 80)


def _target(address: str, port: int) -> str:
    """ADDRESS:PORT for CONNECT_TO; without a port it is that of the URL."""
    return f"{f'[{address}]' if ':' in address else address}:{port or ''}"
