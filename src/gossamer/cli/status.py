"""`gossamer status`: what a crawl does or did."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def status(
    directory: Annotated[Path, typer.Option("--dir", metavar="DIR", help="The crawl's directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
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
