"""`make screenshots`: pictures of all pages, light and dark, on narrow, usual and wide screens.

`--docs` renews those that the documents show.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from browsing import chromium, gossamer, serving
from operating import log_in, operated
from playwright.sync_api import Browser, sync_playwright

from gossamer.index import Search
from gossamer.testing import SimServer, World

SIZES = ((360, 740), (1200, 800), (1600, 900))
SCHEMES = ("light", "dark")
SHOWN = {
    "search": ("results", 1200, "light"),
    "controls": ("controls", 1200, "light"),
    "dashboard": ("dashboard", 1200, "light"),
}
HOURS = ("Mon-Fri 08:00-18:00 rate=10", "Sun pause", "22:00-06:00 rate=0")
DOCS = Path(__file__).parents[2] / "docs" / "images"


@contextmanager
def service() -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a service, and the pages to look at."""
    world = World(1, 12, 25, "realistic")
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "crawl"
        server = stack.enter_context(SimServer.running(world))
        gossamer(
            "crawl", world.url(0), "--dir", str(home), "--scope", "any", "--allow-private", "--connect", server.connect,
            "--delay", "0", "--time-limit", "30s",
        )  # fmt: skip
        index = Search([home / "index"])
        words = index.terms(2)
        found = index.answer(words[0], limit=1).results[0]
        index.close()
        pages = {
            "empty": "/",
            "results": f"/?q={quote(words[0])}",
            "nothing": f"/?q={quote(words[0])}+zzzzzz",
            "error": f"/?q={quote(words[0])}+%22{quote(words[1])}",
            "copy": f"/copy?url={quote(found.url, safe='')}",
            "missing": "/copy?url=http%3A%2F%2Fwww.example.org%2F",
            "domains": "/domains?under=test",
            "login": "/login",
        }
        yield stack.enter_context(serving(home)), pages


@contextmanager
def operated_service() -> Iterator[tuple[str, dict[str, str], str]]:
    """The same of a crawl that runs, and a key that may command it."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "crawl"
        with operated(home, "--delay", "0", "--rate", "60") as crawl:
            gossamer("limits", "--dir", str(home), *(part for line in HOURS for part in ("--schedule", line)))
            gossamer("block", "shop.example.org", "example.net/forum/", "--dir", str(home))
            gossamer("report", "--dir", str(home), "--out", str(home / "facts" / "report.html"))
            host = crawl.log.arrivals[0].host
            pages = {
                "controls": "/controls",
                "hosts": "/hosts",
                "host": f"/hosts/{host}",
                "url": f"/urls?url={quote(f'http://{host}/', safe='')}",
                "report": "/report",
                "dashboard": "/dashboard",  # last, when there is something to see
            }
            yield crawl.address, pages, crawl.key


def take(browser: Browser, address: str, pages: dict[str, str], out: Path, key: str = "") -> None:
    for width, height in SIZES:
        for scheme in SCHEMES:
            context = browser.new_context(
                base_url=address, color_scheme="dark" if scheme == "dark" else "light", has_touch=width < 600,
                viewport={"width": width, "height": height},
            )  # fmt: skip
            page = context.new_page()
            if key:
                log_in(page, key)
            for name, path in pages.items():
                page.goto(path)
                page.wait_for_load_state("load" if name == "dashboard" else "networkidle")  # that one is never idle
                if name == "results" and width > 600:
                    page.locator(".hit summary").nth(1).click()
                page.screenshot(full_page=name == "dashboard", path=out / f"{name}-{width}-{scheme}.png")
            context.close()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--docs", action="store_true", help="copy those that the documents show")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    number = 0
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        with service() as (address, pages):
            take(browser, address, pages, given.out)
            number += len(pages)
        with operated_service() as (address, pages, key):
            take(browser, address, pages, given.out, key)
            number += len(pages)
        browser.close()
    if given.docs:
        DOCS.mkdir(exist_ok=True)
        for name, (page, width, scheme) in SHOWN.items():
            (DOCS / f"{name}.png").write_bytes((given.out / f"{page}-{width}-{scheme}.png").read_bytes())
    print(f"{number * len(SIZES) * len(SCHEMES)} pictures in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
