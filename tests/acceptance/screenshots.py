"""`make screenshots`: pictures of all pages, light and dark, on narrow, usual and wide screens, and of the terminal, of
crawls of a simulated web. Those that the documents show go to docs/images.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec
from browsing import chromium, gossamer, serving
from operating import log_in, operated
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console

from gossamer.agent import Progress
from gossamer.cli.view import render
from gossamer.index import Search
from gossamer.testing import SimServer, World

SIZES = ((360, 740), (1200, 800), (1600, 900))
SCHEMES = ("light", "dark")
SHOWN = {
    "search": ("results", 1200, "light"),
    "controls": ("controls", 1200, "light"),
    "dashboard": ("dashboard", 1200, "light"),
    "report": ("report", 1200, "light"),
    "terminal": ("terminal", 1200, "dark"),
}
WORLD = World(1, 80, 400, "realistic")
WATCHED = 60.0  # seconds of a crawl before it is shown
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; display: inline-block; background: #121413; color: #e6e8e6; }}
pre {{ margin: 0; padding: 16px 20px; font: 15px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }}
</style><pre>$ gossamer crawl {seed} --dir crawl --scope any --serve 8000\n\n{view}</pre>"""
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
        words = "garden", "market"  # the simulated web is fond of both
        gossamer("watch", "add", f"{words[0]} -{words[1]}", "--name", "gardens", "--dir", str(home))
        gossamer("watch", "add", f'"{words[1]} garden"', "--webhook", "https://hooks.invalid/x", "--dir", str(home))
        gossamer("index", "--dir", str(home))
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
            "changes": "/changes",
            "watches": "/watches",
            "login": "/login",
        }
        yield stack.enter_context(serving(home)), pages


def take_operated(browser: Browser, out: Path) -> None:
    """Of a crawl that runs, with a key that may command it: the dashboard, the terminal, and then the rest."""
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
        home = Path("crawl")
        with operated(home, "--delay", "0.5", "--index", world=WORLD) as crawl:
            time.sleep(WATCHED)
            take(browser, crawl.address, {"dashboard": "/dashboard"}, out, crawl.key)
            said = gossamer("status", "--dir", str(home), "--json")
            take_terminal(browser, msgspec.json.decode(said, type=Progress), out / "terminal-1200-dark.png")
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
            }
            take(browser, crawl.address, pages, out, crawl.key)


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


def take_terminal(browser: Browser, progress: Progress, out: Path) -> None:
    """What the terminal shows of a crawl, drawn by the same code, in the browser's letters."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=104, force_terminal=True, color_system="standard", file=nowhere)
        console.print(render(progress, Path("crawl")))
    view = console.export_html(inline_styles=True, code_format="{code}")
    page = browser.new_page(viewport={"width": 1200, "height": 400})
    page.set_content(TERMINAL.format(seed=WORLD.url(0), view=view))
    page.locator("body").screenshot(path=out)
    page.close()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True)
    out: Path = options.parse_args().out
    out = out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    DOCS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        with service() as (address, pages):
            take(browser, address, pages, out)
        take_operated(browser, out)
        browser.close()
    for name, (page, width, scheme) in SHOWN.items():
        (DOCS / f"{name}.png").write_bytes((out / f"{page}-{width}-{scheme}.png").read_bytes())
    print(f"{len(list(out.glob('*.png')))} pictures are in {out}; {', '.join(SHOWN)} in docs/images")
    return 0


if __name__ == "__main__":
    sys.exit(main())
