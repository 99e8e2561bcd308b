"""Sitemaps: plain, compressed, and an index of several. They also name pages that nothing links to."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from itertools import islice

from gossamer.testing.web.honesty import Honesty
from gossamer.testing.web.hosts import SITEMAP_PATHS, Host
from gossamer.testing.web.life import DIRECTORIES
from gossamer.testing.web.paths import Section, page_number, page_path, path_of
from gossamer.testing.web.world import World

_PER_FILE = 1_000
_MOST = 5_000  # pages listed in all
_ARCHIVED = 3
_PART = re.compile(rb"/sitemap-([0-9]{1,4})\.xml")
_OPEN = '<?xml version="1.0" encoding="UTF-8"?>\n<{} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'


def sitemap_paths(world: World, host: Host, at: float | None = None) -> list[bytes]:
    """What a crawler that reads a host's sitemaps learns."""
    if not host.sitemap:
        return []
    if world.life:
        return [page_path(page) for page in current_pages(world, host, _MOST, at)]
    archived = min(_ARCHIVED, host.size)
    pages = [page_path(page) for page in range(min(host.size, _MOST))]
    return [path_of(Section.ARCHIVE, number) for number in range(archived)] + pages


def current_pages(world: World, host: Host, most: int, at: float | None = None) -> list[int]:
    """The pages that a changing host names: those it announces, and the first of the others that are not gone."""
    assert world.life is not None
    now = world.clock.now() if at is None else at
    born = [page for hub in range(min(DIRECTORIES, host.size)) for page in world.news(host, hub, now)]
    old = (page for page in range(host.size) if not world.life.gone(host, page, now))
    return born + list(islice(old, most))


def sitemap_body(world: World, host: Host, path: bytes) -> bytes | None:
    """The sitemap at that path, None if the host has none there."""
    if not host.sitemap:
        return None
    paths = sitemap_paths(world, host)
    part = _PART.fullmatch(path)
    if part and host.sitemap == "index":
        chosen = paths[int(part[1]) * _PER_FILE : (int(part[1]) + 1) * _PER_FILE]
        return _urlset(world, host, chosen) if chosen else None
    if path.decode("latin-1") != SITEMAP_PATHS[host.sitemap]:
        return None
    if host.sitemap == "index":
        return _index(host, (len(paths) - 1) // _PER_FILE + 1)
    body = _urlset(world, host, paths)
    return gzip.compress(body, 1, mtime=0) if host.sitemap == "gz" else body


def _urlset(world: World, host: Host, paths: list[bytes]) -> bytes:
    lines, now = [], world.clock.now()
    for path in paths:
        page = page_number(path)
        moment = now if host.honesty is Honesty.SITEMAP_NOW else world.changed_at(host, page or 0, now)
        when = datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
        lines.append(f"<url><loc>http://{host.name}{path.decode()}</loc><lastmod>{when}</lastmod></url>\n")
    return (_OPEN.format("urlset") + "".join(lines) + "</urlset>\n").encode()


def _index(host: Host, count: int) -> bytes:
    lines = [f"<sitemap><loc>http://{host.name}/sitemap-{part}.xml</loc></sitemap>\n" for part in range(count)]
    return (_OPEN.format("sitemapindex") + "".join(lines) + "</sitemapindex>\n").encode()
