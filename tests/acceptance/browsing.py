"""A crawl of a small web, its service in a process of its own, and a browser to look at it with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Frame, Page, Request

from gossamer.testing import TinyWeb

GOSSAMER = [sys.executable, "-m", "gossamer"]
HARBOUR = "http://www.coast.test/"
JAPANESE = "http://ja.coast.test/"
HOSTILE = "http://hostile.test/"
TEXT = "http://www.coast.test/notes.txt"
IMAGE = "http://www.coast.test/boat.png"
MOVED = "http://www.coast.test/moved"
PAGES = 23
"""With the word harbour, of which ten go on a page of results."""

THINGS = "anchors barrels compasses fishermen oars pilots".split()

# Every way that is known to run, load, send, navigate or refresh. Whatever succeeds shows: it asks for /ran, or leads
# to another title or address.
ATTACK = """<!DOCTYPE html>
<html onclick="fetch('/ran?html')"><head>
<title>Hostile page</title>
<base href="http://evil.test/base/" target="_parent">
<meta http-equiv="refresh" content="0;url=http://evil.test/refresh">
<meta http-equiv="Content-Security-Policy" content="script-src *">
<link rel="stylesheet" href="http://evil.test/style.css"><link rel="preload" as="script" href="/ran?preload">
<link rel="dns-prefetch" href="//evil.test"><link rel="prefetch" href="/ran?prefetch">
<script>top.location = '/ran?top'; document.title = 'ran'; fetch('/ran?inline')</script>
<script src="/ran?script"></script><script type="module">import('/ran?module')</script>
<style>@import url(http://evil.test/import.css); body { background: url(/ran?css) }</style>
</head><body onload="fetch('/ran?onload')" background="/ran?background">
<p id="text">The hostile page has a harbour as well.</p>
<img src="/ran?img" onerror="fetch('/ran?onerror')"><img srcset="/ran?srcset 2x">
<picture><source srcset="/ran?picture"></picture>
<svg onload="fetch('/ran?svg')"><script>fetch('/ran?svgscript')</script>
<use href="/ran?use#x"/><image href="/ran?image"/></svg>
<svg><animate onbegin="fetch('/ran?begin')" attributeName="x" dur="1s"/>
<foreignObject><iframe src="/ran?foreign"></iframe></foreignObject></svg>
<math><mtext><script>fetch('/ran?math')</script></mtext></math>
<iframe src="/ran?iframe"></iframe><iframe srcdoc="<script>top.location='/ran?srcdoc'</script>"></iframe>
<iframe src="javascript:fetch('/ran?jsframe')"></iframe>
<object data="/ran?object"></object><embed src="/ran?embed">
<video src="/ran?video" poster="/ran?poster" autoplay></video>
<audio src="/ran?audio" autoplay onerror="fetch('/ran?audioerror')"></audio>
<div><template shadowrootmode="open"><script>fetch('/ran?shadow')</script><img src="/ran?shadowimg"></template></div>
<form id="f" action="/logout" method="post"><button id="post">Post</button></form>
<form action="http://evil.test/form"><button id="send" formaction="/ran?formaction">Send</button></form>
<input autofocus onfocus="fetch('/ran?focus')">
<details open ontoggle="fetch('/ran?toggle')"><summary>x</summary></details>
<a id="js" href="javascript:top.location='/ran?href'">javascript</a>
<a id="data" href="data:text/html,<script>top.location='/ran?data'</script>" target="_top">data</a>
<a id="ping" href="http://www.coast.test/" ping="http://evil.test/ping">a link</a>
<marquee onstart="fetch('/ran?marquee')">m</marquee>
<noscript><p title="</noscript><img src=/ran?mutation onerror=fetch('/ran?mxss')>"></noscript>
<plaintext>
"""


def fill(web: TinyWeb) -> str:
    """Add the pages; gives the seed."""
    links = [f"/{number}" for number in range(2, PAGES + 1)]
    web.add_page(
        HARBOUR,
        [*links, JAPANESE, HOSTILE, TEXT, IMAGE, MOVED, "http://deep.docs.coast.test/"],
        body=_text(1, "The harbour of the city"),
    )
    for number in range(2, PAGES + 1):
        web.add_page(f"http://www.coast.test/{number}", body=_text(number, f"Quay {number} of the harbour"))
    japanese = "<html lang=ja><meta charset=shift_jis><title>港の風景</title>"
    japanese += "<h1>港の風景</h1><p>港には多くの船が停泊している。"
    web.add_page(JAPANESE, body=japanese.encode("shift_jis"), headers={"Content-Type": "text/html"})
    web.add_page(HOSTILE, body=ATTACK)
    web.add_page("http://deep.docs.coast.test/", body="<title>Deep documents</title><p>Nothing but lighthouses.")
    web.add_page(
        TEXT, body="Plain notes of lanterns.\n<script>top.location='/ran?text'</script>", headers=_type("text/plain")
    )
    web.add_page(IMAGE, body=b"\x89PNG\r\n\x1a\n" + bytes(64), headers=_type("image/png"))
    web.add_redirect(MOVED, "/2")
    return HARBOUR


def _text(number: int, title: str) -> str:
    return (
        f"<!DOCTYPE html><html lang=en><title>{title}, {THINGS[number % len(THINGS)]}</title><h1>{title}</h1>"
        f"<p>Ships number {number} lie in the harbour, <b>sails</b> furled, and their captains tell of storms.</p>"
        f'<p><a href="http://www.coast.test/">Back to the city</a> <a href="http://nowhere.test/">Elsewhere</a></p>'
    )


def _type(name: str) -> dict[str, str]:
    return {"Content-Type": name}


def gossamer(*arguments: str) -> str:
    done = subprocess.run([*GOSSAMER, *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def crawl_and_index(home: Path) -> None:
    with TinyWeb() as web:
        seed = fill(web)
        gossamer(
            "crawl", seed, "--dir", str(home), "--scope", "any", "--allow-private", "--connect", web.connect,
            "--delay", "0", "--types", "text/html,text/plain,image/png", "--exclude", "//(evil|nowhere)[.]test",
        )  # fmt: skip


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """The address of the service, without a slash."""
    with subprocess.Popen(
        [*GOSSAMER, "serve", "--dir", str(home), "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            address = said.partition("http://")[2].partition("/")[0]
            assert address, said
            yield f"http://{address}"
        finally:
            process.terminate()


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("NOT TESTED: pages in a browser. There is no chromium; install it (apt-get install chromium).")


class Watch:
    """Writes down what a browser does: every request that it did not stop itself, and whatever its console says."""

    def __init__(self, context: BrowserContext) -> None:
        self.requests: list[str] = []
        self.console: list[str] = []
        context.on("request", self._request)
        context.on("requestfailed", self._failed)
        context.on("console", self._say)
        context.on("weberror", lambda error: self.console.append(str(error.error)))

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _failed(self, request: Request) -> None:
        if request.failure in ("csp", "origin", "net::ERR_BLOCKED_BY_CSP"):
            self.requests.remove(request.url)

    def _say(self, message: ConsoleMessage) -> None:
        self.console.append(f"{message.type}: {message.text}")

    def outside(self, address: str) -> list[str]:
        return [url for url in self.requests if not url.startswith((address + "/", "data:"))]


def wait_until(where: Page | Frame, condition: str) -> None:
    """`wait_for_function` asks a second time by a string that is evaluated, which our pages forbid."""
    where.evaluate(
        f"""async () => {{
            for (let tries = 0; !({condition}); tries++) {{
                if (tries > 1500) throw new Error({condition!r} + " never came true")
                await new Promise(done => setTimeout(done, 20))
            }}
        }}"""
    )


def copy_of(url: str) -> str:
    return f"/copy?url={quote(url, safe='')}"


def results(page: Page) -> list[str]:
    return page.locator(".hit h2").all_inner_texts()
