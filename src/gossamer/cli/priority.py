"""`gossamer priority`: hosts raised and lowered."""

from __future__ import annotations

from pathlib import Path

import click

from gossamer.cli import StrictCommand
from gossamer.cli.commanding import control_of, directory_option, json_option, say
from gossamer.errors import ConfigError


@click.command(cls=StrictCommand)
@directory_option
@click.argument("host", metavar="HOST")
@click.argument("number", metavar="[N]", required=False)
@json_option
def priority(directory: Path, host: str, number: str | None, as_json: bool) -> int:
    """Show or change when the URLs of a host come.

    N is from 0 (first) to 9 (last), or usual. What is queued already comes accordingly, never before the host's delay.
    """
    chosen = control_of(directory)
    if number is None:
        found = chosen.priority(host)
        print("usual" if found is None else found)
        return 0
    if number != "usual" and not (number.isascii() and number.isdigit()):
        raise ConfigError(f"N: {number!r} is not a whole number from 0 (first) to 9 (last), or usual")
    return say(chosen.set_priority(host, None if number == "usual" else int(number)), as_json)
