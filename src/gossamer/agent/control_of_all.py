"""A crawl of several agents commanded as one.

Settings are changed at one agent, which shares them with all; seeds and requests are told to one, and find their way.
What is about what each agent has is told to every one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from gossamer.agent.application import Request
from gossamer.agent.broker_file import NAME
from gossamer.agent.control import Control, added, together
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.order import Order, parts_of
from gossamer.agent.parts import parts
from gossamer.agent.speed_limits import Limits
from gossamer.agent.spool import Answer
from gossamer.agent.stopping import stop_all
from gossamer.config import Config
from gossamer.errors import ConfigError, ControlError, GossamerError
from gossamer.rules.policy import USUAL_PRIORITY

_PATIENCE: Final = 10.0  # seconds for all to end
_ONCE: Final = ("retry", "rejudge", "seeds", "purge", "requests")  # actions that are no settings


class Told(Protocol):
    """Those who are told what to do."""

    @property
    def running(self) -> bool: ...

    def one(self, order: Order) -> Answer:
        """Give it to one of them. Raises what `Control` does."""

    def others(self, order: Order) -> Mapping[str, Answer | str]:
        """Give it to all the others; by name, what became of it, or why nothing did."""

    def config(self) -> Config: ...

    def limits(self) -> Limits:
        """As they are where `one` changes them; so are the others below."""

    def blocklist(self) -> tuple[str, ...]: ...

    def priority(self, host: str) -> int | None: ...


class ControlOfAll(Control):
    """Invariant: of several agents one changes the settings."""

    def __init__(self, told: Told) -> None:
        self._told = told

    @property
    def running(self) -> bool:
        return self._told.running

    def config(self) -> Config:
        return self._told.config()

    def limits(self) -> Limits:
        return self._told.limits()

    def blocklist(self) -> tuple[str, ...]:
        return self._told.blocklist()

    def priority(self, host: str) -> int | None:
        return self._told.priority(host)

    def pause(self) -> Answer:
        return self._told.one(Order("pause"))

    def resume(self) -> Answer:
        return self._told.one(Order("resume"))

    def set_limits(self, given: Mapping[str, Any]) -> Answer:
        return self._told.one(Order("limits", limits=dict(given)))

    def block(self, patterns: Sequence[str], what: str = "block") -> Answer:
        return self._told.one(Order("block", tuple(patterns)))

    def unblock(self, patterns: Sequence[str]) -> Answer:
        return self._told.one(Order("unblock", tuple(patterns)))

    def add_seeds(self, urls: Sequence[str], priority: int = USUAL_PRIORITY, links: bool = False) -> Answer:
        order = Order("seeds", tuple(urls), rank=priority, links=links)
        return self._all(order) if links else self._told.one(order)  # each agent has the pages that are its own

    def request(self, requests: Sequence[Request], app: str = "") -> Answer:
        """Told to one, which hands over what is not its own."""
        if not requests:
            raise ConfigError("requests: give at least one")
        parts = parts_of(requests, _size)
        return together([self._told.one(Order("requests", app=app, requests=tuple(part))) for part in parts])

    def checkpoint(self) -> Answer:
        return self._all(Order("checkpoint"))

    def retry(self, host: str = "") -> Answer:
        return self._all(Order("retry", host=host))

    def rejudge(self) -> Answer:
        return self._all(Order("rejudge"))

    def purge(self, host: str) -> Answer:
        return self._all(Order("purge", host=host))

    def set_priority(self, host: str, priority: int | None) -> Answer:
        return self._all(Order("priority", host=host, rank=priority))

    def stop(self, wait: bool = True) -> Answer:
        if not self.running:
            raise ControlError("no agent runs, so there is none to stop")
        answer = self._told.one(Order("stop"))
        until = time.monotonic() + _PATIENCE
        while wait and self.running:
            if time.monotonic() >= until:
                raise ControlError(f"the agents were told to stop, and some still run after {_PATIENCE:g} s")
            time.sleep(0.05)
        return Answer(answer.ok, "it has stopped" if wait else answer.text)

    def _all(self, order: Order) -> Answer:
        """The first changes the settings, where that is part of it; the others find them so."""
        first = self._told.one(order)
        others = self._told.others(order)
        done = [first, *(answer for answer in others.values() if isinstance(answer, Answer))]
        failed = [f"{name}: {why}" for name, why in others.items() if isinstance(why, str)]
        texts = list(dict.fromkeys(answer.text for answer in done))
        text = "; ".join([*texts, *failed])
        return Answer(True, text, added([answer.facts for answer in done]), any(each.later for each in done))


def _size(request: Request) -> int:
    return len(request.url.encode()) + len(request.tag.encode())


class LocalAgents:
    """The agents of a crawl on this machine."""

    def __init__(self, home: Path, who: str, *patience: float) -> None:
        self._home = home
        self._who = who
        self._patience = patience
        self._parts = parts(home)
        self._at_work = [part for part in self._parts if part.in_use()]

    @property
    def running(self) -> bool:
        return CrawlDir(self._home).in_use() or any(part.in_use() for part in self._parts)

    def one(self, order: Order) -> Answer:
        if order.action == "stop" and (self._home / NAME).is_file():
            stop_all(self._home, self._who)
            return Answer(True, "it stops")
        return order.given_to(self._control(self._chosen(order.action in _ONCE)))

    def others(self, order: Order) -> dict[str, Answer | str]:
        found: dict[str, Answer | str] = {}
        for part in (self._at_work or self._parts)[1:]:
            try:
                found[part.home.name] = order.given_to(self._control(part.home))
            except GossamerError as error:
                found[part.home.name] = str(error)
        return found

    def config(self) -> Config:
        return self._control(self._chosen()).config()

    def limits(self) -> Limits:
        return self._control(self._chosen()).limits()

    def blocklist(self) -> tuple[str, ...]:
        return self._control(self._chosen()).blocklist()

    def priority(self, host: str) -> int | None:
        return self._control(self._chosen()).priority(host)

    def _chosen(self, once: bool = False) -> Path:
        """While nothing runs, settings are changed where the next run begins; commands wait for an agent."""
        if self._at_work:
            return self._at_work[0].home
        return self._parts[0].home if once else self._home

    def _control(self, home: Path) -> Control:
        return Control(home, self._who, *self._patience)


def control_of(home: Path, who: str, *patience: float) -> Control:
    """Of the crawl in a directory, of however many agents it is. `patience` is as `Control` takes it."""
    if len(parts(home)) == 1 and parts(home)[0].home == home:
        return Control(home, who, *patience)
    return ControlOfAll(LocalAgents(home, who, *patience))
