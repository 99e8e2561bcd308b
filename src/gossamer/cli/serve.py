"""`gossamer serve`: the service of a crawl, over HTTP."""

from __future__ import annotations

import re
from pathlib import Path

import click

from gossamer.cli import StrictCommand
from gossamer.errors import ConfigError, CrawlDirError

_ORIGIN = re.compile(r"https?://(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?/?", re.I)


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option(
    "--host", default="127.0.0.1", metavar="ADDRESS", help="Where to listen; others than loopback need a key."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, metavar="PORT", help="0 takes one that is free.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="The address under which a proxy publishes the service, such as https://search.example.org. Can be repeated.",
)
@click.option("--socket", "given", type=int, hidden=True, help="Of a crawl that this process is beside.")
def serve(directory: Path, host: str, port: int, origins: tuple[str, ...], given: int | None) -> int:
    """Answer searches and questions about a crawl over HTTP, until Ctrl-C.

    Works while the crawl runs. Without a key only this machine is served; make keys with `gossamer keys add`.
    """
    if not directory.is_dir():
        raise CrawlDirError(f"{directory} is not a directory. Give --dir the crawl's directory.")
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise ConfigError(f"--origin: {origin!r} is not an address such as https://search.example.org")
    from gossamer.service.server import serve as run

    run(directory, host, port, origins, _announce, given)
    return 0


def _announce(address: str, keyed: bool) -> None:
    need = "Each request needs a key." if keyed else "There are no keys: only this machine is served, to read."
    print(f"Serving at {address}. {need}")
    print("Ctrl-C stops it.", flush=True)
