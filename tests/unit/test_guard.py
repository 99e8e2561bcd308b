"""Addresses that may be connected to, and those that may not."""

from __future__ import annotations

import pytest

from gossamer.fetch.guard import Guard

PUBLIC = ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "64:ff9b::101:101", "2002:101:101::1"]
PRIVATE = [
    "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "0.0.0.0", "0.1.2.3", "192.0.2.1", "198.18.0.1", "::1", "::", "fc00::1", "fe80::1", "fe80::1%eth0",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1",
    "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2001:db8::1",
]  # fmt: skip
NEVER = ["224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "ff02::1", "0.0.0.0", "::", "nonsense", ""]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert Guard(allow_private=False).allows(address)


@pytest.mark.parametrize("address", PRIVATE + NEVER)
def test_others_are_refused(address: str) -> None:
    assert not Guard(allow_private=False).allows(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "192.168.1.1", "::1", "fd00::1", "::ffff:127.0.0.1"])
def test_private_ones_pass_when_allowed(address: str) -> None:
    assert Guard(allow_private=True).allows(address)


@pytest.mark.parametrize("address", NEVER)
def test_some_never_pass(address: str) -> None:
    assert not Guard(allow_private=True).allows(address)


def test_networks_narrow_it_down() -> None:
    guard = Guard(allow_private=False, networks=["93.184.0.0/16", "2606:4700::/32"])
    assert guard.allows("93.184.216.34")
    assert guard.allows("2606:4700:4700::1111")
    assert not guard.allows("1.1.1.1")
    assert not guard.allows("10.0.0.1")
