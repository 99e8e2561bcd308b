"""All options together, as `sections` declares them: one section for each folder of the program, handed only to it.

Help texts, docs/configuration.md and the comments in gossamer.toml are made from these declarations.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from gossamer.config.apps import AppRule
from gossamer.config.hosts import HostRule
from gossamer.config.option import Option, Settings, settings
from gossamer.config.pins import Pin
from gossamer.config.sections import (
    AgentConfig,
    ClusterConfig,
    FetchConfig,
    FreshConfig,
    FrontierConfig,
    IndexConfig,
    ParseConfig,
    PolicyConfig,
    ScopeConfig,
    ServiceConfig,
    StoreConfig,
    StrategyConfig,
)
from gossamer.config.urls import UrlRule


@settings
class Config(Settings):
    """All settings of a crawl. Immutable: every part of the program sees the same."""

    scope: ScopeConfig = ScopeConfig()
    policy: PolicyConfig = PolicyConfig()
    strategy: StrategyConfig = StrategyConfig()
    fresh: FreshConfig = FreshConfig()
    fetch: FetchConfig = FetchConfig()
    parse: ParseConfig = ParseConfig()
    frontier: FrontierConfig = FrontierConfig()
    store: StoreConfig = StoreConfig()
    index: IndexConfig = IndexConfig()
    service: ServiceConfig = ServiceConfig()
    agent: AgentConfig = AgentConfig()
    cluster: ClusterConfig = ClusterConfig()
    hosts: tuple[HostRule, ...] = ()
    urls: tuple[UrlRule, ...] = ()
    partitions: tuple[Pin, ...] = ()
    apps: tuple[AppRule, ...] = ()

    def to_toml(self) -> str:
        """Every value, with its meaning as a comment; reads back equal."""
        from gossamer.config.load import to_toml

        return to_toml(self)


TABLES = ("hosts", "urls")  # named by patterns; live
FIXED = "partitions"  # a table, too: when a crawl is made
APPS = "apps"  # the same, whenever a crawl is started
SECTIONS: dict[str, type[Any]] = {
    field.name: type(field.default) for field in dataclasses.fields(Config) if field.name not in (*TABLES, FIXED, APPS)
}

OPTIONS: dict[str, Option] = {
    option.name: option
    for section, cls in SECTIONS.items()
    for field in dataclasses.fields(cls)
    for option in [
        msgspec.structs.replace(field.metadata["option"], default=field.default, section=section, key=field.name)
    ]
}
