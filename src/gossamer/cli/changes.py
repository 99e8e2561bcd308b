"""`gossamer changes`: new, changed and gone pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import StrictCommand
from gossamer.cli.everywhere import asked_everywhere
from gossamer.errors import ConfigError, CursorError

if TYPE_CHECKING:
    from gossamer.agent.changes import ChangesPart, Kind, Wish

_MOST = 1000
_KINDS = ("new", "changed", "gone")


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory.")
@click.option(
    "--since",
    metavar="TIME",
    default="",
    show_default=False,
    help="Only what was fetched since: 2026-01-31T12:00:00Z, or seconds since 1970.",
)
@click.option(
    "--cursor", metavar="CURSOR", default="", show_default=False, help="Go on behind the list that ended with this."
)
@click.option("--site", metavar="HOST", default="", show_default=False, help="Only pages of this host.")
@click.option("--kind", type=click.Choice(_KINDS), metavar="|".join(_KINDS), help="Only these.")
@click.option("-n", "limit", type=click.IntRange(1, _MOST), default=100, metavar="N", help="Changes to show.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, as the API does.")
def changes(directory: Path, since: str, cursor: str, site: str, kind: Kind | None, limit: int, as_json: bool) -> int:
    """List new, changed and gone pages.

    In the order in which they were found. The last line says how to go on, now or later: so each comes once. Works
    while a crawl runs.
    """
    from gossamer.agent.changes import Wish, read_moment

    try:
        begin = read_moment(since) if since else 0.0
    except ValueError as error:
        raise ConfigError(f"--since: {error}") from None
    try:
        part = _read(directory, cursor, begin, limit, Wish(kind, site.strip().lower()))
    except CursorError as error:
        raise CursorError(f"--cursor: {error}", error.stale) from None
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(part).decode() + "\n")
    else:
        _show(part, directory)
    return 0


def _read(directory: Path, cursor: str, since: float, limit: int, wish: Wish) -> ChangesPart:
    from gossamer.agent.changes import ChangesPart
    from gossamer.agent.changes_together import changes_in

    found = ChangesPart([], cursor, True)
    with asked_everywhere(directory) as view, changes_in(directory) as own:
        after = own if view is None else view.changes
        while found.more and len(found.changes) < limit:  # a part may be short because it took long
            part = after(found.next, since, limit - len(found.changes), wish)
            found = ChangesPart([*found.changes, *part.changes], part.next, part.more)
            if view is not None and view.missing:
                break  # there is more, and it does not come now
    return found


def _show(part: ChangesPart, directory: Path) -> None:
    from gossamer.cli.numbers import moment

    for each in part.changes:
        print(f"{moment(each.fetched_at.timestamp())}  {each.change:<7}  {each.status}  {each.url}")
    what = "There is more" if part.more else "That is all for now; later"
    print(f"{what}: gossamer changes --dir {directory} --cursor {part.next}")
