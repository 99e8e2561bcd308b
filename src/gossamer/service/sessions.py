"""Logins of people: a signed cookie that stands for a key, and tokens that tie a form to it."""

from __future__ import annotations

import base64
import hmac
import secrets
import time
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie

from fastapi.responses import Response

from gossamer.service.keys import Key, KeyRing

LIFETIME = 12 * 3600  # seconds after a login
_LONGEST = 4096  # characters of a Cookie header that are read


class Sessions:
    """Invariant: a session holds while its key does. Revoking the key ends it at once, and so does the end of this
    process, in whose memory alone the signing secret is: nothing on disk can make a session.
    """

    def __init__(self, keys: KeyRing, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._clock = clock
        self._secret = secrets.token_bytes(32)

    def make(self, key: Key) -> str:
        """The cookie's value for one who has shown this key."""
        said = f"{key.digest}.{int(self._clock()) + LIFETIME}.{secrets.token_urlsafe(12)}"
        return f"{said}.{self._sign('session', said)}"

    def key(self, value: str) -> Key | None:
        """The key that a cookie's value stands for, if it is ours, not too old, and the key is still there."""
        said, _, signature = value.rpartition(".")
        if not _equal(signature, self._sign("session", said)):
            return None
        digest, expires, _ = said.split(".")  # we wrote it
        if self._clock() >= int(expires):
            return None
        return next((key for key in self._keys.all() if _equal(key.digest, digest)), None)

    def form_token(self, binding: str) -> str:
        """For a hidden field of a form. `binding` is the session cookie's value, or, before a login, that of a cookie
        with `fresh_binding()` in it.
        """
        return self._sign("form", binding)

    def form_token_holds(self, token: str, binding: str) -> bool:
        return bool(binding) and _equal(token, self.form_token(binding))

    def _sign(self, purpose: str, text: str) -> str:
        signature = hmac.digest(self._secret, f"{purpose} {text}".encode("utf-8", "replace"), "sha256")
        return base64.urlsafe_b64encode(signature).decode().rstrip("=")


def fresh_binding() -> str:
    return secrets.token_urlsafe(16)


def cookie_name(https: bool, name: str = "session") -> str:
    """With https a name that no other host and no page over http can set."""
    return f"__Host-gossamer_{name}" if https else f"gossamer_{name}"


def read_cookie(header: str, name: str) -> str:
    """The cookie's value, empty where there is none."""
    try:
        found = SimpleCookie(header[:_LONGEST]).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def set_cookie(response: Response, value: str, *, https: bool, name: str = "session") -> None:
    """No script reads it and no other site's request carries it."""
    response.set_cookie(
        cookie_name(https, name), value, max_age=LIFETIME, path="/", secure=https, httponly=True, samesite="strict"
    )


def drop_cookie(response: Response, *, https: bool, name: str = "session") -> None:
    response.delete_cookie(cookie_name(https, name), path="/", secure=https, httponly=True, samesite="strict")


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
