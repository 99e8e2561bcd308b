"""The link graph, kept by the process that reads pages for the index: it has their links at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.batches import Wanted
from gossamer.agent.page_work import Result
from gossamer.graph.frame import Rows
from gossamer.graph.log import GraphLog
from gossamer.store import Place

_MOST_LINKS: Final = 1_000_000  # of a frame
_MOST_BYTES: Final = 32 << 20  # of its URLs

pack_places = msgspec.msgpack.Encoder().encode
_read_places = msgspec.msgpack.Decoder(dict[str, Place]).decode


def read_places(position: bytes) -> dict[str, Place]:
    try:
        return _read_places(position) if position else {}
    except msgspec.MsgspecError:
        return {}


class LinkRows:
    """What pages link to, on its way into the log. Invariant: what goes into the graph of a capture is always the same,
    so that it may be there twice.
    """

    def __init__(self, log: GraphLog) -> None:
        self._log = log
        self._rows = Rows()

    def take(self, page: Wanted, result: Result | None = None) -> None:
        """What became of a capture. Of one that cannot be read the graph keeps what it had."""
        rows = self._rows
        if page.target:
            rows.add_redirect(page.url, page.moment, page.target)
        elif page.gone:
            rows.add_gone(page.url, page.moment)
        elif result is not None and result.is_page and not result.why and not page.blocked:
            rows.add(page.url, page.moment, [link[0] for link in result.links])
        if rows.links >= _MOST_LINKS or rows.size >= _MOST_BYTES:
            self.write(self._log.position)  # an earlier position does no harm: what comes twice counts once

    def write(self, position: bytes) -> None:
        self._log.append(self._rows, position)
        self._rows = Rows()

    def drop(self) -> None:
        self._rows = Rows()


class GraphKeeper:
    """Invariant: what the graph's position covers is in the graph. It is written only while that is at least as far as
    the index: what is missing in between, of a crawl from before there was a graph, `gossamer rank` reads.
    """

    def __init__(self, home: Path, places: dict[str, Place]) -> None:
        self._log = GraphLog(home)
        self._rows = LinkRows(self._log)
        self._places: dict[str, Place] = {}
        self._joined = False
        self._join(places)

    def _join(self, places: dict[str, Place]) -> None:
        """Write from here on, if nothing is missing before and nobody else writes."""
        if not self._log.take():
            return
        self._places = read_places(self._log.position)
        self._joined = covers(self._places, places)
        if not self._joined:
            self._log.close()

    def take(self, page: Wanted, result: Result | None = None) -> None:
        if self._joined:
            self._rows.take(page, result)

    def commit(self, places: dict[str, Place]) -> None:
        """What was taken is durable when this returns. The commit of the index comes next."""
        if not self._joined:
            self._join(places)
        elif covers(self._places, places):
            self._rows.drop()  # it was read before
        else:
            self._places = furthest(self._places, places)
            self._rows.write(pack_places(self._places))

    def close(self) -> None:
        self._log.close()


def covers(far: dict[str, Place], places: dict[str, Place]) -> bool:
    return all(_order(far.get(name, Place())) >= _order(place) for name, place in places.items())


def furthest(one: dict[str, Place], other: dict[str, Place]) -> dict[str, Place]:
    return {name: max(one.get(name, Place()), other.get(name, Place()), key=_order) for name in {**one, **other}}


def _order(place: Place) -> tuple[int, int]:
    return place.file, place.cdxj
