"""Host names: which domain they were registered under, how they sort, and to which partition they belong.

A host here is what `url.host_of` gives: lower case, punycode, a port only when it is not the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pathlib import Path

from publicsuffixlist import PSLFILE
from xxhash import xxh3_64_intdigest

from gossamer.regex import compiled_later

_MOST_OF_A_LABEL, _MOST_OCTETS = 63, 253  # of a name, without a dot at its end
_name = compiled_later(r"(?:[^.]{1,63}\.)*+[^.-](?:[^.]{0,61}[^.-])?")


def _split_port(host: str) -> tuple[str, str]:
    """("h", ":8080"), ("[::1]", "")"""
    colon = host.rfind(":")
    return (host, "") if colon < 0 or host[-1] == "]" else (host[:colon], host[colon:])


def without_port(host: str) -> str:
    """What patterns of hosts are compared with."""
    return host if host[:1] == "[" else host.partition(":")[0]


def is_address(name: str) -> bool:
    return name[:1] == "[" or name.replace(".", "").isdigit()


@cache
def _suffixes() -> dict[str, bool]:
    """The public suffix list's rules without their marks -> whether it is an exception; `*.ck` is under ".ck".

    Read on first use. Hosts come in punycode, so that is the only form of a suffix that is needed. The private section
    (github.io, blogspot.com …) is included, as those names have owners of their own.
    """
    lines = Path(PSLFILE).read_text(encoding="utf-8").splitlines()
    rules = [line if line.isascii() else _in_punycode(line) for line in lines if line and not line.startswith("//")]
    return {rule.lstrip("!*"): rule[0] == "!" for rule in rules}


def _in_punycode(rule: str) -> str:
    from ada_url import idna_to_ascii  # takes 3 ms, and addresses need no suffixes

    # Label by label: a `*` is no part of a name.
    return ".".join(label if label.isascii() else idna_to_ascii(label).decode() for label in rule.split("."))


@lru_cache(maxsize=16_384)
def registered_domain(host: str) -> str:
    """What one owner registered: "example.co.uk" of "www.example.co.uk:8080".

    Addresses, single labels and public suffixes themselves are their own domain.
    """
    name, _ = _split_port(host)
    if is_address(name) or "." not in name:
        return name
    suffixes = _suffixes()
    start = -1  # of the name with one label more than `suffix`
    suffix = name
    while True:
        exception = suffixes.get(suffix)
        if exception:
            return suffix
        dot = suffix.find(".")
        if exception is not None or dot < 0 or suffix[dot:] in suffixes:  # a top-level domain is one, known or not
            return name[start:] if start >= 0 else name
        start = len(name) - len(suffix)
        suffix = suffix[dot + 1 :]


def below(domains: Iterable[str]) -> Callable[[str], bool]:
    """Return a test whether a host, with its port or without, is one of these domains or a name below one."""
    names = (domain.strip(".") for domain in domains)
    ends = tuple("." + (name.lower() if name.isascii() else _in_punycode(name)) for name in names)
    return lambda host: ("." + without_port(host)).endswith(ends)


def wrong_name(host: str) -> str:
    """Return why no server can have the name of a host, as a clause; empty where nothing speaks against it.

    DNS takes any octets in a label (RFC 2181, 11); names that are no host names, with an underscore or with a hyphen at
    the end of a label, are in use. But a label has 1 to 63 octets and a name at most 253 as written (RFC 1035, 2.3.4).
    The last label is a top-level domain or a name in a local network: neither begins or ends with a hyphen.
    """
    name = without_port(host)
    if name[:1] == "[" or (len(name) <= _MOST_OCTETS and _name.fullmatch(name)):
        return ""
    labels = name.split(".")
    longest = max(labels, key=len)
    if "" in labels:
        return f"the host name {name[:80]} has an empty part: a dot stands where a letter should"
    if len(longest) > _MOST_OF_A_LABEL:
        return f"a part of its host name has {len(longest)} characters, more than {_MOST_OF_A_LABEL}: {longest[:80]}"
    if len(name) > _MOST_OCTETS:
        return f"its host name has {len(name)} characters, more than {_MOST_OCTETS}: {name[:80]}"
    return f"the last part of the host name {name[:80]} begins or ends with a hyphen"


def is_public_name(name: str) -> bool:
    """Whether it is below a top-level domain that the public can register names under."""
    top = name.rpartition(".")[2]
    return top != name and (top in _suffixes() or "." + top in _suffixes())


@lru_cache(maxsize=16_384)
def reversed_host(host: str) -> str:
    """For "www.example.org:8080" "org.example.www:8080", so that the hosts of a domain sort together.

    Addresses stay as they are.
    """
    if host[-1:].isalpha():  # neither a port nor an address
        return ".".join(host.split(".")[::-1])
    name, port = _split_port(host)
    return host if is_address(name) else ".".join(reversed(name.split("."))) + port


def unreversed_host(key: str) -> str:
    # A name of digits only is an address in either direction, so reversing twice gives the host again.
    return reversed_host(key)


def partition_of(domain: str, partitions: int) -> int:
    """Which of `partitions` equal slices of the hash space holds this registered domain.

    Doubling the number of partitions splits each in two: 2p and 2p + 1 hold what p held.
    """
    return (xxh3_64_intdigest(domain.encode()) * partitions) >> 64
