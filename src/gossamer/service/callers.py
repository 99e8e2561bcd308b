"""Who asks, and what they may: judged anew for every request."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Annotated

import msgspec
from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from gossamer.errors import DamagedError
from gossamer.service import limits
from gossamer.service.keys import Key, KeyRing, Role
from gossamer.service.limits import Buckets, retry_after
from gossamer.service.listening import is_loopback
from gossamer.service.origin import Names
from gossamer.service.problems import Problem
from gossamer.service.sessions import Sessions, cookie_name, read_cookie

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="gossamer"'}
_UNKNOWN = "This key is not known: it is mistyped, or it was revoked."
_NO_KEYS = "There are no keys yet, so only this machine itself is served. Make one with `gossamer keys add`."
# Who sends these stands between us and the one who asks, so that the peer's address says nothing.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_bearer = HTTPBearer(auto_error=False, scheme_name="key", description="A key made with `gossamer keys add`.")


class Caller(msgspec.Struct, frozen=True):
    """One who may ask. Without a key only where there are no keys at all, over loopback."""

    role: Role
    key: Key | None = None
    session: str = ""  # the cookie's value, where they came with one

    @property
    def name(self) -> str:
        return self.key.name if self.key else ""

    @property
    def operates(self) -> bool:
        """Whether pages offer this caller to change the crawl, which needs the login of an admin."""
        return self.role == "admin" and bool(self.session)


class Gate:
    """Invariant: whoever passes has shown a key that is in the file now, or a session of one; or there are no keys
    and they came over loopback, straight, to read.
    """

    def __init__(self, keys: KeyRing, sessions: Sessions, clock: Callable[[], float] = time.monotonic) -> None:
        self.keys = keys
        self.sessions = sessions
        self._clock = clock
        self._asked = Buckets()
        self._failed = Buckets()

    def closed_to(self, request: Request) -> Problem | None:
        """Without keys, everything is closed to other machines: also what needs no key."""
        if is_local(request):
            return None
        try:
            if self.keys.all():
                return None
        except DamagedError as error:
            return Problem(503, str(error), retry_after(10))
        return Problem(401, _UNKNOWN, _CHALLENGE) if "authorization" in request.headers else Problem(403, _NO_KEYS)

    def admit(self, request: Request) -> Caller:
        """The caller; a `Problem` (401, 403, 429) for everyone else."""
        given = request.headers.getlist("authorization")
        if given:
            caller = Caller("search", self.shown(given[0] if len(given) == 1 else "", peer_of(request)))
        else:
            value = session_cookie(request)
            key = self.sessions.key(value) if value else None
            caller = Caller("search", key, value) if key else self._without_key(request)
        key = caller.key
        if key is None:
            return caller
        self._regulate(key)
        return Caller(key.role, key, caller.session)

    def holds(self, caller: Caller) -> bool:
        """Whether one who was admitted would be still: for what lasts longer than a request."""
        try:
            if caller.key is None:
                return not self.keys.all()
            if caller.session:
                return self.sessions.key(caller.session) is not None
            return any(key.digest == caller.key.digest for key in self.keys.all())
        except DamagedError:
            return False

    def shown(self, authorization: str, peer: str) -> Key:
        """The key of an Authorization header. Wrong ones are counted for each peer, and soon cost a wait."""
        scheme, _, presented = authorization.partition(" ")
        key = self.keys.find(presented.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            wait = self._failed.take(_network(peer), limits.FAILURE_RATE, limits.FAILURE_BURST, self._clock())
            if wait:
                raise Problem(
                    429, "Too many wrong keys came from this address. Wait, then try again.", retry_after(wait)
                )
            raise Problem(401, _UNKNOWN, _CHALLENGE)
        return key

    def _without_key(self, request: Request) -> Caller:
        if self.keys.all():
            raise Problem(401, "A key is needed: Authorization: Bearer KEY.", _CHALLENGE)
        if not is_local(request):
            raise Problem(403, _NO_KEYS)
        return Caller("search")

    def _regulate(self, key: Key) -> None:
        rate = key.rate or limits.KEY_RATE
        wait = self._asked.take(key.digest, rate, max(1.0, rate * limits.BURST_SECONDS), self._clock())
        if wait:
            raise Problem(429, f"This key may ask {rate:g} times a second. Wait, then go on.", retry_after(wait))


def needs(role: Role) -> Callable[..., Awaitable[Caller]]:
    """A dependency that lets pass who has this role, and gives the `Caller`."""

    async def admitted(request: Request, _: Annotated[object, Depends(_bearer)] = None) -> Caller:
        caller: Caller = request.app.state.gate.admit(request)
        if caller.role not in (role, "admin"):
            had = f"this one has the role {caller.role}" if caller.key else "gossamer keys add makes one"
            raise Problem(403, f"This needs a key with the role {role}; {had}.")
        return caller

    return admitted


async def local_or_key(request: Request, _: Annotated[object, Depends(_bearer)] = None) -> None:
    """Lets pass whoever asks on this machine, and others with a key. A key that is shown must be one. Where a proxy
    publishes the service, it may be the one that asks: not all of them say for whom.
    """
    names: Names = request.app.state.names
    gate: Gate = request.app.state.gate
    is_shown = "authorization" in request.headers
    if is_shown or not is_local(request) or (names.schemes and gate.keys.all()):
        gate.admit(request)


def peer_of(request: Request) -> str:
    return request.client.host if request.client else ""


def is_local(request: Request) -> bool:
    """Asked from this machine, and not on behalf of another. Headers can only take this away, never give it."""
    return is_loopback(peer_of(request)) and not any(name in request.headers for name in _FORWARDED)


def is_https(request: Request) -> bool:
    """Whether the caller's way here is encrypted, also where that ends at a proxy in front of us."""
    names: Names = request.app.state.names
    return request.url.scheme == "https" or names.schemes.get(request.headers.get("host", "").lower()) == "https"


def session_cookie(request: Request) -> str:
    return read_cookie(request.headers.get("cookie", ""), cookie_name(is_https(request)))


def _network(peer: str) -> str:
    """What one person has of addresses: with IPv6 a whole network."""
    try:
        address = ip_address(peer)
    except ValueError:
        return peer
    return str(IPv6Network((address, 64), strict=False)) if isinstance(address, IPv6Address) else peer
