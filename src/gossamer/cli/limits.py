"""`gossamer limits`: how fast a crawl may be."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gossamer.cli import StrictCommand
from gossamer.cli.commanding import control_of, directory_option, json_option, say


@click.command(cls=StrictCommand)
@directory_option
@click.option("--rate", metavar="N", help="Pages a second in all; 0 is no cap.")
@click.option("--bandwidth", metavar="SIZE", help="Bytes a second in all; 0 is no cap.")
@click.option("--delay", metavar="TIME", help="Pause between two visits to a host.")
@click.option("--connections", metavar="N", help="Connections in all.")
@click.option(
    "--schedule",
    multiple=True,
    metavar="HOURS",
    help="Other caps at certain hours: 'Mon-Fri 08:00-18:00 rate=5'. Can be repeated; none removes all.",
)
@json_option
def limits(
    directory: Path,
    rate: str | None,
    bandwidth: str | None,
    delay: str | None,
    connections: str | None,
    schedule: tuple[str, ...],
    as_json: bool,
) -> int:
    """Show or change how fast a crawl may be.

    Without limits given, those in force are shown. A running crawl takes changes up within two seconds, and keeps them.
    """
    given = {"rate": rate, "bandwidth": bandwidth, "delay": delay, "connections": connections}
    wanted: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    if schedule:
        wanted["schedule"] = [] if schedule == ("none",) else list(schedule)
    chosen = control_of(directory)
    if wanted:
        return say(chosen.set_limits(wanted), as_json)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(chosen.limits()).decode() + "\n")
        return 0
    from gossamer.agent.speed_limits import shown

    for name, value in shown(chosen.config()).items():
        print(f"{name:<12} {value}")
    return 0
