"""`gossamer crawl`: options in, `agent.run`, progress and summary out."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from gossamer.cli import StrictCommand
from gossamer.cli.flags import flag
from gossamer.cli.from_search import MOST, USUAL, found_seeds
from gossamer.cli.seed_list import Seeds
from gossamer.config import OPTIONS, Config, app_of, default_contact, has_contact, load, with_apps
from gossamer.errors import ConfigError, CrawlDirError, SeedError

if TYPE_CHECKING:
    from gossamer.agent import IndexProcess
    from gossamer.agent.app_process import AppProcess
    from gossamer.agent.progress import Summary
    from gossamer.cli.plain import PlainProgress
    from gossamer.cli.view import LiveView
    from gossamer.service.beside import ServiceProcess


class Says(Protocol):
    every: float

    def say(self, text: str) -> None: ...


STOPPED = 130
FRUITLESS = 1  # no page was stored, because every seed was refused or failed
_LAST_PAGES = 5.0  # seconds that the index may take beyond a time limit: of small crawls it has all pages then
_MOST_SEEDS = 20  # that are named then


class _Crawl(StrictCommand):
    """Shows its one kind of argument by name, without the brackets of the usage line."""

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Arguments"):
            formatter.write_dl([("SEED...", "URLs, @FILE with one URL a line, or - for standard input.")])


@click.command(cls=_Crawl)
@click.option(
    "--dir",
    "directory",
    type=Path,
    metavar="DIR",
    required=True,
    help="Where the crawl is kept; one that exists is resumed.",
)
@click.argument("seeds", metavar="[SEED]...", nargs=-1)
@flag("agent.max_pages")
@flag("scope.max_depth")
@flag("agent.time_limit")
@flag("fresh.keep_fresh")
@flag("scope.scope")
@flag("scope.include")
@flag("scope.exclude")
@flag("scope.types")
@flag("scope.domains")
@flag("scope.networks")
@flag("policy.delay")
@flag("fetch.connections")
@flag("policy.host_connections")
@flag("fetch.rate")
@flag("fetch.target_rate")
@flag("fetch.bandwidth")
@flag("fetch.allow_private")
@flag("fetch.connect")
@flag("fetch.dns")
@flag("fetch.ca_file")
@flag("fetch.user_agent")
@flag("fetch.contact")
@flag("store.directories")
@flag("index.on")
@flag("service.port")
@flag("cluster.agents")
@click.option(
    "--from-search",
    default="",
    show_default=False,
    metavar="QUERY",
    help="The best results of the crawl's index become seeds, too.",
)
@click.option("--from-index", type=Path, metavar="DIR", help="Search that crawl instead of this one.")
@click.option(
    "--from-count", type=click.IntRange(1, MOST), default=USUAL, metavar="N", help="Results that become seeds at most."
)
@flag("strategy.strategy")
@flag("strategy.strategy_option")
@click.option(
    "--app",
    "apps",
    metavar="[NAME=]MODULE:CLASS[,share=2]",
    multiple=True,
    help="Run an application on the crawl; repeatable.",
)
@click.option(
    "--supervise/--no-supervise",
    default=None,
    help="Start the crawl again when it dies. [default: with --serve]",
    show_default=False,
)
@click.option("--config", type=Path, metavar="FILE", help="TOML; the command line wins over it.")
@click.option(
    "--json", "as_json", is_flag=True, help="Last line of stdout is one JSON object; progress goes to stderr."
)
@click.pass_context
def crawl(
    context: click.Context,
    /,
    directory: Path,
    seeds: tuple[str, ...],
    from_search: str,
    from_index: Path | None,
    from_count: int,
    apps: tuple[str, ...],
    supervise: bool | None,
    config: Path | None,
    as_json: bool,
    **flags: Any,
) -> int:
    """Crawl, or go on with a crawl.

    Follows links from the SEEDs and keeps everything in DIR. A crawl that is already there goes on where it was,
    with the settings it had; the options of this command win over them.
    """
    gc.set_threshold(50_000, 50, 100)  # as during the crawl: what is loaded from here on is no garbage
    kept = load(_kept(directory)) if config is None and _kept(directory).is_file() else None
    settings = with_flags(settings_of(flags, directory, config), apps)
    _check_strategy(settings)
    seeds += _found(from_search, from_index, directory, from_count)
    if not seeds and not _kept(directory).exists():
        raise SeedError(f"there is no crawl in {directory} to go on with: give at least one SEED, a URL or @file")
    urls = Seeds(seeds)
    if settings.cluster.agents > 1 or (directory / "agents").is_dir():
        from gossamer.cluster.engine import need_client

        need_client()
        from gossamer.cli.agents import crawl_together

        return crawl_together(context.obj or sys.argv[1:], urls, settings, kept, directory, as_json)
    from gossamer import agent
    from gossamer.agent.progress import Progress
    from gossamer.agent.supervisor import obey_leash, on_leash

    supervised = on_leash()
    if supervised:
        obey_leash()
    elif supervise or (supervise is None and settings.service.port is not None):
        from gossamer.cli.supervised import crawl_supervised

        return crawl_supervised(context.obj or sys.argv[1:], seeds, settings, directory, as_json)
    with progress_of(directory) as progress:
        for note in notes(settings):
            progress.notice(note)
        index = agent.IndexProcess(directory, progress.notice) if settings.index.on and not supervised else None
        running = apps_beside(settings, directory, progress.notice)
        with service_beside(settings, directory, progress, supervised) as service:
            summary = agent.run(
                settings,
                directory,
                urls,
                watch=progress.update,
                every=progress.every,
                notice=progress.notice,
                index=index,
                service=service,
                kept=kept,
                apps=running,
            )
            end_apps(running, summary.reason)
            if index is not None:
                catch_up(index, summary, progress, settings.agent.time_limit)
    # The last progress of a run that has ended says the same as the summary, and more.
    ended = progress.last is not None and not progress.last.running
    whole = progress.last if ended and progress.last else summary
    if running and isinstance(whole, Progress):
        from gossamer.agent.running_app import at_rest

        whole.apps = at_rest(whole.apps, directory)
    status = STOPPED if summary.reason == "stopped" else 0
    if supervised:  # who started this says the rest
        sys.stdout.buffer.write(handed_over(whole))
        return status
    words = context.obj or sys.argv[1:]
    return status if conclude(whole, summary, directory, words, as_json, index is not None) else FRUITLESS


def with_flags(settings: Config, apps: Sequence[str]) -> Config:
    """The applications that were named on the command line, too. Classes are looked for before anything begins."""
    try:
        found = replace(settings, apps=with_apps(settings.apps, map(app_of, apps)))
    except ValueError as error:
        raise ConfigError(f"--app: {error}") from None
    find_classes(found)
    return found


def find_classes(settings: Config) -> None:
    """ConfigError where that of an application is not on this machine, or cannot be made."""
    if any(rule.run for rule in settings.apps):
        from gossamer.agent.app_classes import application_of

        for rule in settings.apps:
            if rule.run:
                application_of(rule)


def apps_beside(settings: Config, directory: Path, notice: Callable[[str], None]) -> list[AppProcess]:
    rules = [rule for rule in settings.apps if rule.run]
    if not rules:
        return []
    from gossamer.agent.app_process import AppProcess

    return [AppProcess(directory, rule, notice) for rule in rules]


def end_apps(running: Iterable[AppProcess], reason: str) -> None:
    """They see what is left, unless somebody waits."""
    for each in running:
        each.stop() if reason == "stopped" else each.finish()


def conclude(
    whole: Summary, summary: Summary, directory: Path, arguments: Sequence[str], as_json: bool, searchable: bool
) -> bool:
    """Print the last words of a crawl; return whether it was good for anything: a page was stored, or may be yet."""
    from gossamer.cli.plain import searchable_text, summary_text

    failed = []
    if not summary.pages and summary.reason in ("complete", "time_limit"):
        from gossamer.agent.explain import seeds_not_visited

        failed = seeds_not_visited(directory, _MOST_SEEDS)
        for line in failed:
            print(line, file=sys.stderr, flush=True)

    text = summary_text(whole, directory)
    if searchable:
        text += "\n" + searchable_text(summary, directory)
    if summary.reason == "stopped":
        text += f"\ngo on     {resume_command(arguments)}"
    print(text, file=sys.stderr if as_json else sys.stdout, flush=True)
    if as_json:
        sys.stdout.write(json_line(summary))
        sys.stdout.flush()
    return not failed


def handed_over(whole: Summary) -> bytes:
    import msgspec

    return msgspec.msgpack.encode(whole)


@contextmanager
def service_beside(
    settings: Config, directory: Path, progress: PlainProgress | LiveView, supervised: bool = False
) -> Iterator[ServiceProcess | None]:
    """The service beside the crawl, until the end of the block, if one is wanted and nobody else has it.

    Where another process has the directory, that is said first: it probably has the port as well.
    """
    if not supervised:
        from gossamer.agent.crawl_dir import CrawlDir

        CrawlDir(directory).check_free()
    if settings.service.port is None or supervised:
        yield None
        return
    from gossamer.service.beside import ServiceProcess

    service = ServiceProcess(directory, settings.service.port, progress.notice)
    progress.notice(f"serving API and pages at {service.address}")
    try:
        yield service
    finally:
        service.stop()


def patience_of(limit: float, seconds: float) -> float:
    """How long the index of a run may take that has taken so many seconds, and has this time limit (0: none)."""
    return max(limit - seconds, _LAST_PAGES) if limit else inf


def catch_up(index: IndexProcess, summary: Summary, progress: Says, limit: float) -> None:
    """A crawl that was stopped ends at once; any other waits until its pages can be found, within the time limit of the
    run (0: there is none).
    """
    from gossamer.cli.plain import waiting_line

    if summary.reason == "stopped":
        index.stop()
        status = index.status()
    else:
        patience = patience_of(limit, summary.seconds)
        status = index.finish(lambda status: progress.say(waiting_line(status)), progress.every, patience)
    summary.searchable = status.pages
    summary.index_cpu_seconds = index.cpu_seconds


def settings_of(given: dict[str, Any], directory: Path, file: Path | None) -> Config:
    """The file named, or else what the crawl in the directory ran with; the command line wins over both."""
    overrides = {
        # Repeatable flags that were not given arrive empty.
        name: None if (value := given[option.flag[2:].replace("-", "_")]) == () else value
        for name, option in OPTIONS.items()
        if option.flag
    }
    if file is None and _kept(directory).is_file():
        kept = load(_kept(directory), resumed=True)
        another = overrides["strategy.strategy"] not in (None, kept.strategy.strategy)
        if another and overrides["strategy.strategy_option"] is None:
            overrides["strategy.strategy_option"] = []  # those of the one before are not this one's
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
    import shlex

    return shlex.join(["gossamer", *(argument for argument in arguments if argument != "-")])


def json_line(summary: Summary) -> str:
    import msgspec

    from gossamer.agent.progress import Summary

    fields = {name: getattr(summary, name) for name in Summary.__struct_fields__}
    rounded = {name: round(value, 3) if isinstance(value, float) else value for name, value in fields.items()}
    return msgspec.json.encode(rounded).decode() + "\n"


def _kept(directory: Path) -> Path:
    return directory / "gossamer.toml"


def progress_of(directory: Path) -> PlainProgress | LiveView:
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from gossamer.cli.view import LiveView

        return LiveView(directory)
    from gossamer.cli.plain import PlainProgress

    return PlainProgress()


def _found(query: str, index: Path | None, directory: Path, count: int) -> tuple[str, ...]:
    """Seeds by what is searched for."""
    if not query.strip():
        if index is not None:
            raise ConfigError("--from-index: say what to search there with --from-search QUERY")
        return ()
    if index is None and not _kept(directory).exists():
        raise SeedError(
            f"--from-search: there is no crawl in {directory} to search yet; name one that has an index with "
            "--from-index, or give at least one SEED first"
        )
    try:
        return found_seeds(query, index or directory, count)
    except CrawlDirError as error:
        if index is None or (index / "gossamer.toml").exists():
            raise
        raise CrawlDirError(f"--from-index: {index} is not a crawl: name the directory of one") from error


def _check_strategy(config: Config) -> None:
    """Whether there is such a strategy, before anything is written."""
    if config.strategy.strategy != "breadth-first" or config.strategy.strategy_option:
        from gossamer.agent.strategies import strategy_of

        strategy_of(config.strategy)
