"""Forms that are sent with POST: each once at most, whatever happens to this agent or to its partitions."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.agent.asked import Asked
from gossamer.agent.others import Others
from gossamer.frontier import Frontier
from gossamer.model import Reason, Visit


class Forms:
    """Invariant: before the first byte of a form goes out it is durable that it may have been sent: in the commit, and
    among several agents in the log, from which the next owner of its partition would read it.
    """

    def __init__(
        self,
        frontier: Frontier,
        asked: Asked,
        commit: Callable[[], None],
        clock: Callable[[], float],
        others: Callable[[], Others | None],
    ) -> None:
        self._frontier = frontier
        self._asked = asked
        self._commit = commit
        self._clock = clock
        self._held: dict[str, tuple[Visit, int]] = {}  # until the log has the commit that says so
        self._announced: set[str] = set()  # in flight, and not sent yet
        self._others = others

    def __len__(self) -> int:
        """Visits that are held until they may be started."""
        return len(self._held)

    def may_post(self, visit: Visit) -> Reason | None:
        """Asked when the connection stands and nothing is sent yet: None if it may be sent now, or why not."""
        if not self._asked.may_post(visit):
            return Reason.FORM
        if self._others() is not None:
            if visit.url not in self._announced:
                return Reason.UNANSWERED
            self._announced.discard(visit.url)
            return None
        if self._frontier.was_sent(visit):
            return Reason.UNANSWERED
        self._frontier.note_sent(visit, self._clock())
        try:
            self._commit()
        except Exception:  # libcurl is the caller: the next commit fails for the same reason, and says so
            return Reason.UNANSWERED
        return None

    # -- among several agents ------------------------------------------------------------------------------------------

    def holds(self, visit: Visit) -> bool:
        """Whether it has to wait until the log has it; if not, it may be started, which says what becomes of it."""
        others = self._others()
        if others is None or not self._asked.may_post(visit) or self._frontier.was_sent(visit):
            return False
        self._frontier.note_sent(visit, self._clock())
        self._commit()
        self._held[visit.url] = visit, others.committed
        return True

    def released(self) -> list[Visit]:
        """Those that may be started now."""
        others = self._others()
        if not self._held or others is None:
            return []
        found = [visit for visit, commit in self._held.values() if others.logged(commit)]
        for visit in found:
            del self._held[visit.url]
            self._announced.add(visit.url)
        return found

    def taken_back(self, which: Callable[[Visit], bool]) -> list[Visit]:
        """Of those that are held, the ones that are such: they are not started."""
        found = [visit for visit, _ in self._held.values() if which(visit)]
        for visit in found:
            del self._held[visit.url]
            self._announced.add(visit.url)
        return found

    def ended(self, visit: Visit) -> None:
        """What was announced and not sent may be sent another time."""
        if visit.url in self._announced:
            self._announced.discard(visit.url)
            self._frontier.note_unsent(visit)
