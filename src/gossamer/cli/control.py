"""`gossamer control`: a crawl told what to do, whether it runs or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictCommand
from gossamer.cli.commanding import control_of, directory_option, json_option, say
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.agent.spool import Answer


@click.command(cls=StrictCommand)
@click.argument(
    "action",
    type=click.Choice(["pause", "resume", "checkpoint", "stop", "retry", "rejudge"]),
    metavar="ACTION",
    required=True,
)
@directory_option
@click.option(
    "--host", default="", show_default=False, metavar="HOST", help="With retry: only this host and those below it."
)
@json_option
def control(action: str, directory: Path, host: str, as_json: bool) -> int:
    """Pause, resume or stop a crawl, commit now, retry or rejudge URLs.

    ACTION is pause (start no visits, also after a restart), resume, checkpoint (returns when everything is durable),
    stop (as Ctrl-C does; returns when it has ended), retry (dead URLs are queued again, hosts that are down tried
    after their delay) or rejudge (excluded URLs are judged by the settings as they are now, and what only a visit can
    tell is visited again).
    """
    if host and action != "retry":
        raise ConfigError(f"--host: {action} is about the whole crawl; only retry takes a host")
    chosen = control_of(directory)
    actions: dict[str, Callable[[], Answer]] = {
        "pause": chosen.pause,
        "resume": chosen.resume,
        "checkpoint": chosen.checkpoint,
        "stop": chosen.stop,
        "retry": lambda: chosen.retry(host),
        "rejudge": chosen.rejudge,
    }
    return say(actions[action](), as_json)
