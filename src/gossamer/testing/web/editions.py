"""Pages of a changing web: the text of a version, new links on hubs, and noise around them that is no change."""

from __future__ import annotations

from datetime import UTC, datetime

from gossamer.testing.web.dice import mix
from gossamer.testing.web.hosts import Host
from gossamer.testing.web.paths import FEED_PATH, page_path
from gossamer.testing.web.render import Renderer
from gossamer.testing.web.text import BLOCKS, TITLES

_LEAST, _MORE = 4, 6  # 4 to 9 blocks of about 1 KB: 8 KB a page
_ADVERT_SECONDS = 5.0
_STYLE = b"<style>body{max-width:44em;margin:2em auto;font:16px/1.5 system-ui}</style>"
_HEAD = b"</title>\n%b" + _STYLE + b"\n</head>\n<body>\n<h1>"
_FEED = b'<link rel="alternate" type="application/atom+xml" title="News" href="%b">\n' % FEED_PATH


class Editions(Renderer):
    """Bodies of pages that change.

    Invariant: the main text is a function of host, page and version, and no two versions of a page have the same one;
    the body is a function of these and, on hosts with noise, of the time.
    """

    def edition(self, host: Host, number: int, version: int, now: float) -> bytes:
        world, pool = self._world, host.pool
        title = self.title(host, number).encode()
        frame = self._frames[host.index]  # made for the title
        parts = [frame.first, title, _HEAD % (b"" if number else _FEED), title, b"</h1>\n"]
        if host.noise:
            parts.append(self._advert(host, number, now))
        parts += self._blocks(host, number, version)
        news = world.news(host, number, now)
        if news:
            parts += [b"<h2>%b</h2>\n<ul>\n" % pool.titles[version % TITLES], *self._news(host, news), b"</ul>\n"]
        inside, across, _ = world.graph.links(host.index, number, host.size)
        parts += [b"<ul>\n", *pool.items(inside)]
        for other, page in across:
            name = self._names.get(other) or self._name(other)
            parts.append(b'<li><a href="http://%b%b">%b</a>\n' % (name, page_path(page), name))
        parts.append(b"</ul>\n")
        if host.noise:
            clock = datetime.fromtimestamp(now, UTC).strftime("%H:%M:%S")
            parts.append(b"<footer><p>Page generated %b</p></footer>\n" % clock.encode())
        parts += [b"<p>h%dp%d" % (host.index, number), frame.foot]
        return b"".join(parts)

    def _blocks(self, host: Host, number: int, version: int) -> list[bytes]:
        """Blocks that stay, of which a version has some replaced: sometimes one, sometimes all."""
        blocks, seed = host.pool.blocks, self._world.seed
        x = mix(seed, host.index, ~number)
        found = [blocks[mix(x, turn) % BLOCKS] for turn in range(_LEAST + x % _MORE)]
        y = mix(x, version)
        first, count = y % len(found), 1 + (y >> 20) % len(found)
        for turn in range(count):
            found[(first + turn) % len(found)] = blocks[mix(y, turn) % BLOCKS]
        # The number of the version is in the midst of the text: two versions never read alike.
        found[first] = b"<p>%x: %b" % (version, found[first].removeprefix(b"<p>"))
        return found

    def _news(self, host: Host, pages: list[int]) -> list[bytes]:
        """As `Pool.items`, which keeps what it made: pages that are news for a while must not fill it."""
        titles = host.pool.titles
        return [b'<li><a href="%b">%b</a>\n' % (page_path(page), titles[page % TITLES]) for page in pages]

    def _advert(self, host: Host, number: int, now: float) -> bytes:
        x = mix(int(now // _ADVERT_SECONDS), host.index, number)
        words = [host.pool.titles[(x >> shift) % TITLES] for shift in (0, 16, 32)]
        return b'<aside class="advert"><h2>%b</h2><p>%b. %b.</p></aside>\n' % tuple(words)
