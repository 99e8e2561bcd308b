"""Settings: declared once in `options`, read by `load`, documented by `python -m gossamer.config`."""

from gossamer.config.checks import connect_rule, dns_server, port_range, store_directory
from gossamer.config.hosts import HostRule
from gossamer.config.identity import default_contact, has_contact, user_agent
from gossamer.config.load import load
from gossamer.config.option import Option
from gossamer.config.options import (
    OPTIONS,
    AgentConfig,
    Config,
    FetchConfig,
    FrontierConfig,
    ParseConfig,
    PolicyConfig,
    ScopeConfig,
    StoreConfig,
)

__all__ = [
    "OPTIONS",
    "AgentConfig",
    "Config",
    "FetchConfig",
    "FrontierConfig",
    "HostRule",
    "Option",
    "ParseConfig",
    "PolicyConfig",
    "ScopeConfig",
    "StoreConfig",
    "connect_rule",
    "default_contact",
    "dns_server",
    "has_contact",
    "load",
    "port_range",
    "store_directory",
    "user_agent",
]
