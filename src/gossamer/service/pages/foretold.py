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
from gossamer.model.url import usable_seed
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
        return "" if self.running else " No crawl is running: this takes effect when it is started again."


def pause(now: Prospect) -> str:
    if now.config.agent.paused:
        return "It is paused already."
    number = now.progress.in_flight
    flying = f"; {_many(number, 'visit')} under way {'is' if number == 1 else 'are'} finished" if number else ""
    return f"No more visits are started{flying}. The crawl stays paused when it is started again." + now.when()


def resume(now: Prospect) -> str:
    if not now.config.agent.paused:
        return "It is not paused."
    return f"The {_many(now.progress.queued, 'queued URL')} are visited again as the delays allow." + now.when()


def stop(now: Prospect) -> str:
    if not now.running:
        return "No crawl is running, so there is nothing to stop."
    beside = " This page ends with it." if "service" in now.progress.beside else ""
    return (
        "No more visits are started; those under way have two seconds, then everything is committed and the crawl ends."
        f" `gossamer crawl --dir {now.view.directory.home}` continues it.{beside}"
    )


def checkpoint(now: Prospect) -> str:
    if not now.running:
        return "No crawl is running: everything it fetched is saved."
    return "Everything fetched so far is saved at once, not at the next commit. The crawl continues."


def retry(now: Prospect, host: str) -> str:
    whose = f" of {host} and the hosts below it" if host else ""
    down = f" ({now.progress.hosts_down:,} now)" if not host else ""
    return (
        f"Dead URLs{whose} are queued again with all their tries. Hosts{whose if host else ''} that are down{down} "
        f"are tried after their usual delay." + now.when()
    )


def rejudge(now: Prospect) -> str:
    return (
        f"{_many(now.progress.excluded, 'excluded URL')}: judged by the settings as they are now. What belongs is"
        " queued; what only a visit can tell (type, size, address, reserved strings, robots.txt) is visited again. No"
        " page is fetched twice." + now.when()
    )


def limits(now: Prospect, given: Mapping[str, str | Sequence[str]]) -> str:
    after = changed(now.config, options_of(given))
    said = list(_limits(now, now.config, after))
    if not said:
        return "Nothing changes: these are the settings already."
    return " ".join(said) + (now.when() or " This takes effect within two seconds, and is kept.")


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
            yield f"The speed is {numbers.rate(progress.pages_per_s)} now, limited by {progress.limit}."
    if new.bandwidth != before.fetch.bandwidth:
        had = f"{numbers.size(before.fetch.bandwidth)}/s" if before.fetch.bandwidth else "no cap"
        yield f"{f'At most {numbers.size(new.bandwidth)}/s' if new.bandwidth else 'No cap on bytes'} instead of {had}."
    if after.policy.delay != before.policy.delay:
        yield (
            f"{after.policy.delay:g} s between two visits to a host instead of {before.policy.delay:g} s;"
            " more for a host whose robots.txt asks for more."
        )
        hosts = progress.hosts_ready + progress.hosts_waiting + progress.hosts_held
        if after.policy.delay and hosts and now.running:
            yield f"With {_many(hosts, 'host')} that is {numbers.rate(hosts / after.policy.delay)} at most."
        elif not after.policy.delay:
            yield "Without a delay, servers may be overloaded."
    if new.connections != before.fetch.connections:
        yield f"At most {new.connections:,} connections instead of {before.fetch.connections:,}."
    if new.schedule != before.fetch.schedule:
        yield from _hours(now, before, after)


def _hours(now: Prospect, before: Config, after: Config) -> Iterator[str]:
    """What holds at this hour, and how much of the week is otherwise."""
    day, minute = local_time(now.view.clock())
    week = Week.of(after.fetch.schedule)
    had, has = Week.of(before.fetch.schedule).at(day, minute), week.at(day, minute)
    clock = f"Now, {DAYS[day]} {minute // 60:02d}:{minute % 60:02d} on the crawl's machine"
    yield f"{clock}: {has.words()}{'' if has == had else f', instead of {had.words()}'}."
    spent = {kind: minutes for kind, minutes in week.spent().items() if minutes and kind != "usual"}
    named = {"cap": "with another cap", "free": "without a cap", "pause": "paused"}
    said = [f"{numbers.span(60 * minutes)} {named[kind]}" for kind, minutes in spent.items()]
    yield f"In a week: {', '.join(said)}." if said else "The whole week as usual."


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
        said.append(f"The same holds for {len(patterns) - _NAMED:,} more.")
    return " ".join(said) + now.when()


def unblock(now: Prospect, pattern: str) -> str:
    if pattern not in now.config.policy.blocklist:
        raise ConfigError(f"{pattern!r} is not on the blocklist")
    if _pattern(pattern)[1]:
        return f"Links that match {pattern} are followed again. URLs already excluded stay excluded." + now.when()
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
    judged = [(url, *usable_seed(url)) for url in urls]
    usable = [found for _, found, _ in judged if found]
    wrong = [(url, why) for url, found, why in judged if not found]
    if not usable:
        raise ConfigError(f"{wrong[0][0][:200]!r} cannot be crawled: {wrong[0][1]}")
    known = now.view.known(usable[:_LOOKED_UP])
    new = len(usable) - known
    said = f"{_many(new, 'URL')} {'becomes a seed' if new == 1 else 'become seeds'}, visited whatever the scope."
    if known:
        said += f" {known:,} known already, and not visited again (gossamer refresh does that)."
    if wrong:
        said += f" {len(wrong):,} left out, the first: {wrong[0][0][:80]!r}, {wrong[0][1]}."
    return said + ("" if now.running else " No crawl is running: they are added when it is started again.")


def refresh(now: Prospect) -> str:
    return "It is visited again in its turn, as its host's delay and robots.txt allow." + now.when()


def priority(now: Prospect, host: str, rank: int | None) -> str:
    place = {None: "in its usual turn", 0: "before all others", 9: "after all others"}
    where = place.get(rank, f"with priority {rank} of 0 (first) to 9 (last)")
    return f"Queued URLs of {host} come {where}. No host is visited before its delay is over." + now.when()


def purge(now: Prospect, host: str) -> str:
    found = now.view.hosts_blocked([host])
    least = "" if found.complete else "At least "
    return (
        f"{least}{_many(found.pages, 'page')} of {_many(found.hosts, 'host')} leave the index for good: {host} and all"
        " hosts below it are never visited again, not even for robots.txt, and their URLs are excluded. This cannot"
        f" be undone. {host}/* is added to the blocklist. WARC files are not rewritten."
    ) + ("" if now.running else " No crawl is running: it is done when it is started again.")


def _cap(value: float, unit: str) -> str:
    return f"{value:g}{unit}" if value else "no cap"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
