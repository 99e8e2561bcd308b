"""A crawl commanded from outside, whether it runs or not (P11-P13).

What lasts is in gossamer.toml, written here and taken up by the crawl; what happens once is a command in the spool.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from gossamer.agent.application import Host, Request
from gossamer.agent.asked import MOST_AT_ONCE
from gossamer.agent.audit import record
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.parts import readable_parts
from gossamer.agent.settings import values
from gossamer.agent.speed_limits import Limits, limits_of, options_of
from gossamer.agent.spool import IN_EFFECT, Answer, Command, Spool
from gossamer.agent.supervisor import read_beside
from gossamer.config import AppRule, Config, HostRule, block_pattern, changed, load
from gossamer.errors import ConfigError, ControlError
from gossamer.model import RequestOutcome
from gossamer.model.url import host_name, usable_seed
from gossamer.rules.policy import USUAL_PRIORITY

_PATIENCE = 10.0  # seconds for an answer; a commit of a busy crawl takes one or two
_LONG_PATIENCE = 120.0  # for what goes over all URLs
_PURGED = "/*"  # behind a host in the blocklist: its pages are excluded, where the host alone would only wait
LATER = "no crawl runs in {home}: this is done when it is started again"
NEXT_RUN = "no crawl runs in {home}: this holds when it is started again"


class Control:
    """What an operator can do. Invariant: every change is in the audit log under `who`.

    Raises ConfigError for what is not understood and ControlError for what could not be done.
    """

    def __init__(
        self, home: Path, who: str, patience: float = _PATIENCE, long_patience: float = _LONG_PATIENCE
    ) -> None:
        """How long to wait for an answer; the second is for what goes over all URLs."""
        self._directory = CrawlDir(home)
        readable_parts(home)
        self._home = home
        self._who = who
        self._patience = patience
        self._long_patience = long_patience
        self._spool = Spool(home)

    @property
    def running(self) -> bool:
        return self._directory.in_use()

    def config(self) -> Config:
        return load(self._directory.settings)

    # -- what lasts ----------------------------------------------------------------------------------------------------

    def pause(self) -> Answer:
        """No visit is started from now on; what is in flight is finished."""
        return self._set("pause", {"agent.paused": True}, "it is paused")

    def resume(self) -> Answer:
        return self._set("resume", {"agent.paused": False}, "it goes on")

    def limits(self) -> Limits:
        return limits_of(self.config())

    def set_limits(self, given: Mapping[str, Any]) -> Answer:
        """Those given; the others stay as they are."""
        return self._set("limits", options_of(given), IN_EFFECT)

    def blocklist(self) -> tuple[str, ...]:
        return self.config().policy.blocklist

    def block(self, patterns: Sequence[str], what: str = "block") -> Answer:
        """At once, also for visits in flight."""
        for pattern in patterns:
            _check(pattern)

        def change(config: Config) -> Config:
            known = config.policy.blocklist
            new = [pattern for pattern in dict.fromkeys(patterns) if pattern not in known]
            return changed(config, {"policy.blocklist": [*known, *new]})

        return self._edit(what, change, ["policy.blocklist"], "blocked")

    def unblock(self, patterns: Sequence[str]) -> Answer:
        def change(config: Config) -> Config:
            known = config.policy.blocklist
            for pattern in patterns:
                if pattern not in known:
                    raise ControlError(f"{pattern!r} is not on the blocklist; `gossamer block` shows what is")
            return changed(config, {"policy.blocklist": [item for item in known if item not in patterns]})

        return self._edit("unblock", change, ["policy.blocklist"], "no longer blocked")

    def priority(self, host: str) -> int | None:
        """Of a host; None: the usual one."""
        rule = _rule(self.config(), _host(host))
        return None if rule is None else rule.priority

    def set_priority(self, host: str, priority: int | None) -> Answer:
        """From 0 (first) to 9 (last); None: the usual one. What is queued of the host comes accordingly."""
        name = _host(host)
        if priority is not None and not 0 <= priority <= 9:
            raise ConfigError(f"priority: {priority} is not a whole number from 0 (first) to 9 (last)")

        def change(config: Config) -> Config:
            return replace(config, hosts=_with_priority(config, name, priority))

        answer = self._edit(
            "priority",
            change,
            ["hosts"],
            IN_EFFECT,
            lambda config: {name: None if (rule := _rule(config, name)) is None else rule.priority},
        )
        return self._send("call", {"host": name}) if self.running else answer

    def treat(self, hosts: Sequence[Host], app: str) -> Answer:
        """As an application wishes, as far as the owner of the crawl allows. Hosts for which the owner, or another
        application, has a table are left as they are; the facts name them, as `left`.
        """
        left: list[str] = []

        def change(config: Config) -> Config:
            rule = next((rule for rule in config.apps if rule.name == app), AppRule(app))
            for host in hosts:
                own = _rule(config, _host(host.name))
                if own is None or own.by == app:
                    config = replace(config, hosts=_treated(config, host, rule))
                else:
                    left.append(own.pattern)
            return config

        answer = self._edit("hosts", change, ["hosts"], IN_EFFECT)
        return msgspec.structs.replace(answer, facts={**answer.facts, "left": left})

    def _set(self, what: str, options: dict[str, object], done: str) -> Answer:
        return self._edit(what, lambda config: changed(config, options), list(options), done)

    def _edit(
        self,
        what: str,
        change: Callable[[Config], Config],
        names: list[str],
        done: str,
        said: Callable[[Config], dict[str, Any]] | None = None,
    ) -> Answer:
        """Change gossamer.toml, and have that taken up. `said` is what the audit log says of the settings."""
        said = said or (lambda config: values(config, names))
        with self._spool.alone():
            before = self.config()
            after = change(before)
            if after == before:
                return Answer(True, "it was so already")
            # First: a change that nobody can account for must not be.
            record(self._directory.logs, self._who, what, said(before), said(after))
            try:
                self._directory.save(after)
            except OSError as error:
                record(self._directory.logs, self._who, f"{what} failed", said(after), said(before))
                raise ControlError(f"{self._directory.settings} cannot be written: {error.strerror}") from error
        if not self.running:
            return Answer(True, f"{done}; " + NEXT_RUN.format(home=self._home), later=True)
        taken = self._send("settings")
        return Answer(True, done if taken.text == IN_EFFECT else taken.text, later=taken.later)

    # -- what happens once ---------------------------------------------------------------------------------------------

    def checkpoint(self) -> Answer:
        """Answered when all that came in so far is durable."""
        if not self.running:
            return Answer(True, f"no crawl runs in {self._home}: all that it had is durable")
        return self._send("checkpoint", later=False)

    def stop(self, wait: bool = True) -> Answer:
        """As Ctrl-C does; with `wait`, answered when the crawl has ended."""
        self._await_restart()
        if not self.running:
            raise ControlError(f"no crawl runs in {self._home}, so there is none to stop")
        answer = self._send("stop", later=False)
        until = time.monotonic() + self._patience
        while wait and self.running:
            if time.monotonic() >= until:
                raise ControlError(f"the crawl was told to stop, and still runs after {self._patience:g} s")
            time.sleep(0.05)
        return Answer(answer.ok, "it has stopped" if wait else answer.text)

    def _await_restart(self) -> None:
        """A supervised crawl that has died runs again in a moment, and would go on if nobody told it."""
        until = time.monotonic() + self._patience
        while not self.running and read_beside(self._directory) and time.monotonic() < until:
            time.sleep(0.05)

    def add_seeds(self, urls: Sequence[str], priority: int = USUAL_PRIORITY, links: bool = False) -> Answer:
        """Those that are new are visited, whatever the scope. With `links`, what pages link to that are stored already
        is visited with this priority, too.
        """
        if not urls:
            raise ConfigError("seeds: give at least one URL")
        if not 0 <= priority <= 9:
            raise ConfigError(f"--priority: {priority} is not a whole number from 0 (first) to 9 (last)")
        if not any(usable_seed(url)[0] for url in urls):
            raise ConfigError(f"no seed can be crawled; {urls[0][:200]!r}: {usable_seed(urls[0])[1]}")
        return self._send("seeds", {"urls": list(urls), "priority": priority, "links": links}, self._long_patience)

    def request(self, requests: Sequence[Request], app: str = "") -> Answer:
        """Ask for pages, on behalf of one that shares the crawl or of nobody; by their tags they are found again. What
        becomes of each is in the facts of the answer, under `each`.
        """
        if not requests:
            raise ConfigError("requests: give at least one")
        done = []
        for start in range(0, len(requests), MOST_AT_ONCE):
            part = requests[start : start + MOST_AT_ONCE]
            about = {"app": app, "requests": [[each.url, each.priority, each.tag, None, each.max_age] for each in part]}
            answer = self._send("requests", about, self._long_patience)
            if answer.later or answer.facts["again"]:  # which a crawl says that was killed before it could answer
                result = RequestOutcome.KEPT if answer.later else RequestOutcome.KNOWN
                answer.facts["each"] = [{"url": each.url, "result": result, "why": ""} for each in part]
            done.append(answer)
        return together(done)

    def refresh(self, urls: Sequence[str], max_age: float = 0.0, priority: int = USUAL_PRIORITY) -> Answer:
        """Have known URLs visited again whose copies are as many seconds old; those that are not known are asked for as
        any others.
        """
        if not urls:
            raise ConfigError("refresh: give at least one URL")
        if not any(usable_seed(url)[0] for url in urls):
            raise ConfigError(f"no URL can be crawled; {urls[0][:200]!r}: {usable_seed(urls[0])[1]}")
        try:
            return self.request([Request(url, priority, max_age=max_age) for url in urls])
        except ValueError as error:
            raise ConfigError(f"refresh: {error}") from None

    def retry(self, host: str = "") -> Answer:
        """Queue what is dead again, and give hosts that are down another chance; those of a host and below, or all."""
        return self._send("retry", {"host": _host(host) if host else ""}, self._long_patience)

    def rejudge(self) -> Answer:
        """Judge all excluded URLs by the settings as they are now, and visit again what only a visit can tell."""
        return self._send("rejudge", None, self._long_patience)

    def purge(self, host: str) -> Answer:
        """The pages of a host, and of all below it, leave the index and are excluded for good."""
        name = _host(host)
        self.block([name + _PURGED], "purge")
        return self._send("purge", {"host": name}, self._long_patience)

    def _send(
        self, kind: str, about: dict[str, Any] | None = None, patience: float | None = None, later: bool = True
    ) -> Answer:
        """`later`: if no crawl runs, or this one ends, the next run does it."""
        id = self._spool.send(Command(kind, self._who, time.time(), about or {}))
        waited = patience or self._patience
        answer = self._spool.wait(id, waited, lambda: self.running)
        if answer is not None:
            if not answer.ok:
                raise ControlError(answer.text)
            return answer
        if self.running:
            if later:
                text = f"sent; the crawl has not answered within {waited:g} s, and does it when it can"
                return Answer(True, text, later=True)
            self._spool.withdraw(id)
            raise ControlError(f"the crawl does not answer within {waited:g} s; gossamer status says what it does")
        if later:
            return Answer(True, LATER.format(home=self._home), later=True)
        self._spool.withdraw(id)
        return Answer(True, f"the crawl in {self._home} has ended meanwhile")


def together(done: Sequence[Answer]) -> Answer:
    """Return several answers as one. Numbers and lists are of all; of what else there is, the first's."""
    text = "; ".join(dict.fromkeys(answer.text for answer in done))
    return Answer(True, text, added([answer.facts for answer in done]), any(answer.later for answer in done))


def added(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the facts of several answers as one, as `together` does."""
    whole: dict[str, Any] = {}
    for facts in found:
        for name, value in facts.items():
            adds = isinstance(value, int | list) and not isinstance(value, bool)
            whole[name] = whole[name] + value if adds and name in whole else whole.get(name, value)
    return whole


def _check(pattern: str) -> None:
    try:
        block_pattern(pattern)
    except ValueError as error:
        raise ConfigError(f"{pattern!r} is not {error}") from None


def _host(text: str) -> str:
    """The name of a host as URLs have it."""
    name = host_name(text)
    if name is None:
        raise ConfigError(f"{text!r} is not the name of a host such as www.example.org")
    return name


def _rule(config: Config, host: str) -> HostRule | None:
    """The table of exactly this host."""
    return next((rule for rule in config.hosts if rule.pattern == host), None)


def _with_priority(config: Config, host: str, priority: int | None) -> tuple[HostRule, ...]:
    """The first table that matches a host holds for it, so that a new one stands first, and says all that the one that
    held so far does.
    """
    own = _rule(config, host)
    if own is not None:
        return tuple(msgspec.structs.replace(rule, priority=priority) if rule is own else rule for rule in config.hosts)
    held = next((rule for rule in config.hosts if fnmatchcase(host, rule.pattern)), HostRule(""))
    return (msgspec.structs.replace(held, pattern=host, priority=priority), *config.hosts)


def _treated(config: Config, wish: Host, app: AppRule) -> tuple[HostRule, ...]:
    """With the application's table for this host, which says all that the owner's does that held so far."""
    name = _host(wish.name)
    others = [rule for rule in config.hosts if rule.pattern != name]
    held = next((rule for rule in others if not rule.by and fnmatchcase(name, rule.pattern)), HostRule(""))
    delay, timeout = held.delay, held.timeout
    if wish.delay is not None:
        usual = config.policy.delay if held.delay is None else held.delay
        delay = max(wish.delay, usual if app.min_delay is None else min(usual, app.min_delay))
    if wish.timeout is not None:
        timeout = float(wish.timeout)
    made = msgspec.structs.replace(held, pattern=name, delay=delay, timeout=timeout, by=app.name)
    return (made, *others)
