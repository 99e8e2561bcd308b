"""A crawl as the report sees it: one moment of it, though it runs on."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, Self, TypeVar

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.findings import FINDING, KeptFinding
from gossamer.agent.progress import Progress
from gossamer.agent.statistics import Statistics
from gossamer.config import load
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Change, Locator, State, VisitRecord
from gossamer.model.url import host_of
from gossamer.report.fact import PAGE, ROBOTS, SAME, SOURCE, Wanted
from gossamer.report.reading import Places
from gossamer.store import Capture, Captures, Place, RecordFiles, StorePosition, directories_of, places_at

_SOURCES: Final = ("sitemap", "feed")  # reasons of visits that were read for links only
_ROBOTS: Final = "/robots.txt"
_REMEMBERED: Final = 50_000  # payloads, by digest

T = TypeVar("T")


class CrawlSource:
    """The directory of one agent. Invariant: everything it gives is as of one commit. Takes no lock of the crawl's and
    changes nothing.
    """

    def __init__(self, home: Path) -> None:
        self.directory = CrawlDir(home)
        self.directory.check_readable()
        self.config = load(self.directory.settings, resumed=True)
        self.running = self.directory.in_use()
        self._scratch = tempfile.TemporaryDirectory(prefix="gossamer-")
        try:
            self.frontier = FrontierReader(self.directory.frontier, Path(self._scratch.name))
        except BaseException:
            self._scratch.cleanup()
            raise
        self.position = self._meta("store", StorePosition)
        self.statistics = self._meta("statistics", Statistics)
        self.progress = self._meta("progress", Progress)
        counts = self.frontier.counts()
        self.hosts, self.urls = counts.hosts, counts.urls
        self.directories = list(directories_of(self.directory.warc, self.position).values())
        self._captures = Captures(self.directory.warc)
        self._records = RecordFiles(self.directories)
        self._payloads: OrderedDict[str, Locator] = OrderedDict()
        self.elsewhere: Callable[[str], VisitRecord | None] = lambda url: None
        """What other agents know of a URL whose partition has moved to them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._records.close()
        self.frontier.close()
        self._scratch.cleanup()

    def _meta(self, name: str, kind: type[T]) -> T:
        stored = self.frontier.meta(name)
        return kind() if stored is None else msgspec.msgpack.decode(stored, type=kind)

    @property
    def places(self) -> Places:
        return Places(self.directories, self.config)

    def findings(self) -> list[KeptFinding]:
        return [msgspec.msgpack.decode(value, type=KeptFinding) for value in self.frontier.metas(FINDING)]

    def freshness(self, hosts: Iterable[str]) -> dict[str, tuple[float, float]]:
        """Estimated share of fresh copies, and their mean age, of those of these hosts of which it is known."""
        if not self.progress.keep_fresh:
            return {}
        found = self.frontier.freshness(hosts, self.progress.updated_at)  # when that of the whole was estimated
        return {name: (host.freshness, host.age) for name, host in found.items()}

    # -- captures ------------------------------------------------------------------------------------------------------

    def fits(self, places: dict[str, Place]) -> bool:
        """Whether what was read up to these places is still what is stored."""
        return all(self._captures.checked(places, self.position)[name] == place for name, place in places.items())

    def sizes(self, places: dict[str, Place]) -> tuple[int, int]:
        """Bytes of CDXJ before the places, and in all."""
        return self._captures.sizes(places, self.position)

    def wanted(self, places: dict[str, Place]) -> Iterator[tuple[Wanted, str, Place]]:
        """Captures behind the places, each with the directory and the place that it leads to."""
        for capture in self._captures.after(places, self.position):
            yield self._wanted(capture), capture.directory, capture.after

    def _wanted(self, capture: Capture) -> Wanted:
        visit, ours = self.frontier.visit(capture.url), True
        if visit is None and not capture.url.endswith(_ROBOTS) and not self.frontier.holds_host(host_of(capture.url)):
            visit, ours = self.elsewhere(capture.url), False
        stored = capture.stored
        kind = _kind(visit, capture) if ours else _kind_elsewhere(visit, capture)
        # With a 304 no payload was sent.
        payload = self._payload(capture) if capture.is_revisit and capture.status != 304 else None
        if not capture.is_revisit:
            self._payloads[capture.digest] = stored
            if len(self._payloads) > _REMEMBERED:
                self._payloads.popitem(last=False)
        return Wanted(
            capture.url,
            kind,
            visit.depth if visit is not None and kind == PAGE else None,
            capture.status,
            capture.fetched_at,
            capture.digest,
            _numbers(stored),
            None if payload is None else _numbers(payload),
            visit is not None
            and (visit.stored == stored if ours else int(visit.fetched_at) == int(capture.fetched_at)),
            capture.change,
        )

    def _payload(self, capture: Capture) -> Locator | None:
        """Where the bytes of a revisit may be: with a page met lately, or where the page it names is stored now, or was
        then.
        """
        known = self._payloads.get(capture.digest)
        if known is not None:
            return known
        record = self._records.read(capture.stored)
        if record is None or record.refers_to is None:
            return None
        try:
            first = self.frontier.visit(record.refers_to[0])
        except (ValueError, KeyError, IndexError):  # it names no URL of ours
            return None
        if first is not None and first.digest == record.digest[:8].hex():
            return first.stored
        ends = {name: Place(end.file, end.cdxj) for name, end in self.position.writers.items()}
        return next(places_at(self.directory.warc, ends, record.refers_to, record.digest), None)


def _kind(visit: VisitRecord | None, capture: Capture) -> str:
    if visit is None:
        return ROBOTS  # what was asked for that is no visit: robots.txt, and where it was redirected to
    if capture.change:
        return SAME if capture.change == Change.SAME else PAGE
    if visit.state is State.EXCLUDED and visit.reason in _SOURCES:
        return SOURCE
    if visit.stored is not None and _numbers(capture.stored) > _numbers(visit.stored):
        return ROBOTS  # the last response to the visit came before: this one is to a redirect of a robots.txt
    if visit.stored != capture.stored and capture.url.endswith(_ROBOTS):
        return ROBOTS  # somebody links to it as to a page, which comes later or not at all
    return PAGE


def _kind_elsewhere(visit: VisitRecord | None, capture: Capture) -> str:
    """Of a URL whose partition has moved since it was stored here: its places say nothing, and perhaps nobody says
    what it is.
    """
    if capture.change == Change.SAME:
        return SAME
    is_source = visit is not None and visit.state is State.EXCLUDED and visit.reason in _SOURCES
    return SOURCE if is_source and not capture.change else PAGE


def _numbers(place: Locator) -> tuple[int, int, int]:
    return place.file, place.offset, place.length
