"""Host names: which domain they were registered under, how they sort, and to which partition they belong.

A host here is what `url.host_of` gives: lower case, punycode, a port only when it is not the default.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from ada_url import idna_to_ascii
from publicsuffixlist import PSLFILE, PublicSuffixList
from xxhash import xxh3_64_intdigest


def _split_port(host: str) -> tuple[str, str]:
    """("h", ":8080"), ("[::1]", "")"""
    colon = host.rfind(":")
    return (host, "") if colon < 0 or host[-1] == "]" else (host[:colon], host[colon:])


def _is_address(name: str) -> bool:
    return name[:1] == "[" or name.replace(".", "").isdigit()


@cache
def _suffixes() -> PublicSuffixList:
    # Read on first use: it takes 20 ms. Hosts come in punycode, so that is the only form of a suffix that is needed;
    # left to itself the list makes it of every suffix, with Python's codec, which takes 30 ms more.
    # The private section (github.io, blogspot.com …) is included, as those names have owners of their own; unknown
    # top-level domains count as public suffixes.
    lines = Path(PSLFILE).read_text(encoding="utf-8").splitlines()
    rules = (line if line.isascii() else _in_punycode(line) for line in lines if line and not line.startswith("//"))
    return PublicSuffixList(rules, accept_unknown=True, accept_encoded_idn=False, only_icann=False)


def _in_punycode(rule: str) -> str:
    # Label by label: a `*` is no part of a name.
    return ".".join(label if label.isascii() else idna_to_ascii(label).decode() for label in rule.split("."))


@lru_cache(maxsize=16_384)
def registered_domain(host: str) -> str:
    """What one owner registered: "example.co.uk" of "www.example.co.uk:8080".

    Addresses, single labels and public suffixes themselves are their own domain.
    """
    name, _ = _split_port(host)
    if _is_address(name) or "." not in name:
        return name
    return _suffixes().privatesuffix(name) or name


@lru_cache(maxsize=16_384)
def reversed_host(host: str) -> str:
    """For "www.example.org:8080" "org.example.www:8080", so that the hosts of a domain sort together.

    Addresses stay as they are.
    """
    name, port = _split_port(host)
    return host if _is_address(name) else ".".join(reversed(name.split("."))) + port


def unreversed_host(key: str) -> str:
    # A name of digits only is an address in either direction, so reversing twice gives the host again.
    return reversed_host(key)


def partition_of(domain: str, partitions: int) -> int:
    """Which of `partitions` equal slices of the hash space holds this registered domain.

    Doubling the number of partitions splits each in two: 2p and 2p + 1 hold what p held.
    """
    return (xxh3_64_intdigest(domain.encode()) * partitions) >> 64
