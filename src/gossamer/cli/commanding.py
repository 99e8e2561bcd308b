"""What the commands that change a crawl have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gossamer.cli.everywhere import is_one_of_several

if TYPE_CHECKING:
    from gossamer.agent import Control
    from gossamer.agent.spool import Answer

_PATIENCE = 10.0  # seconds for an agent's answer

Command = TypeVar("Command", bound=Callable[..., Any])

directory_option: Callable[[Command], Command] = click.option(
    "--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory."
)
json_option: Callable[[Command], Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object."
)


def control_of(directory: Path) -> Control:
    from gossamer.agent import control_of_all
    from gossamer.agent.audit import this_user

    if not is_one_of_several(directory):
        return control_of_all.control_of(directory, this_user())
    from gossamer.service.served import Served

    return Served(directory).asked().control(this_user(), _PATIENCE)


def say(answer: Answer, as_json: bool) -> int:
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    else:
        print(answer.text[:1].upper() + answer.text[1:] + ".")
        for each in answer.facts.get("refused", []):
            print(f"left out: {each['seed']}: {each['why']}", file=sys.stderr)
    return 0
