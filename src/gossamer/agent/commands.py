"""Commands taken up by a running crawl: done, committed, answered, in that order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Container
from typing import Annotated, Any

import msgspec

from gossamer.agent import audit
from gossamer.agent.agent import Agent
from gossamer.agent.asked import RequestsGiven, words_of
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.log import CrawlLog
from gossamer.agent.settings import LiveSettings
from gossamer.agent.spool import IN_EFFECT, Answer, Command, Spool
from gossamer.config import Config
from gossamer.errors import GossamerError
from gossamer.rules.policy import USUAL_PRIORITY

_LOOK_EVERY = 0.25  # seconds
APPLICATION = "application "  # before its name, where it is who asks
_MOST_SHOWN = 20  # of what was refused
_FOR_THIS_RUN = frozenset({"stop", "checkpoint", "settings"})  # to the next run they mean nothing


class SeedsGiven(msgspec.Struct):
    """`links`: of pages that are stored already, what they link to is visited with this priority. All agents are told
    then, and each takes what is its own.
    """

    urls: list[str]
    priority: Annotated[int, msgspec.Meta(ge=0, le=9)] = USUAL_PRIORITY
    links: bool = False


class HostGiven(msgspec.Struct):
    host: str = ""


class Commands:
    """Invariant: a command whose effect is not committed is still in the spool, and is done again by the next run.
    Every kind of command may be done twice.
    """

    def __init__(
        self,
        directory: CrawlDir,
        agent: Agent,
        settings: LiveSettings,
        change: Callable[[Config], None],
        usable: Callable[[str], tuple[str | None, str]],
        clock: Callable[[], float],
        log: CrawlLog,
    ) -> None:
        """`usable` gives the URL of a seed, or None and why it is none."""
        self._logs = directory.logs
        self._spool = Spool(directory.home)
        self._agent = agent
        self._settings = settings
        self._change = change
        self._usable = usable
        self._clock = clock
        self._log = log
        self._one = asyncio.Lock()
        self._id = ""  # of the command that is being done
        self._kinds: dict[str, Callable[[dict[str, Any]], Awaitable[Answer]]] = {
            "settings": self._take_settings,
            "checkpoint": self._checkpoint,
            "stop": self._stop,
            "seeds": self._seeds,
            "requests": self._requests,
            "call": self._call,
            "retry": self._retry,
            "rejudge": self._rejudge,
            "purge": self._purge,
        }

    def forget_old(self, old: Container[str]) -> None:
        """What was meant for a run that has ended: those with these ids were there before this one had the directory.
        (When they were sent says nothing: clocks are set.)
        """
        self._spool.tidy(time.time())
        for command in self._spool.waiting():
            if command.kind in _FOR_THIS_RUN and command.id in old:
                self._spool.answer(command, Answer(False, "the run that it was for has ended"))

    async def follow(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_EVERY)

    @property
    def done(self) -> bool:
        """All that was sent so far is done, and committed."""
        return self._spool.empty

    async def look(self) -> int:
        """Do what waits; gives how many commands that were."""
        async with self._one:
            waiting = self._spool.waiting()
            for command in waiting:
                answer = await self._do(command)
                if not command.who.startswith(APPLICATION) or not answer.ok:  # those have statistics of their own
                    self._log.event("command", kind=command.kind, who=command.who, ok=answer.ok, text=answer.text)
                self._spool.answer(command, answer)
            return len(waiting)

    async def _do(self, command: Command) -> Answer:
        action = self._kinds.get(command.kind)
        if action is None:
            return Answer(False, f"{command.kind!r} is no command that this version knows")
        try:
            self._id = command.id
            answer = await action(command.about)
            # Who changed settings has written it down, and what applications ask for is no change.
            if command.kind not in ("settings", "call") and not command.who.startswith(APPLICATION):
                told = {name: value for name, value in answer.facts.items() if name != "each"}  # which may be many
                audit.record(self._logs, command.who, command.kind, None, told)
        except (GossamerError, msgspec.ValidationError, OSError) as error:
            return Answer(False, str(error))
        except Exception as error:  # a command that nobody thought of must not keep the next ones from being heard
            return Answer(False, f"{command.kind} failed: {type(error).__name__}: {error}")
        return answer

    # -- each kind -----------------------------------------------------------------------------------------------------

    async def _take_settings(self, _: dict[str, Any]) -> Answer:
        config = self._settings.take()
        if config is not None:
            self._change(config)
        return Answer(True, IN_EFFECT)

    async def _checkpoint(self, _: dict[str, Any]) -> Answer:
        self._agent.commit()
        pages = self._agent.statistics.pages
        text, facts = f"all {pages:,} pages are durable, with all that is known", {"pages": pages}
        if self._agent.others is not None:
            partitions = facts["partitions"] = self._agent.others.checkpoint()
            text += f"; copies of {partitions:,} partitions are made"
        return Answer(True, text, facts)

    async def _stop(self, _: dict[str, Any]) -> Answer:
        self._agent.end()
        return Answer(True, "the crawl stops")

    async def _seeds(self, about: dict[str, Any]) -> Answer:
        given = msgspec.convert(about, SeedsGiven)
        urls, refused = [], []
        for line in given.urls:
            url, why = self._usable(line)
            if url is None:
                refused.append({"seed": line[:200], "why": why})
            elif not given.links or self._agent.frontier.is_ours(url):
                urls.append(url)
        self._agent.commit()  # so that what is new from here on are the seeds
        known = self._agent.frontier.counts.urls
        again = self._agent.add_seeds(urls, priority=given.priority)
        self._agent.commit()
        new = self._agent.frontier.counts.urls - known
        judged = f" ({again:,} of them had been excluded or had failed, and are queued again)" if again else ""
        if len(urls) > new + again:
            judged += " (gossamer refresh visits pages again)"
        text = f"{new:,} new seeds, {len(urls) - new:,} known already{judged}, {len(refused):,} left out"
        facts = {
            "new": new, "known": len(urls) - new, "again": again, "left_out": len(refused),
            "refused": refused[:_MOST_SHOWN],
        }  # fmt: skip
        if given.links:
            led = await self._lead_on(urls, given.priority)
            facts |= led
            text += f"; {led['links']:,} links of {led['pages']:,} stored pages come first"
        return Answer(bool(urls) or not refused, text, facts)

    async def _lead_on(self, urls: list[str], priority: int) -> dict[str, int]:
        found = []
        for url in urls:
            found.append(self._agent.lead_on(url, priority))
            await asyncio.sleep(0)
        self._agent.commit()
        stored = [links for links in found if links is not None]
        return {"pages": len(stored), "links": sum(stored)}

    async def _requests(self, about: dict[str, Any]) -> Answer:
        given = msgspec.convert(about, RequestsGiven)
        facts = self._agent.request(given, self._usable, self._id)
        self._agent.commit()
        return Answer(True, "these were taken up before" if facts["again"] else words_of(facts), facts)

    async def _call(self, about: dict[str, Any]) -> Answer:
        host = msgspec.convert(about, HostGiven).host
        for names in self._agent.frontier.review.hosts(host):
            self._agent.frontier.call(names, self._clock())
            await asyncio.sleep(0)
        return Answer(True, IN_EFFECT)

    async def _retry(self, about: dict[str, Any]) -> Answer:
        host = msgspec.convert(about, HostGiven).host
        frontier = self._agent.frontier
        hosts = urls = 0
        if host:
            for names in frontier.review.hosts(host):
                hosts += frontier.retry_hosts(self._clock(), names)
                await asyncio.sleep(0)
        else:
            hosts = frontier.retry_hosts(self._clock())
        for found in frontier.review.retry(host):
            urls += found.total()
            self._agent.statistics.take_back(found)
            await asyncio.sleep(0)
        self._agent.commit()
        text = f"{urls:,} dead URLs are queued again, {hosts:,} hosts that were down are tried after their delay"
        return Answer(True, text, {"host": host, "urls": urls, "hosts": hosts})

    async def _rejudge(self, _: dict[str, Any]) -> Answer:
        self._agent.commit()  # what was excluded a moment ago is judged, too
        found, queued = await self._agent.rejudging.judge_all()
        self._agent.commit()
        text = f"{found:,} excluded URLs are judged again, {queued:,} of them are queued"
        return Answer(True, text, {"urls": found, "queued": queued})

    async def _purge(self, about: dict[str, Any]) -> Answer:
        """The blocklist has the host already: nothing of it is visited, and what is queued is excluded in its turn."""
        host = msgspec.convert(about, HostGiven).host
        await self._take_settings({})
        frontier = self._agent.frontier
        pages = 0
        for names in frontier.review.hosts(host):
            frontier.call(names, self._clock(), at_once=True)
            await asyncio.sleep(0)
        for found, dead in frontier.review.purge(host):
            pages += found
            self._agent.statistics.take_back(dead)
            await asyncio.sleep(0)
        self._agent.commit()
        return Answer(True, f"{pages:,} pages of {host} are purged", {"host": host, "pages": pages})
