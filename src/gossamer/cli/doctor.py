"""`gossamer doctor`: whether this machine is fit for a crawl."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gossamer.cli import StrictCommand
from gossamer.cli.commanding import json_option


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", help="A crawl's directory, or where one is to begin.")
@json_option
def doctor(directory: Path | None, as_json: bool) -> int:
    """Say whether this machine is fit for a crawl, and what to change.

    Looks at file descriptors, ports, memory, disk, clock, loopback, DNS, root certificates and libraries. Starts
    nothing. The exit status is 1 when something must be changed.
    """
    from gossamer.agent.doctor import BAD, GOOD, examine

    found = examine(directory)
    healthy = all(diagnosis.grade != BAD for diagnosis in found)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode({"healthy": healthy, "checks": found}).decode() + "\n")
    else:
        for diagnosis in found:
            print(f"{diagnosis.grade:<5} {diagnosis.check:<10} {diagnosis.found}")
            if diagnosis.grade != GOOD and diagnosis.remedy:
                print(f"{'':<16} -> {diagnosis.remedy}")
    return 0 if healthy else 1
