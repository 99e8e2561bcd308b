"""`gossamer agent`: one agent of a crawl, on any machine that reaches the broker."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.cli import StrictCommand
from gossamer.cli.flags import flag
from gossamer.cli.reaching import broker_of, broker_options
from gossamer.cli.seed_list import Seeds
from gossamer.config import OPTIONS, Config, changed, load_text, local_values
from gossamer.errors import ClusterError, ConfigError, CrawlDirError

if TYPE_CHECKING:
    from gossamer.agent.fleet import Fleet
    from gossamer.agent.progress import Progress
    from gossamer.cli.plain import PlainProgress
    from gossamer.cli.view import LiveView
    from gossamer.cluster.broker import Broker

_FLAGS = ("fetch.connections", "fetch.connect", "fetch.dns", "store.directories", "index.on", "service.port")


@click.command(cls=StrictCommand)
@click.option("--dir", "directory", type=Path, metavar="DIR", required=True, help="Where this agent keeps its part.")
@click.argument("seeds", metavar="[SEED]...", nargs=-1)
@broker_options
@click.option(
    "--name",
    default="",
    show_default=False,
    metavar="NAME",
    help="Of this agent: a-z, 0-9 and -. [default: as last time]",
)
@click.option("--weight", type=click.FloatRange(0.01, 1000), default=1.0, metavar="X", help="Its share of the work.")
@flag("fetch.connections")
@flag("fetch.connect")
@flag("fetch.dns")
@flag("store.directories")
@flag("index.on")
@flag("service.port")
@click.option(
    "--checkpoints",
    default="",
    show_default=False,
    metavar="PLACE",
    help="Where this machine finds copies of partitions.",
)
@click.option("--config", type=Path, metavar="FILE", help="TOML with options of this machine; flags win over it.")
@click.option(
    "--json", "as_json", is_flag=True, help="Last line of stdout is one JSON object; progress goes to stderr."
)
def agent(
    directory: Path,
    seeds: tuple[str, ...],
    cluster: str | None,
    cluster_ca: str,
    cluster_cert: str,
    cluster_key: str,
    name: str,
    weight: float,
    checkpoints: str,
    config: Path | None,
    as_json: bool,
    **flags: Any,
) -> int:
    """Take part in a crawl of several agents.

    Joins the crawl at the broker, takes its share of the work and keeps its part in DIR. The same command again goes
    on. Ctrl-C or SIGTERM: this agent leaves, and the others go on with its share. SEEDs are added to the crawl.
    """
    from gossamer.agent.ward import obey_leash, on_leash

    supervised = on_leash()
    if supervised:
        obey_leash()
    # Who has started this has written down where the broker is.
    broker = broker_of(None if supervised else cluster, directory, cluster_ca, cluster_cert, cluster_key)
    name = _named(broker, name, directory)
    local = _local(flags, config, checkpoints)
    _check(directory)
    urls = Seeds(seeds)
    broker = _kept(broker, name, directory)
    if supervised:
        return _join(broker, directory, urls, local, weight)
    port = local.pop("service.port", None)  # the supervisor has that process
    words = ["--dir", str(directory), "--weight", str(weight), *_words(flags, config, checkpoints)]
    return _supervise(broker, directory, words, urls, port, as_json)


def _named(broker: Broker, name: str, directory: Path) -> str:
    from gossamer.agent.broker_file import read_broker
    from gossamer.cluster.session import session_key

    if not name and not broker.name:
        try:
            name = read_broker(directory).name
        except CrawlDirError:
            raise ConfigError("--name: give this agent a name, unlike those of the others") from None
    session_key(name or broker.name)
    return name or broker.name


def _local(flags: dict[str, Any], file: Path | None, checkpoints: str) -> dict[str, Any]:
    """What holds for this machine only."""
    found = local_values(file) if file is not None else {}
    for option in _FLAGS:
        value = flags[OPTIONS[option].flag[2:].replace("-", "_")]
        if value is not None and value != ():
            found[option] = value
    if checkpoints:
        found["cluster.checkpoints"] = checkpoints
    changed(Config(), found)  # says what is wrong with them
    return found


def _words(flags: dict[str, Any], file: Path | None, checkpoints: str) -> list[str]:
    """The same once more, for the process that is the agent."""
    found = []
    for option in (OPTIONS[name] for name in _FLAGS if name != "service.port"):
        value = flags[option.flag[2:].replace("-", "_")]
        if isinstance(value, bool):
            found.append(option.flag if value else f"--no-{option.flag[2:]}")
        elif value is not None:
            found += [word for each in ((value,) if isinstance(value, str) else value) for word in (option.flag, each)]
    if file is not None:
        found += ["--config", str(file)]
    return [*found, "--checkpoints", checkpoints] if checkpoints else found


def _check(directory: Path) -> None:
    from gossamer.agent.broker_file import NAME
    from gossamer.agent.crawl_dir import CrawlDir

    if (directory / "agents").is_dir():
        raise CrawlDirError(f"{directory} is a crawl of several agents: give --dir one of {directory / 'agents'}/.")
    if (directory / "frontier").is_dir() and not (directory / NAME).exists():
        raise CrawlDirError(f"{directory} is a crawl of its own, of one agent. Choose another --dir.")
    if not (directory / NAME).exists():
        CrawlDir(directory).check()


def _kept(broker: Broker, name: str, directory: Path) -> Broker:
    """Known to the directory from now on, so that the next command need not be told."""
    import msgspec

    from gossamer.agent.broker_file import NAME, read_broker, save_broker
    from gossamer.agent.crawl_dir import CrawlDir

    known = msgspec.structs.replace(broker, name=name)
    if not (directory / NAME).exists() or read_broker(directory) != known:
        if CrawlDir(directory).in_use():
            raise CrawlDirError(
                f"{directory} is in use by another agent. Wait for it, stop it, or choose another --dir."
            )
        directory.mkdir(parents=True, exist_ok=True)
        save_broker(known, directory)
    return known


# -- the agent itself --------------------------------------------------------------------------------------------------


class _Written:
    """The progress of an agent whose supervisor shows it: written where that looks."""

    every = 1.0

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.last: Progress | None = None

    def update(self, progress: Progress) -> None:
        from gossamer.agent.together import write_progress

        self.last = progress
        write_progress(self._directory, progress)

    def notice(self, text: str) -> None:
        with suppress(OSError):  # a supervisor that was killed hears nothing, and this one is to end cleanly
            print(text, file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        pass  # it sees how far the index is


def _join(broker: Broker, directory: Path, seeds: Seeds, local: dict[str, Any], weight: float) -> int:
    from gossamer import agent
    from gossamer.agent.answer_process import AnswerProcess
    from gossamer.agent.joined import join
    from gossamer.agent.parts import is_part
    from gossamer.cli.crawl import STOPPED, apps_beside, catch_up, end_apps, find_classes, handed_over

    settings = changed(asyncio.run(_settings(broker)), local)
    find_classes(settings)
    progress = _Written(directory)
    running = apps_beside(settings, directory, progress.notice)
    index = agent.IndexProcess(directory, progress.notice) if settings.index.on else None
    # The directories of a crawl on one machine are read by whoever is asked about it.
    answer = None if is_part(directory) else AnswerProcess(directory, progress.notice)
    try:
        summary = join(
            directory,
            broker,
            broker.name,
            seeds,
            local=local,
            weight=weight,
            watch=progress.update,
            every=progress.every,
            notice=progress.notice,
            index=index,
            service=answer,
            apps=running,
        )
        end_apps(running, summary.reason)
        whole = progress.last or agent.Progress()
        whole.running = False
        for name in summary.__struct_fields__:
            setattr(whole, name, getattr(summary, name))
        progress.update(whole)
        if index is not None:
            catch_up(index, whole, progress, settings.agent.time_limit)
            progress.update(whole)
    finally:
        if answer is not None:
            answer.stop()
    with suppress(OSError):
        sys.stdout.buffer.write(handed_over(whole))
        sys.stdout.flush()
    return STOPPED if summary.reason == "stopped" else 0


async def _settings(broker: Broker) -> Config:
    """What all agents judge by, as of now."""
    from gossamer.cluster.broker import open_keys
    from gossamer.cluster.shared import read_crawl, read_settings

    link = await broker.connect(broker.name)
    try:
        keys = await open_keys(link)
        there = await read_settings(keys)
        if there is None or await read_crawl(keys) is None:
            raise ClusterError(
                "there is no crawl at this broker yet: `gossamer cluster config FILE.toml` makes one, then start agents"
            )
    finally:
        await link.close()
    return load_text(there.toml, f"version {there.version} of the cluster's settings")


# -- its supervisor ----------------------------------------------------------------------------------------------------


def _supervise(broker: Broker, directory: Path, words: Sequence[str], seeds: Seeds, port: Any, as_json: bool) -> int:
    from gossamer.agent.fleet import Fleet, write_seeds
    from gossamer.agent.supervisor import signals
    from gossamer.agent.together import forget_written, merge, summary_of
    from gossamer.cli.crawl import STOPPED, conclude, progress_of, service_beside

    forget_written(directory)
    command = [sys.executable, "-m", "gossamer", "agent", *words, *write_seeds(seeds, directory)]
    with progress_of(directory) as progress:
        served = Config() if port is None else changed(Config(), {"service.port": port})
        with service_beside(served, directory, progress) as service:
            fleet = Fleet(
                {broker.name: directory},
                lambda name, after: command,
                progress.notice,
                lambda name, line: progress.notice(line),
            )

            async def run() -> int:
                with signals(fleet.tell):
                    tasks = [asyncio.create_task(_show(fleet, progress))]
                    if service is not None:
                        tasks.append(asyncio.create_task(service.keep_running()))
                    try:
                        return await fleet.run()
                    finally:
                        for task in tasks:
                            task.cancel()

            status = asyncio.run(run())
    whole = merge(list(fleet.progress().values()))
    if status in (0, STOPPED):
        conclude(whole, summary_of(whole), directory, ["agent", "--dir", str(directory)], as_json, whole.searchable > 0)
    return status if status >= 0 else 1


async def _show(fleet: Fleet, progress: PlainProgress | LiveView) -> None:
    from gossamer.agent.together import merge

    while True:
        if said := fleet.progress():
            progress.update(merge(list(said.values())))
        await asyncio.sleep(progress.every)
