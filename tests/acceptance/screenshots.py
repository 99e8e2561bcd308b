"""`make screenshots`: pictures of all pages, light and dark, on narrow, usual and wide screens, and of the terminal,
while a simulated web is crawled. Those that the documents show go to docs/images.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec
from browsing import chromium, gossamer, serving
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console

from gossamer.agent import Progress
from gossamer.cli.view import render
from gossamer.index import Search
from gossamer.testing import SimServer, World

SIZES = ((360, 740), (1200, 800), (1600, 900))
SCHEMES = ("light", "dark")
SHOWN = {
    "search": "results-1200-light", "dashboard": "dashboard-1200-light", "report": "report-1200-light",
    "terminal": "terminal",
}  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs" / "images"
WORLD = World(1, 60, 150, "realistic")
_WATCHED = 60.0  # seconds of the crawl before its dashboard is shown
_TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; display: inline-block; background: #121413; color: #e6e8e6; }}
pre {{ margin: 0; padding: 16px 20px; font: 15px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }}
</style><pre>$ gossamer crawl {seed} --dir crawl --scope any --max-pages {most}\n\n{view}</pre>"""


@contextmanager
def crawling(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A crawl that has gone on for a while."""
    with SimServer.running(WORLD) as server:
        command = [
            sys.executable, "-m", "gossamer", "crawl", WORLD.url(0), "--dir", str(home), "--scope", "any",
            "--allow-private", "--connect", server.connect, "--delay", "0.3", "--max-pages", "20000",
        ]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(_WATCHED)
            yield process
            process.terminate()


def pages_of(home: Path) -> dict[str, str]:
    """What to look at when the crawl has ended, by name."""
    index = Search([home / "index"])
    words = index.terms(2)
    found = index.answer(words[0], limit=1).results[0]
    index.close()
    url = quote(found.url, safe="")
    return {
        "empty": "/",
        "results": f"/?q={quote(words[0])}",
        "nothing": f"/?q={quote(words[0])}+zzzzzz",
        "error": f"/?q={quote(words[0])}+%22{quote(words[1])}",
        "copy": f"/copy?url={url}",
        "missing": "/copy?url=http%3A%2F%2Fwww.example.org%2F",
        "domains": "/domains?under=test",
        "hosts": "/hosts",
        "host": f"/hosts/{found.host}",
        "url": f"/urls?url={url}",
        "report": "/report",
        "login": "/login",
    }


class Camera:
    def __init__(self, browser: Browser, address: str, out: Path) -> None:
        self._browser, self._address, self._out = browser, address, out
        self.taken = 0

    def take(self, pages: dict[str, str]) -> None:
        for width, height in SIZES:
            for scheme in SCHEMES:
                context = self._browser.new_context(
                    base_url=self._address, color_scheme="dark" if scheme == "dark" else "light",
                    has_touch=width < 600, viewport={"width": width, "height": height},
                )  # fmt: skip
                page = context.new_page()
                for name, path in pages.items():
                    page.goto(path, wait_until="load")
                    if name == "results" and width > 600:
                        page.locator(".hit summary").nth(1).click()
                    page.screenshot(path=self._out / f"{name}-{width}-{scheme}.png")
                    self.taken += 1
                context.close()

    def terminal(self, progress: Progress) -> None:
        """What the terminal shows of a crawl, drawn by the same code, in the browser's letters."""
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            console = Console(record=True, width=104, force_terminal=True, color_system="standard", file=nowhere)
            console.print(render(progress, Path("crawl")))
        view = console.export_html(inline_styles=True, code_format="{code}")
        page = self._browser.new_page(viewport={"width": 1200, "height": 400})
        page.set_content(_TERMINAL.format(seed=WORLD.url(0), most=progress.max_pages, view=view))
        page.locator("body").screenshot(path=self._out / "terminal.png")
        page.close()
        self.taken += 1


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "crawl"
        home.mkdir()
        address = stack.enter_context(serving(home))
        playwright = stack.enter_context(sync_playwright())
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        camera = Camera(browser, address, given.out)
        with crawling(home):
            camera.take({"dashboard": "/dashboard"})
            camera.terminal(msgspec.json.decode(gossamer("status", "--dir", str(home), "--json"), type=Progress))
        gossamer("index", "--dir", str(home))
        gossamer("report", "--dir", str(home))
        camera.take(pages_of(home))
        browser.close()
    DOCS.mkdir(exist_ok=True)
    for name, picture in SHOWN.items():
        (DOCS / f"{name}.png").write_bytes((given.out / f"{picture}.png").read_bytes())
    print(f"{camera.taken} pictures in {given.out}, of which {', '.join(SHOWN)} are in {DOCS.name} now")
    return 0


if __name__ == "__main__":
    sys.exit(main())
