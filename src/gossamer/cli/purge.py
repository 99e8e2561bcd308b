"""`gossamer purge`: a host leaves the crawl because its owner asks for it."""

from __future__ import annotations

from pathlib import Path

import click

from gossamer.cli import StrictCommand
from gossamer.cli.commanding import control_of, directory_option, json_option, say


@click.command(cls=StrictCommand)
@directory_option
@click.argument("host", metavar="HOST")
@json_option
def purge(directory: Path, host: str, as_json: bool) -> int:
    """Remove a host and its pages for good.

    HOST and all hosts below it are not visited any more, their URLs are excluded, and their pages leave the index. WARC
    files are not rewritten. DIR/logs/audit.jsonl keeps who asked for it, and when.
    """
    return say(control_of(directory).purge(host), as_json)
