"""The table `[partitions]`: domains that are pinned to agents."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from gossamer.config.kinds import to_toml
from gossamer.regex import compiled_later

MOST_PINS: Final = 1000
AGENT_NAME: Final = "up to 63 of a-z, 0-9 and -, a letter or a digit first"
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DOMAIN = compiled_later(rf"\.?{_LABEL}(?:\.{_LABEL}){{0,9}}")
_AGENT = compiled_later(r"[a-z0-9][a-z0-9-]{0,62}")


class Pin(msgspec.Struct, frozen=True):
    """`pattern` is `.edu` for all registered domains below edu, or one of them."""

    pattern: str
    agent: str


def read_pins(table: Any) -> tuple[Pin, ...]:
    """In the order of the file, which is that of their partitions. Whether a rule cuts a registered domain in two is
    seen by who knows the public suffixes.
    """
    if not isinstance(table, dict):
        raise ValueError('partitions is a section: write [partitions] and below it lines such as ".edu" = "agent-a"')
    if len(table) > MOST_PINS:
        raise ValueError(f"[partitions] has more than {MOST_PINS} pins")
    for rule, agent in table.items():
        check_pin(rule)
        if not isinstance(agent, str) or not is_agent_name(agent):
            raise ValueError(f"[partitions] {rule!r}: {agent!r} is no name of an agent: {AGENT_NAME}")
    return tuple(Pin(rule, agent) for rule, agent in table.items())


def is_agent_name(text: str) -> bool:
    return _AGENT.fullmatch(text) is not None


def check_pin(rule: str) -> None:
    if not _DOMAIN.fullmatch(rule):
        raise ValueError(
            f"[partitions] {rule!r} is no domain: write .edu for all below edu, or example.org for that one"
        )


def write_pins(pins: tuple[Pin, ...]) -> list[str]:
    if not pins:
        return []
    return ["", "[partitions]", *(f"{to_toml(pin.pattern)} = {to_toml(pin.agent)}" for pin in pins)]
