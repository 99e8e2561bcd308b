"""`gossamer cluster`: several agents on one crawl, as the broker knows them, and what they share."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gossamer.cli import StrictGroup
from gossamer.cli.reaching import broker_of, broker_options
from gossamer.errors import ClusterError, ConfigError

if TYPE_CHECKING:
    from gossamer.cluster.broker import Broker
    from gossamer.cluster.nats_coordinator import NatsCoordinator
    from gossamer.cluster.nats_link import Link
    from gossamer.cluster.nats_overview import AgentView, Overview

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])

_NO_CRAWL = "there is no crawl at this broker yet: `gossamer cluster config FILE.toml` makes one"
_DRAIN_EVERY = 0.5  # seconds


@click.group(cls=StrictGroup)
def cluster() -> None:
    """Look at several agents on one crawl, and change what they share.

    The broker is named with --cluster, or known to the directory of a crawl or an agent, --dir.
    """


def _reaching(command: Command) -> Command:
    directory = click.option(
        "--dir", "directory", type=Path, metavar="DIR", help="Of a crawl with agents, or an agent."
    )
    return directory(broker_options(command))


@cluster.command
@_reaching
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(as_json: bool, **where: Any) -> int:
    """Say who is at work, who has what, and how full the broker is."""
    found = _with(where, lambda link, _: _overview(link))
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    else:
        print(status_text(found))
    return 0


@cluster.command
@click.argument("file", type=Path, required=False, metavar="[FILE.toml]")
@_reaching
@click.option("--replicas", type=click.IntRange(1, 5), metavar="N", help="Copies of all, when the crawl is made.")
def config(file: Path | None, replicas: int | None, **where: Any) -> int:
    """Show the settings of all agents, or change them.

    Without a FILE they are printed as TOML. With one they become the next version, which all agents take up within two
    seconds; the first one makes the crawl.
    """
    if file is None:
        there = _with(where, lambda _, keys: _settings(keys))
        print(f"# Version {there.version}{f', by {there.by}' if there.by else ''}.")
        sys.stdout.write(there.toml)
        return 0
    if not file.is_file():
        raise ConfigError(f"{file} is not a file: give a TOML file with the settings")
    print(_with(where, lambda link, keys: _write(link, keys, file, replicas)))
    return 0


@cluster.command
@click.argument("name", metavar="NAME")
@_reaching
@click.option("--undo", is_flag=True, help="It may have partitions again.")
def drain(name: str, undo: bool, **where: Any) -> int:
    """Have an agent give up its partitions, as before its machine is switched off.

    Returns when it has none. It goes on living, and gets none until --undo.
    """
    print(_with(where, lambda link, keys: _drain(link, keys, name, undo)))
    return 0


@cluster.command
@_reaching
def rebalance(**where: Any) -> int:
    """Have the leader share out the partitions again."""

    async def ask(link: Link, keys: NatsCoordinator) -> str:
        from gossamer.cluster.shared import rebalance as wish

        _need_agents(await _overview(link))
        await wish(keys)
        return "The leader is asked to plan again; gossamer cluster status shows what moves."

    print(_with(where, ask))
    return 0


@cluster.command
@_reaching
def stop(**where: Any) -> int:
    """Stop the crawl: all agents, on all machines."""

    async def end(_: Link, keys: NatsCoordinator) -> str:
        from gossamer.agent.audit import this_user
        from gossamer.cluster.shared import end_crawl

        await _settings(keys)
        found = await end_crawl(keys, "stopped", this_user())
        return "All agents are told to stop." if found.reason == "stopped" else f"It has ended already: {found.reason}."

    print(_with(where, end))
    return 0


@cluster.command
@_reaching
def resume(**where: Any) -> int:
    """Let agents go on with a crawl that has ended or was stopped."""

    async def begin(_: Link, keys: NatsCoordinator) -> str:
        from gossamer.cluster.shared import go_on

        await _settings(keys)
        await go_on(keys)
        return "The crawl may go on: start its agents."

    print(_with(where, begin))
    return 0


# -- what is asked of the broker ---------------------------------------------------------------------------------------


def _with(where: dict[str, Any], ask: Callable[[Link, NatsCoordinator], Awaitable[T]]) -> T:
    broker = broker_of(**where)

    async def run(broker: Broker) -> T:
        from gossamer.cluster.broker import open_keys

        link = await broker.connect("command")
        try:
            return await ask(link, await open_keys(link))
        finally:
            await link.close()

    return asyncio.run(run(broker))


async def _overview(link: Link) -> Overview:
    from gossamer.cluster.nats_overview import overview

    return await overview(link)


async def _settings(keys: NatsCoordinator) -> Any:
    from gossamer.cluster.shared import read_settings

    there = await read_settings(keys)
    if there is None:
        raise ClusterError(_NO_CRAWL)
    return there


async def _write(link: Link, keys: NatsCoordinator, file: Path, replicas: int | None) -> str:
    from gossamer.agent.audit import this_user
    from gossamer.cluster.broker import replicas_of
    from gossamer.cluster.making import check_facts, facts_of
    from gossamer.cluster.shared import make_crawl, read_crawl, read_settings, write_settings
    from gossamer.config import load

    wanted = load(file)
    there = await read_crawl(keys)
    if there is not None and replicas is not None and replicas != there.replicas:
        raise ConfigError(f"--replicas: the crawl was made with {there.replicas}, which stays so")
    if there is None:
        there = await make_crawl(keys, facts_of(wanted, replicas or replicas_of(link)))
    check_facts(there, wanted)
    before = await read_settings(keys)
    made = await write_settings(keys, wanted.to_toml(), this_user())
    assert made is not None
    if before is None:
        return f"The crawl is made, with {there.partitions} partitions. Start its agents: gossamer agent --help"
    if made.version == before.version:
        return f"It was so already, in version {made.version}."
    return f"Version {made.version} holds for all agents from now on."


async def _drain(link: Link, keys: NatsCoordinator, name: str, undo: bool) -> str:
    from gossamer.cli.bar import Bar
    from gossamer.cluster import shared

    found = await _overview(link)
    agent = _need(found, name)
    if undo:
        await shared.undrain(keys, name)
        return f"{name} may have partitions again."
    others = [each for each in found.agents if each.name != name and _lives(each) and not each.draining]
    if not others and agent.partitions:
        raise ClusterError(f"{name} is the only agent that could have partitions: start another one first")
    await shared.drain(keys, name)
    first = agent.partitions
    with Bar(f"{name} gives up its partitions (Ctrl-C does not stop that; --undo does)") as bar:
        while agent.partitions and _lives(agent):
            bar.update(first - agent.partitions, max(0, first - agent.partitions), max(1, first))
            await asyncio.sleep(_DRAIN_EVERY)
            agent = _need(await _overview(link), name)
    return f"{name} has no partitions" + (" and may be stopped." if _lives(agent) else ": it has ended.")


def _need(found: Overview, name: str) -> AgentView:
    agent = next((each for each in found.agents if each.name == name), None)
    if agent is None:
        known = ", ".join(each.name for each in found.agents) or "none"
        raise ClusterError(f"there is no agent {name}; known are {known}")
    return agent


def _need_agents(found: Overview) -> None:
    if not found.partitions:
        raise ClusterError(_NO_CRAWL)
    if not any(map(_lives, found.agents)):
        raise ClusterError("no agent is at work, so nobody leads: start one with gossamer agent")


def _lives(agent: AgentView) -> bool:
    return agent.state in ("working", "idle")


def status_text(found: Overview) -> str:
    from gossamer.agent.ending import WHY
    from gossamer.cli.numbers import count, share, size, span

    if not found.partitions:
        return f"crawl     {_NO_CRAWL}"
    living = sum(map(_lives, found.agents))
    state = f"ended: {WHY.get(found.end, found.end)}" if found.end else "running" if living else "no agent is at work"
    shared = f"{count(found.partitions)} partitions, {count(found.free)} of them nobody's"
    streams = [
        f"{each.name} {size(each.bytes)} of {size(each.limit)} ({share(each.bytes, each.limit)})"
        + (f", {each.replicas} copies" if each.replicas > 1 else "")
        for each in found.streams
    ]
    rows = [
        f"crawl     {found.id}: {state}",
        f"agents    {count(living)} at work, {count(sum(each.pages for each in found.agents))} pages",
        f"work      {shared}" + (f", {count(found.pins)} pinned domains" if found.pins else ""),
        f"leader    {found.leader or 'none'}, plan {found.plan or 'none yet'}",
        f"settings  version {found.settings}" + (f", by {found.settings_by}" if found.settings_by else ""),
        f"broker    {' · '.join(streams)}",
    ]
    if found.agents:
        rows += ["", f"{'agent':<16}{'state':<10}{'beat':>9}{'has':>7}{'plan':>7}{'pages':>12}{'log':>9}  session"]
    for each in found.agents:
        alive = _lives(each) or each.state == "silent"
        rows.append(
            f"{each.name:<16}{'draining' if each.draining and alive else each.state:<10}{span(each.beat_age):>9}"
            f"{count(each.partitions):>7}{count(each.planned):>7}{count(each.pages):>12}{count(each.log):>9}"
            f"  {each.session[:8]}"
        )
    return "\n".join(rows)
