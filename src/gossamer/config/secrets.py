"""Kinds of values that may hold a secret. What is wrong with one is said without showing it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.config.kinds import Kind, Many
from gossamer.regex import compiled_later

if TYPE_CHECKING:
    from gossamer.config.options import Config

_PROXY = compiled_later(
    r"(?:https?|socks5h?)://(?:[!-.0-?A-~]*@)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})/?",
)
_PROXY_EXPECTED = (
    "the URL of a proxy with its port, such as http://proxy.example.org:3128, socks5://127.0.0.1:1080 or"
    " socks5h://name:password@proxy.example.org:1080"
)
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([!-~](?:[ -~]*[!-~])?)[ \t]*")
# What the fetcher or libcurl must say itself, or what would change how the response is read.
_OURS = {
    "host", "user-agent", "connection", "content-length", "transfer-encoding", "te", "upgrade", "expect", "range",
    "proxy-authorization", "proxy-connection", "if-none-match", "if-modified-since", "if-match",
    "if-unmodified-since", "if-range",
}  # fmt: skip


class ProxyUrl(Kind[str]):
    """Empty for none."""

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(_PROXY_EXPECTED)
        text = value.strip()
        found = _PROXY.fullmatch(text)
        if text and not (found and 0 < int(found[1]) < 65536):
            raise ValueError(_PROXY_EXPECTED, without_login(text))
        return text.rstrip("/")


class Login(Kind[str]):
    """`name:password` for HTTP's basic authentication."""

    def read(self, value: object) -> str:
        if not isinstance(value, str) or not value.isprintable() or value.find(":") < 1:
            raise ValueError("name:password, without line breaks", "…")
        return value


class Headers(Many):
    """`Name: value` each; values are never shown."""

    def __init__(self) -> None:
        super().__init__(header, comma=False)

    def parse(self, text: str) -> tuple[str, ...]:
        try:
            return super().parse(text)
        except ValueError as error:
            name, colon, _ = text.partition(":")
            raise ValueError(error.args[0], name[:40] if colon else "…") from None


def header(text: str) -> tuple[str, str]:
    """(name, value) of `Name: value`."""
    found = _HEADER.fullmatch(text)
    if not found:
        raise ValueError("a header such as 'X-Token: abc', in printable ASCII")
    if found[1].lower() in _OURS:
        raise ValueError("a header that can be set here")
    return found[1], found[2]


def without_login(proxy: str) -> str:
    """A proxy's URL as it may be shown."""
    login, _, server = proxy.rpartition("@")
    scheme, separator, _ = login.partition("://")
    return scheme + separator + server if separator else server


def has_secrets(config: Config) -> bool:
    """Whether the settings hold what only their owner should read."""
    proxies = [config.fetch.proxy, *(rule.proxy or "" for rule in config.hosts)]
    return any("@" in proxy for proxy in proxies) or any(rule.user or rule.headers for rule in config.hosts)
