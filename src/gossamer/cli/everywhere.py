"""A crawl asked from the directory of one of its agents: the others are asked over the broker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import ClusterError

if TYPE_CHECKING:
    from gossamer.service.crawl import Crawl


def is_one_of_several(directory: Path) -> bool:
    """Whether it is an agent's own, and others are elsewhere."""
    from gossamer.agent.crawl_dir import CrawlDir

    return CrawlDir(directory).is_one_of_several


@contextmanager
def asked_everywhere(directory: Path) -> Iterator[Crawl | None]:
    """None where the directory is a whole crawl. Who did not answer is named at the end."""
    if not is_one_of_several(directory):
        yield None
        return
    from gossamer.service.problems import Problem
    from gossamer.service.served import Served

    served = Served(directory)
    view = served.asked()
    try:
        yield view
    except Problem as problem:
        raise ClusterError(problem.detail) from problem
    finally:
        served.close()
        _name(view)  # here, since who has read enough does not come back


def _name(view: Crawl) -> None:
    for name in view.missing:
        print(f"without {name}: no answer came", file=sys.stderr)
    if view.ended:
        ended = ", ".join(view.ended)
        print(
            f"without {ended}, ended: gossamer answer, on its machine with its --dir, lets it be asked", file=sys.stderr
        )
