"""Lists of what was asked for beside several agents, as one."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from gossamer.agent.application import Request
from gossamer.agent.asked import Tagged
from gossamer.agent.order import parts_of
from gossamer.agent.results import TaggedPart, results_together
from gossamer.errors import CursorError
from gossamer.model import State, VisitRecord

Lists = dict[str, list[tuple[int, Tagged]]]


class Agents:
    """Some that were asked at these times; who is away does not answer."""

    def __init__(self, **times: list[float]) -> None:
        self.lists: Lists = {
            name: [(3 * place + 1, Tagged(f"http://{name}.test/{place}", at)) for place, at in enumerate(each)]
            for name, each in times.items()
        }
        self.away: set[str] = set()
        self.known: dict[str, tuple[str, VisitRecord]] = {}

    def part(self, cursor: str, limit: int) -> tuple[list[str], str]:
        def ask(after: Mapping[str, int]) -> dict[str, TaggedPart]:
            found = {
                name: [each for each in self.lists[name] if each[0] > number]
                for name, number in after.items()
                if name not in self.away
            }
            return {name: TaggedPart(each[:limit], len(each) > limit) for name, each in found.items()}

        part = results_together(ask, lambda urls: self.known, list(self.lists), cursor, limit)
        return [each.url for each in part.results], part.next

    def whole(self, limit: int) -> list[str]:
        found, cursor = self.part("", limit)
        while cursor:
            more, cursor = self.part(cursor, limit)
            assert more
            found += more
        return found


def test_they_come_in_the_order_of_asking_each_once() -> None:
    agents = Agents(a=[1.0, 4.0, 5.0], b=[2.0, 3.0], c=[])
    expected = [f"http://{each}.test/{n}" for each, n in (("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2))]
    for limit in (1, 2, 3, 5, 100):
        assert agents.whole(limit) == expected


@settings(max_examples=60)
@given(some.lists(some.lists(some.floats(0, 9), max_size=6), min_size=1, max_size=4), some.integers(1, 5))
def test_whatever_their_clocks_say_none_is_lost_nor_repeated(times: list[list[float]], limit: int) -> None:
    agents = Agents(**{f"a{number}": each for number, each in enumerate(times)})
    found = agents.whole(limit)
    for name, each in agents.lists.items():
        assert [url for url in found if f"//{name}." in url] == [tagged.url for _, tagged in each]
    assert len(found) == sum(map(len, times))


def test_a_cursor_stays_good_when_more_is_asked_for_and_agents_come_and_go() -> None:
    agents = Agents(a=[1.0, 2.0], b=[1.5, 2.5])
    first, cursor = agents.part("", 3)
    assert first == ["http://a.test/0", "http://b.test/0", "http://a.test/1"]
    agents.away = {"b"}
    assert agents.part(cursor, 3) == ([], "")  # `missing` says that it is not all
    agents.away = set()
    agents.lists["a"].append((7, Tagged("http://a.test/late", 0.5)))
    agents.lists["new"] = [(1, Tagged("http://new.test/0", 9.0))]
    assert agents.part(cursor, 10)[0] == ["http://a.test/late", "http://b.test/1", "http://new.test/0"]


def test_what_became_of_them_is_said_by_who_knows_it() -> None:
    agents = Agents(a=[1.0, 2.0])
    agents.known = {"http://a.test/0": ("b", VisitRecord("http://a.test/0", State.DEAD, 0, reason="dns"))}

    def ask(after: Mapping[str, int]) -> dict[str, TaggedPart]:
        return {"a": TaggedPart(agents.lists["a"], False)}

    known, unknown = results_together(ask, lambda urls: agents.known, ["a"], "", 10).results
    assert (known.state, known.reason, known.agent) == (State.DEAD, "dns", "b")
    assert (unknown.state, unknown.agent) == (State.QUEUED, "")


@pytest.mark.parametrize("cursor", ["7", "x", "~", "~kgCBoWGheA"])
def test_what_is_no_cursor(cursor: str) -> None:
    with pytest.raises(CursorError, match="not one that a list of results gave"):
        Agents(a=[1.0]).part(cursor, 3)


def test_many_are_asked_for_in_parts_that_fit_in_a_question() -> None:
    requests = [Request(f"http://a.test/{number}/" + "x" * (1500 * (number % 7 == 0))) for number in range(3000)]
    parts = list(parts_of(requests, lambda each: len(each.url)))
    assert [each for part in parts for each in part] == requests
    assert max(map(len, parts)) <= 1000
    assert max(sum(len(each.url) for each in part) for part in parts) < 200_000
    assert len(parts) == 5
    assert max(len(msgspec.msgpack.encode(part)) for part in parts) < 250_000
    assert list(parts_of(["x" * 300_000], len)) == [["x" * 300_000]]
