"""`gossamer simweb`: serve a simulated web, or one made of a stored crawl, or print what a crawler finds in it."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from gossamer.cli import StrictCommand
from gossamer.errors import ConfigError

if TYPE_CHECKING:  # loaded when the command runs: `gossamer --help` needs none of it
    from gossamer.agent.replay import Replay
    from gossamer.testing.web.server import Server
    from gossamer.testing.web.truth import ScopeName
    from gossamer.testing.web.world import World

_ENDLESS = "endless"
_PROFILES = ("plain", "realistic", "hostile", "changing", "topical", _ENDLESS)
_SCOPES = ("any", "domain", "host")


@click.command(cls=StrictCommand)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    metavar="PORT",
    help="Port on loopback; 0 takes any free one.",
)
@click.option("--hosts", type=int, default=100, metavar="N", help="Number of hosts.")
@click.option(
    "--pages",
    type=int,
    default=100,
    metavar="N",
    help="Pages a host: exact in the plain profile, the mean in others.",
)
@click.option("--seed", type=int, default=1, metavar="N", help="The same seed gives the same web.")
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    default="plain",
    metavar="|".join(_PROFILES),
    help="Clean pages; the web as it is; one that means harm; one that changes; one with topics; or places without end,"
    " beside harmless sites that look like them.",
)
@click.option(
    "--latency",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="MS",
    help="Milliseconds before each response.",
)
@click.option(
    "--spread",
    type=click.FloatRange(min=0, max=3),
    default=0.0,
    metavar="X",
    help="How much that differs: at 0.7, one response in twenty takes three times as long.",
)
@click.option("--faults", type=float, metavar="SHARE", help="Share of URLs that misbehave, 0 to 1; by profile.")
@click.option(
    "--from",
    "stored",
    type=Path,
    metavar="DIR",
    help="Answer with what the crawl in DIR has stored instead, over HTTP and, for its https pages, over TLS.",
)
@click.option("--log", type=Path, metavar="FILE", help="Write one JSON line per request to this file.")
@click.option(
    "--list",
    "list_urls",
    is_flag=True,
    help="Print the URLs a crawl must fetch, those of mirrors apart, and exit; with --from those that are stored.",
)
@click.option("--json", "as_json", is_flag=True, help="With --list: all URLs, with their outcome.")
@click.option("--seed-url", multiple=True, metavar="URL", help="With --list: start here, not at host 0.")
@click.option("--max-depth", type=click.IntRange(0), metavar="N", help="With --list: links from a seed at most.")
@click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    default="any",
    metavar="|".join(_SCOPES),
    help="With --list: which hosts are followed.",
)
@click.pass_context
def simweb(
    context: click.Context,
    port: int,
    hosts: int,
    pages: int,
    seed: int,
    profile: str,
    latency: float,
    spread: float,
    faults: float | None,
    stored: Path | None,
    log: Path | None,
    list_urls: bool,
    as_json: bool,
    seed_url: tuple[str, ...],
    max_depth: int | None,
    scope: ScopeName,
) -> None:
    """Serve a simulated web on loopback: every page is computed from its address, nothing is stored.

    With --from DIR it is the web that a crawl has met: each URL is answered with its newest stored response, as it was
    sent, so that a real site can be crawled again and again without anybody being disturbed.
    """
    if stored is not None:
        _only_for_worlds(context, "--from", "profile")
        _stored_web(stored, list_urls, as_json, port, latency / 1000, spread, log)
        return
    if profile == _ENDLESS:
        _only_for_worlds(context, f"--profile {_ENDLESS}")
        _endless_places(list_urls, as_json, port, latency / 1000, spread, log)
        return
    from gossamer.testing.web.world import World

    world = World(seed, hosts, pages, profile, faults=faults)
    if list_urls:
        _list(world, seed_url or [world.url(0)], max_depth, scope, as_json)
        return
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(world, port, latency / 1000, spread, log))


def _only_for_worlds(context: click.Context, given: str, *more: str) -> None:
    """Refuse the options that describe a web of any size where one is served that is what it is."""
    for name in ("hosts", "pages", "seed", "faults", "seed_url", "max_depth", "scope", *more):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = "--" + name.replace("_", "-")
            raise ConfigError(f"{option} describes a simulated web and cannot go with {given}; leave one of them out")


def _endless_places(list_urls: bool, as_json: bool, port: int, latency: float, spread: float, log: Path | None) -> None:
    import uvloop

    from gossamer.testing.web.endless import ENDLESS, SUFFIX, wanted

    if list_urls:
        for name, paths in wanted().items():
            for path in sorted(paths):
                url = f"http://{name}{SUFFIX}{path}"
                print(json.dumps({"url": url, "endless": name in ENDLESS}) if as_json else url)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_endless(port, latency, spread, log))


async def _serve_endless(port: int, latency: float, spread: float, log: Path | None) -> None:
    from gossamer.testing.web.endless import ENDLESS, EndlessPlaces, seeds
    from gossamer.testing.web.log import ArrivalLog, FileLog, NoLog
    from gossamer.testing.web.server import Server

    arrivals: ArrivalLog = FileLog(log) if log else NoLog()
    server = Server(EndlessPlaces(), port=port, log=arrivals, latency=latency, spread=spread)
    fronts = seeds()
    await _until_stopped(
        server,
        lambda address: [
            f"A simulated web is at http://{address}/: {len(ENDLESS)} places without end, and"
            f" {len(fronts) - len(ENDLESS)} harmless sites that look like them, each at a host of its own.",
            f"Crawl it: gossamer crawl {' '.join(fronts)} --dir endless --scope host --connect '*={address}'"
            " --allow-private",
            "gossamer simweb --profile endless --list prints the pages that are worth having.",
            "Ctrl-C stops the simulated web.",
        ],
    )


def _stored_web(
    home: Path, list_urls: bool, as_json: bool, port: int, latency: float, spread: float, log: Path | None
) -> None:
    import uvloop

    from gossamer.agent.replay import Replay

    with Replay(home) as replay:
        if not len(replay):
            raise ConfigError(f"--from: the crawl in {home} has stored no response yet")
        if list_urls:
            for url, status in replay.listed():
                print(json.dumps({"url": url, "status": status}) if as_json else url)
            return
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve_stored(replay, port, latency, spread, log))


async def _serve_stored(replay: Replay, port: int, latency: float, spread: float, log: Path | None) -> None:
    from tempfile import TemporaryDirectory

    from gossamer.testing.web.log import ArrivalLog, FileLog, NoLog
    from gossamer.testing.web.server import Server
    from gossamer.testing.web.stored import StoredResponse, StoredSite

    def find(url: str) -> StoredResponse | None:
        found = replay.find(url)
        return None if found is None else StoredResponse(*found)

    size = f"{len(replay):,} stored responses of {len(replay.hosts):,} hosts"
    arrivals: ArrivalLog = FileLog(log) if log else NoLog()
    with TemporaryDirectory(prefix="gossamer-simweb-") as scratch:
        authority = None
        if replay.has_tls:
            from gossamer.testing.web.authority import Authority

            authority = Authority(Path(scratch))
        site = StoredSite(find, f"This server answers with {size}.")
        tls = authority.context if authority else None
        server = Server(site, port=port, log=arrivals, latency=latency, spread=spread, tls=tls)
        await _until_stopped(
            server,
            lambda address: [
                f"A stored web is at http://{address}/: {size}.",
                f"Seed URL: {replay.first}",
                f"Crawl it: gossamer crawl {shlex.quote(replay.first)} --dir again --scope any --connect '*={address}'"
                f" --allow-private{f' --ca-file {authority.ca_file}' if authority else ''}",
                "What is not stored is answered with 404. Ctrl-C stops the stored web.",
            ],
        )


def _list(world: World, seeds: Sequence[str], max_depth: int | None, scope: ScopeName, as_json: bool) -> None:
    import msgspec

    from gossamer.testing.web.truth import walk

    for url, expected in walk(world, seeds, max_depth=max_depth, scope=scope):
        if as_json:
            print(msgspec.json.encode({"url": url, **expected._asdict()}).decode())
        elif expected.fetched and not expected.mirrored:
            print(url)


async def _serve(world: World, port: int, latency: float, spread: float, log: Path | None) -> None:
    from gossamer.testing.web.hub import crawl_command
    from gossamer.testing.web.log import ArrivalLog, FileLog, NoLog
    from gossamer.testing.web.server import SimServer

    arrivals: ArrivalLog = FileLog(log, world.clock) if log else NoLog()
    server = SimServer(world, port=port, log=arrivals, latency=latency, spread=spread)
    size = f"{world.hosts:,} hosts with {'about ' if world.profile.varied else ''}{world.pages:,} pages each"
    await _until_stopped(
        server,
        lambda address: [
            f"A simulated web is at http://{address}/: {size} ({world.profile.name}, seed {world.seed}).",
            f"Seed URL: {world.url(0)}",
            f"Crawl it: {crawl_command(world, address)}",
            "It waits a second between visits to a host, as a guest should; --delay 0 crawls at full speed.",
            "Ctrl-C stops the simulated web.",
        ],
    )


async def _until_stopped(server: Server, welcome: Callable[[str], Sequence[str]]) -> None:
    """Serve until SIGINT or SIGTERM, and say where when it is ready."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        await server.start()
        print("\n".join(welcome(f"{server.host}:{server.port}")), flush=True)
        await stop.wait()
    finally:
        await server.stop()
