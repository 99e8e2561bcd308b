"""`gossamer status`: what a crawl does or did."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictCommand
from gossamer.cli.everywhere import asked_everywhere

if TYPE_CHECKING:
    from gossamer.agent.index_status import IndexStatus


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option("--findings", is_flag=True, help="List the hosts and places left because they repeat others.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; with --findings one for each.")
def status(directory: Path, findings: bool, as_json: bool) -> int:
    """Say what a crawl does or did.

    Works while it runs.
    """
    from gossamer import agent

    if findings:
        return _list_findings(directory, as_json)
    with asked_everywhere(directory) as view:
        progress = agent.read_progress(directory) if view is None else view.progress()
        index = _index(directory) if view is None else view.index_age().status
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(progress).decode() + "\n")
    else:
        from gossamer.cli.plain import status_text

        print(status_text(progress, directory, index=index))
    return 0


def _index(directory: Path) -> IndexStatus | None:
    from gossamer import agent
    from gossamer.agent.index_status import status_of_all
    from gossamer.agent.parts import parts

    return status_of_all(agent.read_index_status(part.index) for part in parts(directory))


def _list_findings(directory: Path, as_json: bool) -> int:
    import msgspec

    from gossamer import agent
    from gossamer.cli.numbers import moment

    for found in agent.read_findings(directory):
        if as_json:
            sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        else:
            print(f"{moment(found.found_at)}  {agent.sentence(found)}")
    return 0
