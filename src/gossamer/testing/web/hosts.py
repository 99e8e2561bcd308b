"""One host of the simulated web: its size, language, charset and habits."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.testing.web.dice import mix, pick, share
from gossamer.testing.web.honesty import Honesty, honesty_of
from gossamer.testing.web.names import HostNames
from gossamer.testing.web.profile import Profile, Weights
from gossamer.testing.web.robots import Robots, robots_of
from gossamer.testing.web.text import Pool, pool
from gossamer.testing.web.words import LANGUAGES

_LANGUAGES: Weights = (("en", 40), ("de", 10), ("fr", 10), ("es", 10), ("ru", 8), ("ja", 8), ("zh", 8), ("th", 6))
_DECLARED: Weights = (("header", 40), ("meta", 25), ("both", 20), ("none", 15))
_SITEMAPS: Weights = (("xml", 2), ("gz", 1), ("index", 1))
_MIRRORS = 32  # one host in so many mirrors its neighbour
_WELL = 4  # of the hosts of a web that means harm, one in so many does none
_ALPHA = 1.3  # of the power law of host sizes
_WIDEST = 50  # the largest host has so many times the mean


@dataclass(frozen=True, slots=True)
class Host:
    """Everything about a host that does not change."""

    index: int
    origin: int  # whose content it shows: itself, or the host it mirrors
    name: str
    domain: str
    size: int  # HTML pages
    seed: int
    language: str
    charset: str
    declared: str  # where the charset is: header, meta, both, none
    robots: Robots
    sitemap: str  # "", xml, gz, index
    gzip: bool
    chunked: bool
    etag: bool
    last_modified: bool
    body_after_head: bool
    well: bool  # no faults and no traps, whatever the profile
    honesty: Honesty = Honesty.TRUTHFUL  # of what it says about freshness
    noise: bool = False  # pages have an advert and a clock
    max_age: bool = False  # Cache-Control says how long a page stays as it is

    @property
    def pool(self) -> Pool:
        """The text it picks from; made when first asked for, as the truth needs none."""
        return pool(self.seed, self.language, self.charset)


class HostSizes:
    """How many pages a host has: `pages` each, or by a bounded power law with that mean.

    Invariant: host 0, where crawls begin, always has `pages`.
    """

    __slots__ = ("_least", "_most", "_pages", "_seed", "_varied")

    def __init__(self, seed: int, pages: int, varied: bool) -> None:
        self._seed = seed
        self._pages = pages
        self._varied = varied and pages > 1
        self._most = float(_WIDEST * pages)
        self._least = _least_for_mean(pages, self._most) if self._varied else float(pages)

    def size(self, host: int) -> int:
        if not self._varied or host == 0:
            return self._pages
        origin = origin_of(self._seed, host)
        if origin == 0:
            return self._pages
        rest = 1 - share(mix(self._seed, origin, 11)) * (1 - (self._least / self._most) ** _ALPHA)
        stretch: float = rest ** (-1 / _ALPHA)
        return max(1, round(self._least * stretch))


def _least_for_mean(mean: float, most: float) -> float:
    """The lower end of a bounded Pareto distribution that has this mean, by bisection."""
    low, high = 1e-6, mean
    for _ in range(60):
        least = (low + high) / 2
        ratio = (least / most) ** _ALPHA
        got = least / (1 - ratio) * _ALPHA / (_ALPHA - 1) * (1 - (least / most) ** (_ALPHA - 1))
        low, high = (least, high) if got < mean else (low, least)
    return low


def _is_mirror(seed: int, host: int) -> bool:
    return host > 0 and mix(seed, host, 13) % _MIRRORS == 0


def origin_of(seed: int, host: int) -> int:
    """The host whose content is shown; a mirror of a mirror is none."""
    return host - 1 if _is_mirror(seed, host) and not _is_mirror(seed, host - 1) else host


def make_host(seed: int, index: int, names: HostNames, sizes: HostSizes, profile: Profile) -> Host:
    honesty, noise = honesty_of(seed, index, profile.change) if profile.change else (Honesty.TRUTHFUL, False)
    origin = origin_of(seed, index) if profile.varied else index
    x, y = mix(seed, origin, 17), mix(seed, index, 19)
    language = pick(x, _LANGUAGES) if origin and not profile.topics else "en"
    charsets = LANGUAGES[language].charsets if profile.varied and origin else ("utf-8",)
    charset = charsets[(x >> 8) % len(charsets)]
    kind = pick(y, profile.robots) if index or profile.change else "private"
    if honesty is Honesty.SITEMAP_NOW:
        kind = "sitemap"
    sitemap = pick(y >> 4, _SITEMAPS) if kind == "sitemap" else ""
    name = names.name(index)
    varied = profile.varied
    etag, last_modified = varied and y >> 43 & 3 != 0, varied and y >> 45 & 3 != 0
    if profile.change:
        etag, last_modified = _validators(honesty, y >> 43)
    return Host(
        index=index,
        origin=origin,
        name=name,
        domain=names.domain(index),
        size=sizes.size(index),
        seed=seed,
        language=language,
        charset=charset,
        declared=pick(x >> 3, _DECLARED) if varied and origin else "header",
        robots=robots_of(kind, seed, index, (f"http://{name}{SITEMAP_PATHS[sitemap]}",) if sitemap else ()),
        sitemap=sitemap,
        gzip=varied and y >> 40 & 1 == 0,
        chunked=varied and y >> 41 & 3 == 0,
        etag=etag,
        last_modified=last_modified,
        body_after_head=profile.traps and y >> 47 & 7 == 0,
        well=profile.traps and origin > 0 and mix(seed, origin, 23) % _WELL == 0,
        honesty=honesty,
        noise=noise,
        max_age=profile.change is not None and y >> 50 & 3 == 0,
    )


def _validators(honesty: Honesty, x: int) -> tuple[bool, bool]:
    """Whether a host of a changing web gives an ETag and a Last-Modified: both, one, or what its manner needs."""
    if honesty in (Honesty.BARE, Honesty.FRESH_ETAG):
        return honesty is Honesty.FRESH_ETAG, False
    if honesty in (Honesty.CONSTANT_DATE, Honesty.DATE_NOW):
        return False, True
    return x % 3 != 1 or honesty is Honesty.CONSTANT_ETAG, x % 3 != 2


SITEMAP_PATHS = {"xml": "/sitemap.xml", "gz": "/sitemap.xml.gz", "index": "/sitemap-index.xml"}
