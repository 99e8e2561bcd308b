"""A crawl of the simulated web that runs, its service, and a key that may command it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browsing import GOSSAMER, serving
from playwright.sync_api import Page, expect

from gossamer.service.keys import KeyFile
from gossamer.testing import SimServer, World
from gossamer.testing.web.log import MemoryLog


class Operated:
    """What a test of it needs: the web's own log, the service's address, a key."""

    def __init__(self, home: Path, log: MemoryLog, address: str, key: str) -> None:
        self.home = home
        self.log = log
        self.address = address
        self.key = key

    @property
    def requests(self) -> int:
        return len(self.log.arrivals)


@contextmanager
def operated(home: Path, *options: str, world: World | None = None) -> Iterator[Operated]:
    """Ended at the end, whatever became of it. Nothing is indexed, unless the options say so."""
    log = MemoryLog()
    with SimServer.running(world or World(1, 100, 400), log=log) as web:
        command = [
            *GOSSAMER, "crawl", web.world.url(0), "--dir", str(home), "--scope", "any", "--allow-private",
            "--connect", web.connect, "--no-index", *options,
        ]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            try:
                assert log.wait_for(100, 60)
                key = KeyFile(home).add("ops", "admin", 1000)
                with serving(home) as address:
                    yield Operated(home, log, address, key)
            finally:
                process.kill()


def log_in(page: Page, key: str, lead: str = "/controls") -> None:
    page.goto(f"/login?next={lead}")
    page.fill("#key", key)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("h1")).not_to_have_text("Log in")
