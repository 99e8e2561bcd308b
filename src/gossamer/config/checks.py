"""Checks of single texts. `ValueError` says what is expected, to be read after "… is not"."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from pathlib import Path

from gossamer.regex import compiled_later

_MEDIA_TYPE = compiled_later(r"(\*/\*|[a-z0-9.+-]+/(\*|[a-z0-9.+-]+))")
_LONGEST_OPTION = 100_000
_DOMAIN = compiled_later(r"\.?(?:[^\s.:/@*?#%\[\]]+\.)*(?![0-9]+\.?\Z)[^\s.:/@*?#%\[\]]+\.?")
_PATTERN = compiled_later(r"[^\s=,]+")
LINK_KINDS = (
    "a",
    "applet",
    "area",
    "cite",
    "embed",
    "form",
    "frame",
    "header",
    "iframe",
    "img",
    "link",
    "media",
    "meta",
    "object",
    "script",
)


def check_regex(text: str) -> None:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"a regular expression ({error})") from None


def check_reserved(text: str) -> None:
    if not text.strip():
        raise ValueError("a text to look for in pages")


def strategy_option(text: str) -> tuple[str, str]:
    """Name and value of an option of a strategy."""
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name.isidentifier() or len(text) > _LONGEST_OPTION:
        raise ValueError("an option of a strategy such as words=solar panel")
    return name, value.strip()


def check_media_type(text: str) -> None:
    if not _MEDIA_TYPE.fullmatch(text):
        raise ValueError("a media type such as text/html or text/*, in lower case")


def check_network(text: str) -> None:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        raise ValueError("a network such as 192.0.2.0/24 or 2001:db8::/32, with no host bits set") from None


def check_domain(text: str) -> None:
    if not _DOMAIN.fullmatch(text):
        raise ValueError("a domain such as example.org or .th; addresses go into --networks")


def check_link_kind(text: str) -> None:
    if text.partition(":")[0] not in LINK_KINDS:
        raise ValueError(f"a kind of link; known are {', '.join(LINK_KINDS)}{nearest(text, LINK_KINDS)}")


def nearest(name: object, known: Iterable[str]) -> str:
    import difflib  # for who has made a mistake

    near = difflib.get_close_matches(str(name), list(known), 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def connect_rule(text: str) -> tuple[str, str, int]:
    """(pattern, address, port) of `PATTERN=IP:PORT`; an IPv6 address stands in brackets."""
    pattern, equals, target = text.rpartition("=")
    try:
        if not equals or not _PATTERN.fullmatch(pattern):
            raise ValueError
        address, port = _endpoint(target, None)
    except ValueError:
        raise ValueError("PATTERN=IP:PORT such as *.example.org=127.0.0.1:8080 or *=[::1]:8080") from None
    return pattern.lower(), address, port


def store_directory(text: str) -> tuple[Path, float]:
    """(directory, share) of `DIR=SHARE`; without a share it is 1."""
    path, equals, share = text.rpartition("=")
    if not equals:
        path, share = text, "1"
    try:
        number = float(share)
        if not path or not 0 < number < 1e6:
            raise ValueError
    except ValueError:
        raise ValueError("DIR=SHARE such as /disk2/warc=3, with a share above 0") from None
    return Path(path), number


def port_range(text: str) -> tuple[int, int]:
    """(first, last) of `PORT` or `FIRST-LAST`."""
    found = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 0 < first <= last < 65536:
        raise ValueError("a port such as 8080 or a range such as 1024-65535")
    return first, last


def dns_server(text: str) -> tuple[str, int]:
    """(address, port) of `IP[:PORT]`."""
    try:
        return _endpoint(text, 53)
    except ValueError:
        raise ValueError("the address of a DNS server such as 9.9.9.9, 127.0.0.1:5353 or [::1]:5353") from None


def block_pattern(text: str) -> tuple[str, str]:
    """(host, path) of a pattern; the path is empty where the whole host is meant. A scheme may be in front."""
    host, slash, path = text.strip().rpartition("://")[2].partition("/")
    if not host or not text.isprintable() or re.search(r"\s", text.strip()):
        raise ValueError("a host or the beginning of a URL, such as example.org, *.example.org or example.org/forum/")
    return host, slash + path if path else ""


def _endpoint(text: str, default_port: int | None) -> tuple[str, int]:
    found = re.fullmatch(r"(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?", text)
    host, port = (found[1] or found[2], found[3]) if found else (text, None)
    address = ipaddress.ip_address(host)
    number = int(port) if port else default_port
    if number is None or not 0 < number < 65536:
        raise ValueError
    return str(address), number
