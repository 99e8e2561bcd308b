"""A process that is frozen beyond its lease and wakes up, on real clocks, with a short lease."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from brokers import brokers, linked

from gossamer.cluster.lease import Terms, boot_time
from gossamer.cluster.members import Members
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.server import Server

TERMS = Terms(lease=1.5, gap=0.25, renewal=0.1)

# It says when it would have fetched, as often as it can, and how it ended.
_AGENT = """
import asyncio, sys
from gossamer.cluster.lease import Tenure, Terms, boot_time
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.nats_link import Credentials, Link
from gossamer.cluster.session import Session
from gossamer.errors import SessionLostError

async def main(address, user, password):
    now = 0.0
    link = await Link.open([address], Credentials(user, password))
    keys = await NatsCoordinator.open(link, "crawl")
    session = await Session.open(keys, "frozen", Terms(lease=1.5, gap=0.25, renewal=0.1))
    beats = asyncio.create_task(session.keep())
    while not beats.done():
        now = boot_time()
        if now < session.deadline:
            print(now, flush=True)
        await asyncio.sleep(0.002)
    assert isinstance(beats.exception(), SessionLostError)
    assert not session.may_fetch()
    print("lost", flush=True)
    await link.close()

asyncio.run(main(*sys.argv[1:]))
"""


async def revoked(server: Server, child: subprocess.Popen[bytes]) -> float:
    """Freeze it once it has begun; the time at which it was given up."""
    async with linked([server]) as link:
        members = await Members.open(await NatsCoordinator.open(link, "crawl"), TERMS)
        while "frozen" not in members.living():
            await members.look(0.1)
        for _ in range(5):  # beats
            while not await members.look(1.0):
                pass
        os.kill(child.pid, signal.SIGSTOP)
        while True:
            await members.look(0.01)
            before = boot_time()
            if await members.revoke_expired():
                break
        await members.close()
    return before


def test_who_wakes_up_after_its_lease_fetches_nothing_more(tmp_path: Path) -> None:
    with brokers(tmp_path, 1) as (server,):
        command = [sys.executable, "-c", _AGENT, server.address, server.credentials.user, server.credentials.password]
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            at = asyncio.run(revoked(server, child))
            os.kill(child.pid, signal.SIGCONT)
            said, _ = child.communicate(timeout=30)
        finally:
            child.kill()
            child.wait()
    *times, last = said.decode().split()
    assert last == "lost"
    assert child.returncode == 0
    assert times
    assert float(times[-1]) + TERMS.gap <= at
