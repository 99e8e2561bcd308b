"""Settings: declared once in `options`, read by `load`, documented by `python -m gossamer.config`."""

from gossamer.config.apps import AppRule, app_of, with_apps
from gossamer.config.checks import block_pattern, connect_rule, dns_server, port_range, store_directory, strategy_option
from gossamer.config.hosts import HostRule
from gossamer.config.hours import Hours, caps_at, hours
from gossamer.config.identity import default_contact, has_contact, user_agent
from gossamer.config.kinds import Pause
from gossamer.config.load import adopted, changed, live_changes, load, load_text, local_values, reread
from gossamer.config.option import Option
from gossamer.config.options import OPTIONS, Config
from gossamer.config.pins import Pin
from gossamer.config.secrets import has_secrets, header, without_login
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
    StoreConfig,
    StrategyConfig,
)
from gossamer.config.urls import UrlRule

__all__ = [
    "OPTIONS",
    "AgentConfig",
    "AppRule",
    "ClusterConfig",
    "Config",
    "FetchConfig",
    "FreshConfig",
    "FrontierConfig",
    "HostRule",
    "Hours",
    "IndexConfig",
    "Option",
    "ParseConfig",
    "Pause",
    "Pin",
    "PolicyConfig",
    "ScopeConfig",
    "StoreConfig",
    "StrategyConfig",
    "UrlRule",
    "adopted",
    "app_of",
    "block_pattern",
    "caps_at",
    "changed",
    "connect_rule",
    "default_contact",
    "dns_server",
    "has_contact",
    "has_secrets",
    "header",
    "hours",
    "live_changes",
    "load",
    "load_text",
    "local_values",
    "port_range",
    "reread",
    "store_directory",
    "strategy_option",
    "user_agent",
    "with_apps",
    "without_login",
]
