"""The command `gossamer`: one module for each command, of which only the one that is asked for is loaded."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import cast

import click

from gossamer.errors import GossamerError

# Name of a command, of its module here and of its function there; and what `gossamer --help` says of it.
COMMANDS = {
    "crawl": "Crawl, or go on with a crawl.",
    "urls": "List the known URLs.",
    "explain": "Say what is known of a URL or host, what it waits for, and why.",
    "status": "Say what a crawl does or did.",
    "changes": "List new, changed and gone pages.",
    "report": "Say what a crawl has found.",
    "export": "Write pages, links, URLs or a web archive to a file.",
    "search": "Search the pages of a crawl.",
    "rank": "Rank pages, hosts and domains by their links (PageRank).",
    "watch": "Remember queries, and say which pages match them.",
    "index": "Bring the index of a crawl up to date.",
    "serve": "Answer searches and questions about a crawl over HTTP.",
    "keys": "Make, list and revoke the keys of the service.",
    "control": "Pause, resume or stop a crawl, commit now, retry or rejudge URLs.",
    "limits": "Show or change how fast a crawl may be.",
    "block": "Show or change which hosts and pages nobody may visit.",
    "seeds": "Add seeds to a crawl.",
    "refresh": "Visit known URLs again.",
    "priority": "Show or change when the URLs of a host come.",
    "repair": "Make anew what of a crawl's directory is damaged or lost.",
    "purge": "Remove a host and its pages for good.",
    "apps": "List applications of a crawl, or try one on its pages.",
    "agent": "Take part in a crawl of several agents.",
    "answer": "Let the directory of an agent that has ended be searched and asked.",
    "cluster": "Look at several agents on one crawl, and change what they share.",
    "doctor": "Say whether this machine is fit for a crawl, and what to change.",
    "simweb": "Serve a simulated web.",
}


class StrictCommand(click.Command):
    """A command that works on one directory: it refuses `--dir` given twice instead of leaving one out silently.

    Of any other option given twice the last holds, as everywhere, so that scripts can add to their options.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)  # parsing takes the other list apart
        rest = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(given)
        for each, times in Counter(order).items():
            if times > 1 and isinstance(each, click.Option) and "--dir" in each.opts and not each.multiple:
                message = f"--dir is given {times} times, and only one directory can be worked on: give it once."
                raise click.UsageError(message, ctx)
        return rest


class StrictGroup(click.Group):
    """A command of several, all of which are strict."""

    command_class = StrictCommand


class _Commands(click.Group):
    """Knows the commands by name and sentence; a command's module is loaded when it is asked for, and no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        assert name is not None
        command = load_command(name)
        if not gc.isenabled():  # by who has started the program
            gc.freeze()
            gc.enable()
        return name, command, rest


def application() -> click.Group:
    version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_version,
        help="Print the version and leave.",
    )
    return _Commands(
        "gossamer",
        {name: click.Command(name, short_help=sentence) for name, sentence in COMMANDS.items()},
        help="A polite, durable web crawler.",
        params=[version],
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
    )


def load_command(name: str) -> click.Command:
    return cast(click.Command, getattr(import_module(f"gossamer.cli.{name}"), name))


def run(arguments: Sequence[str]) -> int:
    """The exit status: 0 finished, 2 wrong usage or configuration, 130 stopped, 1 anything else."""
    arguments = list(arguments) or ["--help"]
    app = application()
    try:
        with app.make_context("gossamer", list(arguments), obj=arguments) as context:
            return int(app.invoke(context) or 0)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:  # a command of several, and none of them was named
        print(error.format_message(), file=sys.stderr, flush=True)
        return error.exit_code
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        hint = f" See '{where.command_path} --help'." if where else ""
        return _fail(_message(error) + hint, error.exit_code)
    except GossamerError as error:
        return _fail(str(error), error.exit_status)
    except BrokenPipeError:
        # Nobody reads on. What the interpreter flushes at its end must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A path or URL that the terminal's encoding cannot show must not end a crawl.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"gossamer {version('gossamer')}")
        except PackageNotFoundError:
            print("gossamer, run from its source without being installed")
        context.exit()


def _message(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        near = f" (Possible options: {', '.join(sorted(error.possibilities))})" if error.possibilities else ""
        return f"No such option: {error.option_name}{near}"
    return error.format_message()


def _fail(message: str, status: int) -> int:
    line = " ".join(message.split())
    # What was typed comes back in messages, but never as a command to the terminal.
    shown = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)
    print(f"gossamer: {shown}", file=sys.stderr, flush=True)
    return status
