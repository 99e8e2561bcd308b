"""An application tried on what is stored: nothing is visited, and nothing is kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gossamer.agent.app_runner import is_wanted, wanted_page
from gossamer.agent.application import Application, AppPage, Host, Request, Wants, Yielded
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.follower import Committed
from gossamer.agent.pages import PageReader
from gossamer.agent.parts import readable_parts
from gossamer.errors import AppError
from gossamer.store import Captures

_AT_ONCE = 64  # pages


def trial(home: Path, application: Application, pages: int) -> Iterator[dict[str, Any]]:
    """What it would ask for (`{"request": …}`, `{"host": …}`) and record (`{"record": …}`), from the first stored page
    on; of several agents one after the other.
    """
    parts = readable_parts(home)
    try:
        yield from map(_shown, application.begin() or ())
        found = islice((page for part in parts for page in _pages(application.wants, part)), pages)
        while batch := list(islice(found, _AT_ONCE)):
            yield from map(_shown, application.pages(batch) or ())
    except Exception as error:  # whatever it is, it is the application's
        raise AppError(f"{type(error).__name__}: {error}") from error


def _pages(wants: Wants, directory: CrawlDir) -> Iterator[AppPage]:
    captures = Captures(directory.warc).after({}, Committed(directory).now())
    with PageReader(directory.home) as reader:
        for capture in captures:
            if is_wanted(wants, capture):
                page = wanted_page(wants, capture, reader.by_place(capture.stored))
                if page is not None:
                    yield page


def _shown(found: Yielded) -> dict[str, Any]:
    if isinstance(found, Request | Host):
        fields = msgspec.to_builtins(found)
        kind = "request" if isinstance(found, Request) else "host"
        return {kind: {name: value for name, value in fields.items() if value is not None}}
    return {"record": dict(found)}
