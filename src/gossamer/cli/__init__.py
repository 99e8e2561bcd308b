"""The command `gossamer`: one module for each command, of which only the one that is asked for is loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from gossamer.errors import GossamerError

# Name of a command, of its module here and of its function there; and what `gossamer --help` says of it.
COMMANDS = {
    "crawl": "Crawl, or go on with a crawl.",
    "urls": "List the known URLs.",
    "status": "Say what a crawl does or did.",
    "simweb": "Serve a simulated web.",
}


def application(loaded: Collection[str] = tuple(COMMANDS)) -> typer.Typer:
    """All commands, those in `loaded` with their options: the libraries of the others would be felt at every start."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback()(_gossamer)
    for name, sentence in COMMANDS.items():
        if name in loaded:
            app.command(name, short_help=sentence)(_command(name))
        else:
            app.command(name, short_help=sentence)(_not_loaded)
    return app


def run(arguments: Sequence[str]) -> int:
    """The exit status: 0 finished, 2 wrong usage or configuration, 130 stopped, 1 anything else."""
    arguments = list(arguments) or ["--help"]
    chosen = [argument for argument in arguments if not argument.startswith("-")][:1]
    try:
        app = application(chosen)
        return int(app(arguments, prog_name="gossamer", standalone_mode=False, obj=arguments) or 0)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        hint = f" See '{context.command_path} --help'." if context else ""
        return _fail(error.format_message() + hint, error.exit_code)
    except GossamerError as error:
        return _fail(str(error), error.exit_status)
    except KeyboardInterrupt:
        return 130


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A path or URL that the terminal's encoding cannot show must not end a crawl.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"gossamer {version('gossamer')}")
        except PackageNotFoundError:
            print("gossamer, run from its source without being installed")
        raise typer.Exit


def _gossamer(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """A polite, durable web crawler."""


def _command(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(f"gossamer.cli.{name}"), name)
    return function


def _not_loaded() -> None:
    raise AssertionError("only a command that was loaded can be run")


def _fail(message: str, status: int) -> int:
    print(f"gossamer: {' '.join(message.split())}", file=sys.stderr, flush=True)
    return status
