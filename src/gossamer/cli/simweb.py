"""`gossamer simweb`: serve a simulated web, or print what a correct crawler finds in it."""

from __future__ import annotations

import asyncio
import signal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # loaded when the command runs: `gossamer --help` needs none of it
    from gossamer.testing.web.world import World


class Profile(StrEnum):
    PLAIN = "plain"
    REALISTIC = "realistic"
    HOSTILE = "hostile"


class Scope(StrEnum):
    ANY = "any"
    DOMAIN = "domain"
    HOST = "host"


def simweb(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0 takes any free one.")] = 8080,
    hosts: Annotated[int, typer.Option(help="Number of hosts.")] = 100,
    pages: Annotated[int, typer.Option(help="Pages a host: exact in the plain profile, the mean in others.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same web.")] = 1,
    profile: Annotated[
        Profile, typer.Option(help="Clean pages; the web as it is; or one that means harm.")
    ] = Profile.PLAIN,
    latency: Annotated[float, typer.Option(min=0, help="Milliseconds before each response.")] = 0.0,
    faults: Annotated[float | None, typer.Option(help="Share of URLs that misbehave, 0 to 1; by profile.")] = None,
    log: Annotated[Path | None, typer.Option(help="Write one JSON line per request to this file.")] = None,
    list_urls: Annotated[bool, typer.Option("--list", help="Print the URLs a crawl must fetch, and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --list: all URLs, with their outcome.")] = False,
    seed_url: Annotated[list[str] | None, typer.Option(help="With --list: start here, not at host 0.")] = None,
    max_depth: Annotated[int | None, typer.Option(min=0, help="With --list: links from a seed at most.")] = None,
    scope: Annotated[Scope, typer.Option(help="With --list: which hosts are followed.")] = Scope.ANY,
) -> None:
    """Serve a simulated web on loopback: every page is computed from its address, nothing is stored."""
    from gossamer.testing.web.world import World

    world = World(seed, hosts, pages, profile.value, faults=faults)
    if list_urls:
        _list(world, seed_url or [world.url(0)], max_depth, scope, as_json)
        return
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(world, port, latency / 1000, log))


def _list(world: World, seeds: list[str], max_depth: int | None, scope: Scope, as_json: bool) -> None:
    import msgspec

    from gossamer.testing.web.truth import walk

    for url, expected in walk(world, seeds, max_depth=max_depth, scope=scope.value):
        if as_json:
            print(msgspec.json.encode({"url": url, **expected._asdict()}).decode())
        elif expected.fetched:
            print(url)


async def _serve(world: World, port: int, latency: float, log: Path | None) -> None:
    from gossamer.testing.web.hub import crawl_command
    from gossamer.testing.web.log import ArrivalLog, FileLog, NoLog
    from gossamer.testing.web.server import SimServer

    arrivals: ArrivalLog = FileLog(log) if log else NoLog()
    server = SimServer(world, port=port, log=arrivals, latency=latency)
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
