"""`gossamer answer`: what other agents ask about the directory of this one. A running agent has such a process."""

from __future__ import annotations

from pathlib import Path

import click

from gossamer.cli import StrictCommand
from gossamer.cli.leash import Stopped, wait_for_input


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The agent's directory.")
@click.option("--leash", is_flag=True, hidden=True, help="End when standard input does.")
def answer(directory: Path, leash: bool) -> int:
    """Let the directory of an agent that has ended be searched and asked, until Ctrl-C.

    The pages that an agent has stored are in its own directory. While it runs, it answers the other agents, their
    service and their commands. After it has ended, this command does, and its pages stay in the answers.
    """
    import asyncio

    from gossamer.agent.watching.beside import sharing_beside
    from gossamer.report.figures import TOPIC, FactsAnswerer
    from gossamer.service.answering import answer_for

    stopped = Stopped()

    def ready() -> None:
        if not leash:
            click.echo(f"The crawl's other agents can ask {directory} now. Ctrl-C ends that.", err=True)

    facts = FactsAnswerer(directory)
    try:
        with sharing_beside(directory, lambda text: click.echo(text, err=True)):
            asyncio.run(
                answer_for(
                    directory,
                    lambda: stopped() or (leash and wait_for_input(0.0)),
                    ready,
                    others={TOPIC: facts.answer},
                )
            )
    finally:
        facts.close()
    return 0
