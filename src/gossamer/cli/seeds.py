"""`gossamer seeds`: more seeds for a crawl."""

from __future__ import annotations

from pathlib import Path

import click

from gossamer.cli import StrictCommand
from gossamer.cli.commanding import control_of, directory_option, json_option, say
from gossamer.cli.seed_list import Seeds


@click.command(cls=StrictCommand)
@directory_option
@click.argument("given", metavar="SEED...", nargs=-1, required=True)
@click.option("--priority", type=click.IntRange(0, 9), default=4, metavar="N", help="When they come: 0 first, 9 last.")
@click.option("--links", is_flag=True, help="Of pages that are stored already, visit next what they link to.")
@json_option
def seeds(directory: Path, given: tuple[str, ...], priority: int, links: bool, as_json: bool) -> int:
    """Add seeds to a crawl.

    A SEED is a URL, @file with one URL a line, or - for stdin. Those that are new are visited, whatever the scope. If
    no crawl runs, the next run takes them up.
    """
    return say(control_of(directory).add_seeds(list(Seeds(given)), priority, links), as_json)
