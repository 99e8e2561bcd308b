"""The feed of a host of a changing web: what changed or came last, in Atom."""

from __future__ import annotations

from datetime import UTC, datetime
from heapq import nlargest

from gossamer.testing.web.hosts import Host
from gossamer.testing.web.paths import FEED_PATH, page_path
from gossamer.testing.web.render import Renderer
from gossamer.testing.web.sitemap import current_pages
from gossamer.testing.web.world import World

TYPE = "application/atom+xml"
_ENTRIES = 20
_LOOKED_AT = 1_000  # pages of a host, besides the new ones: a feed must not cost more than a moment


def newest(world: World, host: Host, at: float) -> list[tuple[float, int]]:
    """(moment, page) of the latest changes and births, newest first."""
    pages = current_pages(world, host, _LOOKED_AT, at)
    return nlargest(_ENTRIES, ((world.changed_at(host, page, at), page) for page in pages))


def feed_body(renderer: Renderer, host: Host, entries: list[tuple[float, int]]) -> bytes:
    here = f"http://{host.name}"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n',
        f"<title>{host.name}</title>\n<id>{here}/</id>\n<updated>{_date(entries[0][0])}</updated>\n",
        f'<link rel="self" href="{here}{FEED_PATH.decode()}"/>\n',
    ]
    for changed, page in entries:
        url = here + page_path(page).decode()
        title = renderer.title(host, page)
        lines.append(f'<entry><title>{title}</title><link href="{url}"/><id>{url}</id>')
        lines.append(f"<updated>{_date(changed)}</updated></entry>\n")
    return ("".join(lines) + "</feed>\n").encode()


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
