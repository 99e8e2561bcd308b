"""Questions to agents over a real broker: whole answers or none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest
from brokers import brokers, linked

from gossamer.cluster.nats_questions import NatsQuestions, _Pieces
from gossamer.cluster.questions import MOST_ANSWER, MOST_QUESTION
from gossamer.cluster.server import Server
from gossamer.errors import ConfigError, UnavailableError

T = TypeVar("T")
Asked = Callable[[NatsQuestions, NatsQuestions], Awaitable[T]]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    with brokers(tmp_path_factory.mktemp("broker"), 1) as found:
        yield found


def run(servers: list[Server], scene: Asked[T]) -> T:
    """With one who asks, and one who answers."""

    async def main() -> T:
        async with linked(servers) as here, linked(servers) as there:
            answering = NatsQuestions(there)
            try:
                return await scene(NatsQuestions(here), answering)
            finally:
                await answering.close()

    return asyncio.run(main())


def patience(name: str) -> float:
    return 0.3 if name == "silent" else 20.0


@pytest.mark.parametrize("size", [0, 1, 512 << 10, (512 << 10) + 1, 3_000_000, MOST_ANSWER])
def test_an_answer_of_any_length_is_whole(servers: list[Server], size: int) -> None:
    async def scene(asking: NatsQuestions, answering: NatsQuestions) -> dict[str, bytes]:
        async def answer(question: bytes) -> bytes:
            return question * size

        await answering.answer(name, answer)
        for _ in range(3):  # once in a while nobody is said to listen, a moment after somebody does
            found = await asking.ask({name: b"x"}, patience)
            if found:
                break
            await asyncio.sleep(0.2)
        return found

    name = f"a{size}"  # who answered before may not have been forgotten yet
    assert run(servers, scene) == {name: b"x" * size}


def test_what_is_too_long_is_not_sent(servers: list[Server]) -> None:
    async def scene(asking: NatsQuestions, answering: NatsQuestions) -> dict[str, bytes]:
        async def answer(question: bytes) -> bytes:
            return bytes(MOST_ANSWER + 1)

        await answering.answer("silent", answer)
        return await asking.ask({"silent": b"x"}, patience)

    assert run(servers, scene) == {}


def test_those_who_do_not_answer_keep_nobody_waiting(servers: list[Server]) -> None:
    """One who is not there is told of at once; another one only listens."""

    async def scene(asking: NatsQuestions, answering: NatsQuestions) -> dict[str, bytes]:
        async def answer(question: bytes) -> bytes:
            return question.upper()

        async def silence(question: bytes) -> bytes:
            return await asyncio.get_running_loop().create_future()

        await answering.answer("a", answer)
        await answering.answer("silent", silence)
        return await asking.ask({"a": b"x", "nobody": b"y", "silent": b"z"}, patience)

    assert run(servers, scene) == {"a": b"X"}


def test_of_two_who_answer_for_one_one_is_asked(servers: list[Server]) -> None:
    heard: list[bytes] = []

    async def scene(asking: NatsQuestions, answering: NatsQuestions) -> dict[str, bytes]:
        async def answer(question: bytes) -> bytes:
            heard.append(question)
            return question

        await answering.answer("a", answer)
        await answering.answer("a", answer)
        return await asking.ask({"a": b"x"}, patience)

    assert run(servers, scene) == {"a": b"x"}
    assert heard == [b"x"]


def test_topics_do_not_hear_each_other(servers: list[Server]) -> None:
    async def main() -> dict[str, bytes]:
        async with linked(servers) as link:
            answering = NatsQuestions(link, "facts")

            async def answer(question: bytes) -> bytes:
                return question

            await answering.answer("a", answer)
            return await NatsQuestions(link).ask({"a": b"x"}, patience)

    assert asyncio.run(main()) == {}


def test_a_question_that_is_too_long_is_not_heard(servers: list[Server]) -> None:
    async def scene(asking: NatsQuestions, answering: NatsQuestions) -> dict[str, bytes]:
        async def answer(question: bytes) -> bytes:
            return b"heard"

        await answering.answer("silent", answer)
        return await asking.ask({"silent": bytes(MOST_QUESTION + 1)}, patience)

    assert run(servers, scene) == {}


@pytest.mark.parametrize("name", ["a.b", "*", ">", "a b", ""])
def test_names_that_are_subjects_of_others(servers: list[Server], name: str) -> None:
    async def scene(asking: NatsQuestions, answering: NatsQuestions) -> dict[str, bytes]:
        return await asking.ask({name: b"x"}, patience)

    with pytest.raises(ConfigError):
        run(servers, scene)


def test_without_a_broker(servers: list[Server]) -> None:
    async def main() -> None:
        async with linked(servers) as link:
            await link.client.close()
            with pytest.raises(UnavailableError):
                await NatsQuestions(link).ask({"a": b"x"}, patience)

    asyncio.run(main())


@pytest.mark.parametrize(
    "pieces", [[b""], [b"\0\0\0"], [b"\0\1\0\2x"], [b"\0\0\0\0x"], [b"\0\0\0\2x", b"\0\0\0\2x"], [b"\0\0\xff\xffx"]]
)
def test_pieces_that_do_not_fit(pieces: list[bytes]) -> None:
    found = _Pieces()
    *before, last = pieces
    for piece in before:
        assert found.add(piece) is None
    with pytest.raises(ValueError, match="no piece"):
        found.add(last)
