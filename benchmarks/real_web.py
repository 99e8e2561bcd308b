"""Documentation as a web of many hosts, for side-by-side runs on pages that people wrote.

Hosts are loopback addresses 127.2.x.y, as no crawler but ours can be told where a name leads. A package is one host; in
a package of many pages each large folder is a host of its own. Pages are as they are but for their links: one that
leads to a folder of another host names that host; one that leads out of all this, or to what is not HTML or not there,
leads to the page itself. So no crawler leaves this machine, and a page that is counted is a page that was read. An XML
declaration before the page is taken away: spider-rs reads no page that has one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

from static_web import ROBOTS, Hosts

MANY = 1_000  # pages of a folder that is divided
LARGE = 100  # pages of a folder that becomes a host when the one above is divided

# With one slash, or with the colon as an entity, it is an address all the same.
_ADDRESS = re.compile(rb"http(?=s?(?::|&colon;|&#0*58\b|&#x0*3a\b))", re.IGNORECASE)
_NO_SCHEME = re.compile(rb"""([=("']\s*)[/\\]{2}(?=\w)""")
_DECLARATION = re.compile(rb"\s*<\?xml\b[^>]*>\s*")
_COMMENT_OR_SCRIPT = rb"<!--.*?-->|<(?:script|style|textarea)\b.*?</(?:script|style|textarea)"
_TAG = rb"""<(?:a|area|frame|iframe|link|meta)\b(?:[^>"']|"[^"]*"|'[^']*')*+>"""
_SKIPPED_OR_TAG = re.compile(rb"(?P<skipped>" + _COMMENT_OR_SCRIPT + rb")|(?P<tag>" + _TAG + rb")", re.DOTALL | re.I)
_TARGET = re.compile(
    rb"""(?P<before>(?:\s(?:href|src)|;\s*url)\s*=\s*(?P<quote>["'])?)(?P<target>(?(quote)[^"']*|[^"'\s>]+))""",
    re.IGNORECASE,
)
_NOT_FOLLOWED = re.compile(rb"<link\b", re.IGNORECASE)


class Kinds(NamedTuple):
    """What the pages are like."""

    pages: int
    size: int
    links: int

    def __str__(self) -> str:
        pages = max(self.pages, 1)
        return (
            f"{self.pages:,} pages, mean size {self.size / pages / 1e3:,.1f} KB, mean links {self.links / pages:,.1f}"
        )


def divided(pages: Iterable[str], many: int = MANY, large: int = LARGE) -> list[str]:
    """The folders of a package that become hosts, each ending in `/`; the first is the package itself, ``."""
    found = [""]

    def divide(folder: str, below: Sequence[str]) -> None:
        if len(below) <= many:
            return
        children: dict[str, list[str]] = {}
        for page in below:
            name, inner, _ = page[len(folder) :].partition("/")
            if inner:
                children.setdefault(f"{folder}{name}/", []).append(page)
        for child, members in sorted(children.items()):
            if len(members) >= large:
                found.append(child)
                divide(child, members)

    divide("", list(pages))
    return found


def undeclared(page: bytes) -> bytes:
    """The page without its XML declaration."""
    found = _DECLARATION.match(page)
    return page[found.end() :] if found else page


def disarmed(page: bytes) -> bytes:
    """The page with every address of another site as a fragment of the page itself, at the same length."""
    return _NO_SCHEME.sub(rb"\1#/", _ADDRESS.sub(b"#ttp", page))


def redirected(page: bytes, change: Callable[[str], str | None]) -> bytes:
    """The page with other targets where `change` has one; it is asked for each that a crawler follows."""

    def target(found: re.Match[bytes]) -> bytes:
        other = change(unescape(found["target"].decode("utf-8", "replace")).strip())
        return found[0] if other is None else found["before"] + escape(other).encode()

    def tag(found: re.Match[bytes]) -> bytes:
        if found["skipped"] is not None or _NOT_FOLLOWED.match(found[0]):
            return found[0]
        return _TARGET.sub(target, found[0])

    return _SKIPPED_OR_TAG.sub(tag, page)


class RealWeb(Hosts):
    """Invariant: each page of a package is on one host, at `/package/its path`; `/` of a host is its front page."""

    def __init__(self, packages: Mapping[str, Sequence[Path]], port: int) -> None:
        """`packages` are the HTML files of each."""
        self._files: dict[str, Path] = {}  # paths as in URLs, and where the page is
        owners: list[str] = []
        for package, files in packages.items():
            top = os.path.commonpath([file.parent for file in files])
            names = {f"{package}/{file.relative_to(top).as_posix()}": file for file in files}
            self._files |= names
            owners += [f"{package}/{folder}" for folder in divided(name.partition("/")[2] for name in names)]
        members: dict[str, list[str]] = {owner: [] for owner in owners}
        for path in self._files:
            members[_owner(path, members)].append(path)
        self.folders = [folder for folder in owners if members[folder]]
        self._members = [members[folder] for folder in self.folders]
        self._number = {folder: number for number, folder in enumerate(self.folders)}
        super().__init__(len(self.folders), port, network=2)
        self._leads: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._links: dict[str, set[str]] = {}  # pages that a page leads to, both as paths

    def host_of(self, path: str) -> int | None:
        """The host on which a path is, if any."""
        return self._number.get(_owner(path, self._number))

    def page_at(self, url: str) -> str | None:
        """The page at a URL; nothing for a front page, or where there is none."""
        parts = urlsplit(url)
        path = self._page(unquote(parts.path).lstrip("/"))
        number = None if path is None else self.host_of(path)
        return path if number is not None and self.origin(number) == f"{parts.scheme}://{parts.netloc}" else None

    def write(self, folder: Path) -> Kinds:
        """Write all of it; gives what it is like."""
        size = links = 0
        for host, paths in enumerate(self._members):
            home = folder / self.address(host)
            for path in paths:
                page, count = self._rewritten(path, host, self._files[path].read_bytes())
                size += len(page)
                links += count
                _put(home / path, page)
            _put(home / "robots.txt", ROBOTS.encode())
            _put(home / "index.html", self._front_page(host).encode())
        return Kinds(len(self._files), size, links)

    def reachable(self) -> set[str]:
        """The pages that links lead to from the first host's front page. To be asked after `write`."""
        seen = {entry for number in range(self.hosts) for entry in self._entries(number)}
        queue = list(seen)
        while queue:
            found = self._links.get(queue.pop(), set()) - seen
            seen |= found
            queue += found
        return seen

    def _rewritten(self, path: str, host: int, page: bytes) -> tuple[bytes, int]:
        """As it is served, and how many links it has."""
        links = 0
        met = self._links.setdefault(path, set())
        folder = path.rpartition("/")[0]

        def change(target: str) -> str | None:
            nonlocal links
            links += 1
            try:
                parts = urlsplit(target)
            except ValueError:
                return f"#{target}"
            if target.startswith(("#", "?")) or not target:
                return None
            # wget2 takes the scheme of `mailto&#58;` for a host, and waits for its address.
            leads = None if parts.scheme or parts.netloc else self._lead(folder, parts.path)
            if leads is None:
                return f"#{target}"
            found, to = leads
            met.add(found)
            there = self.host_of(found)
            if there is None or there == host:
                return None
            tail = f"?{parts.query}" * bool(parts.query) + f"#{parts.fragment}" * bool(parts.fragment)
            return f"{self.origin(there)}/{to}{tail}"

        return redirected(disarmed(undeclared(page)), change), links

    def _lead(self, folder: str, target: str) -> tuple[str, str] | None:
        """The page that a link in this folder leads to, and its path as in a URL. Most links are on many pages."""
        key = folder, target
        if key not in self._leads:
            path = urljoin(f"/{quote(folder)}/", target).lstrip("/")
            page = self._page(unquote(path))
            self._leads[key] = None if page is None else (page, path)
        return self._leads[key]

    def _page(self, path: str) -> str | None:
        """nginx answers for a folder with its index.html."""
        for name in (path, f"{path.rstrip('/')}/index.html"):
            if name in self._files:
                return name
        return None

    def _entries(self, host: int) -> list[str]:
        """The pages that a front page leads to: the index of its folder, or all where there is none."""
        index = f"{self.folders[host]}index.html"
        return [index] if index in self._files else self._members[host]

    def _front_page(self, host: int) -> str:
        near = [f"/{quote(path)}" for path in self._entries(host)]
        far = [f"{self.origin(number)}/" for number in range(1, self.hosts)] if host == 0 else []
        items = "\n".join(f'<li><a href="{target}">{target}</a></li>' for target in near + far)
        title = self.folders[host].rstrip("/")
        head = f'<!DOCTYPE html>\n<html lang="en">\n<title>{title}</title>\n<h1>{title}</h1>'
        return f"{head}\n<ul>\n{items}\n</ul>\n</html>\n"


def _owner(path: str, folders: Container[str]) -> str:
    """The innermost of these folders that holds a path; empty where none does."""
    while path:
        path = path.rstrip("/").rpartition("/")[0]
        if path and f"{path}/" in folders:
            return f"{path}/"
    return ""


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
