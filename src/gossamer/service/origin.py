"""Under which names this service answers, and on whose behalf a browser asks."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from ipaddress import ip_address

_READING = ("GET", "HEAD", "OPTIONS")
_OWN = ("same-origin", "none")  # values of Sec-Fetch-Site: our own pages; typed in, or no page at all
_WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - recognised, not bound to


class Names:
    """Invariant: a name passes that its owner gave, or that no DNS server can make up: localhost, and addresses.

    So a page whose name is made to resolve to this machine (DNS rebinding) is refused: the browser says that name.
    """

    def __init__(self, host: str, origins: Iterable[str] = ()) -> None:
        self.schemes: dict[str, str] = {}  # of what a proxy publishes: Host header -> http or https
        for origin in origins:
            scheme, _, name = origin.lower().rstrip("/").partition("://")
            self.schemes[name] = scheme
        bound = {socket.gethostname().lower()} if host in _WILDCARDS else {host.lower()}
        self._names = {"localhost", *bound, *map(_without_port, self.schemes)}

    def know(self, host: str) -> bool:
        """Whether a Host header names this service."""
        name = _without_port(host.lower())
        return name in self._names or _is_address(name)

    def own(self, origin: str, host: str) -> bool:
        """Whether an Origin header names the page's host as that of this service, which the Host header names."""
        scheme, _, name = origin.lower().partition("://")
        return name == host.lower() and scheme == self.schemes.get(name, "http")


def is_foreign(method: str, path: str, headers: Mapping[str, str], names: Names) -> bool:
    """Whether a browser asks this for a page of another site, without anybody's key.

    To change something no other page may ask at all. To read, one may lead here by a link, but not fetch the API.
    """
    if "authorization" in headers:
        return False  # no browser adds it by itself
    site = headers.get("sec-fetch-site")
    if method in _READING:
        fetched = headers.get("sec-fetch-mode") != "navigate"
        return site is not None and site not in _OWN and fetched and path.startswith("/api/")
    origin = headers.get("origin")
    if origin is not None and not names.own(origin, headers.get("host", "")):
        return True
    return site is not None and site not in _OWN


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and (":" not in name or name[-1:] == "]") else host


def _is_address(name: str) -> bool:
    try:
        ip_address(name[1:-1] if name[:1] == "[" and name[-1:] == "]" else name)
    except ValueError:
        return False
    return True
