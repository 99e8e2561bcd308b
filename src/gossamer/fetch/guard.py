"""Which addresses may be connected to. Asked for every connection with the address that is really connected to, so
neither a redirect nor a name that resolves to something else the second time gets past it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NAT64_LOCAL = ipaddress.ip_network("64:ff9b:1::/48")


def embedded(address: Address) -> Address:
    """The IPv4 address inside an IPv4-mapped, 6to4 or NAT64 address, which is where packets really go."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if address.sixtofour:
            return address.sixtofour
        if address in _NAT64 or address in _NAT64_LOCAL:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


class Guard:
    """Invariant: without `allow_private` only globally routable unicast addresses pass; with `networks` only those."""

    def __init__(self, allow_private: bool, networks: Sequence[str] = ()) -> None:
        self._allow_private = allow_private
        self._networks = [ipaddress.ip_network(network) for network in networks]
        self._verdicts: dict[str, bool] = {}

    def allows(self, text: str) -> bool:
        verdict = self._verdicts.get(text)
        if verdict is None:
            if len(self._verdicts) > 100_000:
                self._verdicts.clear()
            verdict = self._verdicts[text] = self._judge(text)
        return verdict

    def _judge(self, text: str) -> bool:
        try:
            address = embedded(ipaddress.ip_address(text.partition("%")[0]))
        except ValueError:
            return False
        if address.is_multicast or address.is_unspecified or (address.is_reserved and not address.is_loopback):
            return False
        if not self._allow_private and not address.is_global:
            return False
        return not self._networks or any(
            address.version == network.version and address in network for network in self._networks
        )
