"""`gossamer urls`: what is known of every URL, as JSON lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from gossamer.cli import StrictCommand
from gossamer.config.kinds import Choice
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.model import VisitRecord

_STATES = ("queued", "fetched", "dead", "excluded")
_CHUNK = 4096


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option("--state", metavar="|".join(_STATES), help="Only URLs in this state.")
def urls(directory: Path, state: str | None) -> int:
    """List the known URLs.

    One line of JSON for each: url, state, status, depth, fetched_at, tries, reason, due, changes.
    Works while a crawl runs.
    """
    from gossamer import agent
    from gossamer.model import State

    wanted = None
    if state is not None:
        try:
            wanted = State[Choice(*_STATES).read(state).upper()]
        except ValueError as error:
            raise ConfigError(f"--state: {state!r} is not {error}") from None
    records = agent.read_visits(directory, wanted)
    try:
        write_lines(records, sys.stdout.buffer)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. What the interpreter flushes at its end must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def write_lines(records: Iterable[VisitRecord], out: BinaryIO) -> None:
    """In chunks: a crawl may know a hundred million URLs."""
    import msgspec

    encode = msgspec.json.Encoder().encode_lines
    lines = _lines(records)
    while chunk := list(islice(lines, _CHUNK)):
        out.write(encode(chunk))


def _lines(records: Iterable[VisitRecord]) -> Iterator[dict[str, object]]:
    from gossamer.model import State

    names = {state: state.name.lower() for state in State}
    for record in records:
        yield {
            "url": record.url,
            "state": names[record.state],
            "status": record.status or None,
            "depth": record.depth,
            "fetched_at": datetime.fromtimestamp(record.fetched_at, UTC) if record.fetched_at else None,
            "tries": record.tries,
            "reason": record.reason or None,
            "due": datetime.fromtimestamp(record.due, UTC) if record.due else None,
            "changes": record.changes,
        }
