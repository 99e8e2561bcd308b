"""A web of any number of hosts, with pages of any size and number of links, the same each time it is made.

Hosts are names, h0000000.test and so on, and are nowhere: whoever crawls sends all of them to `endpoint`. Each is a
registered domain of its own, so that no limit of a domain holds them back. A `shared` web has the files of one host
only; nginx writes the number of the host into each page as it is sent, so that no two hosts have a page in common.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import nginx
from fetch_server import make_certificate
from static_web import LINKS, ROBOTS, STYLE, StaticWeb, document

_TEXT = 700  # bytes of text in a part of a page, about
_PART = '<div class="part"><p>{text}</p>\n{links}</div>\n'
_NUMBER = '<!--# echo var="number" -->'  # nginx puts it in place of this


class Shape(NamedTuple):
    """`pages` are of a host; `size` is in bytes, of a page as it lies on the server."""

    hosts: int = 100
    pages: int = 200
    size: int = 14_000
    links: int = LINKS
    scheme: str = "http"
    shared: bool = False
    packed: bool = False  # pages are sent as gzip, which was made before


class NamedWeb(StaticWeb):
    """Invariant: every page has its size to the byte and its number of links, `elsewhere` included.

    Each page leads to the next of its host, so all can be reached from the first ones, unless there are no links. Links
    to the same host are all different, as long as there are enough pages. Three links of sixteen go to other hosts,
    none in a shared web. With URLs `elsewhere` one link of each page goes there, but for the first page of a host.
    """

    def __init__(self, shape: Shape, port: int, elsewhere: Sequence[str] = ()) -> None:
        super().__init__(shape.hosts, shape.pages, port)
        self.shape = shape
        self._elsewhere = elsewhere

    @property
    def endpoint(self) -> str:
        return f"127.0.0.1:{self.port}"

    def address(self, host: int) -> str:
        return f"h{host:07d}.test"

    def origin(self, host: int) -> str:
        return f"{self.shape.scheme}://{self.address(host)}"

    def seeds(self, every: bool = False) -> Iterator[str]:
        """The first page of each host, or every page there is."""
        for page in range(self.pages if every else 1):
            for host in range(self.hosts):
                yield self.origin(host) + self.path(page)

    def links(self, host: int, page: int) -> list[str]:
        number = self.shape.links
        if not number:
            return []
        chance = self._chance(host, page)
        far = 0 if self.shape.shared else number * 3 // LINKS
        near, others = number - far - 1, range(1, self.pages)
        steps = chance.sample(others, near) if near <= len(others) else chance.choices(range(self.pages), k=near)
        targets = [self.path((page + 1 + step) % self.pages) for step in (0, *steps)]
        targets += [
            self.origin(chance.randrange(self.hosts)) + self.path(chance.randrange(self.pages)) for _ in range(far)
        ]
        if self._elsewhere and page and number > 1:
            targets[-1] = self._elsewhere[(host * self.pages + page) % len(self._elsewhere)]
        chance.shuffle(targets)
        return targets

    def page(self, host: int, page: int) -> str:
        chance = self._chance(host, page, "text")
        targets = self.links(host, page)
        names = chance.choices(self._words, k=2 * len(targets) + 2)
        anchors = [
            f'<a href="{target}">{first} {second}</a>\n'
            for target, first, second in zip(targets, names[2::2], names[3::2], strict=True)
        ]
        title = f"{names[0]} {names[1]} {page}" + (f" {_NUMBER}" if self.shape.shared else "")
        parts = max(1, self.shape.size // (_TEXT + len(_PART)))
        frame = document(title, _PART.format(text="", links="") * parts)
        room = self.shape.size - len(frame) - sum(map(len, anchors))
        if room < 0:
            raise ValueError(f"{len(anchors)} links do not fit into a page of {self.shape.size:,} bytes")
        texts = chance.choices(self._paragraphs, k=room // min(map(len, self._paragraphs)) + 1)
        return document(title, _filled(" ".join(texts)[:room], anchors, parts))

    def files(self) -> Iterator[tuple[str, str]]:
        for host in range(1 if self.shape.shared else self.hosts):
            home = "shared" if self.shape.shared else self.address(host)
            yield f"{home}/robots.txt", ROBOTS
            yield f"{home}/style.css", STYLE
            for page in range(self.pages):
                yield home + self.path(page), self.page(host, page)

    def write(self, folder: Path) -> int:
        size = super().write(folder)
        if self.shape.packed:
            for page in folder.rglob("*.html"):
                size += page.with_name(f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), 6, mtime=0))
        return size

    def config(self, files: Path, work: Path) -> str:
        tls = self.shape.scheme == "https"
        lines = [
            f"listen {self.endpoint}{' ssl' if tls else ''} backlog=4096;",
            r"server_name ~^h(?<number>\d+)\.test$;",
            f"root {files}/{'shared' if self.shape.shared else '$host'};",
            f"ssi {'on' if self.shape.shared else 'off'};",
            f"gzip_static {'on' if self.shape.packed else 'off'};",
        ]
        if tls:
            lines += [f"ssl_certificate {self.certificate(work)};", f"ssl_certificate_key {work}/key.pem;"]
        return nginx.config_of("\n".join(f"    {line}" for line in lines), work)

    @staticmethod
    def certificate(work: Path) -> Path:
        return work / "certificate.pem"

    @contextmanager
    def serving(self, files: Path, work: Path, core: int | None) -> Iterator[None]:
        """nginx serves `files` until the block ends; its own files and the certificate are in `work`."""
        if self.shape.scheme == "https" and not self.certificate(work).exists():
            names = [self.address(host) for host in range(self.hosts)]
            make_certificate(self.certificate(work), work / "key.pem", names)
        with nginx.running(self.config(files, work), ("127.0.0.1", self.port), work, core):
            yield


def _filled(text: str, anchors: Sequence[str], parts: int) -> str:
    """All of the text and all links, spread evenly over so many parts."""
    return "".join(
        _PART.format(
            text=text[len(text) * part // parts : len(text) * (part + 1) // parts],
            links="".join(anchors[len(anchors) * part // parts : len(anchors) * (part + 1) // parts]),
        )
        for part in range(parts)
    )
