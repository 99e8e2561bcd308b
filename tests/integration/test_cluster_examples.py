"""The example of a broker on three machines, run on one: as it stands, but for addresses and where files are."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import pytest
import trustme

from gossamer.cli import run
from gossamer.cluster.broker import parse_broker, replicas_of
from gossamer.cluster.engine import find_engine
from gossamer.errors import UnavailableError

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("nats-1", "nats-2", "nats-3")
PASSWORD = "0123456789e5"


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[int], Path]]:
    """Ports and the authority's certificate."""
    home = tmp_path_factory.mktemp("three")
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    (home / "server.pem").write_bytes(issued.cert_chain_pems[0].bytes())
    (home / "server.key").write_bytes(issued.private_key_pem.bytes())
    (home / "ca.pem").write_bytes(authority.cert_pem.bytes())
    with ExitStack() as bound:
        sockets = [bound.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(6)]
        ports = [each.getsockname()[1] for each in sockets]
    text = (EXAMPLES / "nats-server.conf").read_text(encoding="utf-8").replace("/etc/gossamer/tls", str(home))
    for number, name in enumerate(NAMES):
        text = text.replace(f"nats://{name}:6222", f"nats://localhost:{ports[3 + number]}")
    servers = []
    try:
        for number, name in enumerate(NAMES):
            file = home / f"{name}.conf"
            own = text.replace("0.0.0.0:4222", f"127.0.0.1:{ports[number]}")
            own = own.replace("0.0.0.0:6222", f"127.0.0.1:{ports[3 + number]}")
            file.write_text(own.replace("/var/lib/nats", str(home / name)))
            words = {"SERVER_NAME": name, "CRAWL_PASSWORD": f'"{PASSWORD}"', "STATUS_PASSWORD": '"x"'}
            with open(home / f"{name}.log", "wb") as log:
                command = [find_engine(), "-c", file]
                servers.append(subprocess.Popen(command, env={**os.environ, **words}, stdout=log, stderr=log))
        asyncio.run(ready(address(ports), home / "ca.pem"))
        yield ports[:3], home / "ca.pem"
    finally:
        for server in servers:
            server.kill()
            server.wait()


def address(ports: list[int], user: str = f"crawl:{PASSWORD}@") -> str:
    return ",".join(f"tls://{user}localhost:{port}" for port in ports[:3])


async def ready(text: str, ca: Path) -> None:
    """Until the three have elected somebody, and take writes."""
    until = monotonic() + 60
    while True:
        try:
            link = await parse_broker(text, str(ca)).connect("test")
            try:
                if replicas_of(link) == 3 and b'"error"' not in await link.ask("$JS.API.INFO"):
                    return
            finally:
                await link.close()
        except UnavailableError:
            if monotonic() > until:
                raise
        await asyncio.sleep(0.05)


def test_a_crawl_is_made_on_three_servers(
    three: tuple[list[int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ports, ca = three
    monkeypatch.setenv("GOSSAMER_CLUSTER_PASSWORD", PASSWORD)
    where = ["--cluster", address(ports, "crawl@"), "--cluster-ca", str(ca)]
    assert run(["cluster", "config", str(EXAMPLES / "crawl.toml"), *where]) == 0
    assert run(["cluster", "status", *where]) == 0
    assert "3 copies" in capsys.readouterr().out


def test_nobody_comes_in_without_the_password_or_trusts_a_stranger(
    three: tuple[list[int], Path], tmp_path: Path
) -> None:
    ports, ca = three
    with pytest.raises(UnavailableError):
        asyncio.run(parse_broker(address(ports, "crawl:wrong@"), str(ca)).connect())
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "other.pem"))
    with pytest.raises(UnavailableError):
        asyncio.run(parse_broker(address(ports), str(tmp_path / "other.pem")).connect())


def test_what_is_acknowledged_is_synced() -> None:
    """Unquoted it would be read as something else."""
    assert 'sync_interval: "always"' in (EXAMPLES / "nats-server.conf").read_text(encoding="utf-8")
