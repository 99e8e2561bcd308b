"""Answers of a changing web: its pages with their validators, true or not, and its feeds."""

from __future__ import annotations

from email.utils import formatdate

import xxhash

from gossamer.testing.web.conditional import unchanged
from gossamer.testing.web.editions import Editions
from gossamer.testing.web.feed import TYPE, feed_body, newest
from gossamer.testing.web.honesty import Honesty, shown_date, shown_etag
from gossamer.testing.web.hosts import Host
from gossamer.testing.web.message import Request, response, simple_page
from gossamer.testing.web.world import World

_MAX_AGES = (3_600, 600, 60)
_HTML = "text/html; charset=utf-8"


class ChangingPages:
    """What the hosts of a changing world answer.

    Invariant: an answer is a function of the request and the world's time, the arguments of the world given.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._editions = Editions(world)

    def page(self, host: Host, number: int, request: Request) -> bytes:
        world = self._world
        now = world.clock.now()
        status = world.status(host, number, now)
        if status != 200:
            return simple_page(status, "Not found", f"There is no such page on {host.name}.")
        changed = world.changed_at(host, number, now)
        version = int(changed * 1000)
        etag = shown_etag(host.honesty, host.index, number, version, now) if host.etag else ""
        modified = shown_date(host.honesty, changed, now) if host.last_modified else 0
        headers = [("Date", formatdate(now, usegmt=True))]
        headers += [("ETag", etag)] if etag else []
        headers += [("Last-Modified", formatdate(modified, usegmt=True))] if modified else []
        headers += [("Cache-Control", f"max-age={self._max_age(host, number, now)}")] if host.max_age else []
        if host.honesty is not Honesty.IGNORES and unchanged(request, etag, modified):
            return response(304, "", b"", headers)
        return response(200, _HTML, self._editions.edition(host, number, version, now), headers)

    def feed(self, host: Host, request: Request) -> bytes:
        """Always true, also where the pages' own headers are not."""
        now = self._world.clock.now()
        body = feed_body(self._editions, host, newest(self._world, host, now))
        etag = f'"{xxhash.xxh3_64_hexdigest(body)}"'
        headers = [("Date", formatdate(now, usegmt=True)), ("ETag", etag)]
        if unchanged(request, etag, 0):
            return response(304, "", b"", headers)
        return response(200, TYPE, body, headers)

    def _max_age(self, host: Host, number: int, now: float) -> int:
        """The longest of a few that is true: this web knows what will happen."""
        changes = self._world.turns(host, number, now, now + _MAX_AGES[0])
        left = changes[0] - now if changes else float("inf")
        return next((seconds for seconds in _MAX_AGES if seconds < left), 0)
