"""Which addresses may be connected to. Asked for every connection with the address that is really connected to, so
neither a redirect nor a name that resolves to something else the second time gets past it.

The tables are written out, from the IANA registries of special-purpose addresses: what `ipaddress` calls global or
private changes between versions of Python.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

from gossamer.model.domain import below

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(word) for word in text.split())


# No web server can be there, or the kernel takes it for another address (0.0.0.0 is this machine): "this network",
# multicast, reserved with broadcast; in IPv6 Teredo, ORCHID and other protocol assignments, and all that is not global
# nor in a table here: unspecified, IPv4-compatible, IPv4-translated, discard, multicast, not assigned.
_NEVER = _networks("0.0.0.0/8 224.0.0.0/4 240.0.0.0/4 2001::/23")
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")

# Link-local, which no router passes on, and where clouds hand out credentials; the addresses of metadata services
# elsewhere (Alibaba, Oracle, Azure, Amazon, Google, Scaleway); translators to an IPv4 network of unknown layout.
_DANGEROUS = _networks(
    "169.254.0.0/16 fe80::/10 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32"
    " fd00:ec2::/32 fd20:ce::254/128 fd00:42::42/128 64:ff9b:1::/48"
)

# Private use, shared (CGNAT), loopback, protocol assignments, documentation, 6to4 relays, benchmarking; in IPv6
# loopback, unique local, site-local, documentation.
_PRIVATE = _networks(
    "10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16"
    " 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24"
    " ::1/128 fc00::/7 fec0::/10 2001:2::/48 2001:db8::/32 3fff::/20 5f00::/16"
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


def embedded(address: Address) -> list[Address]:
    """Where packets for an address may go: the IPv4 address in an IPv4-mapped, NAT64 or 6to4 one instead of it, that in
    an ISATAP one besides it.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _NAT64:
        return [last]
    if address.sixtofour is not None:
        return [address.sixtofour]
    return [address, last] if int(address) >> 32 & 0xFFFFFFFF in _ISATAP else [address]


class Guard:
    """Invariants: without `allow_private` only globally routable unicast addresses pass; with `networks` only those in
    them, unless the host's name is in `domains`. Link-local addresses and metadata services pass only when private ones
    may and such a network is named.
    """

    def __init__(self, allow_private: bool, networks: Sequence[str] = (), domains: Sequence[str] = ()) -> None:
        self._allow_private = allow_private
        self._in_domains = below(domains) if domains and networks else None
        self._networks = [ipaddress.ip_network(network) for network in networks]
        self._named = [network for network in self._networks if any(_inside(network, one) for one in _DANGEROUS)]
        self._verdicts: dict[tuple[str, bool], bool] = {}

    def narrows(self, host: str) -> bool:
        """Return whether a host must be in the networks."""
        return bool(self._networks) and not (self._in_domains is not None and self._in_domains(host))

    def allows(self, text: str, host: str = "") -> bool:
        """Return whether an address may be connected to for a host, with its port or without."""
        narrowed = self.narrows(host)
        verdict = self._verdicts.get((text, narrowed))
        if verdict is None:
            if len(self._verdicts) > 100_000:
                self._verdicts.clear()
            verdict = self._verdicts[text, narrowed] = self._judge(text, narrowed)
        return verdict

    def _judge(self, text: str, narrowed: bool) -> bool:
        try:
            address = ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            return False
        return all(self._passes(each, narrowed) for each in embedded(address))

    def _passes(self, address: Address, narrowed: bool) -> bool:
        if narrowed and not _in_any(address, self._networks):
            return False
        if _in_any(address, _DANGEROUS):
            return self._allow_private and _in_any(address, self._named)
        if _in_any(address, _PRIVATE):
            return self._allow_private
        if _in_any(address, _NEVER):
            return False
        return address.version == 4 or address in _GLOBAL_V6


def _in_any(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _inside(network: Network, other: Network) -> bool:
    return network.version == other.version and network.subnet_of(other)  # type: ignore[arg-type]
