"""The watches of the crawl that is served, on behalf of a caller: what goes wrong, as problems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Final

from fastapi import Request

from gossamer.agent.watching.adding import add_watch, remember, remove_watch
from gossamer.agent.watching.book import WatchBook, has_watches
from gossamer.agent.watching.sharing import bring_up
from gossamer.agent.watching.watch import Watch
from gossamer.errors import ClusterError, ConfigError, ControlError, CrawlDirError, GossamerError, QueryError
from gossamer.index import Answer
from gossamer.service.callers import Caller, is_local
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of

MOST_FROM: Final = 10
"""Results of a search from which the crawl may go on."""
_LOOK_EVERY: Final = 2.0  # seconds


def home_of(request: Request) -> Path:
    return crawl_of(request).directory.home


_looked: dict[Path, float] = {}  # when it was last asked for what is new


def _look(home: Path) -> None:
    """At most once in some seconds: a broker that is away is waited for."""
    now = monotonic()
    if now - _looked.get(home, float("-inf")) >= _LOOK_EVERY:
        _looked[home] = now
        with suppress(ClusterError):
            bring_up(home)


@contextmanager
def watches(request: Request) -> Iterator[WatchBook | None]:
    """None where there never were any: nothing is made by looking. Those of several machines are as new as the broker
    has them; where it does not answer, as this directory heard last.
    """
    home = home_of(request)
    _look(home)
    if not has_watches(home):
        yield None
        return
    with WatchBook(home) as book:
        yield book


def known(book: WatchBook | None, name: str) -> Watch:
    found = book.find(name) if book is not None else None
    if found is None:
        raise Problem(404, "There is no such watch. /api/v1/watches lists those there are.")
    return found


def add(
    request: Request, caller: Caller, query: str, webhook: str, name: str, notify_earlier: bool, crawl: bool
) -> tuple[Watch, str]:
    try:
        return add_watch(home_of(request), f"key {caller.name}", query, webhook, name, notify_earlier, crawl)
    except QueryError as error:
        raise Problem(422, str(error), position=error.position) from error
    except ConfigError as error:
        raise Problem(422, str(error).replace("--webhook", "webhook").replace("--name", "name")) from error
    except (ControlError, CrawlDirError) as error:
        raise Problem(409, str(error)) from error
    except ClusterError as error:
        raise _unheard(error) from error


def remembered(
    request: Request, caller: Caller, answer: Answer, query: str, site: str = "", language: str = ""
) -> Watch | None:
    """Have a search that found nothing remembered; None where that may not be, or is not to be. Another site's page
    must not be able to have a browser of this machine do so.
    """
    crawl = crawl_of(request)
    known = caller.key is not None or is_local(request)
    strange = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if answer.total or crawl.missing or not known or strange or not crawl.exists:
        return None
    try:
        return remember(home_of(request), whole_query(query, site, language)) if crawl.config().agent.remember else None
    except GossamerError:  # it cannot be written here, or the broker does not answer: a search is answered all the same
        return None


def whole_query(query: str, site: str, language: str) -> str:
    """A search with what it was kept to, as one query."""
    return " ".join(filter(None, (query, site and f"site:{site}", language and f"lang:{language}")))


def remove(request: Request, caller: Caller, name: str) -> Watch:
    with watches(request) as book:
        found = known(book, name)
    try:
        return remove_watch(home_of(request), f"key {caller.name}", found.id)
    except ConfigError as error:
        raise Problem(404, str(error)) from error
    except ControlError as error:
        raise Problem(409, str(error)) from error
    except ClusterError as error:
        raise _unheard(error) from error


def _unheard(error: ClusterError) -> Problem:
    return Problem(503, f"The broker of the crawl does not take it: {error}", {"Retry-After": "5"})
