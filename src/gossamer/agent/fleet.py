"""The agents of one crawl on one machine: started, kept running, watched, and killed when they are past their deadline.

An agent's lease may end while it is stopped, and when it goes on it could send a byte before it looks at a clock. So
another process looks at its deadline, ten times a second, and kills it: that works on a stopped process, too.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.companion import FIRST_REST
from gossamer.agent.deadline import QUIET, Deadline, deadline_file
from gossamer.agent.progress import Progress
from gossamer.agent.together import read_written
from gossamer.agent.ward import Ward
from gossamer.cluster.lease import boot_time
from gossamer.errors import SupervisorError

_LOOK_EVERY: Final = 0.1  # seconds; a gap of the lease is ten times that
WRONG_USAGE: Final = 2


@dataclass(slots=True)
class _Kept:
    home: Path
    ward: Ward
    deadline: Deadline
    last: Progress | None = None  # that it handed over at its end


class Fleet:
    """Invariants: an agent past its deadline is killed, whatever this process's loop is at. An agent that has used
    something wrongly ends all: so would the others, or they would crawl another thing than was asked for.

    `command` gives the arguments that start an agent; `hear` hears what it says, both by its name.
    """

    def __init__(
        self,
        homes: Mapping[str, Path],
        command: Callable[[str, float], Sequence[str]],
        notice: Callable[[str], None],
        hear: Callable[[str, str], None],
        *,
        rest: float = FIRST_REST,
        clock: Callable[[], float] = boot_time,
    ) -> None:
        self._notice = notice
        self._clock = clock
        self._agents: dict[str, _Kept] = {}
        self.refused = False
        for name, home in homes.items():
            deadline = Deadline(deadline_file(home))
            ward = Ward(
                f"the agent {name}" if len(homes) > 1 else "the agent",
                lambda after, name=name: command(name, after),  # type: ignore[misc]
                home / "logs",
                notice,
                rest,
                hear=lambda line, name=name: hear(name, line),  # type: ignore[misc]
                before=lambda deadline=deadline: deadline.write(QUIET),  # type: ignore[misc]
            )
            self._agents[name] = _Kept(home, ward, deadline)

    async def run(self) -> int:
        """Until all have ended. The exit status: that of the first agent, of those that have one."""
        with self._watched():
            ended = await asyncio.gather(*(self._keep(name) for name in self._agents))
        statuses = [each for each in ended if isinstance(each, int)]
        if not statuses:
            raise next(each for each in ended if isinstance(each, SupervisorError))
        return WRONG_USAGE if self.refused else statuses[0]

    def states(self) -> dict[str, str]:
        return {name: agent.ward.state for name, agent in self._agents.items()}

    def progress(self) -> dict[str, Progress]:
        """What each said last, of those that have said something."""
        return {name: found for name, agent in self._agents.items() if (found := _said(agent)) is not None}

    def tell(self, number: int) -> None:
        for agent in self._agents.values():
            agent.ward.tell(number)

    def retire(self) -> None:
        """Nobody is started again."""
        for agent in self._agents.values():
            agent.ward.retire()

    def kill(self) -> None:
        for agent in self._agents.values():
            agent.ward.kill()

    async def _keep(self, name: str) -> int | SupervisorError:
        agent = self._agents[name]
        try:
            status, printed = await agent.ward.keep_running()
        except SupervisorError as error:  # the others have its partitions
            self._notice(str(error))
            return error
        finally:
            agent.deadline.write(QUIET)
        if printed:
            try:
                agent.last = msgspec.msgpack.decode(printed, type=Progress)
            except msgspec.MsgspecError:
                self._notice(f"supervisor: what {agent.ward.called} said at its end is not understood")
        if status == WRONG_USAGE and not self.refused:
            self.refused = True
            self.tell(15)
        return status

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """By a thread of its own: a terminal that takes nothing more stops the loop, and not this."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(_LOOK_EVERY):
                now = self._clock()
                for agent in self._agents.values():
                    if agent.deadline.past(now):
                        agent.ward.kill()

        thread = threading.Thread(target=look, name="deadlines", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def write_seeds(seeds: Iterable[str], home: Path) -> list[str]:
    """Kept for each start of the agent with that directory; gives the words that name them to it."""
    file = home / "logs" / "seeds.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", encoding="utf-8", errors="surrogateescape") as lines:
        # A URL has no line breaks: whoever reads it would leave them out, too.
        lines.writelines(seed.replace("\n", "").replace("\r", "") + "\n" for seed in seeds)
    if file.stat().st_size:
        return [f"@{file}"]
    file.unlink()
    return []


def _said(agent: _Kept) -> Progress | None:
    if agent.last is not None:
        return agent.last
    found = read_written(agent.home)
    if found is not None and not agent.ward.running:
        found.pages_per_s = found.bytes_per_s = found.core = 0.0
        found.in_flight = found.memory = 0
    return found
