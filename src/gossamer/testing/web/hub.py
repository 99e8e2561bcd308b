"""The page for people: what a browser sees that opens the server's address."""

from __future__ import annotations

import re

from gossamer.testing.web.message import response
from gossamer.testing.web.world import World

_SHOWN_HOSTS = 1_000
_NAMED_WORLD = re.compile(r"[^:]*\.test\.?(?::\d+)?", re.I)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A simulated web</title>
<style>
body {{ max-width: 720px; margin: 32px auto; padding: 0 16px; font: 15px/1.45 system-ui }}
body {{ color: #1b1d1c; background: #fbfbf9 }}
pre {{ font: 13px/1.45 ui-monospace, monospace; padding: 12px; border: 1px solid #e3e5e1; overflow-x: auto }}
ul {{ columns: 2; padding-left: 20px }} a {{ color: #0b6b5d }}
@media (prefers-color-scheme: dark) {{
  body {{ color: #e6e8e6; background: #121413 }} pre {{ border-color: #2a2e2c }} a {{ color: #4fd1b5 }}
}}
</style>
</head>
<body>
<h1>A simulated web</h1>
<p>This server pretends to be {hosts} with {pages} pages each ({profile} profile, seed {seed}). Every page is computed
from its address; nothing is stored, and the same seed gives the same web again.</p>
<p>Crawl it:</p>
<pre>{command}</pre>
<p>Look at a page, or use {address} as the HTTP proxy of a browser:</p>
<pre>curl --connect-to ::{address} {first}</pre>
<h2>Hosts</h2>
<ul>
{links}
</ul>
{more}</body>
</html>
"""


def crawl_command(world: World, address: str, directory: str = "crawl") -> str:
    """The command that crawls all of this web, ready to paste."""
    first = world.url(0)
    return f"gossamer crawl {first} --dir {directory} --scope any --connect '*={address}' --allow-private"


def is_stranger(host: str) -> bool:
    """Whether a Host header names no place in the simulated web but the server itself: a number, localhost, nothing."""
    return not _NAMED_WORLD.fullmatch(host)


def hub_page(world: World, address: str) -> bytes:
    # The Host header comes from the visitor and goes into the page: only what can be an address may stay.
    address = re.sub(r"[^A-Za-z0-9.:\[\]-]", "", address) or "127.0.0.1"
    shown = min(world.hosts, _SHOWN_HOSTS)
    names = [world.names.name(index) for index in range(shown)]
    body = _PAGE.format(
        hosts="one host" if world.hosts == 1 else f"{world.hosts:,} hosts",
        pages=f"{world.pages:,}" if not world.profile.varied else f"about {world.pages:,}",
        profile=world.profile.name,
        seed=world.seed,
        command=crawl_command(world, address),
        address=address,
        first=world.url(0),
        links="\n".join(f'<li><a href="http://{name}/">{name}</a>' for name in names),
        more=f"<p>And {world.hosts - shown:,} more.</p>\n" if world.hosts > shown else "",
    )
    return response(200, "text/html; charset=utf-8", body.encode())
