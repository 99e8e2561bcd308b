"""Scope: whether a URL belongs to the crawl."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gossamer.config import ScopeConfig
from gossamer.errors import ConfigError
from gossamer.model import Exclusion, Judgement
from gossamer.model.domain import below, registered_domain
from gossamer.model.url import MAX_LENGTH, host_of
from gossamer.rules.calendars import Calendars, may_be_by_year
from gossamer.rules.parameters import explodes
from gossamer.rules.traps import MAX_DIRECTORIES, MAX_REPEATS, looks_like_trap

MODES: Final = ("host", "domain", "any")

_MAX_REMEMBERED: Final = 100_000


class Scope:
    """Belongs: on a seed's host (or registered domain), matching the patterns, not too long, and no trap.

    Knows the seeds' hosts, and nothing else changes it. Where domains are named, they say which hosts belong instead;
    with networks besides, any host may, and the guard of the fetcher judges. Invariant: `_inside[origin]` is what the
    domains, or the mode and the present seeds, say of that origin.
    """

    def __init__(
        self,
        mode: str = "domain",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_url_length: int = MAX_LENGTH,
        max_directories: int = MAX_DIRECTORIES,
        domain_hosts: int = 0,
        now: float | None = None,
        domains: Sequence[str] = (),
        networks: bool = False,
    ) -> None:
        """`include`, `exclude`: regular expressions searched for in the URL; one match is enough for either.

        `now`: calendars are judged by it; without it they are not. `networks`: hosts outside the domains may belong, by
        addresses that are not known here.
        """
        if mode not in MODES:
            raise ConfigError(f"scope is {mode!r}: it must be one of {', '.join(MODES)}")
        self.mode = mode
        self._everywhere = networks if domains else mode == "any"
        self._in_domains = below(domains) if domains else None
        self.max_url_length = max_url_length
        self.max_directories = max_directories
        self.domain_hosts = domain_hosts  # for the frontier, which knows hosts
        self._beyond = Calendars(now).lead_beyond if now is not None else None
        # A path with so few slashes is no trap of either kind; two slashes are the scheme's.
        self.harmless_slashes = 2 + min(MAX_REPEATS, max_directories + 1)
        self._include = [_compiled("include", pattern) for pattern in include]
        self._exclude = [_compiled("exclude", pattern) for pattern in exclude]
        self.forms_only = self._everywhere and not (include or exclude)  # all that it judges by is the form of a URL
        self._hosts: set[str] = set()
        self._domains: set[str] = set()
        self._inside: dict[str, bool] = {}

    @classmethod
    def of(cls, config: ScopeConfig, now: float) -> Scope:
        return cls(
            config.scope,
            config.include,
            config.exclude,
            max_directories=config.max_directories,
            domain_hosts=config.domain_hosts,
            now=now,
            domains=config.domains,
            networks=bool(config.networks),
        )

    def load(self, seeds: Iterable[str]) -> None:
        seeds = set(seeds)
        self._hosts |= seeds
        self._domains.update(registered_domain(host) for host in seeds)
        self._inside.clear()

    def admit_seed(self, url: str) -> str:
        """Makes the host (or domain) of a normalised seed belong. The seed itself need not match any pattern.

        Gives the host if it is new: to be kept with the crawl, and given to `load` by its next run.
        """
        if self.mode == "any":
            return ""
        host = host_of(url)
        if host in self._hosts:
            return ""
        self.load((host,))
        return host

    def judge(self, url: str, anywhere: bool = False) -> Judgement:
        """Empty when the normalised URL belongs, or else the rule that excludes it. `anywhere`: whatever its host."""
        slash = url.find("/", 8)
        if not self._everywhere and not anywhere:
            origin = url[:slash]
            inside = self._inside.get(origin)
            if inside is None:
                inside = self._remember(origin, url)
            if not inside:
                return Exclusion.SCOPE
        if len(url) > self.max_url_length:
            return Exclusion.LENGTH
        if self._exclude and any(excluded.search(url) for excluded in self._exclude):
            return Exclusion.EXCLUDE
        if self._include and not any(included.search(url) for included in self._include):
            return Exclusion.INCLUDE
        if url.count("/") > self.harmless_slashes and (reason := looks_like_trap(url[slash:], self.max_directories)):
            return reason
        # Every new URL comes here, and most have neither a year nor a query.
        if self._beyond is not None and may_be_by_year(url, slash) and self._beyond(url, slash):
            return Exclusion.CALENDAR
        return Exclusion.PARAMETERS if "?" in url and explodes(url[url.index("?") + 1 :]) else ""

    def judge_source(self, url: str) -> Judgement:
        """As `judge`, of a sitemap that a host of the crawl names as its own: it may be anywhere, and is no page that
        would have to match a pattern.
        """
        if len(url) > self.max_url_length:
            return Exclusion.LENGTH
        return Exclusion.EXCLUDE if any(excluded.search(url) for excluded in self._exclude) else ""

    def has_host(self, host: str) -> bool:
        """Whether pages of this host may belong."""
        return self._everywhere or self._belongs(host)

    def _remember(self, origin: str, url: str) -> bool:
        if len(self._inside) >= _MAX_REMEMBERED:
            self._inside.clear()
        inside = self._inside[origin] = self._belongs(host_of(url))
        return inside

    def _belongs(self, host: str) -> bool:
        if self._in_domains is not None:
            return self._in_domains(host)
        return host in self._hosts if self.mode == "host" else registered_domain(host) in self._domains


def _compiled(option: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(
            f"{option}: {pattern!r} is not a regular expression ({error}). "
            "Escape characters that have a meaning there, for instance \\. for a dot or \\? for a question mark."
        ) from None
