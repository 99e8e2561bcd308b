"""Applications for tests; processes find them by `sample_apps:Name`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

from gossamer import Application, AppPage, Host, Request, Wants
from gossamer.agent.application import Yielded


class Asker(Application):
    """Asks for pages of its own at the beginning, and writes down what it sees of them."""

    def __init__(self, letter: str = "a", hosts: int = 1, pages: int = 10) -> None:
        self.wants = Wants(urls=f"/{letter}/")
        self.letter, self.hosts, self.count = letter, hosts, pages

    def begin(self) -> Iterator[Yielded]:
        for page in range(self.count):
            yield Request(f"http://h{page % self.hosts}.test/{self.letter}/{page}", tag=self.letter)

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        for page in pages:
            yield {"url": page.url, "status": page.status, "title": page.document.title}


class Walker(Application):
    """Asks for the next page of a row because of each page that it sees; it remembers how many these were."""

    def __init__(self, most: int = 20) -> None:
        self.most, self.seen = most, 0

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        for page in pages:
            self.seen += 1
            yield {"url": page.url, "seen": self.seen}
            number = int(page.url.rpartition("/")[2] or 0)
            if number < self.most:
                yield Request(f"http://a.test/{number + 1}", priority=2)

    def state(self) -> Any:
        return {"seen": self.seen}

    def restore(self, state: Any) -> None:
        self.seen = state["seen"]


class Patient(Walker):
    """Has its host visited more slowly, and waited for longer."""

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        yield Host("a.test", delay=0.3)
        yield Host("a.test", timeout=30)
        yield from super().pages(pages)


class Resumes(Application):
    """Asks for a page when it goes on."""

    def resume(self) -> Iterator[Yielded]:
        yield Request("http://a.test/5")
        yield {"url": "resumed"}

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        yield from ({"url": page.url} for page in pages)


class Killed(Walker):
    """Kills its process once, in the middle of a batch; `where` is a file that says that it did."""

    def __init__(self, where: str, at: int = 5, most: int = 20) -> None:
        super().__init__(most)
        self.where, self.at = where, at

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        for found in super().pages(pages):
            yield found
            if self.seen >= self.at and not os.path.exists(self.where):
                with open(self.where, "w", encoding="ascii"):
                    pass
                os.kill(os.getpid(), 9)


class Failing(Asker):
    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        raise ValueError("this page is more than I can bear")


class Hanging(Application):
    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        while True:
            time.sleep(60)
        yield {}


class Greedy(Application):
    """Takes more memory than it may."""

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        held = [bytearray(50_000_000) for _ in range(100)]
        yield {"held": len(held)}


class Relay(Application):
    """Asks because of each page for the next one, which is on another host, and with `forms` for a form beside it.
    About one page, the third, it thinks for a while.
    """

    def __init__(self, hosts: int = 8, most: int = 20, forms: bool = False, thinks: float = 0.0) -> None:
        self.hosts, self.most, self.forms, self.thinks = hosts, most, forms, thinks

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        for page in pages:
            yield {"url": page.url}
            name = page.url.rpartition("/")[2]
            if name == "3":
                time.sleep(self.thinks)
            if name.isdigit() and int(name) < self.most:
                host = f"http://h{(int(name) + 1) % self.hosts}.test"
                yield Request(f"{host}/{int(name) + 1}", priority=int(name) % 10, tag="relay")
                if self.forms:
                    yield Request(f"{host}/find", body=f"q={name}")


class Again(Application):
    """Asks for known pages again: some whatever their copies are, and some only if those are older than an hour."""

    def __init__(self, old: Sequence[str] = (), young: Sequence[str] = ()) -> None:
        self.old, self.young = old, young

    def begin(self) -> Iterator[Yielded]:
        for url in self.old:
            yield Request(url, tag="again", max_age=0)
        for url in self.young:
            yield Request(url, tag="again", max_age=3600)

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        yield from ({"url": page.url, "change": page.change} for page in pages)
