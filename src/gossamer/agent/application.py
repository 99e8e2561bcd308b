"""The port of applications: what decides what comes next, and builds on the pages of a crawl (P1, S10).

from gossamer import Application, Request, Wants

class Prices(Application):
    wants = Wants(hosts=("*.shop.example",))

    def pages(self, pages):
        for page in pages:
            yield {"url": page.url, "title": page.document.title}
            yield Request(page.url + "?page=2", priority=3, tag="second pages")
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gossamer.config.checks import check_regex
from gossamer.errors import ConfigError
from gossamer.model.post import LONGEST_BODY, posted
from gossamer.model.url import host_name, host_of
from gossamer.rules.policy import USUAL_PRIORITY

if TYPE_CHECKING:
    from gossamer.agent.pages import StoredPage
    from gossamer.model import Document, Locator

LONGEST_TAG: Final = 100
LONGEST_WAIT: Final = 86_400  # seconds
_HTML: Final = ("text/html", "application/xhtml+xml")


class Request(msgspec.Struct, frozen=True):
    """A URL that is to be visited. `priority` from 0 (first) to 9 (last) orders it among those of its application; by
    its `tag` it is found again (`GET /api/v1/results`). With a `body` (application/x-www-form-urlencoded) it is sent
    with POST, once, where the crawl's owner allows that (`post` of its application). A known URL is visited again if a
    `max_age` is given and what is stored of it is as many seconds old; 0: in any case.
    """

    url: str
    priority: int = USUAL_PRIORITY
    tag: str = ""
    body: str | None = None
    max_age: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.url, str):
            raise TypeError(f"a request needs the text of a URL, not {self.url!r}")
        if isinstance(self.priority, bool) or not isinstance(self.priority, int) or not 0 <= self.priority <= 9:
            raise ValueError(f"priority {self.priority!r} is not a whole number from 0 (first) to 9 (last)")
        if not isinstance(self.tag, str) or len(self.tag) > LONGEST_TAG or not (self.tag.isprintable()):
            raise ValueError(f"tag {str(self.tag)[:50]!r} is not a text of at most {LONGEST_TAG} printable characters")
        if self.body is not None and (not isinstance(self.body, str) or posted("", self.body) is None):
            raise ValueError(
                f"body {str(self.body)[:50]!r} is not a form of at most {LONGEST_BODY:,} bytes as urlencode writes it"
            )
        if self.max_age is None:
            return
        if isinstance(self.max_age, bool) or not isinstance(self.max_age, int | float) or not self.max_age >= 0:
            raise ValueError(f"max_age {self.max_age!r} is not a number of seconds, 0 or more")
        if self.body is not None:
            raise ValueError("max_age and body exclude each other: a form is sent once")


class Host(msgspec.Struct, frozen=True):
    """How a host is to be treated from now on: `delay`, the seconds between two visits, and `timeout`, those that a
    response may take; None: as before. A delay is never shorter than the crawl's owner allows (`min_delay` of the
    application), nor than robots.txt asks for, and a table of the owner for this very host wins.
    """

    name: str
    delay: float | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or host_name(self.name) is None:
            raise ValueError(f"{str(self.name)[:100]!r} is not the name of a host such as www.example.org")
        for key, least, value in (("delay", 0, self.delay), ("timeout", 1, self.timeout)):
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= LONGEST_WAIT:
                raise ValueError(f"{key} {value!r} is not a number of seconds from {least} to {LONGEST_WAIT:,}")


class Wants:
    """Which pages an application sees: all conditions must hold; one that is not given always does.

    `hosts` are patterns such as `*.example.org`, `urls` a regular expression searched for in the URL, `types`
    beginnings of content types (`("text/html", "image/")`; all: `("",)`), `statuses` those of the response. `same`:
    also pages that were visited again and had not changed.
    """

    def __init__(
        self,
        *,
        hosts: Sequence[str] = (),
        urls: str = "",
        types: Sequence[str] = _HTML,
        statuses: Iterable[int] = range(200, 300),
        same: bool = False,
    ) -> None:
        if isinstance(hosts, str) or isinstance(types, str):
            raise ConfigError('Wants: hosts and types are lists: hosts=("*.example.org",)')
        if urls:
            try:
                check_regex(urls)
            except ValueError as error:
                raise ConfigError(f"Wants: urls {urls!r} is not {error}") from None
        self.hosts = tuple(host.lower() for host in hosts)
        self.urls = re.compile(urls) if urls else None
        self.types = tuple(kind.lower() for kind in types)
        self.statuses = frozenset(statuses)
        self.same = same

    def url(self, url: str) -> bool:
        if self.hosts and not any(fnmatchcase(host_of(url), host) for host in self.hosts):
            return False
        return self.urls is None or self.urls.search(url) is not None

    def type(self, content_type: str | None) -> bool:
        return (content_type or "").lower().startswith(self.types)


class AppPage:
    """A stored response: `.url .status .headers .body .content_type .fetched_at .locator`, and `.source` and
    `.document`, made of it when first asked for.
    """

    def __init__(self, stored: StoredPage, change: str = "") -> None:
        self._stored = stored
        self.change = change  # "", or what a visit that was made again has found: changed, same, gone …

    @property
    def url(self) -> str:
        return self._stored.url

    @property
    def status(self) -> int:
        return self._stored.status

    @property
    def headers(self) -> list[tuple[str, str]]:
        return self._stored.headers

    @property
    def body(self) -> bytes:
        return self._stored.body

    @property
    def content_type(self) -> str | None:
        return self._stored.content_type

    @property
    def fetched_at(self) -> float:
        return self._stored.fetched_at

    @property
    def locator(self) -> Locator:
        return self._stored.locator

    @cached_property
    def source(self) -> str:
        """The body as text, in the encoding that the page is in."""
        from gossamer.parse.charset import decode

        return decode(self.body, self.content_type)[0]

    @cached_property
    def document(self) -> Document:
        from gossamer.parse import parse

        return parse(self.body, self.url, self.content_type, headers=self.headers)

    def __repr__(self) -> str:
        return f"<AppPage {self.status} {self.url}>"


Yielded = Request | Host | Mapping[str, Any]


class Application:
    """What users implement: `pages`, and whatever else they need.

    It is called from one thread, in the order in which pages were stored, each page once. What it yields for a page is
    kept together with the mark that the page was seen: after a crash nothing is lost, and nothing is there twice. An
    application that remembers something gives it in `state` and takes it back in `restore`.
    """

    wants = Wants()
    post = ""
    """Where the owner lets it send forms with POST: a regular expression for the whole URL; empty: nowhere."""
    min_delay: float | None = None
    """The shortest pause in seconds that the owner lets it give to a host; None: no shorter ones than the crawl's."""

    def begin(self) -> Iterable[Yielded]:
        """What it asks for before it has seen anything; once in the life of a crawl."""
        return ()

    def resume(self) -> Iterable[Yielded]:
        """What it asks for when it goes on in another process, after `restore`: what it waited for may never come."""
        return ()

    def pages(self, pages: Sequence[AppPage]) -> Iterable[Yielded]:
        """Requests, records (dicts that JSON can hold), and hosts to be treated otherwise, for a batch of pages."""
        raise NotImplementedError(f"{type(self).__name__} has no method `pages`: write one that yields what it wants")

    def state(self) -> Any:
        """What it must know to go on in another process: anything that JSON can hold; None: nothing."""
        return None

    def restore(self, state: Any) -> None:
        """Take back what `state` gave; called before anything else, if there was something."""


def made(application: object, options: Mapping[str, Any], named: str) -> Application:
    """Of a class, or of an object that is one already."""
    found = application
    if isinstance(application, type):
        try:
            found = application(**options)
        except ConfigError as error:
            raise ConfigError(f"{named}: {error}") from None
        except TypeError as error:
            raise ConfigError(
                f"{named} cannot be made with the options {', '.join(options) or 'none'}: {error}"
            ) from None
        except Exception as error:  # whatever a user's class says of an option's value
            raise ConfigError(f"{named} cannot be made: {type(error).__name__}: {error}") from error
    if not isinstance(found, Application):
        raise ConfigError(f"{named} is no application: let its class be one of gossamer.Application")
    return found
