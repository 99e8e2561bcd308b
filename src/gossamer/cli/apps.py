"""`gossamer apps`: applications of a crawl listed, or tried on the pages that are stored."""

from __future__ import annotations

import faulthandler
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gossamer.cli import StrictGroup
from gossamer.errors import AppError, ConfigError

if TYPE_CHECKING:
    from gossamer.agent.app_records import Convert
    from gossamer.config import AppRule

_GRACE: Final = 5.0  # seconds after which one that cannot be interrupted is ended
_MOST_PAGES: Final = 1000

directory_option = click.option(
    "--dir", "directory", type=Path, metavar="DIR", required=True, help="The crawl's directory."
)


@click.group(cls=StrictGroup)
def apps() -> None:
    """List applications of a crawl, or try one on its pages."""


@apps.command("list")
@directory_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_apps(directory: Path, as_json: bool) -> int:
    """List who shares the speed of a crawl, and what each has done.

    Works while it runs.
    """
    import msgspec

    from gossamer.agent.app_reading import read_apps

    found = read_apps(directory)
    if as_json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        return 0
    from gossamer.cli.plain import apps_text

    print(apps_text(found) or "no applications share this crawl; gossamer crawl --app MODULE:CLASS runs one")
    return 0


@apps.command("records")
@click.argument("name")
@directory_option
def list_records(name: str, directory: Path) -> int:
    """Print the records of an application as JSON lines, whichever way they are kept.

    Works while it runs.
    """
    import msgspec

    from gossamer.report.records import records

    for record in records(directory, name):
        sys.stdout.write(msgspec.json.encode(record).decode() + "\n")
    return 0


@apps.command("installed")
def list_installed() -> int:
    """List applications that are installed, for --app NAME."""
    from gossamer.agent.app_classes import installed

    for name, where in installed().items():
        print(f"{name}  {where}")
    return 0


@apps.command("try")
@click.argument("app", metavar="[NAME=]MODULE:CLASS[,option=value]")
@directory_option
@click.option(
    "--pages", type=click.IntRange(1), default=_MOST_PAGES, metavar="N", help="Stored pages to show it, at most."
)
def try_app(app: str, directory: Path, pages: int) -> int:
    """Show an application the stored pages, and print what it would ask for and record, as JSON lines.

    Nothing is visited, and nothing is kept.
    """
    import msgspec

    from gossamer.agent.app_classes import application_of
    from gossamer.agent.app_trial import trial

    count = 0
    for count, found in enumerate(trial(directory, application_of(_rule(app, directory)), pages), 1):  # noqa: B007
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    if not count:
        click.echo("it asks for nothing, and records nothing; gossamer urls lists what is stored", err=True)
    return 0


@apps.command("run", hidden=True)
@click.argument("name")
@directory_option
@click.option("--leash", is_flag=True, hidden=True, help="See what is left and end when standard input does.")
def run_app(name: str, directory: Path, leash: bool) -> int:
    """Run an application of a crawl in this process, as the crawl does."""
    from gossamer.agent.app_classes import application_of
    from gossamer.agent.app_runner import AppRunner
    from gossamer.cli.leash import Stopped, wait_for_input, waiting

    rule = _rule(name, directory)
    stopped = Stopped()
    application = application_of(rule)
    _limit_memory(rule.memory)
    runner = AppRunner(
        directory,
        rule.name,
        application,
        lambda text: print(text, file=sys.stderr, flush=True),
        convert=_convert() if rule.format == "parquet" else None,
        watched=lambda: _watched(rule.timeout),
    )
    try:
        runner.follow(wait_for_input if leash else waiting(stopped), stopped)
    except (AppError, MemoryError) as error:
        why = str(error) or f"it needs more memory than {rule.memory:,} bytes"
        runner.stopped(why)
        raise AppError(why) from error
    finally:
        runner.close()
    return 0


def _rule(text: str, directory: Path) -> AppRule:
    """Of the name of one that the crawl has, or as --app has it."""
    from gossamer.agent.crawl_dir import CrawlDir
    from gossamer.agent.parts import readable_parts
    from gossamer.config import app_of, load

    readable_parts(directory)
    known = {rule.name: rule for rule in load(CrawlDir(directory).settings).apps if rule.run}
    if text in known:
        return known[text]
    try:
        return app_of(text)
    except ValueError as error:
        raise ConfigError(f"{text}: {error}; this crawl has {', '.join(known) or 'no applications'}") from None


def _limit_memory(most: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """Who takes longer is interrupted; who cannot be, because a library of his hangs, is ended with the process."""

    def too_long(*_: object) -> None:
        raise AppError(f"one batch of pages took longer than {seconds:g} s (timeout)")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _convert() -> Convert:
    from gossamer.report.engine import Engine

    def convert(lines: Path, parquet: Path) -> None:
        with Engine() as engine:
            engine.convert_lines(lines, parquet)

    return convert
