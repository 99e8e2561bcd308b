"""Calls to webhooks: a POST to an address that somebody named, judged as the addresses of pages are.

No redirect is followed, no proxy is used, and of the answer only its status counts.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from time import monotonic, sleep
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import pycurl

from gossamer.config import FetchConfig, user_agent
from gossamer.errors import ConfigError
from gossamer.fetch.guard import Guard
from gossamer.fetch.options import certificates
from gossamer.fetch.ports import Ports
from gossamer.model.url import normalize

AT_ONCE: Final = 8
"""Calls in flight."""
LONGEST_URL: Final = 2_000
_CONNECT_SECONDS: Final = 5.0
_SECONDS: Final = 10.0  # for a call in all
_MOST_READ: Final = 64 << 10  # bytes of an answer
_STEP: Final = 0.2  # seconds between two looks at the sockets


class Outcome(msgspec.Struct, frozen=True):
    """What became of a call: the status of the answer, or why there is none."""

    status: int
    why: str = ""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300 and not self.why


class _Sent:
    """One call on its way."""

    __slots__ = ("curl", "read", "refused", "token")

    def __init__(self, token: Any) -> None:
        self.curl = pycurl.Curl()
        self.token = token
        self.read = 0
        self.refused = ""


class Webhooks:
    """Invariants: no more than `AT_ONCE` calls are in flight, none for longer than its time; nothing is sent to an
    address that the guard refuses.
    """

    def __init__(self, config: FetchConfig) -> None:
        # The networks of a scope say which pages belong to the crawl, not where its owner may be told of them.
        self._guard = Guard(config.allow_private)
        self._ports = Ports(config.ports)
        self._options: dict[int, object] = {
            pycurl.NOSIGNAL: 1,
            pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
            pycurl.FOLLOWLOCATION: 0,
            pycurl.PROXY: "",
            pycurl.NOPROXY: "",
            pycurl.USERAGENT: user_agent(config),
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
            pycurl.TIMEOUT_MS: int(_SECONDS * 1000),
            pycurl.CONNECTTIMEOUT_MS: int(_CONNECT_SECONDS * 1000),
            pycurl.FORBID_REUSE: 1,  # so that each call is judged by where it goes
            pycurl.FRESH_CONNECT: 1,
            pycurl.SSL_VERIFYPEER: 1,
            pycurl.SSL_VERIFYHOST: 2,
            pycurl.CAINFO: certificates(config.ca_file),
        }
        self._multi = pycurl.CurlMulti()
        self._sent: dict[pycurl.Curl, _Sent] = {}
        self._opened: list[socket.socket] = []  # pycurl takes a copy of each

    def checked(self, url: str) -> str:
        """A URL that may be called, as far as can be told before; raises ConfigError where it may not."""
        text = url.strip()
        if len(text) > LONGEST_URL:
            raise ConfigError(f"--webhook: the URL is longer than {LONGEST_URL:,} characters; use a shorter one")
        found = normalize(text)
        if found is None or not found.startswith(("http://", "https://")):
            raise ConfigError(f"--webhook: {text[:200]!r} is not a URL that begins with https:// or http://")
        parts = urlsplit(found)
        if "@" in urlsplit(text).netloc:
            raise ConfigError("--webhook: put no user name or password into the URL; calls are signed instead")
        if refusal := self._ports.refusal(parts.port or (443 if parts.scheme == "https" else 80)):
            raise ConfigError(f"--webhook: {refusal}")
        host = (parts.hostname or "").strip("[]")
        if _is_address(host) and not self._guard.allows(host):
            raise ConfigError(f"--webhook: {_refusal(host)}")
        return found

    @property
    def room(self) -> int:
        return AT_ONCE - len(self._sent)

    @property
    def in_flight(self) -> int:
        return len(self._sent)

    def send(self, token: Any, url: str, headers: Sequence[str], body: bytes) -> None:
        """Begin a call; `wait` gives its `token` back with what became of it."""
        sent = _Sent(token)

        def on_body(data: bytes) -> int | None:
            sent.read += len(data)
            return 0 if sent.read > _MOST_READ else None

        def open_socket(purpose: int, address: Any) -> Any:
            family, kind, protocol, where = address
            if not self._guard.allows(where[0]):
                sent.refused = where[0]
                return pycurl.SOCKET_BAD
            try:
                self._opened.append(socket.socket(family, kind, protocol))
            except OSError:
                return pycurl.SOCKET_BAD
            return self._opened[-1]

        for option, value in self._options.items():
            sent.curl.setopt(option, value)
        sent.curl.setopt(pycurl.URL, url)
        sent.curl.setopt(pycurl.POST, 1)
        sent.curl.setopt(pycurl.POSTFIELDS, body)
        sent.curl.setopt(pycurl.HTTPHEADER, [*headers, "Expect:"])
        sent.curl.setopt(pycurl.WRITEFUNCTION, on_body)
        sent.curl.setopt(pycurl.OPENSOCKETFUNCTION, open_socket)
        self._sent[sent.curl] = sent
        self._multi.add_handle(sent.curl)

    def wait(self, seconds: float) -> list[tuple[Any, Outcome]]:
        """Those that have ended, after so long at most."""
        ended = self._perform()
        while not ended and self._sent and seconds > 0:
            before = monotonic()
            if self._multi.select(min(_STEP, seconds)) < 0:
                sleep(0.01)  # a name is being resolved: there is no socket yet
            seconds -= monotonic() - before
            ended = self._perform()
        return ended

    def _perform(self) -> list[tuple[Any, Outcome]]:
        self._multi.perform()
        for connection in self._opened:
            connection.close()
        self._opened.clear()
        return self._ended()

    def close(self) -> None:
        """What is in flight is broken off."""
        for curl in self._sent:
            self._multi.remove_handle(curl)
            curl.close()
        self._sent = {}
        self._multi.close()
        for connection in self._opened:
            connection.close()

    def _ended(self) -> list[tuple[Any, Outcome]]:
        found = []
        more = 1
        while more:
            more, good, bad = self._multi.info_read()
            for curl, code, words in [*((curl, 0, "") for curl in good), *bad]:
                sent = self._sent.pop(curl)
                found.append((sent.token, _outcome(sent, code, words)))
                self._multi.remove_handle(curl)
                curl.close()
        return found


def _outcome(sent: _Sent, code: int, words: str) -> Outcome:
    status = int(sent.curl.getinfo(pycurl.RESPONSE_CODE))
    if sent.refused and code:
        return Outcome(0, _refusal(sent.refused))
    if code and not (code == pycurl.E_WRITE_ERROR and sent.read > _MOST_READ):
        return Outcome(0, words[:200] or f"libcurl error {code}")
    if 300 <= status < 400:
        return Outcome(status, f"it answers {status}, and redirects are not followed; give the address it leads to")
    return Outcome(status, "" if 200 <= status < 300 else f"it answers {status}")


def _refusal(address: str) -> str:
    return f"{address} is a private or special address; crawl with --allow-private if it may be called"


def _is_address(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except (OSError, UnicodeEncodeError):
            continue
        return True
    return False
