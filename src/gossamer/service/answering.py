"""Answering for one agent what is asked over the broker, until told to end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from gossamer.agent.broker_file import read_broker
from gossamer.cluster.nats_link import Link
from gossamer.cluster.nats_questions import NatsQuestions
from gossamer.cluster.questions import Answer
from gossamer.errors import ClusterError, ConfigError
from gossamer.service.answerer import answer
from gossamer.service.crawl_view import CrawlView

log = logging.getLogger(__name__)

_THREADS: Final = 4  # questions that are answered at a time; more wait
_AGAIN: Final = 1.0  # seconds between two attempts to connect
_LOOK: Final = 0.25  # seconds between two looks at whether it is to end


async def answer_for(
    home: Path,
    stopped: Callable[[], bool],
    ready: Callable[[], None] = lambda: None,
    others: Mapping[str, Callable[[bytes], bytes]] | None = None,
) -> None:
    """`ready` is called when questions are heard. `others` answer what is asked on other topics. Raises CrawlDirError
    if the directory knows of no broker.
    """
    broker = read_broker(home)
    if not broker.name:
        raise ConfigError(f"{home} is not the directory of an agent: its cluster.json has no name")
    view = CrawlView(home)
    threads = ThreadPoolExecutor(_THREADS, "answers")
    loop = asyncio.get_running_loop()

    topics: dict[str, Callable[[bytes], bytes]] = {"ask": lambda question: answer(view, question), **(others or {})}

    def answer_on(topic: str) -> Answer:
        async def said(question: bytes) -> bytes:
            return await loop.run_in_executor(threads, topics[topic], question)

        return said

    link: Link | None = None
    questions: list[NatsQuestions] = []
    try:
        while not stopped():
            try:
                if link is None:
                    link = await broker.connect(f"answer {broker.name}")
                if not questions:
                    questions = [NatsQuestions(link, topic) for topic in topics]
                    for each, topic in zip(questions, topics, strict=True):
                        await each.answer(broker.name, answer_on(topic))
                    ready()
            except ClusterError as error:
                log.warning("%s", error)
                questions = []
                await asyncio.sleep(_AGAIN)
            await asyncio.sleep(_LOOK)
    finally:
        for each in questions:
            await each.close()
        if link is not None:
            await link.close()
        threads.shutdown(wait=False, cancel_futures=True)
        view.close()
