"""`gossamer status`: what a crawl does or did."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(directory: Path, as_json: bool) -> int:
    """Say what a crawl does or did.

    Works while it runs.
    """
    from gossamer import agent

    progress = agent.read_progress(directory)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(progress).decode() + "\n")
    else:
        from gossamer.cli.plain import status_text

        print(status_text(progress, directory))
    return 0
