"""What a command will do, in words, before it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from gossamer.agent import Progress, numbers
from gossamer.agent.speed import local_time
from gossamer.agent.speed_limits import options_of
from gossamer.config import Config, block_pattern, changed
from gossamer.errors import ConfigError
from gossamer.model.url import seed_url, why_not
from gossamer.service.crawl import Crawl
from gossamer.service.pages.week import DAYS, Week

_NAMED: Final = 3  # of a list, the others are counted
_LOOKED_UP: Final = 1000  # seeds


class Prospect(msgspec.Struct):
    """What is so before the command."""

    view: Crawl
    config: Config
    progress: Progress
    running: bool

    def when(self) -> str:
        return "" if self.running else " No crawl runs: it holds when it is started again."


def pause(now: Prospect) -> str:
    if now.config.agent.paused:
        return "It is paused already."
    number = now.progress.in_flight
    flying = f"; {_many(number, 'visit')} under way {'is' if number == 1 else 'are'} finished" if number else ""
    return f"No visit is started from now on{flying}. It stays paused when the crawl is started again." + now.when()


def resume(now: Prospect) -> str:
    if not now.config.agent.paused:
        return "It is not paused."
    return f"The {_many(now.progress.queued, 'queued URL')} are visited again as the delays allow." + now.when()


def stop(now: Prospect) -> str:
    if not now.running:
        return "No crawl runs, so there is none to stop."
    beside = " This page ends with it." if "service" in now.progress.beside else ""
    return (
        "No visit is started; what is under way has two seconds, then everything is committed and the crawl ends."
        f" `gossamer crawl --dir {now.view.directory.home}` goes on with it.{beside}"
    )


def checkpoint(now: Prospect) -> str:
    if not now.running:
        return "No crawl runs: all that it had is durable."
    return "All that has come in so far is made durable at once, instead of at the next commit. The crawl goes on."


def retry(now: Prospect, host: str) -> str:
    whose = f" of {host} and the hosts below it" if host else ""
    down = f" ({now.progress.hosts_down:,} now)" if not host else ""
    return (
        f"Dead URLs{whose} are queued again with all their tries. Hosts{whose if host else ''} that are down{down} "
        f"are tried after their usual delay." + now.when()
    )


def limits(now: Prospect, given: Mapping[str, str | Sequence[str]]) -> str:
    after = changed(now.config, options_of(given))
    said = list(_limits(now, now.config, after))
    if not said:
        return "Nothing changes: this holds already."
    return " ".join(said) + (now.when() or " In force within two seconds, and kept.")


def _limits(now: Prospect, before: Config, after: Config) -> Iterator[str]:
    progress, new = now.progress, after.fetch
    if new.rate != before.fetch.rate:
        if new.rate:
            yield f"At most {new.rate:g} pages/s instead of {_cap(before.fetch.rate, ' pages/s')}."
            if progress.queued:
                least = numbers.span(progress.queued / new.rate)
                yield f"The {_many(progress.queued, 'queued URL')} take at least {least}."
        else:
            yield f"No cap on pages instead of {_cap(before.fetch.rate, ' pages/s')}."
        if now.running and progress.limit and "cap" not in progress.limit and 0 < progress.pages_per_s < new.rate:
            yield f"It does {numbers.rate(progress.pages_per_s)} now and is limited by {progress.limit}."
    if new.bandwidth != before.fetch.bandwidth:
        had = f"{numbers.size(before.fetch.bandwidth)}/s" if before.fetch.bandwidth else "no cap"
        yield f"{f'At most {numbers.size(new.bandwidth)}/s' if new.bandwidth else 'No cap on bytes'} instead of {had}."
    if after.policy.delay != before.policy.delay:
        yield (
            f"{after.policy.delay:g} s between two visits to a host instead of {before.policy.delay:g} s;"
            " a host whose robots.txt asks for more gets more."
        )
        hosts = progress.hosts_ready + progress.hosts_waiting
        if after.policy.delay and hosts and now.running:
            yield f"With {_many(hosts, 'host')} that is {numbers.rate(hosts / after.policy.delay)} at most."
        elif not after.policy.delay:
            yield "Without a pause servers may be overrun."
    if new.connections != before.fetch.connections:
        yield f"At most {new.connections:,} connections instead of {before.fetch.connections:,}."
    if new.schedule != before.fetch.schedule:
        yield from _hours(now, before, after)


def _hours(now: Prospect, before: Config, after: Config) -> Iterator[str]:
    """What holds at this hour, and how much of the week is otherwise."""
    day, minute = local_time(now.view.clock())
    week = Week.of(after.fetch.schedule)
    had, has = Week.of(before.fetch.schedule).at(day, minute), week.at(day, minute)
    clock = f"Now, {DAYS[day]} {minute // 60:02d}:{minute % 60:02d} where the crawl is"
    yield f"{clock}: {has.words()}{'' if has == had else f', instead of {had.words()}'}."
    spent = {kind: minutes for kind, minutes in week.spent().items() if minutes and kind != "usual"}
    named = {"cap": "with another cap", "free": "without a cap", "pause": "paused"}
    said = [f"{numbers.span(60 * minutes)} {named[kind]}" for kind, minutes in spent.items()]
    yield f"In a week: {', '.join(said)}." if said else "All week as usual."


def block(now: Prospect, patterns: Sequence[str]) -> str:
    if not patterns:
        raise ConfigError("give at least one host, domain or beginning of a URL")
    said = []
    for pattern in patterns[:_NAMED]:
        _host, path = _pattern(pattern)
        if pattern in now.config.policy.blocklist:
            said.append(f"{pattern} is on the list already.")
        elif path:
            said.append(f"Pages that match {pattern} are excluded from now on, also those that are queued.")
        else:
            said.append(f"{pattern}: {_hosts(now, pattern)} get no further request, also for visits under way.")
    for pattern in patterns[_NAMED:]:
        _pattern(pattern)
    if len(patterns) > _NAMED:
        said.append(f"So it is with {len(patterns) - _NAMED:,} more.")
    return " ".join(said) + now.when()


def unblock(now: Prospect, pattern: str) -> str:
    if pattern not in now.config.policy.blocklist:
        raise ConfigError(f"{pattern!r} is not on the blocklist")
    if _pattern(pattern)[1]:
        return f"Links that match {pattern} are followed again. What was excluded stays so." + now.when()
    return f"{_hosts(now, pattern)} are visited again." + now.when()


def _pattern(text: str) -> tuple[str, str]:
    try:
        return block_pattern(text)
    except ValueError as error:
        raise ConfigError(f"{text!r} is not {error}") from None


def _hosts(now: Prospect, pattern: str) -> str:
    found = now.view.hosts_blocked([pattern])
    least = "" if found.complete else "at least "
    return f"{least}{_many(found.hosts, 'known host')} with {_many(found.queued, 'queued URL')}"


def seeds(now: Prospect, urls: Sequence[str]) -> str:
    if not urls:
        raise ConfigError("give at least one URL, each on a line of its own")
    usable = [found for found in map(seed_url, urls) if found]
    wrong = [url for url in urls if seed_url(url) is None]
    if not usable:
        raise ConfigError(f"{wrong[0][:200]!r} cannot be crawled: {why_not(wrong[0])}")
    known = now.view.known(usable[:_LOOKED_UP])
    new = len(usable) - known
    said = f"{_many(new, 'URL')} {'becomes a seed' if new == 1 else 'become seeds'}, visited whatever the scope."
    if known:
        said += f" {known:,} known already: not visited again."
    if wrong:
        said += f" {len(wrong):,} left out, the first: {wrong[0][:80]!r}, {why_not(wrong[0])}."
    return said + ("" if now.running else " No crawl runs: they are added when it is started again.")


def priority(now: Prospect, host: str, rank: int | None) -> str:
    place = {None: "in its usual turn", 0: "before all others", 9: "after all others"}
    where = place.get(rank, f"with priority {rank} of 0 (first) to 9 (last)")
    return f"What is queued of {host} comes {where}. No host is visited before its delay is over." + now.when()


def purge(now: Prospect, host: str) -> str:
    found = now.view.hosts_blocked([host])
    least = "" if found.complete else "At least "
    return (
        f"{least}{_many(found.pages, 'page')} of {_many(found.hosts, 'host')} leave the index for good: {host} and all"
        " hosts below it are not visited any more, not even for robots.txt, and their URLs are excluded. This cannot"
        f" be undone. {host}/* goes on the blocklist. WARC files are not rewritten."
    ) + ("" if now.running else " No crawl runs: it is done when it is started again.")


def _cap(value: float, unit: str) -> str:
    return f"{value:g}{unit}" if value else "no cap"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
