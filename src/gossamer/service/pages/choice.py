"""What one who looks at the dashboard has chosen to see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args
from urllib.parse import urlencode

import msgspec

from gossamer.service.host_tables import BusyOrder, SlowOrder

Range = Literal["15min", "6h", "run", "all"]
RANGES: Final[dict[Range, str]] = {"15min": "15 min", "6h": "6 h", "run": "whole run", "all": "all runs"}
AgentOrder: Final = ("process", "core", "memory")


class Choice(msgspec.Struct, frozen=True):
    """What one who looks has chosen, as it stands in the address of the page. An empty range stands for the usual one:
    it depends on how the crawl is.
    """

    range: Range | Literal[""] = ""
    busy: str = "pages"
    slow: str = "failures"
    agents: str = "process"

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Choice:
        """What is not understood is as usual."""
        known = {"range": tuple(RANGES), "busy": get_args(BusyOrder), "slow": get_args(SlowOrder), "agents": AgentOrder}
        found = {name: given[name] for name, values in known.items() if given.get(name) in values}
        return msgspec.convert(found, cls)

    def link(self, **other: str) -> str:
        chosen = msgspec.structs.asdict(msgspec.structs.replace(self, **other))
        text = urlencode({name: value for name, value in chosen.items() if value != getattr(_USUAL, name)})
        return f"/dashboard?{text}" if text else "/dashboard"


_USUAL: Final = Choice()
