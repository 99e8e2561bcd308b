"""The watches of the crawl that is served, on behalf of a caller: what goes wrong, as problems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Final

from fastapi import Request

from gossamer.agent.watching.adding import add_watch, remove_watch
from gossamer.agent.watching.book import WatchBook, has_watches
from gossamer.agent.watching.sharing import bring_up
from gossamer.agent.watching.watch import Watch
from gossamer.errors import ClusterError, ConfigError, ControlError, CrawlDirError, QueryError
from gossamer.service.callers import Caller
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of

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
    request: Request, caller: Caller, query: str, webhook: str, name: str, notify_earlier: bool
) -> tuple[Watch, str]:
    try:
        return add_watch(home_of(request), f"key {caller.name}", query, webhook, name, notify_earlier)
    except QueryError as error:
        raise Problem(422, str(error), position=error.position) from error
    except ConfigError as error:
        raise Problem(422, str(error).replace("--webhook", "webhook").replace("--name", "name")) from error
    except (ControlError, CrawlDirError) as error:
        raise Problem(409, str(error)) from error
    except ClusterError as error:
        raise _unheard(error) from error


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
