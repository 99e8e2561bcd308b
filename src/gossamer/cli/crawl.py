"""`gossamer crawl`: options in, `agent.run`, progress and summary out."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gossamer.cli.seeds import read_seeds
from gossamer.config import OPTIONS, Config, default_contact, has_contact, load
from gossamer.errors import ConfigError, SeedError

if TYPE_CHECKING:
    from gossamer.agent.progress import Summary
    from gossamer.cli.plain import PlainProgress
    from gossamer.cli.view import LiveView

STOPPED = 130


def _flag(name: str) -> Any:
    """The flag of an option; its help is the option's own."""
    option = OPTIONS[name]
    default = option.kind.show(option.default) or "empty"
    switch = isinstance(option.default, bool)
    return typer.Option(
        f"{option.flag}/--no-{option.flag[2:]}" if switch else option.flag,
        metavar=None if switch else option.metavar,
        help=option.help if switch else f"{option.help} [default: {default}]",
        show_default=False,
    )


def crawl(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Where the crawl is kept; one that exists is resumed.")
    ],
    seeds: Annotated[
        list[str] | None,
        typer.Argument(metavar="SEED", help="URLs, @file with one URL a line, - for stdin.", show_default=False),
    ] = None,
    max_pages: Annotated[str | None, _flag("agent.max_pages")] = None,
    max_depth: Annotated[str | None, _flag("scope.max_depth")] = None,
    time_limit: Annotated[str | None, _flag("agent.time_limit")] = None,
    scope: Annotated[str | None, _flag("scope.scope")] = None,
    include: Annotated[list[str] | None, _flag("scope.include")] = None,
    exclude: Annotated[list[str] | None, _flag("scope.exclude")] = None,
    types: Annotated[list[str] | None, _flag("scope.types")] = None,
    networks: Annotated[list[str] | None, _flag("scope.networks")] = None,
    delay: Annotated[str | None, _flag("policy.delay")] = None,
    connections: Annotated[str | None, _flag("fetch.connections")] = None,
    host_connections: Annotated[str | None, _flag("policy.host_connections")] = None,
    rate: Annotated[str | None, _flag("fetch.rate")] = None,
    bandwidth: Annotated[str | None, _flag("fetch.bandwidth")] = None,
    allow_private: Annotated[bool | None, _flag("fetch.allow_private")] = None,
    connect: Annotated[list[str] | None, _flag("fetch.connect")] = None,
    dns: Annotated[list[str] | None, _flag("fetch.dns")] = None,
    user_agent: Annotated[str | None, _flag("fetch.user_agent")] = None,
    contact: Annotated[str | None, _flag("fetch.contact")] = None,
    agents: Annotated[str, typer.Option(metavar="N", help="Processes; this version has one.")] = "1",
    strategy: Annotated[str, typer.Option(metavar="NAME", help="In what order.")] = "breadth-first",
    index: Annotated[
        bool | None,
        typer.Option("--index/--no-index", help="Full-text index; not in this version.", show_default=False),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="TOML; the command line wins over it.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Last line of stdout is one JSON object; progress goes to stderr.")
    ] = False,
) -> int:
    """Crawl, or go on with a crawl.

    Follows links from the SEEDs and keeps everything in DIR. A crawl that is already there goes on where it was,
    with the settings it had; the options of this command win over them.
    """
    _check_version_limits(agents, strategy, index)
    settings = settings_of(context.params, directory, config)
    if not seeds and not _kept(directory).exists():
        raise SeedError(f"there is no crawl in {directory} to go on with: give at least one SEED, a URL or @file")
    urls = read_seeds(seeds or [])
    from gossamer import agent
    from gossamer.cli.plain import summary_text

    with _progress(directory) as progress:
        for note in notes(settings):
            progress.notice(note)
        summary = agent.run(
            settings, directory, urls, watch=progress.update, every=progress.every, notice=progress.notice
        )
    # The last progress of a run that has ended says the same as the summary, and more.
    ended = progress.last is not None and not progress.last.running
    text = summary_text(progress.last if ended and progress.last else summary, directory)
    if summary.reason == "stopped":
        text += f"\ngo on     {resume_command(context.obj or sys.argv[1:])}"
    print(text, file=sys.stderr if as_json else sys.stdout, flush=True)
    if as_json:
        sys.stdout.write(json_line(summary))
        sys.stdout.flush()
    return STOPPED if summary.reason == "stopped" else 0


def settings_of(given: dict[str, Any], directory: Path, file: Path | None) -> Config:
    """The file named, or else what the crawl in the directory ran with; the command line wins over both."""
    overrides = {
        # Repeatable flags that were not given arrive empty.
        name: None if (value := given[option.flag[2:].replace("-", "_")]) in ([], ()) else value
        for name, option in OPTIONS.items()
        if option.flag
    }
    if file is None and _kept(directory).is_file():
        return load(_kept(directory), overrides, resumed=True)
    return load(file, overrides)


def notes(config: Config) -> list[str]:
    """What the operator should know before the first request."""
    found = []
    if config.policy.delay == 0:
        found.append("note: --delay 0 makes no pause between visits to a host; be sure that its owner agrees")
    if not has_contact(config.fetch):
        found.append(
            f"note: no --contact given, so servers see {default_contact()}; give a mail address or URL where you"
            " can be reached"
        )
    return found


def resume_command(arguments: Sequence[str]) -> str:
    """The same command; standard input has been read and is not there a second time."""
    return shlex.join(["gossamer", *(argument for argument in arguments if argument != "-")])


def json_line(summary: Summary) -> str:
    import msgspec

    from gossamer.agent.progress import Summary

    fields = {name: getattr(summary, name) for name in Summary.__struct_fields__}
    rounded = {name: round(value, 3) if isinstance(value, float) else value for name, value in fields.items()}
    return msgspec.json.encode(rounded).decode() + "\n"


def _kept(directory: Path) -> Path:
    return directory / "gossamer.toml"


def _progress(directory: Path) -> PlainProgress | LiveView:
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from gossamer.cli.view import LiveView

        return LiveView(directory)
    from gossamer.cli.plain import PlainProgress

    return PlainProgress()


def _check_version_limits(agents: str, strategy: str, index: bool | None) -> None:
    if agents != "1":
        raise ConfigError(f"--agents: {agents!r} is not possible yet; this version runs 1 agent")
    if strategy != "breadth-first":
        raise ConfigError(f"--strategy: {strategy!r} is not known; this version has breadth-first")
    if index:
        raise ConfigError("--index: this version has no full-text index yet; leave it out or give --no-index")
