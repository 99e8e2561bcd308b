"""Agents told what to do over the broker, on behalf of a key that the service has checked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from gossamer.agent.audit import record
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.order import Order
from gossamer.agent.speed_limits import Limits
from gossamer.agent.spool import Answer
from gossamer.config import Config, load
from gossamer.errors import ControlError, GossamerError
from gossamer.service.agents import Agents
from gossamer.service.questions import AskSettings, GiveOrder, Question, Settings

_AT_ONCE: Final = 32
_LONGER: Final = 1.0  # seconds that an answer may take beyond the patience of the one who gives it


class RemoteAgents:
    """Settings and seeds are told to the agent of this directory if it runs, or else to another one that does; if none
    does, they are kept here for the next run.
    """

    def __init__(self, agents: Agents, directory: CrawlDir, who: str, patience: float) -> None:
        self._agents = agents
        self._directory = directory
        self._who = who
        self._patience = patience + _LONGER
        self._own = next(iter(agents.local))
        living = [name for name, beat in agents.beats().items() if not beat.over and name != self._own]
        self._speakers = [self._own, *living] if directory.in_use() or not living else living

    @property
    def running(self) -> bool:
        beats = self._agents.beats()
        return self._directory.in_use() or any(not beat.over for beat in beats.values())

    def one(self, order: Order) -> Answer:
        if order.action == "stop" and self._agents.wire is not None and self._agents.wire.connected:
            record(self._directory.logs, self._who, "stop")
            self._agents.wire.end_crawl(self._who)
            return Answer(True, "it stops")
        answer: Answer = self._first(GiveOrder(self._who, order))
        return answer

    def others(self, order: Order) -> dict[str, Answer | str]:
        """`one` was told first, and `_first` has put it in front."""
        names = [name for name in self._speakers[1:] if name != self._own]
        question = GiveOrder(self._who, order)

        def tell(name: str) -> Answer | str:
            try:
                return self._agents.ask_each({name: question}, self._patience).answers.get(name, "does not answer")
            except GossamerError as error:
                return str(error)

        with ThreadPoolExecutor(_AT_ONCE) as threads:  # they wait for their agents, all at the same time
            return dict(zip(names, threads.map(tell, names), strict=True))

    def config(self) -> Config:
        return load(self._directory.settings)

    def limits(self) -> Limits:
        return self._settings().limits

    def blocklist(self) -> tuple[str, ...]:
        return self._settings().blocklist

    def priority(self, host: str) -> int | None:
        return self._settings(host).priority

    def _settings(self, host: str = "") -> Settings:
        found: Settings = self._first(AskSettings(host))
        return found

    def _first(self, question: Question[Any]) -> Any:
        """Of the first who answers; from then on that is the one."""
        for name in list(self._speakers):
            found = self._agents.ask_each({name: question}, self._patience)
            if name in found.answers:
                self._speakers.remove(name)
                self._speakers.insert(0, name)
                return found.answers[name]
        raise ControlError("no agent of the crawl answers now, so that nothing was changed. Try again in a moment")
