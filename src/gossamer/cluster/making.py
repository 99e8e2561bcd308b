"""What is fixed when a crawl of several agents is made, out of its settings; and that later ones agree with it."""

from __future__ import annotations

from gossamer.cluster.shared import Facts
from gossamer.config import Config
from gossamer.errors import ConfigError
from gossamer.rules.territory import Territory


def facts_of(config: Config, replicas: int = 1) -> Facts:
    """Of a crawl that is made with these settings. ConfigError where pins cut a registered domain in two."""
    pins = tuple((pin.pattern, pin.agent) for pin in config.partitions)
    Territory(config.frontier.partitions, dict(pins))
    return Facts(partitions=config.frontier.partitions, replicas=replicas, pins=pins)


def check_facts(facts: Facts, config: Config) -> None:
    """That the settings are of the crawl that was made."""
    wanted = facts_of(config)
    if facts.partitions != wanted.partitions:
        raise ConfigError(
            f"frontier.partitions: the crawl was made with {facts.partitions}, which stays so; set it to that, or begin"
            " another crawl"
        )
    if facts.pins != wanted.pins:
        raise ConfigError(
            "[partitions]: pins stay as they were when the crawl was made; take the change back, or begin another crawl"
        )
