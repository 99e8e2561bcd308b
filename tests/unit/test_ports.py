"""Ports that may be connected to, and those that may not."""

from __future__ import annotations

import pytest

from gossamer.config import FetchConfig, load
from gossamer.errors import ConfigError
from gossamer.fetch import Ports

USUAL = Ports(FetchConfig().ports)


@pytest.mark.parametrize("port", [80, 443, 1024, 3000, 4321, 5000, 8000, 8080, 8081, 8443, 8888, 9000, 50000, 65535])
def test_ports_of_web_servers_pass(port: int) -> None:
    assert USUAL.refusal(port) == ""


@pytest.mark.parametrize(
    "port",
    [
        0, 1, 7, 21, 22, 23, 25, 53, 110, 111, 143, 445, 465, 587, 993,  # the Fetch standard's bad ports
        1719, 1723, 2049, 4045, 4190, 5060, 6000, 6566, 6667, 6697, 10080,
        1433, 1521, 3306, 5432, 6379, 9042, 11211, 27017,  # databases and caches
        1883, 4222, 5672, 9092, 61616, 2181,  # queues
        3389, 5900, 5938,  # remote desktops
    ],
)  # fmt: skip
def test_ports_of_other_services_are_refused_unless_named(port: int) -> None:
    assert f"port {port} is used by services" in USUAL.refusal(port)
    assert "fetch.ports" in USUAL.refusal(port)
    assert not Ports(["1-65535"]).allows(port)
    if port:
        assert Ports([str(port)]).allows(port)


@pytest.mark.parametrize("port", [81, 88, 444, 1023])
def test_other_low_ports_are_refused_unless_given(port: int) -> None:
    assert f"port {port} is not one of those allowed" in USUAL.refusal(port)
    assert Ports(["1-65535"]).allows(port)


def test_ranges_have_ends() -> None:
    ports = Ports(["8080-8090", "9999"])
    assert [port for port in (80, 443, 8079, 8080, 8090, 8091, 9998, 9999, 10000) if ports.allows(port)] == [
        8080,
        8090,
        9999,
    ]


@pytest.mark.parametrize("text", ["0", "65536", "90-80", "http", "1-", "-1", "1-2-3", "１"])
def test_what_is_no_port_is_said(text: str) -> None:
    with pytest.raises(ConfigError, match=r"fetch\.ports: .* is not a port such as 8080 or a range"):
        load(None, {"fetch.ports": [text]})
