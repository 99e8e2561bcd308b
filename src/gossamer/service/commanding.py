"""The crawl commanded on behalf of a key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import Request

from gossamer.agent import Control
from gossamer.errors import ConfigError, ControlError, CrawlDirError
from gossamer.service.callers import Caller
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of

_PATIENCE = 4.0  # seconds for an answer, of which some commands wait for two; less than a request may take


@contextmanager
def commanding(request: Request, caller: Caller) -> Iterator[Control]:
    """What goes wrong with a command, as problems."""
    try:
        yield crawl_of(request).control(f"key {caller.name}", _PATIENCE)
    except ConfigError as error:
        raise Problem(422, str(error)) from error
    except ControlError as error:
        raise Problem(409, str(error)) from error
    except CrawlDirError as error:
        raise Problem(404, "There is no crawl in the directory of this service yet.") from error
