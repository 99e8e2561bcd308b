"""Questions and answers between agents as bytes, those that mean harm included."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from gossamer.errors import ConfigError, ControlError, CursorError, QueryError, SeedError
from gossamer.service import answerer
from gossamer.service.answerer import RefusedError, answer, packed, unpacked
from gossamer.service.crawl_view import CrawlView
from gossamer.service.problems import Problem
from gossamer.service.questions import KINDS, AskExplain, AskProgress, AskSearch, AskSize, Question, answer_type


@pytest.fixture
def view(tmp_path: Path) -> CrawlView:
    return CrawlView(tmp_path)


def test_every_question_names_the_type_of_its_answer() -> None:
    for kind in KINDS:
        msgspec.msgpack.Decoder(answer_type(kind))
    assert len({kind.__name__ for kind in KINDS}) == len(KINDS)


def test_a_directory_without_a_crawl(view: CrawlView) -> None:
    with pytest.raises(RefusedError) as found:
        unpacked(AskProgress(), answer(view, packed(AskProgress())))
    assert found.value.nothing
    assert unpacked(AskSize(), answer(view, packed(AskSize()))).pages == 0


@settings(max_examples=100)
@given(some.binary(max_size=200))
def test_any_bytes_are_answered(data: bytes) -> None:
    said = answer(CrawlView(Path("/nonexistent")), data)
    with pytest.raises(RefusedError):
        unpacked(AskProgress(), said)


@settings(max_examples=200)
@given(some.binary(max_size=200))
def test_any_bytes_may_be_the_answer(data: bytes) -> None:
    for said in (data, b"a" + data, b"r" + data):
        with pytest.raises(RefusedError):
            unpacked(AskProgress(), said)


@pytest.mark.parametrize(
    "question",
    [
        {"type": "AskExplain", "text": "x" * 5001},
        {"type": "AskSearch", "query": "x", "upto": 10**9},
        {"type": "AskSearch", "query": 7, "upto": 1},
        {"type": "AskCopy", "url": "http://a.test/", "start": -1},
        {"type": "AskVisits", "urls": ["x"] * 1001},
        {"type": "GiveOrder", "who": "x", "order": {"action": "remove everything"}},
        {"type": "GiveOrder", "who": "x", "order": {"action": "requests", "requests": [{"url": "x", "priority": 99}]}},
        {"type": "GiveOrder", "who": "x", "order": {"action": "requests", "requests": [{"url": "x", "tag": "a\0b"}]}},
        {"type": "AskTagged", "tag": "x", "after": -1, "limit": 1},
        {"type": "CrawlView", "home": "/etc"},
    ],
)
def test_what_no_agent_asks(view: CrawlView, question: dict[str, object]) -> None:
    with pytest.raises(RefusedError, match="not understood"):
        unpacked(AskProgress(), answer(view, msgspec.msgpack.encode(question)))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (QueryError(3, "why"), QueryError),
        (CursorError("why", stale=True), CursorError),
        (SeedError("why"), SeedError),
        (ConfigError("why"), ConfigError),
        (ControlError("why"), ControlError),
        (Problem(422, "why"), Problem),
        (Problem(503, "why"), RefusedError),
        (ZeroDivisionError("secret"), RefusedError),
    ],
)
def test_what_is_raised_there_is_raised_here(
    view: CrawlView, error: Exception, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Question[object], view: CrawlView) -> None:
        raise error

    monkeypatch.setattr(AskExplain, "answered", fail)
    with pytest.raises(kind) as found:
        unpacked(AskExplain("x"), answer(view, packed(AskExplain("x"))))
    assert "secret" not in str(found.value)
    if isinstance(found.value, QueryError):
        assert found.value.position == 3
    if isinstance(found.value, CursorError):
        assert found.value.stale


def test_what_is_too_long(view: CrawlView, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answerer, "_MOST_RAW", 20)
    with pytest.raises(RefusedError):
        unpacked(AskSearch("x", 1), answer(view, packed(AskSearch("x", 1))))
