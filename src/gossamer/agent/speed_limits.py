"""The limits of speed as programs see them, and as the options that they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gossamer.config import OPTIONS, Config, Hours, hours
from gossamer.errors import ConfigError

NAMES = {
    "rate": "fetch.rate",
    "bandwidth": "fetch.bandwidth",
    "delay": "policy.delay",
    "connections": "fetch.connections",
    "schedule": "fetch.schedule",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Span(msgspec.Struct, rename={"start": "from", "end": "to"}, forbid_unknown_fields=True):
    """Other caps from one time of the day to another, over midnight if that is earlier. A cap that is not given is the
    crawl's own; 0 is no cap.
    """

    start: str = "00:00"
    end: str = "24:00"
    rate: float | None = None
    bandwidth: int | None = None
    days: str = ""  # Mon-Fri, Sat,Sun; empty: every day
    pause: bool = False


class Limits(msgspec.Struct):
    """0 is no limit, but for the delay: there it is no pause."""

    rate: float  # pages a second
    bandwidth: int  # bytes a second
    delay: float  # seconds between two visits to a host
    connections: int
    schedule: list[Span]  # the first that matches holds


def limits_of(config: Config) -> Limits:
    fetch = config.fetch
    spans = [_span(hours(text)) for text in fetch.schedule]
    return Limits(fetch.rate, fetch.bandwidth, config.policy.delay, fetch.connections, spans)


def options_of(given: Mapping[str, Any]) -> dict[str, object]:
    """Values of options, from limits of which some are given; the schedule as texts or as `Span`s."""
    options: dict[str, object] = {}
    for key, value in given.items():
        if key not in NAMES:
            raise ConfigError(f"{key!r} is not a limit; known are {', '.join(NAMES)}")
        options[NAMES[key]] = [_text(item) for item in value] if key == "schedule" else value
    return options


def shown(config: Config) -> dict[str, str]:
    """For people: by name, each as it is written in gossamer.toml."""
    found = {}
    for key, name in NAMES.items():
        option = OPTIONS[name]
        found[key] = option.kind.show(getattr(getattr(config, option.section), option.key))
    return found


def _span(found: Hours) -> Span:
    days = "" if len(found.days) == len(_DAYS) else ",".join(_DAYS[day] for day in sorted(found.days))
    return Span(_clock(found.start), _clock(found.end), found.rate, found.bandwidth, days, found.pause)


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _text(item: Any) -> str:
    if isinstance(item, str):
        return item
    try:
        span = msgspec.convert(item, Span)
    except msgspec.ValidationError as error:
        raise ConfigError(f"schedule: {error}") from None
    words = [span.days, f"{span.start}-{span.end}"]
    if span.rate is not None:
        words.append(f"rate={span.rate:g}")
    if span.bandwidth is not None:
        words.append(f"bandwidth={span.bandwidth}")
    if span.pause:
        words.append("pause")
    return " ".join(filter(None, words))
