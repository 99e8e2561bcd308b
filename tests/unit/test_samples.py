"""Curves of several agents as one."""

from __future__ import annotations

from itertools import pairwise

from gossamer.agent.history import Sample
from gossamer.service.samples import Curves


def samples(start: float, number: int, *, step: float = 2.0, ok: int = 10, before: int = 0) -> list[Sample]:
    """Every step, `ok` pages more."""
    return [Sample(start + step * turn, ok=before + ok * turn, bytes=100 * turn) for turn in range(number)]


def test_one_agent_is_as_it_is() -> None:
    curves = Curves()
    curves.replace("a", samples(1000.0, 5))
    curves.add("a", samples(1000.0, 7))
    assert curves.all() == samples(1000.0, 7)


def test_two_agents_are_added_at_the_same_moments() -> None:
    """They commit at different ones."""
    curves = Curves()
    curves.replace("a", samples(1000.0, 11))
    curves.replace("b", samples(1001.0, 11, ok=20))
    found = curves.all()
    assert [sample.at for sample in found] == sorted({sample.at for sample in found})
    assert {sample.at: sample.ok for sample in found}[1010.0] == 50 + 90  # b had 80 at 1009, 100 at 1011
    assert found[-1].at == 1020.0  # up to where all have said something
    assert [later.ok - earlier.ok for earlier, later in pairwise(found[1:])] == [30] * 9


def test_who_comes_later_makes_no_jump() -> None:
    curves = Curves()
    curves.replace("a", samples(1000.0, 20))
    curves.replace("b", samples(1020.0, 10, before=500))
    steps = [sample.ok for sample in curves.all()]
    assert max(later - earlier for earlier, later in pairwise(steps)) <= 20


def test_who_has_gone_holds_nobody_back() -> None:
    curves = Curves()
    curves.replace("a", samples(1000.0, 100))
    curves.replace("b", samples(1000.0, 3))
    found = curves.all()
    assert found[-1].at == 1198.0
    assert found[-1].ok == 990 + 20


def test_what_is_added_changes_nothing_that_was() -> None:
    curves = Curves()
    curves.replace("a", samples(1000.0, 10))
    curves.replace("b", samples(1000.0, 10))
    before = {sample.at: sample for sample in curves.all()}
    curves.add("a", samples(1000.0, 12))
    curves.add("b", samples(1000.0, 12))
    after = {sample.at: sample for sample in curves.all()}
    assert before.items() <= after.items()
    assert len(after) == len(before) + 2


def test_who_is_not_kept_is_forgotten() -> None:
    curves = Curves()
    curves.replace("", samples(1000.0, 10))
    curves.replace("a", samples(1000.0, 10))
    assert curves.all()[-1].ok == 180
    curves.keep({"a", "b"})
    assert curves.all() == samples(1000.0, 10)


def test_freshness_is_weighed() -> None:
    curves = Curves()
    curves.replace("a", [Sample(1000.0, ok=30, freshness=1.0), Sample(1002.0, ok=30, freshness=1.0)])
    curves.replace("b", [Sample(1000.0, ok=10, freshness=0.2), Sample(1002.0, ok=10, freshness=0.2)])
    assert [round(sample.freshness, 3) for sample in curves.all()] == [0.8, 0.8]
