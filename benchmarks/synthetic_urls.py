"""URLs as a crawl meets them, any number of them, computed from their number and kept nowhere.

Sizes of hosts follow a power law; every host writes its paths in one of eight styles; URLs are met in small groups of
one host, as the links of a page are. Mean length is near the 59.5 bytes that KSpider measured on the web.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from math import gcd

TOGETHER = 4  # URLs of one host met one after the other
_SLOPE = 0.8  # of the power law: with 100,000 hosts the largest has 2 % of the URLs
_GOLDEN = 0x9E3779B97F4A7C15
_WORDS = (
    "about account action address album answer archive article autumn band bank beach bird blue board book bridge "
    "brown build business camera camp canal card castle cat center chain change chapter city class clear club coast "
    "code coffee color comment computer contact cook country course cover craft cream cross culture daily dance data "
    "day design desk detail dog door dream earth east edge education energy engine event family farm field film fire "
    "fish flower food forest forum free friend fruit future gallery game garden gate glass gold golf grand green "
    "group guide hall hand harbor health heart hill history holiday home horse hotel house idea image index industry "
    "island item journal kitchen lake language law leaf learn letter library life light line list local lord machine "
    "magazine map market media member memory metal mill mind mirror model money moon morning motor mountain movie "
    "museum music nature network news night north note number ocean office oil open orange order paper park part "
    "party path people phone photo piano picture place plan plant play point post power press price product profile "
    "project public quality question radio rain reader recipe red report research review ring river road rock room "
    "rose route sail school science sea search season section service shop silver site sky smart snow social soft "
    "song sound south space sport spring square star station stone store story street studio style summer sun support "
    "system table tea team tech test text theater time tool topic tower town track trade train travel tree trip "
    "update user valley video view village visit voice walk wall water wave weather web week west white wild wind "
    "window winter wood word work world"
).split()
_W = len(_WORDS)
_TOPS = (
    "com",
    "com",
    "com",
    "com",
    "com",
    "org",
    "org",
    "net",
    "de",
    "co.uk",
    "co.jp",
    "ru",
    "fr",
    "nl",
    "edu",
    "info",
)
_SUBDOMAINS = ("www.", "www.", "www.", "www.", "www.", "", "", "", "blog.", "shop.", "forum.", "m.")


def _mix(number: int) -> int:
    """64 bits that look random, the same for the same number."""
    number = (number ^ (number >> 31)) * _GOLDEN & 0xFFFFFFFFFFFFFFFF
    return number ^ (number >> 29)


class SyntheticWeb:
    """`urls` URLs on at most `hosts` hosts; `url(n)` is the n-th that a crawl meets.

    Invariant: different numbers give different URLs, and each is normalised already.
    """

    def __init__(self, urls: int, hosts: int = 100_000) -> None:
        self.groups = -(-urls // TOGETHER)
        self.urls = self.groups * TOGETHER
        sums = list(accumulate((rank + 1) ** -_SLOPE for rank in range(hosts)))
        self._starts = array("Q", [0, *(int(self.urls * part / sums[-1]) for part in sums[:-1])])  # of each host's URLs
        # Groups are met in an order without pattern: a step that shares no factor visits all of them.
        step = int(self.groups * 0.6180339887) | 1
        while gcd(step, self.groups) != 1:
            step += 2
        self._step = step

    def url(self, number: int) -> str:
        group, place = divmod(number, TOGETHER)
        slot = group * self._step % self.groups * TOGETHER + place
        host = bisect_right(self._starts, slot) - 1
        return origin(host) + path(host, slot - self._starts[host])


@lru_cache(maxsize=1024)  # the next URL is often of the same host
def origin(host: int) -> str:
    chance = _mix(host + 1)
    name = f"{_WORDS[host % _W]}-{_WORDS[host // _W % _W]}" + (str(host // _W**2) if host >= _W**2 else "")
    scheme = "https" if chance >> 8 & 3 else "http"
    if chance >> 16 & 15 == 0:  # many hosts of one owner
        return f"{scheme}://{name}.{_WORDS[chance >> 20 & 7]}hosting.com"
    return f"{scheme}://{_SUBDOMAINS[(chance >> 24) % len(_SUBDOMAINS)]}{name}.{_TOPS[chance >> 32 & 15]}"


def path(host: int, number: int) -> str:
    """The path of a host's n-th URL; hosts have one style each."""
    chance = _mix(number + (host << 24))
    first, second, third = _WORDS[chance % _W], _WORDS[(chance >> 16) % _W], _WORDS[(chance >> 32) % _W]
    style = _mix(host) >> 40 & 7
    if style == 0:
        return f"/{2004 + chance % 22}/{1 + number % 12:02d}/{first}-{second}-{third}-{number}/"
    if style == 1:
        return f"/wiki/{first.title()}_{second}_{number}"
    if style == 2:
        return f"/{_WORDS[number // 400 % _W]}/{first}-{second}-{third}-p{100_000 + number}.html"
    if style == 3:
        return f"/index.php?page={_WORDS[number // 50 % 20]}&id={1000 + number}"
    if style == 4:
        return f"/forum/viewtopic.php?f={number % 40}&t={20_000 + 3 * number}"
    if style == 5:
        return f"/{_WORDS[number % 12]}/{2004 + number // 3000 % 22}{1 + number // 250 % 12:02d}/{first}-{number}.html"
    if style == 6:
        return f"/docs/{1 + number % 4}.0/{_WORDS[number // 30 % _W]}/{first}-{second}-{number}"
    return f"/~{_WORDS[number // 20 % _W]}/{_WORDS[number // 5 % 9]}/{first}{number}.htm"
