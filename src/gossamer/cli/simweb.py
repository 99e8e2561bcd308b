"""`gossamer simweb`: serve a simulated web, or print what a correct crawler finds in it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # loaded when the command runs: `gossamer --help` needs none of it
    from gossamer.testing.web.truth import ScopeName
    from gossamer.testing.web.world import World

_PROFILES = ("plain", "realistic", "hostile", "changing", "topical")
_SCOPES = ("any", "domain", "host")


@click.command
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    metavar="<int range>",
    help="Port on loopback; 0 takes any free one.",
)
@click.option("--hosts", type=int, default=100, metavar="<int>", help="Number of hosts.")
@click.option(
    "--pages",
    type=int,
    default=100,
    metavar="<int>",
    help="Pages a host: exact in the plain profile, the mean in others.",
)
@click.option("--seed", type=int, default=1, metavar="<int>", help="The same seed gives the same web.")
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    default="plain",
    metavar=f"<{'|'.join(_PROFILES)}>",
    help="Clean pages; the web as it is; one that means harm; one that changes; or one with topics.",
)
@click.option(
    "--latency",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="<float range>",
    help="Milliseconds before each response.",
)
@click.option(
    "--spread",
    type=click.FloatRange(min=0, max=3),
    default=0.0,
    metavar="<float range>",
    help="How much that differs: at 0.7, one response in twenty takes three times as long.",
)
@click.option("--faults", type=float, metavar="<float>", help="Share of URLs that misbehave, 0 to 1; by profile.")
@click.option("--log", type=Path, metavar="<path>", help="Write one JSON line per request to this file.")
@click.option(
    "--list", "list_urls", is_flag=True, help="Print the URLs a crawl must fetch, those of mirrors apart, and exit."
)
@click.option("--json", "as_json", is_flag=True, help="With --list: all URLs, with their outcome.")
@click.option("--seed-url", multiple=True, metavar="<list[str]>", help="With --list: start here, not at host 0.")
@click.option(
    "--max-depth", type=click.IntRange(0), metavar="<int range>", help="With --list: links from a seed at most."
)
@click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    default="any",
    metavar=f"<{'|'.join(_SCOPES)}>",
    help="With --list: which hosts are followed.",
)
def simweb(
    port: int,
    hosts: int,
    pages: int,
    seed: int,
    profile: str,
    latency: float,
    spread: float,
    faults: float | None,
    log: Path | None,
    list_urls: bool,
    as_json: bool,
    seed_url: tuple[str, ...],
    max_depth: int | None,
    scope: ScopeName,
) -> None:
    """Serve a simulated web on loopback: every page is computed from its address, nothing is stored."""
    from gossamer.testing.web.world import World

    world = World(seed, hosts, pages, profile, faults=faults)
    if list_urls:
        _list(world, seed_url or [world.url(0)], max_depth, scope, as_json)
        return
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(world, port, latency / 1000, spread, log))


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
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        await server.start()
        address = f"{server.host}:{server.port}"
        size = f"{world.hosts:,} hosts with {'about ' if world.profile.varied else ''}{world.pages:,} pages each"
        print(f"A simulated web is at http://{address}/: {size} ({world.profile.name}, seed {world.seed}).")
        print(f"Seed URL: {world.url(0)}")
        print(f"Crawl it: {crawl_command(world, address)}")
        print("It waits a second between visits to a host, as a guest should; --delay 0 crawls at full speed.")
        print("Ctrl-C stops the simulated web.", flush=True)
        await stop.wait()
    finally:
        await server.stop()
