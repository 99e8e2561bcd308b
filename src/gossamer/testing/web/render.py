"""HTML of the simulated web: ready pieces put together, with as little formatting a page as possible."""

from __future__ import annotations

from gossamer.testing.web.dice import mix, share
from gossamer.testing.web.extras import Extra
from gossamer.testing.web.hosts import Host, origin_of
from gossamer.testing.web.paths import Resource, Section, page_path, path_of
from gossamer.testing.web.text import BLOCKS, TITLES
from gossamer.testing.web.topics import TopicGraph, topic_pool
from gossamer.testing.web.traps import trap_page
from gossamer.testing.web.world import World, list_links

_CACHED_FRAMES = 16_384
_CACHED_NAMES = 131_072
_LEAST, _MORE = 3, 7  # 3 to 9 blocks of about 1 KB: 8 KB a page
_WIDE = 0x9E3779B97F4A7C15F39CC0605CEDC834  # digits of the golden ratio
_SHIFTS = tuple(range(50, 50 + 9 * (_LEAST + _MORE), 9))
_SAYS_NOTHING = (b"here", b"more", b"next", b"this page", b"read on", b"details", b"a link", b"continue")
_AFTER_TITLE = (
    b"</title>\n<style>body{max-width:44em;margin:2em auto;font:16px/1.5 system-ui}</style>\n</head>\n<body>\n<h1>"
)


class _Frame:
    """The pieces that all pages of a host share."""

    __slots__ = ("first", "foot", "titles_shift")

    def __init__(self, host: Host, name: str) -> None:
        self.first = f'<!DOCTYPE html>\n<html lang="{host.language}">\n<head>\n'.encode()
        if host.declared in ("meta", "both"):
            self.first += f'<meta charset="{host.charset}">\n'.encode()
        self.first += b"<title>"
        self.foot = f" - {name}</p>\n</body>\n</html>\n".encode()
        self.titles_shift = mix(host.origin, 23) & (TITLES - 1)


class Renderer:
    """Bodies of HTML pages.

    Invariant: a body is a function of host, page and version; a mirror's bodies are its origin's, byte for byte.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._frames: dict[int, _Frame] = {}
        self._names: dict[int, bytes] = {}

    def page(self, host: Host, number: int, version: int = 0) -> bytes:
        """A page of the tree. This is the hot path of every benchmark."""
        world = self._world
        if world.topics is not None:
            return self._about(world.topics, host, number)
        varied = world.profile.varied
        origin, pool = host.origin, host.pool
        frame = self._frames.get(host.index) or self._frame(host)
        blocks = pool.blocks
        title = pool.titles[number * 0x9E3779B1 + frame.titles_shift >> 3 & (TITLES - 1)]
        parts = [frame.first, title, _AFTER_TITLE, title, b"</h1>\n"]
        if varied:
            parts[2:3] = [b"</title>\n", *self._directives(host, number), b"</head>\n<body>\n<h1>"]
        x = mix(world.seed + version, origin, ~number)
        wide = x * _WIDE  # one multiplication gives the bits for all blocks
        parts += [blocks[wide >> shift & (BLOCKS - 1)] for shift in _SHIFTS[: _LEAST + x % _MORE]]
        inside, across, private = world.graph.links(origin, number, host.size)
        parts.append(b"<ul>\n")
        parts += self._varied_links(host, number, inside) if varied else pool.items(inside)
        names = self._names
        for other, page in across:
            name = names.get(other) or self._name(other)
            parts.append(b'<li><a href="http://%b%b">%b</a>\n' % (name, page_path(page), name))
        if private >= 0:
            parts.append(b'<li><a href="%b">private</a>\n' % path_of(Section.PRIVATE, private))
        parts.append(b"</ul>\n")
        if varied:
            parts += [self._extra(host, extra, number) for extra in world.extras(host, number)]
            parts.append(b"<p>version %d</p>\n" % version)
        parts.append(b"<p>h%dp%d" % (origin, number))
        parts.append(frame.foot)
        return b"".join(parts)

    def title(self, host: Host, number: int) -> str:
        topics = self._world.topics
        if topics is not None:
            return _title_about(topics, self._world.seed, host.index, number).decode()
        shift = (self._frames.get(host.index) or self._frame(host)).titles_shift
        return host.pool.decode(host.pool.titles[number * 0x9E3779B1 + shift >> 3 & (TITLES - 1)])

    def _about(self, topics: TopicGraph, host: Host, number: int) -> bytes:
        """A page of a web with topics. Some links say what they lead to, and some do not."""
        seed = self._world.seed
        frame = self._frames.get(host.index) or self._frame(host)
        pool = topic_pool(seed, topics.topics.number, topics.topic(host.index, number))
        title = _title_about(topics, seed, host.index, number)
        x = mix(seed, host.index, ~number)
        wide = x * _WIDE
        parts = [frame.first, title, _AFTER_TITLE, title, b"</h1>\n"]
        parts += [pool.blocks[wide >> shift & (BLOCKS - 1)] for shift in _SHIFTS[: _LEAST + x % _MORE]]
        inside, across, _ = topics.links(host.index, number, host.size)
        parts.append(b"<ul>\n")
        for other, page in [*((host.index, page) for page in inside), *across]:
            x = mix(x, other, page)
            name = b"" if other == host.index else b"http://" + (self._names.get(other) or self._name(other))
            said = around = _SAYS_NOTHING[x & 7]
            if share(x) < topics.topics.telling:
                said = _title_about(topics, seed, other, page)
                around = topic_pool(seed, topics.topics.number, topics.topic(other, page)).titles[
                    x >> 20 & (TITLES - 1)
                ]
            parts.append(b'<li>%b: <a href="%b%b">%b</a>\n' % (around, name, page_path(page), said))
        parts.append(b"</ul>\n<p>h%dp%d" % (host.index, number))
        parts.append(frame.foot)
        return b"".join(parts)

    def leaf(self, host: Host, resource: Resource) -> bytes:
        """A page outside the tree: private, hidden, archive, list and trap pages."""
        if resource.section is Section.TRAP:
            return self._trap(host, resource)
        links = list_links(resource.number, host.size) if resource.section is Section.LIST else [b"/"]
        return self._short(host, resource.path, _items(links))

    def _trap(self, host: Host, resource: Resource) -> bytes:
        """Pages of a trap are alike but for what the trap itself changes."""
        frame = self._frames.get(host.index) or self._frame(host)
        title, text, links = trap_page(resource, self._name(host.origin))
        parts = [frame.first, title, b"</title>\n</head>\n<body>\n<h1>", title, b"</h1>\n<p>", text, b"</p>\n"]
        return b"".join([*parts, *_items(links), b"<p>Welcome", frame.foot])

    def dead_end(self, host: Host, path: bytes) -> bytes:
        """A page without links: what a faulty URL shows if it shows anything."""
        return self._short(host, path, [])

    def _short(self, host: Host, path: bytes, more: list[bytes]) -> bytes:
        frame = self._frames.get(host.index) or self._frame(host)
        x = mix(self._world.seed, host.origin, int.from_bytes(path[-12:]))
        title = host.pool.titles[x % TITLES]
        text = [host.pool.blocks[(x >> 9 * turn) % BLOCKS] for turn in range(1, 3)]
        head = [frame.first, title, b"</title>\n</head>\n<body>\n<h1>", title, b"</h1>\n"]
        return b"".join([*head, *text, *more, b"<p>", path[1:40].split(b"?")[0], frame.foot])

    def _frame(self, host: Host) -> _Frame:
        if len(self._frames) >= _CACHED_FRAMES:
            self._frames.clear()
        frame = self._frames[host.index] = _Frame(host, self._world.names.name(host.origin))
        return frame

    def _name(self, index: int) -> bytes:
        if len(self._names) >= _CACHED_NAMES:
            self._names.clear()
        name = self._names[index] = self._world.names.name(index).encode()
        return name

    def _directives(self, host: Host, number: int) -> list[bytes]:
        nofollow, noindex = self._world.directives(host, number)
        words = [word for word, where in (("nofollow", nofollow), ("noindex", noindex)) if where == "meta"]
        return [f'<meta name="robots" content="{", ".join(words)}">\n'.encode()] if words else []

    def _varied_links(self, host: Host, number: int, inside: list[int]) -> list[bytes]:
        """The same links in the many ways people write them. Hosts with a mirror name no host in their own links."""
        origin, pool = host.origin, host.pool
        alone = origin_of(self._world.seed, origin + 1) != origin and origin == host.index
        name = host.name.encode()
        found = pool.items(inside)
        for turn, page in enumerate(inside):
            form = (number + turn) % 16
            if form == 0 and alone:
                href = b"http://%b%b" % (name, page_path(page))
            elif form == 3 and alone:
                href = b"HTTP://%b:80%b" % (name.upper(), page_path(page))
            elif form == 6 and number:
                href = b".." + page_path(page)
            elif form == 9:
                href = b"%b#part-%d" % (page_path(page), turn)
            else:
                continue
            found[turn] = b'<li><a href="%b">%b</a>\n' % (href, pool.titles[page % TITLES])
        return found

    def _extra(self, host: Host, extra: Extra, number: int) -> bytes:
        path = self._world.path_of(host, number, extra).replace(b"&", b"&amp;")
        if extra.form == "css":
            return b'<link rel="stylesheet" href="%b">\n' % path
        if extra.form == "img":
            return b'<img src="%b" alt="">\n' % path
        rel = b' rel="nofollow"' if extra.form == "nofollow" else b""
        return b'<p><a%b href="%b">%b</a></p>\n' % (rel, path, extra.section.value.encode())


def _title_about(topics: TopicGraph, seed: int, host: int, page: int) -> bytes:
    pool = topic_pool(seed, topics.topics.number, topics.topic(host, page))
    return pool.titles[mix(seed, host, page) & (TITLES - 1)]


def _items(links: list[bytes]) -> list[bytes]:
    escaped = [link.replace(b"&", b"&amp;") for link in links]
    return [b"<ul>\n", *(b'<li><a href="%b">%b</a>\n' % (link, link.split(b"?")[0]) for link in escaped), b"</ul>\n"]
