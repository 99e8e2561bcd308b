"""A link checker: links of a site that lead nowhere, what has moved, and anchors that are not there.

python link_checker.py https://www.example.org/

Exit status 1 if there is a dead link or a missing anchor, or if no page of the site could be read. Pages of other hosts
are looked at, and not followed further.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import gossamer
from gossamer.errors import GossamerError

REDIRECTS = 5  # of other hosts that are followed one after the other
SOURCES = 3  # pages that are named for a link
FOLLOWED = ["a", "area", "frame", "iframe", "img", "link:stylesheet", "script"]


class OneStepOut(gossamer.Strategy):
    """Pages of the site lead on; a page elsewhere leads nowhere, unless it redirects."""

    def __init__(self, site: set[str]) -> None:
        self.site = site
        self._redirects: Counter[str] = Counter()

    def order(self, page: gossamer.SeenPage) -> list[int | None]:
        if page.redirects and page.links:
            target = page.links[0]
            if not page.depth:
                self.site.add(urlsplit(target).netloc)  # the seed has moved, and so has the site
            self._redirects[target] = self._redirects.pop(page.url, 0) + 1
            return [4 if self._redirects[target] <= REDIRECTS else None] * len(page.links)
        here = page.host in self.site
        return [(4 if urlsplit(link).netloc in self.site else 6) if here else None for link in page.links]


class Anchors(HTMLParser):
    """Places of a page that can be linked to, and links to places of pages."""

    def __init__(self, page: gossamer.CrawledPage) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: set[tuple[str, str]] = set()
        self._base = page.document.base
        with suppress(AssertionError):  # how it says that it does not understand a page; what was read so far counts
            self.feed(page.source[:2_000_000])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names |= {given.get("id", ""), given.get("name", "") if tag == "a" else ""}
        before, _, place = given.get("href", "").partition("#")
        if tag == "a" and place and place != "top" and not place.startswith((":~:", "!")):
            target = gossamer.normalize(before or self._base, self._base)
            if target:
                self.links.add((target, unquote(place)))


class Checker:
    def __init__(self, seeds: list[str]) -> None:
        self.site = {urlsplit(url).netloc for seed in seeds if (url := gossamer.normalize(seed))}
        self.sources: defaultdict[str, list[str]] = defaultdict(list)  # pages that link to a URL, or to a place
        self.moved: dict[str, str] = {}
        self._names: dict[str, set[str]] = {}
        self._places: set[tuple[str, str]] = set()

    def see(self, page: gossamer.CrawledPage) -> None:
        if 300 <= page.status < 400:
            where = next((value for name, value in page.headers if name.lower() == "location"), "")
            target = gossamer.normalize(where, page.url) or where
            self._found_on(target, page.url)
            if page.status in (301, 308):
                self.moved[page.url] = target
        if page.status != 200 or urlsplit(page.url).netloc not in self.site:
            return
        for link in page.document.links:
            self._found_on(link.url, page.url)
        anchors = Anchors(page)
        self._names[page.url] = anchors.names
        for target, place in anchors.links:
            self._places.add((target, place))
            self._found_on(f"{target}#{place}", page.url)

    def _found_on(self, url: str, page: str) -> None:
        if len(self.sources[url]) < SOURCES:
            self.sources[url].append(page)

    def missing_places(self) -> Iterator[str]:
        for target, place in sorted(self._places):
            if target in self._names and place not in self._names[target]:
                yield f"{target}#{place}"

    def report(self, directory: Path, complete: bool) -> bool:
        """Print what was found. Return whether pages were read and nothing is wrong with them."""
        dead, unchecked = {}, Counter[str]()
        for known in gossamer.urls(directory):
            state = known.state.name.lower()
            if state == "fetched" and known.status >= 400:
                dead[known.url] = str(known.status)
            elif state == "dead":
                dead[known.url] = known.reason
            elif state == "queued" and complete:
                dead[known.url] = "no answer"  # of hosts that do not, what is queued stays so
            elif state == "queued":
                unchecked["the limit was reached"] += 1
            elif state == "excluded" and known.reason != "unwanted_type":  # which is no page, and there
                unchecked[known.reason] += 1
        for url in sorted(dead):
            self._show("dead", f"{dead[url]}  {url}", url)
        missing = list(self.missing_places())
        for place in missing:
            self._show("anchor", place, place)
        for url, target in sorted(self.moved.items()):
            self._show("moved", f"{url} -> {target}", url)
        print(f"{len(self._names)} pages of {', '.join(sorted(self.site))}: {len(dead)} dead links, "
              f"{len(missing)} missing anchors, {len(self.moved)} moved")  # fmt: skip
        for reason, count in unchecked.most_common():
            print(f"{count} links were not checked: {reason}")
        if not self._names:
            print("Nothing was checked: no page of the site could be read. See its address and the reasons above.",
                  file=sys.stderr)  # fmt: skip
        return bool(self._names) and not dead and not missing

    def _show(self, what: str, text: str, url: str) -> None:
        print(f"{what:6}  {text}")
        for source in self.sources.get(url, ["a seed"]):
            print(f"        on {source}")


async def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("seeds", nargs="+", help="where the site begins")
    options.add_argument("--max-pages", type=int, default=10_000)
    options.add_argument(
        "-o", "--option", action="append", default=[], metavar="KEY=VALUE", help="of crawl(): delay=2s"
    )
    given = options.parse_args()
    more = dict(option.split("=", 1) for option in given.option)
    checker, pages = Checker(given.seeds), 0
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch, "crawl")
        settings = {"max_tries": 2, "retry_wait": "5s", "duplicates": "follow", "follow": FOLLOWED, **more}
        async for page in gossamer.crawl(
            given.seeds, directory=directory, scope="any", strategy=OneStepOut(checker.site),
            max_pages=given.max_pages, **settings,
        ):  # fmt: skip
            pages += 1
            checker.see(page)
        return 0 if checker.report(directory, complete=pages < given.max_pages) else 1


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except GossamerError as error:
        sys.exit(str(error))
