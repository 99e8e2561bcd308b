"""In what order URLs are visited."""

from __future__ import annotations

from gossamer.config.checks import strategy_option
from gossamer.config.kinds import Many, Text
from gossamer.config.option import Settings, declare, settings


@settings
class StrategyConfig(Settings):
    """In what order URLs are visited, and which are not."""

    strategy: str = declare(
        "breadth-first",
        Text(),
        "In what order: breadth-first, focused, importance, random-walk, site-by-site, sitemap-first, or one of your"
        " own as `package.module:Class`.",
        cost="Breadth-first costs nothing; what the others cost is in docs/strategies.md.",
        flag="--strategy",
        metavar="NAME",
    )
    strategy_option: tuple[str, ...] = declare(
        (),
        Many(strategy_option, comma=False),
        "Options of the strategy, `key=value` each; which there are is in docs/strategies.md.",
        cost="That of the strategy.",
        flag="--strategy-option",
        metavar="KEY=VALUE",
    )
