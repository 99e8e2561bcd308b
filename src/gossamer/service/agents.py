"""All agents of a crawl, asked at once: directories that are here are read, other agents answer over the broker."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

from gossamer.agent.broker_file import NAME, read_broker
from gossamer.agent.parts import parts
from gossamer.cluster.broker import Broker
from gossamer.cluster.session import Beat, Over
from gossamer.errors import ClusterError, CrawlDirError, DamagedError, GossamerError, IndexVersionError
from gossamer.service.answerer import RefusedError, packed, unpacked
from gossamer.service.crawl_view import CrawlView
from gossamer.service.problems import Problem
from gossamer.service.questions import Question

if TYPE_CHECKING:
    from gossamer.service.wire import Wire

log = logging.getLogger(__name__)

A = TypeVar("A")

BROKER: Final = "(broker)"
"""Among those who are missing: nobody knows who else there is. No agent can be called so."""
PATIENCE: Final = 3.0  # seconds for an answer
_SHORT: Final = 0.5  # for one that did not answer the last time
_THREADS: Final = 16  # in which the directories that are here are read
_LONGER: Final = 2.0  # seconds after which the wire itself must have given up


class Gathered(msgspec.Struct, Generic[A]):
    """What those say who have something to say. `missing` could not be asked, or did not answer. `ended` have said
    good-bye, and nobody answers for their directories.
    """

    answers: dict[str, A]
    missing: list[str]
    ended: list[str]


class Agents:
    """For any number of threads. Invariants: who does not answer in time is missing, and delays nobody further. What a
    question is refused for is raised; what is wrong with an agent makes it missing.
    """

    def __init__(self, local: Mapping[str, CrawlView], wire: Wire | None) -> None:
        self.local = dict(local)
        self.wire = wire
        self._patience = PATIENCE
        self._quiet: set[str] = set()
        self._threads = ThreadPoolExecutor(_THREADS, "agents")

    def names(self) -> list[str]:
        return sorted({*self.local, *self.beats()}, key=lambda name: (len(name), name))

    def beats(self) -> Mapping[str, Beat]:
        """What agents said last of themselves, all that ever were. Where all are here, the broker is not waited for."""
        return {} if self.wire is None else self.wire.agents(wait=len(self.local) == 1)

    def ended(self) -> list[str]:
        """Agents elsewhere that have said good-bye; their directories may still be answered for."""
        return [name for name, beat in self.beats().items() if beat.over is Over.ENDED and name not in self.local]

    def ask(self, question: Question[A], without: Iterable[str] = ()) -> Gathered[A]:
        """All of them, but for those who did not answer a moment ago."""
        asked = dict.fromkeys((name for name in self.names() if name not in without), question)
        found = self.ask_each(asked, question.patience())
        found.missing += self.unknown()
        return found

    def unknown(self) -> list[str]:
        """BROKER while it is not known who else there is. All agents of a crawl on one machine are here: others can
        only join while its broker runs.
        """
        return [BROKER] if self.wire is not None and len(self.local) == 1 and not self.wire.connected else []

    def ask_each(self, asked: Mapping[str, Question[A]], patience: float = 0.0) -> Gathered[A]:
        """Some of them, each its own question; with other patience than usual if that is given."""
        patience = patience or self._patience
        remote = {name: question for name, question in asked.items() if name not in self.local}
        waiting = self._sent(remote, patience)
        here = {
            name: self._threads.submit(question.answered, self.local[name])
            for name, question in asked.items()
            if name in self.local
        }
        answers: dict[str, A] = {}
        missing = []
        gone = set(self.ended()) if remote else set()
        ended: list[str] = []
        for name, read in here.items():
            try:
                answers[name] = read.result()
            except Problem as problem:
                if problem.status != 404:  # nothing is there yet
                    raise
            except GossamerError as error:
                if not _is_own(error):
                    raise
                log.warning("%s: %s", name, error)
                missing.append(name)
        said = self._received(waiting, patience)
        self._quiet = (self._quiet | remote.keys()) - said.keys()
        for name, question in remote.items():
            try:
                if name in said:
                    answers[name] = unpacked(question, said[name])
                else:
                    (ended if name in gone else missing).append(name)
            except RefusedError as error:
                if not error.nothing:
                    log.warning("%s: %s", name, error)
                    missing.append(name)
        return Gathered(answers, missing, ended)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _sent(self, remote: Mapping[str, Question[Any]], patience: float) -> Future[dict[str, bytes]] | None:
        if self.wire is None or not remote:
            return None
        asked = {name: packed(question) for name, question in remote.items()}
        quiet = set(self._quiet)
        return self.wire.ask(asked, lambda name: min(patience, _SHORT) if name in quiet else patience)

    def _received(self, waiting: Future[dict[str, bytes]] | None, patience: float) -> dict[str, bytes]:
        if waiting is None:
            return {}
        try:
            return waiting.result(patience + _LONGER)
        except (ClusterError, TimeoutError, CancelledError) as error:
            log.warning("%s", error or "the broker does not answer")
            return {}


def _is_own(error: GossamerError) -> bool:
    """Whether it is wrong with the directory, and not with what was asked."""
    return isinstance(error, DamagedError | IndexVersionError)


def homes_of(home: Path) -> dict[str, Path]:
    """The directories of agents that are here, by name: all of a crawl on one machine, or the one that this is."""
    found = parts(home)
    if found[0].home != home:
        return {part.home.name: part.home for part in found}
    broker = broker_in(home)
    return {broker.name if broker is not None else "": home}


def broker_in(home: Path) -> Broker | None:
    """None for a crawl of one agent."""
    if not (home / NAME).is_file():
        return None
    try:
        return read_broker(home)
    except CrawlDirError as error:
        log.warning("%s", error)
        return None
