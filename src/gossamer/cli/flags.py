"""Options of the configuration as flags of commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gossamer.config import OPTIONS
from gossamer.config.kinds import Many

Command = TypeVar("Command", bound=Callable[..., Any])


def flag(name: str) -> Callable[[Command], Command]:
    """The flag of an option; its help is the option's own."""
    option = OPTIONS[name]
    if isinstance(option.default, bool):
        return click.option(f"{option.flag}/--no-{option.flag[2:]}", default=None, help=option.help, show_default=False)
    default = option.kind.show(option.default) or "empty"
    return click.option(
        option.flag,
        metavar=option.metavar,
        multiple=isinstance(option.kind, Many),
        help=f"{option.help} [default: {default}]",
        show_default=False,
    )
