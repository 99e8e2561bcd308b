"""The three mixes of a simulated web."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.errors import ConfigError

Weights = tuple[tuple[str, int], ...]

# What goes wrong with single responses; `faults.py` plays them.
_MILD: Weights = (
    ("error-500", 3),
    ("error-503", 3),
    ("closed", 2),  # before a byte was sent
    ("cut-head", 1),
    ("cut-body", 2),  # Content-Length says more than comes
    ("short-length", 1),  # Content-Length says less than comes
    ("slow", 2),
)
_HARSH: Weights = (
    *_MILD,
    ("hang", 2),
    ("hang-body", 1),  # after the first bytes
    ("reset", 2),
    ("reset-body", 1),
    ("error-429", 1),
    ("bad-redirect", 1),  # to nowhere
    ("drip", 2),  # one byte a second
    ("endless", 2),
    ("huge", 1),  # longer than a crawler should take
    ("bare", 1),  # no header at all
    ("bad-encoding", 2),  # Content-Encoding is not true
    ("bomb", 2),  # gzip
    ("bad-chunks", 2),
    ("header-flood", 2),
    ("endless-head", 2),
    ("garbage", 2),
)

_MANY_ROBOTS: Weights = (
    ("open", 16),
    ("missing", 16),
    ("private", 20),
    ("delay", 6),
    ("agents", 8),
    ("patterns", 10),
    ("sitemap", 12),
    ("redirect", 4),
    ("redirect-away", 3),
    ("closed", 2),
    ("error", 2),
    ("dropped", 1),
)
_HARSH_ROBOTS: Weights = (
    ("hang", 2),
    ("huge", 2),
    ("endless", 1),
    ("loop", 2),  # redirected in a circle
    ("html", 2),  # a web page instead
)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a simulated web is made of.

    `varied` turns on everything that is not plain UTF-8 pages: sizes by power law, charsets, redirects, missing pages,
    files, duplicates and mirrors, validators, change, directives for robots, many kinds of robots.txt. `traps` adds
    endless places and redirects to forbidden addresses; one host in four has neither these nor faults, so that one can
    see whether the others harm it.
    """

    name: str
    varied: bool
    traps: bool
    faults: float  # share of the URLs that misbehave
    fault_kinds: Weights
    robots: Weights


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("plain", False, False, 0.0, _MILD, (("private", 1),)),
        Profile("realistic", True, False, 0.03, _MILD, _MANY_ROBOTS),
        Profile("hostile", True, True, 0.3, _HARSH, (*_MANY_ROBOTS, *_HARSH_ROBOTS)),
    )
}


def profile_named(name: str) -> Profile:
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise ConfigError(f"There is no profile {name!r} of the simulated web: choose one of {known}.") from None
