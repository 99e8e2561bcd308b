"""`gossamer block`: the blocklist."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gossamer.cli import StrictCommand
from gossamer.cli.commanding import control_of, directory_option, json_option, say


@click.command(cls=StrictCommand)
@directory_option
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1)
@click.option("--remove", is_flag=True, help="Take these off the list.")
@json_option
def block(directory: Path, patterns: tuple[str, ...], remove: bool, as_json: bool) -> int:
    """Show or change which hosts and pages nobody may visit.

    A PATTERN is example.org (that host and all below it), *.example.org (only those below) or example.org/forum/ (pages
    whose path begins so). A running crawl takes changes up at once, also for visits in flight. Without a PATTERN the
    list is shown.
    """
    chosen = control_of(directory)
    if patterns:
        return say(chosen.unblock(patterns) if remove else chosen.block(patterns), as_json)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode({"patterns": chosen.blocklist()}).decode() + "\n")
    else:
        for pattern in chosen.blocklist():
            print(pattern)
    return 0
