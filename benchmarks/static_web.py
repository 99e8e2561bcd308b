"""A web of plain files for side-by-side runs, the same each time it is made.

Hosts are loopback addresses 127.1.x.y, so that no crawler needs names. Every page has 16 links: the next page of its
host, twelve more of the same host, three of others. The first page of a host leads to its pages and to the next
hosts, so the whole web can be reached from any first page.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

LINKS = 16
_NEAR = 12  # links to pages of the same host, besides the one to the next page
_ENTRIES = 20  # pages that a first page leads to
_PARAGRAPHS = 600
_WORDS_A_PARAGRAPH = 110
_TOPICS = ("news", "people", "places", "history", "science", "sport", "music", "garden")
ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /search?\n"
STYLE = "body { margin: 2em auto; max-width: 40em } .part { margin: 1em 0 }\n"


class Hosts:
    """Addresses of loopback, one for each host of a web; all have the same port. Other webs are on other networks."""

    def __init__(self, hosts: int, port: int, network: int = 1) -> None:
        self.hosts = hosts
        self.port = port
        self._network = network

    def address(self, host: int) -> str:
        return f"127.{self._network}.{host // 250}.{host % 250 + 1}"

    def origin(self, host: int) -> str:
        return f"http://{self.address(host)}:{self.port}"

    def first_pages(self, hosts: int) -> list[str]:
        return [f"{self.origin(host)}/" for host in range(min(hosts, self.hosts))]


class StaticWeb(Hosts):
    """Invariant: the same hosts, pages, port and seed give the same bytes."""

    def __init__(self, hosts: int, pages: int, port: int, seed: int = 1) -> None:
        super().__init__(hosts, port)
        self.pages = pages
        self._seed = seed
        chance = random.Random(seed)
        self._words = _vocabulary(chance)
        # Paragraphs are made once and used on many pages: a crawler compresses each page by itself, so it cannot tell.
        common = list(accumulate(1 / rank for rank in range(10, len(self._words) + 10)))
        self._paragraphs = [
            " ".join(chance.choices(self._words, cum_weights=common, k=_WORDS_A_PARAGRAPH)) for _ in range(_PARAGRAPHS)
        ]

    def path(self, page: int) -> str:
        return f"/{_TOPICS[page % len(_TOPICS)]}/{page // len(_TOPICS):03d}.html"

    def links(self, host: int, page: int) -> list[str]:
        """The link targets of a page, as they stand in it."""
        chance = self._chance(host, page)
        near = [self.path((page + 1) % self.pages)]
        near += [self.path(chance.randrange(self.pages)) for _ in range(_NEAR)]
        far = [
            self.origin(chance.randrange(self.hosts)) + self.path(chance.randrange(self.pages))
            for _ in range(LINKS - len(near))
        ]
        targets = near + far
        chance.shuffle(targets)
        return targets

    def page(self, host: int, page: int) -> str:
        chance = self._chance(host, page, "text")
        texts = chance.sample(self._paragraphs, LINKS)
        names = chance.choices(self._words, k=2 * LINKS)
        parts = "\n".join(
            f'<div class="part"><p>{text}</p>\n<a href="{target}" title="{first}">{first} {second}</a></div>'
            for text, target, first, second in zip(texts, self.links(host, page), names[::2], names[1::2], strict=True)
        )
        return document(f"{names[0]} {names[1]} {page}", parts)

    def first_page(self, host: int) -> str:
        near = [self.path(page) for page in range(min(_ENTRIES, self.pages))]
        far = [f"{self.origin((host + step) % self.hosts)}/" for step in (1, 2, 3, 7, 31)]
        parts = "\n".join(f'<p><a href="{target}">{target}</a></p>' for target in near + far)
        return document(f"Host {host}", parts)

    def files(self) -> Iterator[tuple[str, str]]:
        """Every file of the web: its path below the web's folder, and its text."""
        for host in range(self.hosts):
            home = self.address(host)
            yield f"{home}/robots.txt", ROBOTS
            yield f"{home}/style.css", STYLE
            yield f"{home}/index.html", self.first_page(host)
            for page in range(self.pages):
                yield home + self.path(page), self.page(host, page)

    def write(self, folder: Path) -> int:
        """Write all of it; gives the bytes written."""
        made: set[Path] = set()
        size = 0
        for name, text in self.files():
            path = folder / name
            if path.parent not in made:
                path.parent.mkdir(parents=True, exist_ok=True)
                made.add(path.parent)
            size += path.write_bytes(text.encode())
        return size

    def _chance(self, host: int, page: int, what: str = "links") -> random.Random:
        return random.Random(f"{self._seed}/{host}/{page}/{what}")


def _vocabulary(chance: random.Random) -> list[str]:
    """Words made of syllables: they compress about as well as a language does."""
    syllables = [first + vowel for first in "bcdfghklmnprstvw" for vowel in ("a", "e", "i", "o", "u", "an", "er")]
    words: dict[str, None] = {}
    while len(words) < 4000:
        words["".join(chance.choices(syllables, k=chance.choice((1, 2, 2, 3, 3, 4))))] = None
    return list(words)


def document(title: str, parts: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<link rel="stylesheet" href="/style.css">\n</head>\n<body>\n{parts}\n</body>\n</html>\n'
    )
