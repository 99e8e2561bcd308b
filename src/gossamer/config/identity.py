"""Who we say we are: the User-Agent header, which always holds a way to reach the crawl's owner."""

from __future__ import annotations

import getpass
import re
import socket

from gossamer.config.sections import FetchConfig

_CONTACT = re.compile(r"https?://[^\s)]+|[^\s()@:+;]+@[^\s()@;]+", re.I)


def user_agent(fetch: FetchConfig) -> str:
    """`gossamer/0.1 (+mailto:me@example.org)`; a name that already holds the contact stays as it is."""
    name, contact = fetch.user_agent, fetch.contact
    if (contact and contact in name) or (not contact and _CONTACT.search(name)):
        return name
    contact = contact or default_contact()
    is_mail = "@" in contact and ":" not in contact
    return f"{name} (+{'mailto:' if is_mail else ''}{contact})"


def has_contact(fetch: FetchConfig) -> bool:
    """Whether somebody chose the contact, rather than `default_contact`."""
    return bool(fetch.contact or _CONTACT.search(fetch.user_agent))


def default_contact() -> str:
    """user@hostname: better than nothing, though rarely an address that receives mail."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's user id without a name
        user = "unknown"
    text = f"{user}@{socket.gethostname() or 'localhost'}"
    return re.sub(r"[^\w.@+-]", "-", text, flags=re.ASCII)
