"""Every option, declared once: default, kind, what it means and what it costs."""

from gossamer.config.sections.agent import AgentConfig, ServiceConfig
from gossamer.config.sections.cluster import ClusterConfig
from gossamer.config.sections.disk import FrontierConfig, IndexConfig, StoreConfig
from gossamer.config.sections.fetch import FetchConfig, ParseConfig
from gossamer.config.sections.fresh import FreshConfig
from gossamer.config.sections.scope import PolicyConfig, ScopeConfig
from gossamer.config.sections.strategy import StrategyConfig

__all__ = [
    "AgentConfig",
    "ClusterConfig",
    "FetchConfig",
    "FreshConfig",
    "FrontierConfig",
    "IndexConfig",
    "ParseConfig",
    "PolicyConfig",
    "ScopeConfig",
    "ServiceConfig",
    "StoreConfig",
    "StrategyConfig",
]
