"""Addresses that may be connected to, and those that may not."""

from __future__ import annotations

import pytest

from gossamer.fetch.guard import Guard

PUBLIC = [
    "1.1.1.1", "93.184.216.34", "11.0.0.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1",
    "198.17.255.255", "198.20.0.1", "223.255.255.255", "::ffff:1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101",
    "2002:101:101::1", "2001:4860:4860::8888", "2606:4700::5efe:101:101",
]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "0.0.0.0", "0.1.2.3", "192.0.2.1", "198.18.0.1", "::1", "::", "fc00::1", "fe80::1", "fe80::1%eth0",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1",
    "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2001:db8::1", "192.0.0.1", "192.88.99.1", "198.51.100.1", "203.0.113.1",
    "3fff::1", "5f00::1", "fec0::1", "2001:2::1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1",
]  # fmt: skip
NEVER = [
    "224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "ff02::1", "0.0.0.0", "0.1.2.3", "::", "nonsense",
    "", "::7f00:1", "::10.0.0.1", "::ffff:0:7f00:1", "2001::1", "2001:0:101:101::80ff:fffe", "2001:10::1",
    "2001:20::1", "100::1", "4000::1", "::ffff:0.0.0.0", "64:ff9b::0.0.0.0", "2002:0:0::1",
]  # fmt: skip
METADATA = [
    "169.254.169.254", "169.254.170.2", "169.254.42.42", "100.100.100.200", "192.0.0.192", "168.63.129.16",
    "fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "64:ff9b:1::7f00:1", "fe80::5efe:7f00:1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert Guard(allow_private=False).allows(address)


@pytest.mark.parametrize("address", PRIVATE + NEVER + METADATA)
def test_others_are_refused(address: str) -> None:
    assert not Guard(allow_private=False).allows(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "10.1.2.3", "172.20.0.1", "192.168.1.1", "100.64.0.1", "192.0.2.1", "::1", "fd00::1",
        "fec0::1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1", "1.1.1.1", "2606:4700:4700::1111",
    ],
)  # fmt: skip
def test_private_ones_pass_when_allowed(address: str) -> None:
    assert Guard(allow_private=True).allows(address)


@pytest.mark.parametrize("address", NEVER + METADATA)
def test_some_do_not_pass_even_then(address: str) -> None:
    assert not Guard(allow_private=True).allows(address)
    assert not Guard(allow_private=True, networks=["0.0.0.0/0", "::/0"]).allows(address)


@pytest.mark.parametrize("address", NEVER)
def test_some_never_pass(address: str) -> None:
    networks = [address] if ":" in address or address[:1].isdigit() else []
    assert not Guard(allow_private=True, networks=networks).allows(address)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("169.254.169.254", "169.254.169.254/32"),
        ("169.254.1.1", "169.254.0.0/16"),
        ("::ffff:169.254.169.254", "169.254.169.254/32"),
        ("fe80::1", "fe80::/64"),
        ("100.100.100.200", "100.100.100.200/32"),
        ("fd00:ec2::254", "fd00:ec2::/32"),
    ],
)
def test_link_local_and_metadata_pass_only_by_name(address: str, network: str) -> None:
    assert Guard(allow_private=True, networks=[network]).allows(address)
    assert not Guard(allow_private=False, networks=[network]).allows(address)
    wider = ["169.254.0.0/15", "100.64.0.0/10", "fe00::/8", "fd00::/8"]
    assert not Guard(allow_private=True, networks=wider).allows(address)


def test_networks_narrow_it_down() -> None:
    guard = Guard(allow_private=False, networks=["93.184.0.0/16", "2606:4700::/32"])
    assert guard.allows("93.184.216.34")
    assert guard.allows("2606:4700:4700::1111")
    assert not guard.allows("1.1.1.1")
    assert not guard.allows("10.0.0.1")
    assert guard.allows("::ffff:93.184.216.34")


def test_networks_narrow_private_crawls_too() -> None:
    guard = Guard(allow_private=True, networks=["10.1.0.0/16", "fd00:1::/32"])
    assert guard.allows("10.1.2.3")
    assert guard.allows("fd00:1::5")
    assert not any(map(guard.allows, ["10.2.0.1", "127.0.0.1", "::1", "192.168.0.1", "1.1.1.1", "fd00:2::1"]))


def test_names_in_domains_need_not_be_in_the_networks() -> None:
    guard = Guard(False, ["93.184.0.0/16"], [".th", "example.org"])
    for host in ("www.nectec.or.th", "example.org:8080", "th"):
        assert guard.allows("1.1.1.1", host)
        assert not guard.narrows(host)
    for host in ("www.example.com", "th.com", "93.184.216.34", "[2606:4700:4700::1111]", ""):
        assert guard.allows("93.184.216.34", host)
        assert not guard.allows("1.1.1.1", host)
        assert guard.narrows(host)


@pytest.mark.parametrize("address", PRIVATE + NEVER + METADATA)
def test_a_name_in_domains_opens_no_private_address(address: str) -> None:
    assert not Guard(False, ["93.184.0.0/16"], [".th"]).allows(address, "a.th")
    assert not Guard(False, [], [".th"]).allows(address, "a.th")


@pytest.mark.parametrize("address", NEVER + METADATA)
def test_some_addresses_stay_closed_for_names_in_domains(address: str) -> None:
    assert not Guard(True, ["10.0.0.0/8", "0.0.0.0/0", "::/0"], [".th"]).allows(address, "a.th")
    assert Guard(True, ["10.0.0.0/8"], [".th"]).allows("192.168.0.1", "a.th")
    assert not Guard(True, ["10.0.0.0/8"], [".th"]).allows("192.168.0.1", "a.com")
