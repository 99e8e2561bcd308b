"""The lives of pages in a changing web: how often they change, when they are born, when they are gone.

All of it can be asked for any moment, past or to come, and no moment is the first: the web is as old as time. Pages
below a host's size are always known; the others are born at moments of their hub, whose number is in their own.
"""

from __future__ import annotations

from math import erfc, exp, sqrt
from statistics import NormalDist

from gossamer.testing.web.dice import mix, share
from gossamer.testing.web.graph import CHILDREN
from gossamer.testing.web.history import between, changes_in, latest
from gossamer.testing.web.hosts import Host
from gossamer.testing.web.profile import Change

DAY = 86_400.0
DIRECTORIES = 16  # of a host: what `page_path` makes of the last four bits of a page's number
BORN = 1_000_000_000  # numbers from here on: born pages. A multiple of 16, as the last four bits are the directory
NEWS = 8  # pages that a hub announces
OUTAGE_SECONDS = 3_600.0
_A_WINDOW = 16  # numbers kept for the births of one window of a hub; `changes_in` has less
_CYCLE = 730 * DAY  # a mortal page: a year there, a year gone
_FAR = 64
_normal = NormalDist().inv_cdf


class Life:
    """When pages of a changing web change, come and go.

    Invariant: a page's text changes at the moments of one Poisson process, to which a hub adds the births of the pages
    it announces; both together are Poisson again. Nothing happens to a born page before its birth.
    """

    __slots__ = ("_births", "_change", "_high", "_low", "_outages", "_seed")

    def __init__(self, seed: int, change: Change) -> None:
        self._seed = seed
        self._change = change
        self._low = change.slowest**-change.exponent
        self._high = change.fastest**-change.exponent
        self._births = mix(seed, 0xB1B1)  # seeds of further processes, so that they do not move together
        self._outages = mix(seed, 0x0F0F)

    # ---- how often

    def text_rate(self, host: Host, page: int) -> float:
        """Changes a day of a page's own text.

        Two normal draws, one of the directory and one of the page, make a third, and that a uniform one (a Gaussian
        copula): neighbours resemble each other, and all together still follow the law exactly.
        """
        kinship = self._change.kinship
        place = _draw(mix(self._seed, host.index, page % DIRECTORIES ^ 0xD1D1))
        own = _draw(mix(self._seed, host.index, page ^ 0x5A5A))
        both = sqrt(kinship) * place + sqrt(1 - kinship) * own
        if self._change.median:
            return self._change.median * exp(self._change.sigma * both)
        level = 0.5 * erfc(-both / sqrt(2))
        rate: float = (self._low + level * (self._high - self._low)) ** (-1 / self._change.exponent)
        return rate

    def birth_rate(self, host: Host, page: int) -> float:
        """New pages a day that this page announces; 0 where it is no hub."""
        if page >= min(DIRECTORIES, host.size):
            return 0.0
        x = mix(self._births, host.index, page)
        if page and share(x) >= self._change.hubs:
            return 0.0
        spread: float = 4.0 ** (2 * share(mix(x, 1)) - 1)
        return self._change.births * spread

    def rate(self, host: Host, page: int) -> float:
        """Changes a day of what a page shows."""
        return self.text_rate(host, page) + self.birth_rate(host, page)

    # ---- when

    def last_change(self, host: Host, page: int, now: float) -> float:
        """The moment from which on the page shows what it shows `now`."""
        changed = latest(self._seed, host.index, page, now, DAY / self.text_rate(host, page))
        if page >= BORN:
            return max(changed, self.birth(host, page) or changed)
        births = self.birth_rate(host, page)
        return max(changed, latest(self._births, host.index, page, now, DAY / births)) if births else changed

    def changes(self, host: Host, page: int, start: float, end: float) -> list[float]:
        """The moments after `start` and up to `end` at which what a page shows becomes something else, in order."""
        if page >= BORN:
            start = max(start, self.birth(host, page) or start)
        found = between(self._seed, host.index, page, start, end, DAY / self.text_rate(host, page))
        births = self.birth_rate(host, page)
        if births:
            found = sorted(found + between(self._births, host.index, page, start, end, DAY / births))
        return found

    # ---- coming

    def birth(self, host: Host, page: int) -> float | None:
        """When a born page came, or will come. None for the others, and for numbers that no page has."""
        if page < BORN:
            return None
        turn, hub = divmod(page - BORN, DIRECTORIES)
        rate = self.birth_rate(host, hub)
        if not rate:
            return None
        window, place = divmod(turn, _A_WINDOW)
        moments = changes_in(self._births, host.index, hub, window, DAY / rate)
        return moments[place] if place < len(moments) else None

    def news(self, host: Host, page: int, now: float) -> list[int]:
        """The pages that a hub announces: the last ones born, newest first."""
        return [born for _, born in self._newest(host, page, now)]

    def births(self, host: Host, start: float, end: float) -> list[tuple[float, int]]:
        """(moment, page) of every page born on a host after `start`, up to `end`, in order."""
        found: list[tuple[float, int]] = []
        for hub in range(min(DIRECTORIES, host.size)):
            rate = self.birth_rate(host, hub)
            if rate:
                windows = range(int(start * rate // DAY), int(end * rate // DAY) + 1)
                found += [pair for k in windows for pair in self._born(host, hub, k, rate) if start < pair[0] <= end]
        return sorted(found)

    def _newest(self, host: Host, hub: int, now: float) -> list[tuple[float, int]]:
        rate = self.birth_rate(host, hub)
        found: list[tuple[float, int]] = []
        if rate:
            window = int(now * rate // DAY)
            for back in range(_FAR):
                found += [pair for pair in reversed(self._born(host, hub, window - back, rate)) if pair[0] <= now]
                if len(found) >= NEWS:
                    break
        return found[:NEWS]

    def _born(self, host: Host, hub: int, window: int, rate: float) -> list[tuple[float, int]]:
        moments = changes_in(self._births, host.index, hub, window, DAY / rate)
        first = BORN + DIRECTORIES * _A_WINDOW * window + hub
        return [(moment, first + DIRECTORIES * place) for place, moment in enumerate(moments)]

    # ---- going

    def status(self, host: Host, page: int, now: float) -> int:
        """What a request for the page is answered with: 200, 404 or 410."""
        if page >= host.size:
            birth = self.birth(host, page)
            if birth is None or birth > now:
                return 404
        if self.gone(host, page, now):
            return 410 if mix(self._seed, host.index, page ^ 0x410) & 1 else 404
        return 404 if self.out(host, page, now) else 200

    def out(self, host: Host, page: int, now: float) -> bool:
        """Whether the page is missing for this hour only. Front pages never are."""
        rate = self._change.outages
        return page > 0 and rate > 0 and now - latest(self._outages, host.index, page, now, DAY / rate) < OUTAGE_SECONDS

    def gone(self, host: Host, page: int, now: float) -> bool:
        """Whether a page that was there is gone, for longer than a crawl lasts."""
        phase = self._phase(host, page)
        return phase is not None and (now / _CYCLE + phase) % 1.0 >= 0.5

    def comings_and_goings(self, host: Host, page: int, start: float, end: float) -> list[float]:
        """The moments after `start` and up to `end` at which a mortal page went or came back."""
        phase = self._phase(host, page)
        if phase is None:
            return []
        first, last = (int(2 * (moment / _CYCLE + phase)) for moment in (start, end))
        moments = ((half / 2 - phase) * _CYCLE for half in range(first, last + 2))
        return [moment for moment in moments if start < moment <= end]

    def _phase(self, host: Host, page: int) -> float | None:
        """Where in its two years a mortal page is; only leaves are mortal, so that no branch is lost with them."""
        x = mix(self._seed, host.index, page ^ 0x6060)
        mortal = host.size > page > 0 and CHILDREN * page + 1 >= host.size and page >= DIRECTORIES
        return share(mix(x, 1)) if mortal and share(x) < self._change.mortal else None


def _draw(x: int) -> float:
    return _normal(max(share(x), 2.0**-53))
