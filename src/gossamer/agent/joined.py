"""Taking part in a crawl of several agents, from joining to leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import uvloop

from gossamer.agent.companion import Companion
from gossamer.agent.crawl import Crawl
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.membership import Membership
from gossamer.agent.memory import prepare
from gossamer.agent.mirrored import MirroredSettings
from gossamer.agent.progress import Progress, Summary
from gossamer.agent.running_app import RunningApp
from gossamer.cluster.broker import Broker, open_keys
from gossamer.cluster.checkpoints import Checkpoints
from gossamer.cluster.nats_log import NatsLog
from gossamer.cluster.objects import open_objects
from gossamer.cluster.shared import Facts, read_crawl, read_settings
from gossamer.config import changed, load_text
from gossamer.errors import ClusterError, LogRewoundError, SessionLostError, UnavailableError

_LOOK_EVERY: Final = 0.5  # seconds
_AGAIN_AFTER: Final = 1.0


def join(
    home: Path,
    broker: Broker,
    name: str,
    seeds: Iterable[str],
    *,
    local: Mapping[str, Any],
    weight: float = 1.0,
    watch: Callable[[Progress], None] | None = None,
    every: float = 0.5,
    notice: Callable[[str], None] | None = None,
    index: Companion | None = None,
    service: Companion | None = None,
    apps: Sequence[RunningApp] = (),
) -> Summary:
    """Crawl among others into `home` until all end, or SIGINT or SIGTERM tells this one to leave.

    `local` are options of this machine by name; all others are those that the agents share. `index`, `service` and
    `apps` are as for `run`.
    """
    prepare()
    say = notice or (lambda _: None)
    beside = [each for each in (index, service) if each]
    return uvloop.run(_join(home, broker, name, seeds, dict(local), weight, watch, every, say, beside, apps))


async def _join(
    home: Path,
    broker: Broker,
    name: str,
    seeds: Iterable[str],
    local: dict[str, Any],
    weight: float,
    watch: Callable[[Progress], None] | None,
    every: float,
    notice: Callable[[str], None],
    beside: list[Companion],
    apps: Sequence[RunningApp],
) -> Summary:
    link = await broker.connect(name)
    try:
        keys = await open_keys(link)
        while True:
            facts, settings = await read_crawl(keys), await read_settings(keys)
            if facts is None or settings is None:
                raise ClusterError(
                    "there is no crawl at this broker yet: `gossamer cluster config FILE.toml` makes one"
                )
            config = changed(load_text(settings.toml, f"version {settings.version} of the cluster's settings"), local)
            log = await NatsLog.open(link, _partitions(facts), replicas=facts.replicas)
            place = config.cluster.checkpoints
            if not place:
                notice(
                    "note: no place for checkpoints is given (--checkpoints): the broker's log keeps all that is done,"
                    " and the crawl stops when it is full"
                )
            checkpoints = Checkpoints(keys, open_objects(place)) if place else None
            foreign = config.cluster.foreign
            membership = Membership(name, weight, facts, keys, log, checkpoints, home, notice, foreign)
            crawl = Crawl(config, home, seeds, notice, beside, membership=membership, apps=apps)
            mirror = MirroredSettings(CrawlDir(home), config, settings, keys, notice, local)
            following = asyncio.create_task(_follow(mirror))
            try:
                summary = await crawl.run(watch, every)
                membership.raise_failure()
                return summary
            except (SessionLostError, LogRewoundError) as error:
                notice(f"cluster: {error}; it joins again")
                seeds = ()
                await asyncio.sleep(_AGAIN_AFTER)
            finally:
                following.cancel()
    finally:
        await link.close()


async def _follow(mirror: MirroredSettings) -> None:
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        with suppress(UnavailableError):
            await mirror.look()


def _partitions(facts: Facts) -> int:
    from gossamer.rules.territory import SLICES

    return facts.partitions + SLICES * len(facts.pins)
