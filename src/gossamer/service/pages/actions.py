"""What the controls can do: each command with what it will do in words, and how it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from gossamer.agent import Control
from gossamer.agent.spool import Answer
from gossamer.errors import ConfigError
from gossamer.model.url import host_of, seed_url
from gossamer.rules.policy import USUAL_PRIORITY
from gossamer.service.pages import foretold
from gossamer.service.pages.foretold import Prospect

Given = Mapping[str, str]
_MOST_LINES: Final = 1000
_LONGEST_LINE: Final = 4096
_LIMITS: Final = ("rate", "bandwidth", "delay", "connections")


class Action(msgspec.Struct, frozen=True):
    """`place` is where the controls have it. `asks`: a form of it is answered with what will happen first, and does
    nothing until that is agreed to. `again`: the name of the host has to be given once more.
    """

    title: str
    place: str
    foretell: Callable[[Prospect, Given], str]
    do: Callable[[Control, Given], Answer]
    asks: bool = True
    again: bool = False


def _limits_given(given: Given) -> dict[str, str]:
    """Those that differ from what the form was shown with: what others changed meanwhile stays so."""
    return {
        name: given[name].strip()
        for name in _LIMITS
        if given.get(name, "").strip() and given[name].strip() != given.get(f"{name}_was")
    }


def _lines(given: Given, name: str) -> list[str]:
    found = [line.strip() for line in given.get(name, "").splitlines() if line.strip()]
    if len(found) > _MOST_LINES or any(len(line) > _LONGEST_LINE for line in found):
        raise ConfigError(f"at most {_MOST_LINES:,} lines of {_LONGEST_LINE:,} characters each are taken at a time")
    return found


def _host(given: Given) -> str:
    text = given.get("host", "").strip()
    url = seed_url(text)
    if url is None or url.partition("://")[2].strip("/").count("/"):
        raise ConfigError(f"{text[:200]!r} is not the name of a host such as www.example.org")
    return host_of(url)


def _host_or_all(given: Given) -> str:
    return _host(given) if given.get("host", "").strip() else ""


def _rank(given: Given) -> int | None:
    text = given.get("priority", "").strip()
    if text in ("", "usual"):
        return None
    if len(text) != 1 or text not in "0123456789":
        raise ConfigError(f"priority: {text[:20]!r} is not a whole number from 0 (first) to 9 (last)")
    return int(text)


def _seed_rank(given: Given) -> int:
    rank = _rank(given)
    return USUAL_PRIORITY if rank is None else rank


ACTIONS: Final[dict[str, Action]] = {
    "pause": Action(
        "Pause", "crawl", lambda now, given: foretold.pause(now), lambda control, given: control.pause(), asks=False
    ),
    "resume": Action(
        "Resume", "crawl", lambda now, given: foretold.resume(now), lambda control, given: control.resume(), asks=False
    ),
    "checkpoint": Action(
        "Checkpoint",
        "checkpoint",
        lambda now, given: foretold.checkpoint(now),
        lambda control, given: control.checkpoint(),
        asks=False,
    ),
    # Not waited for: perhaps this service ends with it.
    "stop": Action(
        "Stop", "crawl", lambda now, given: foretold.stop(now), lambda control, given: control.stop(wait=False)
    ),
    "retry": Action(
        "Retry",
        "retry",
        lambda now, given: foretold.retry(now, _host_or_all(given)),
        lambda control, given: control.retry(_host_or_all(given)),
    ),
    "rejudge": Action(
        "Judge again",
        "rejudge",
        lambda now, given: foretold.rejudge(now),
        lambda control, given: control.rejudge(),
        asks=False,
    ),
    "limits": Action(
        "Speed",
        "speed",
        lambda now, given: foretold.limits(now, _limits_given(given)),
        lambda control, given: control.set_limits(_limits_given(given)),
    ),
    "schedule": Action(
        "Hours",
        "hours",
        lambda now, given: foretold.limits(now, {"schedule": _lines(given, "schedule")}),
        lambda control, given: control.set_limits({"schedule": _lines(given, "schedule")}),
    ),
    "block": Action(
        "Block",
        "blocklist",
        lambda now, given: foretold.block(now, _lines(given, "pattern")),
        lambda control, given: control.block(_lines(given, "pattern")),
    ),
    "unblock": Action(
        "Unblock",
        "blocklist",
        lambda now, given: foretold.unblock(now, given.get("pattern", "")),
        lambda control, given: control.unblock([given.get("pattern", "")]),
    ),
    "seeds": Action(
        "Seeds",
        "seeds",
        lambda now, given: foretold.seeds(now, _lines(given, "urls")),
        lambda control, given: control.add_seeds(_lines(given, "urls"), _seed_rank(given), given.get("links") == "yes"),
    ),
    "refresh": Action(
        "Visit again",
        "refresh",
        lambda now, given: foretold.refresh(now),
        lambda control, given: control.refresh(_lines(given, "urls")),
        asks=False,
    ),
    "priority": Action(
        "Priority",
        "priority",
        lambda now, given: foretold.priority(now, _host(given), _rank(given)),
        lambda control, given: control.set_priority(_host(given), _rank(given)),
    ),
    "purge": Action(
        "Purge",
        "purge",
        lambda now, given: foretold.purge(now, _host(given)),
        lambda control, given: control.purge(_host(given)),
        again=True,
    ),
}
