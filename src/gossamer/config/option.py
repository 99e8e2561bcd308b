"""An option's declaration."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeVar

from gossamer.config.kinds import Kind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """The documentation of an option. `once` options hold for one run and are not taken over by the next; `live` ones
    may be changed while the crawl runs; `local` ones may differ between agents of a crawl.
    """

    kind: Kind[Any]
    help: str
    cost: str
    flag: str = ""
    metavar: str = ""
    once: bool = False
    live: bool = False
    local: bool = False
    default: Any = None
    section: str = ""
    key: str = ""

    @property
    def name(self) -> str:
        return f"{self.section}.{self.key}"


def declare(default: T, kind: Kind[Any], help: str, *, cost: str, secret: bool = False, **more: Any) -> T:
    """`secret` values are left out where settings are printed."""
    option = Option(kind, help, cost, **more)
    return dataclasses.field(default=default, repr=not secret, metadata={"option": option})
