"""`gossamer keys`: who may ask the service of a crawl."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gossamer.cli import StrictGroup

if TYPE_CHECKING:
    from gossamer.service.keys import Role

Command = TypeVar("Command", bound=Callable[..., Any])

_directory: Callable[[Command], Command] = click.option(
    "--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory."
)


@click.group(cls=StrictGroup)
def keys() -> None:
    """Make, list and revoke the keys of the service.

    DIR/keys.json keeps only their hashes. Changes hold from the next request on, also of a service that runs.
    """


@keys.command
@click.argument("name", metavar="NAME")
@click.option(
    "--role",
    type=click.Choice(["search", "admin"]),
    required=True,
    metavar="search|admin",
    help="search: ask; admin: change the crawl as well.",
)
@click.option("--rate", type=click.FloatRange(0.001, 1e6), metavar="N", help="Requests a second at most. [default: 50]")
@_directory
def add(name: str, role: Role, rate: float | None, directory: Path) -> int:
    """Make a key for NAME and print it, this once."""
    from gossamer.service.keys import KeyFile

    print(KeyFile(directory).add(name, role, rate or 0.0))
    click.echo("This is the only time that the key is shown. Send it as: Authorization: Bearer KEY", err=True)
    return 0


@keys.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each.")
@_directory
def list_keys(directory: Path, as_json: bool) -> int:
    """List names, roles and when they were made."""
    import msgspec

    from gossamer.cli.numbers import moment
    from gossamer.service.keys import KeyFile

    for key in KeyFile(directory).read():
        said = {"name": key.name, "role": key.role, "made_at": key.made_at, "rate": key.rate or None}
        rate = f"  {key.rate:g}/s" if key.rate else ""
        print(
            msgspec.json.encode(said).decode()
            if as_json
            else f"{key.name:<24} {key.role:<7} {moment(key.made_at)}{rate}"
        )
    return 0


@keys.command
@click.argument("name", metavar="NAME")
@_directory
def revoke(name: str, directory: Path) -> int:
    """Refuse the key of NAME from the next request on, and end its logins."""
    from gossamer.service.keys import KeyFile

    file = KeyFile(directory)
    file.revoke(name)
    print(f"The key of {name} is revoked.")
    if not file.read():
        print("There are no keys any more: a service of this crawl serves its own machine without one, to read.")
    return 0
