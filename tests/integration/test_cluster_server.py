"""The broker as a process of ours."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import trustme
from brokers import ENGINE, brokers, linked

from gossamer.cluster.engine import OLDEST, engine_version, find_engine
from gossamer.cluster.nats_link import Credentials, Link
from gossamer.cluster.server import Server
from gossamer.errors import EngineError, UnavailableError


def listening(pid: int) -> set[str]:
    """Addresses, as the kernel writes them, on which a process listens."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(os.readlink(descriptor))
        except OSError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                found.add(words[1].partition(":")[0])
    return found


@pytest.mark.parametrize("number", [1, 3])
def test_it_is_ready_and_heard_on_loopback_only(tmp_path: Path, number: int) -> None:
    with brokers(tmp_path, number) as servers:
        for server in servers:
            assert server.pid is not None
            assert listening(server.pid) == {"0100007F"}
            assert stat.S_IMODE((server.home / "nats-server.conf").stat().st_mode) == 0o600
        pids = [server.pid for server in servers]
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists()


def test_strangers_are_not_let_in(tmp_path: Path) -> None:
    with brokers(tmp_path, 1) as (server,):

        async def come(credentials: Credentials | None) -> None:
            link = await Link.open([server.address], credentials, patience=1.0)
            await link.close()

        for credentials in (None, Credentials("crawl", ""), Credentials("crawl", "guess")):
            with pytest.raises(UnavailableError):
                asyncio.run(come(credentials))
        asyncio.run(come(server.credentials))


def test_the_user_of_the_crawl_cannot_ask_about_the_server(tmp_path: Path) -> None:
    async def ask() -> None:
        async with linked(servers) as link:
            await link.ask("$SYS.REQ.SERVER.PING.VARZ")

    with brokers(tmp_path, 1) as servers, pytest.raises(UnavailableError):
        asyncio.run(ask())


def test_it_starts_again_with_the_same_port_and_streams(tmp_path: Path) -> None:
    with brokers(tmp_path, 1) as (server,):

        async def write() -> int:
            async with linked([server]) as link:
                await link.js.add_stream(name="S", subjects=["s"])
                return await link.publish("s", b"kept")

        async def read() -> bytes:
            await server.ready()
            async with linked([server]) as link:
                stored = await link.last("S", "s")
                assert stored is not None
                return stored.data

        assert asyncio.run(write()) == 1
        server.kill()
        assert not server.running
        server.start()
        assert asyncio.run(read()) == b"kept"


def test_a_server_that_does_not_sync_is_not_used(tmp_path: Path) -> None:
    class Careless(Server):
        def settings(self) -> str:
            return super().settings().replace('"always"', '"2m"')

    server = Careless(tmp_path, engine=ENGINE)
    server.start()
    try:
        with pytest.raises(EngineError, match="does not sync"):
            asyncio.run(server.ready())
        assert not server.running
    finally:
        server.kill()


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    with brokers(tmp_path / "a", 1) as (first,):
        second = Server(tmp_path / "b", engine=ENGINE)
        second.port = first.port
        second.start()
        with pytest.raises(EngineError, match="address already in use"):
            asyncio.run(second.ready())


def test_names_of_folders_may_hold_anything_that_can_be_written(tmp_path: Path) -> None:
    with brokers(tmp_path / 'a "b" \\c $d #e {f} ü', 1) as (server,):
        assert (server.home / "streams").is_dir()


def test_it_dies_with_who_started_it(tmp_path: Path) -> None:
    script = (
        "import asyncio, os, signal, sys\n"
        "from pathlib import Path\n"
        "from gossamer.cluster.server import Server\n"
        "server = Server(Path(sys.argv[1]), engine=Path(sys.argv[2]))\n"
        "server.start()\n"
        "asyncio.run(server.ready())\n"
        "print(server.pid, flush=True)\n"
        "signal.pause()\n"
    )
    engine = ENGINE or find_engine()
    parent = subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(engine)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    ended = os.pidfd_open(pid)
    try:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        parent.stdout.close()
        # Readable when the process has ended: its new parent may not have buried it yet.
        assert asyncio.run(readable(ended, 10.0))
    finally:
        os.close(ended)


async def readable(descriptor: int, patience: float) -> bool:
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, event.set)
    try:
        await asyncio.wait_for(event.wait(), patience)
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)
    return True


def test_the_newest_on_the_path_is_taken_or_that_of_the_extra(tmp_path: Path) -> None:
    def fake(name: str, says: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "nats-server").write_text(f"#!/bin/sh\necho '{says}'\n")
        (folder / "nats-server").chmod(0o755)
        return folder / "nats-server"

    new, old, other = fake("new", "nats-server: v99.0.0"), fake("old", "nats-server: v2.10.26"), fake("other", "hello")
    assert find_engine(str(new.parent)) == new
    assert engine_version(old) == (2, 10, 26)
    assert engine_version(other) is None
    assert engine_version(tmp_path / "none") is None
    for unfit in (old, other):
        found = find_engine(str(unfit.parent))
        assert found != unfit
        version = engine_version(found)
        assert version is not None
        assert version >= OLDEST


class Guarded(Server):
    """A broker behind TLS, with the certificate that lies in its parent's directory."""

    def settings(self) -> str:
        files = f'cert_file: "{self.home.parent}/cert.pem", key_file: "{self.home.parent}/key.pem"'
        return f"{super().settings()}tls {{ {files} }}\n"


def certified(home: Path) -> trustme.CA:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    (home / "cert.pem").write_bytes(issued.cert_chain_pems[0].bytes())
    (home / "key.pem").write_bytes(issued.private_key_pem.bytes())
    return authority


def trusting(trusted: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    trusted.configure_trust(context)
    return context


def test_a_broker_behind_tls_is_trusted_by_its_certificate_only(tmp_path: Path) -> None:
    authority, stranger = certified(tmp_path), trustme.CA()

    async def come(trusted: trustme.CA) -> None:
        address = f"tls://localhost:{server.port}"
        link = await Link.open([address], server.credentials, tls=trusting(trusted), patience=10.0)
        await link.ask("$JS.API.INFO")
        await link.close()

    async def stay_away() -> None:
        await Link.open([f"tls://localhost:{server.port}"], server.credentials, tls=trusting(stranger), patience=1.0)

    server = Guarded(tmp_path / "n", engine=ENGINE)
    server.start()
    try:
        asyncio.run(come(authority))
        with pytest.raises(UnavailableError):
            asyncio.run(stay_away())
    finally:
        server.stop()


def test_a_broker_that_freezes_behind_tls_is_left_at_once(tmp_path: Path) -> None:
    """Closing a TLS connection waits half a minute for a server that says nothing any more."""
    authority = certified(tmp_path)
    servers = [Guarded(tmp_path / name, engine=ENGINE) for name in ("a", "b")]

    async def use() -> None:
        addresses = [f"tls://crawl:{each.credentials.password}@localhost:{each.port}" for each in servers]
        link = await Link.open(addresses, tls=trusting(authority), patience=3.0)
        url = link.client.connected_url
        frozen = next(each for each in servers if url is not None and url.port == each.port)
        assert frozen.pid is not None
        os.kill(frozen.pid, signal.SIGSTOP)
        try:
            async with asyncio.timeout(25):  # seconds; the wait for its farewell alone would take 34
                while link.client.connected_url is None or link.client.connected_url.port == frozen.port:
                    with suppress(UnavailableError):
                        await link.ask("$JS.API.INFO")
                    await asyncio.sleep(0)
        finally:
            os.kill(frozen.pid, signal.SIGCONT)
            await link.close()

    for server in servers:
        server.start()
    try:
        asyncio.run(use())
    finally:
        for server in servers:
            server.stop()
