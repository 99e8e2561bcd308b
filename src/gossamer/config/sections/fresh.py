"""Visiting again what was visited before."""

from __future__ import annotations

from gossamer.config.kinds import Decimal, Duration, Switch
from gossamer.config.option import Settings, declare, settings


@settings
class FreshConfig(Settings):
    """Whether, how much, and within which bounds pages are visited again."""

    keep_fresh: bool = declare(
        False,
        Switch(),
        "Never finish: visit pages again as they change, where that keeps most copies as their servers show them.",
        cost="Requests for as long as it runs, within the delays, limits and caps of every crawl.",
        flag="--keep-fresh",
        live=True,
    )
    revisit_share: float = declare(
        0.5,
        Decimal(0.01, 1),
        "Share of the speed that visits to known pages take while there are new ones to visit.",
        cost="New pages are found later by that much.",
        live=True,
    )
    revisit_rate: float = declare(
        0.0,
        Decimal(0),
        "Visits a second to known pages at most, on average; 0 is what speed and delays allow.",
        cost="The fewer, the older the copies.",
        live=True,
    )
    min_interval: float = declare(
        3600.0,
        Duration(1),
        "Time between two visits to a page at least, however often it changes.",
        cost="A shorter time keeps busy pages fresher and costs their servers more.",
        live=True,
    )
    max_interval: float = declare(
        30 * 86400.0,
        Duration(1),
        "Time between two visits to a page at most, however rarely it changes, where there are visits enough:"
        " with fewer it yields, up to ten times the interval at which all pages could be visited alike.",
        cost="A longer time saves visits, and changes of quiet pages are seen later.",
        live=True,
    )
