"""What runs on crawls that are killed: applications and a strategy that count what they are shown.

Each page gets the next number, and the number is remembered. So pages that are shown twice, or records without what was
remembered with them, show in the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gossamer import Application, Request, SeenPage, Strategy
from gossamer.agent.application import AppPage, Yielded

TAG = "asked"


class Recorder(Application):
    """A record for each page."""

    def __init__(self) -> None:
        self.number = 0

    def pages(self, pages: Sequence[AppPage]) -> Iterable[Yielded]:
        for page in pages:
            self.number += 1
            yield {"url": page.url, "number": self.number, "asked": 0}

    def state(self) -> Any:
        return self.number

    def restore(self, state: Any) -> None:
        self.number = state


class Asker(Recorder):
    """Asks for everything that a page leads to as well: with --max-depth 0 nothing else makes the crawl go on."""

    def pages(self, pages: Sequence[AppPage]) -> Iterable[Yielded]:
        for page in pages:
            links = {link.url for link in page.document.links if link.kind == "a" and not link.nofollow}
            self.number += 1
            yield {"url": page.url, "number": self.number, "asked": len(links)}
            for link in sorted(links):
                yield Request(link, tag=TAG)


class Ledger(Strategy):
    """Breadth-first, and a record for each page."""

    def __init__(self) -> None:
        self._number = 0
        self._records: list[dict[str, Any]] = []

    def order(self, page: SeenPage) -> list[int | None]:
        self._number += 1
        self._records.append({"url": page.url, "number": self._number})
        return [4] * len(page.links)

    def records(self) -> Iterable[Mapping[str, Any]]:
        found, self._records = self._records, []
        return found

    def unsaved(self, last: bool) -> Mapping[str, bytes]:
        return {"number": str(self._number).encode()}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        self._number = int(saved["number"])

    def figures(self) -> Mapping[str, float]:
        return {"seen": self._number}
