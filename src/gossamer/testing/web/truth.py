"""What a correct crawler finds: every URL it comes to know, and what becomes of each.

Exact for every profile as far as the web is finite, and for a changing one at one moment. Traps (`traps` has them)
have no end and so no truth: links into them are left out, and a crawl of a hostile web is compared on the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from gossamer.errors import SeedError
from gossamer.testing.web.hosts import Host
from gossamer.testing.web.paths import TRAPS, Resource, Section
from gossamer.testing.web.robots import UNREACHABLE
from gossamer.testing.web.sitemap import sitemap_paths
from gossamer.testing.web.world import World, gone_status

ScopeName = Literal["any", "host", "domain"]


class Kind(StrEnum):
    """What becomes of a URL."""

    OK = "ok"
    NON_HTML = "non-html"
    REDIRECT = "redirect"
    MISSING = "missing"  # 404, 410
    ERROR = "error"  # 5xx, 429
    CUT = "cut"  # a response that ends early or never: a truncated page or a fault, as the crawler prefers
    DROPPED = "dropped"  # no HTTP response at all
    ROBOTS_EXCLUDED = "robots-excluded"
    ROBOTS_UNREACHABLE = "robots-unreachable"  # robots.txt cannot be had, so nothing of the host may be


class Expected(NamedTuple):
    """`status` is 0 where no response is to be had; `depth` is the least number of links from a seed. `mirrored`: the
    host shows what another one shows, or the other way round, and a crawl may do with either.
    """

    kind: Kind
    status: int
    depth: int
    mirrored: bool = False

    @property
    def fetched(self) -> bool:
        return self.status != 0


_FAULT_KINDS: dict[str, tuple[Kind, int]] = {
    "error-500": (Kind.ERROR, 500),
    "error-503": (Kind.ERROR, 503),
    "error-429": (Kind.ERROR, 429),
    "bad-redirect": (Kind.REDIRECT, 302),
    "closed": (Kind.DROPPED, 0),
    "cut-head": (Kind.DROPPED, 0),
    "cut-body": (Kind.CUT, 200),
    "short-length": (Kind.OK, 200),
    "hang": (Kind.DROPPED, 0),
    "hang-body": (Kind.CUT, 200),
    "reset": (Kind.DROPPED, 0),
    "reset-body": (Kind.CUT, 200),
    "drip": (Kind.CUT, 200),
    "endless": (Kind.CUT, 200),
    "huge": (Kind.CUT, 200),
    "bare": (Kind.OK, 200),
    "bad-encoding": (Kind.CUT, 200),
    "bomb": (Kind.CUT, 200),
    "bad-chunks": (Kind.CUT, 200),
    "header-flood": (Kind.DROPPED, 0),
    "endless-head": (Kind.DROPPED, 0),
    "garbage": (Kind.DROPPED, 0),
}
_NON_HTML = (Section.FILE, Section.IMAGE, Section.STYLE, Section.FEED)


def reachable(
    world: World,
    seeds: Iterable[str],
    *,
    max_depth: int | None = None,
    scope: ScopeName = "any",
    user_agent: str = "gossamer",
    sitemaps: bool = True,
    embedded: bool = False,
    at: float | None = None,
) -> dict[str, Expected]:
    """`walk` as a dict, in breadth-first order."""
    found = walk(
        world,
        seeds,
        max_depth=max_depth,
        scope=scope,
        user_agent=user_agent,
        sitemaps=sitemaps,
        embedded=embedded,
        at=at,
    )
    return dict(found)


def walk(
    world: World,
    seeds: Iterable[str],
    *,
    max_depth: int | None = None,
    scope: ScopeName = "any",
    user_agent: str = "gossamer",
    sitemaps: bool = True,
    embedded: bool = False,
    at: float | None = None,
) -> Iterator[tuple[str, Expected]]:
    """Every URL within `scope` and `max_depth`, breadth first.

    A redirect is a page whose target is a link, one deeper. rel=nofollow, meta robots and X-Robots-Tag are obeyed.
    `sitemaps`: URLs in the sitemaps of a host count as links of its first page found. `embedded`: images, style
    sheets and feeds count as links. `at`: the moment of the whole walk, else the world's now at its beginning.
    """
    now = world.clock.now() if at is None else at
    starts = [_parse_seed(world, seed) for seed in seeds]
    if not starts:
        raise SeedError("The truth about a simulated web needs at least one seed URL.")
    in_scope = _scope(world, starts, scope)
    seen = set(starts)
    queue = deque((start, 0) for start in dict.fromkeys(starts))
    read: set[int] = set()  # hosts whose sitemaps were looked at
    while queue:
        (index, path), depth = queue.popleft()
        host = world.host(index)
        kind, status, links = _visit(world, host, path, user_agent, embedded, now)
        yield f"http://{host.name}{path.decode()}", Expected(kind, status, depth, _mirrored(world, host))
        if max_depth is not None and depth >= max_depth:
            continue
        if sitemaps and index not in read and kind is not Kind.ROBOTS_UNREACHABLE:
            read.add(index)
            links = [*links, *((index, entry) for entry in sitemap_paths(world, host, now))]
        for target in links:
            if target not in seen and (in_scope is None or in_scope(target[0])):
                if world.profile.traps and target[1].startswith(TRAPS):
                    continue
                seen.add(target)
                queue.append((target, depth + 1))


def _mirrored(world: World, host: Host) -> bool:
    after = host.index + 1
    return host.origin != host.index or (after < world.hosts and world.host(after).origin == host.index)


def _visit(
    world: World, host: Host, path: bytes, user_agent: str, embedded: bool, now: float
) -> tuple[Kind, int, list[tuple[int, bytes]]]:
    if host.robots.kind in UNREACHABLE:
        return Kind.ROBOTS_UNREACHABLE, 0, []
    if not host.robots.allows(user_agent, path.decode("latin-1")):
        return Kind.ROBOTS_EXCLUDED, 0, []
    fault = world.fault(host, path)
    if fault is not None and fault != "slow":
        return *_FAULT_KINDS[fault], []
    resource = world.resource(host, path)
    if resource is None:
        return Kind.MISSING, 404, []
    return _outcome(world, host, resource, embedded, now)


def _outcome(
    world: World, host: Host, resource: Resource, embedded: bool, now: float
) -> tuple[Kind, int, list[tuple[int, bytes]]]:
    section = resource.section
    if section is Section.PAGE:
        status = world.status(host, resource.number, now)
        if status != 200:
            return Kind.MISSING, status, []
    if section in (Section.GO, Section.LOOP, Section.OUT):
        status, other, path = world.redirect(host, resource)
        return Kind.REDIRECT, status, [] if other is None else [(other, path)]
    if section is Section.GONE:
        return Kind.MISSING, gone_status(resource.number), []
    if section in _NON_HTML:
        return Kind.NON_HTML, 200, []
    return Kind.OK, 200, world.links(host, resource, embedded, now)


def _parse_seed(world: World, seed: str) -> tuple[int, bytes]:
    parts = urlsplit(seed)
    host = world.find(parts.hostname or "") if parts.scheme == "http" and parts.netloc.count(":") == 0 else None
    if host is None:
        raise SeedError(
            f"{seed} is no URL of this simulated web: take {world.url(0)}, or a page of another of its hosts."
        )
    query = f"?{parts.query}" if parts.query else ""
    return host.index, ((parts.path or "/") + query).encode()


def _scope(world: World, starts: list[tuple[int, bytes]], scope: ScopeName) -> Callable[[int], bool] | None:
    """Whether a host belongs; None where all do."""
    if scope == "any":
        return None
    if scope == "host":
        return {index for index, _ in starts}.__contains__
    domains = {world.names.domain(index) for index, _ in starts}
    return lru_cache(maxsize=65_536)(lambda index: world.names.domain(index) in domains)
