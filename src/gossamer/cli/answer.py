"""`gossamer answer`: what other agents ask about this one's directory. A crawl of several agents starts it."""

from __future__ import annotations

from pathlib import Path

import click

from gossamer.cli.leash import Stopped, wait_for_input


@click.command(hidden=True)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The agent's directory.")
@click.option("--leash", is_flag=True, hidden=True, help="End when standard input does.")
def answer(directory: Path, leash: bool) -> int:
    """Answer what is asked about an agent's directory over the broker, until Ctrl-C."""
    import asyncio

    from gossamer.agent.watching.beside import sharing_beside
    from gossamer.report.figures import TOPIC, FactsAnswerer
    from gossamer.service.answering import answer_for

    stopped = Stopped()
    facts = FactsAnswerer(directory)
    try:
        with sharing_beside(directory, lambda text: click.echo(text, err=True)):
            asyncio.run(
                answer_for(
                    directory, lambda: stopped() or (leash and wait_for_input(0.0)), others={TOPIC: facts.answer}
                )
            )
    finally:
        facts.close()
    return 0
