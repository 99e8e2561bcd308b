"""The crawl in a directory, which may not have begun yet, and may be of one agent or of several when it has."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from gossamer.agent.broker_file import NAME
from gossamer.service.agents import Agents, broker_in, homes_of
from gossamer.service.cluster_view import ClusterView
from gossamer.service.crawl import Crawl
from gossamer.service.crawl_view import CrawlView

if TYPE_CHECKING:
    from gossamer.cluster.broker import Broker
    from gossamer.service.wire import Wire

_Stamp = tuple[tuple[str, ...], tuple[int, int] | None]


class Served:
    """For any number of threads. Invariant: what a request asks is what is there when it comes: agents that have
    joined, and a broker that was started anew.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self._home = home
        self._clock = clock
        self._lock = Lock()
        self._views: dict[Path, CrawlView] = {}
        self._wire: Wire | None = None
        self._broker: tuple[int, int] | None = None
        self._stamp: _Stamp | None = None
        self._crawl: CrawlView | ClusterView | None = None

    def asked(self) -> Crawl:
        """For one request."""
        with self._lock:
            stamp = self._look()
            if self._crawl is None or stamp != self._stamp:
                self._crawl = self._made(stamp)
                self._stamp = stamp
            return self._crawl.asked()

    def open(self) -> None:
        """Before anybody asks: it takes a moment."""
        self.asked().open()

    def close(self) -> None:
        with self._lock:
            if isinstance(self._crawl, ClusterView):
                self._crawl.close()
            if self._wire is not None:
                self._wire.close()
            for view in self._views.values():
                view.close()

    def _look(self) -> _Stamp:
        names = tuple(sorted(map(str, homes_of(self._home).values())))
        try:
            found = os.stat(self._home / NAME)
        except OSError:
            return names, None
        return names, (found.st_ino, found.st_mtime_ns)

    def _made(self, stamp: _Stamp) -> CrawlView | ClusterView:
        """What is open stays so: others may be asking it."""
        homes, broker = homes_of(self._home), broker_in(self._home)
        for path in homes.values():
            self._views.setdefault(path, CrawlView(path, self._clock))
        if stamp[1] != self._broker:
            if self._wire is not None:
                self._wire.close()
            self._wire, self._broker = _wired(broker), stamp[1]
        if self._wire is None and list(homes.values()) == [self._home]:
            return self._views[self._home]
        local = {name: self._views[path] for name, path in homes.items()}
        return ClusterView(self._home, Agents(local, self._wire), self._clock)


def _wired(broker: Broker | None) -> Wire | None:
    """The client of brokers is an extra that a crawl of one agent does not need."""
    if broker is None:
        return None
    from gossamer.cluster.engine import need_client

    need_client()
    from gossamer.service.wire import Wire

    return Wire(broker)
