"""Agents on other machines, whose facts are brought here over the broker for a report on all.

Files of facts never change under their names, so that those that are here already are not brought again.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gossamer.agent.broker_file import NAME, read_broker
from gossamer.agent.parts import parts
from gossamer.cluster.broker import Broker, open_keys
from gossamer.cluster.engine import need_client
from gossamer.cluster.lease import Terms
from gossamer.cluster.members import Members
from gossamer.errors import ClusterError
from gossamer.model import State
from gossamer.report.fact import COLUMNS
from gossamer.report.figures import TOPIC, AskFigures, AskPiece, FactFile, Figures

if TYPE_CHECKING:
    from gossamer.cluster.nats_link import Link

BROKER: Final = "(broker)"  # among those who are missing: nobody knows who else there is
_MOST_BYTES: Final = 64 << 30  # of one agent's files
_PATIENCE: Final = 30.0  # seconds for an answer: all URLs are counted for it
_MAKING: Final = 1800.0  # seconds for an agent to read what it has stored since its last report
_LOOK: Final = 0.5  # seconds between two questions whether it has done so


class Other(msgspec.Struct):
    """An agent elsewhere, whose facts are here."""

    name: str
    figures: Figures
    paths: list[Path]

    def outcomes(self) -> Counter[tuple[State, int, int, str]]:
        return Counter({(state, *rest): count for state, *rest, count in self.figures.outcomes})  # type: ignore[misc]


Ask = Callable[[str, AskFigures | AskPiece], bytes]
"""What an agent says; nothing if it does not."""


def others_of(home: Path, notice: Callable[[str], None]) -> tuple[list[Other], list[str]]:
    """The agents elsewhere of the crawl that this directory is an agent's of, and those who do not answer."""
    if not (home / NAME).is_file() or parts(home)[0].home != home:
        return [], []
    need_client()
    broker = read_broker(home)
    with asyncio.Runner() as runner:
        try:
            link = runner.run(broker.connect("report"))
        except ClusterError as error:
            notice(f"the report is of this agent alone: {error}")
            return [], [BROKER]
        try:
            return _gathered(runner.run, link, broker, home / "facts" / "others", notice)
        except ClusterError as error:
            notice(str(error))
            return [], [BROKER]
        finally:
            runner.run(link.close())


def _gathered(
    run: Callable[[Any], Any], link: Link, broker: Broker, folder: Path, notice: Callable[[str], None]
) -> tuple[list[Other], list[str]]:
    from gossamer.cluster.nats_questions import NatsQuestions

    names = [name for name in run(_known(link)) if name != broker.name]
    questions = NatsQuestions(link, TOPIC)

    def ask(name: str, question: AskFigures | AskPiece) -> bytes:
        said: dict[str, bytes] = run(questions.ask({name: msgspec.msgpack.encode(question)}, lambda _: _PATIENCE))
        return said.get(name, b"")

    for name in names:
        ask(name, AskFigures(make=True))  # all begin at once
    found = {name: _brought(ask, name, folder / name) for name in names}
    missing = [name for name, other in found.items() if other is None]
    for name in missing:
        notice(f"{name} does not answer: the report is without what it knows")
    return [other for other in found.values() if other is not None], missing


async def _known(link: Link) -> list[str]:
    members = await Members.open(await open_keys(link), Terms())
    try:
        await members.look(1.0)
        return list(members.known())
    finally:
        await members.close()


def _brought(ask: Ask, name: str, folder: Path) -> Other | None:
    """None if it does not answer, or something else than it should."""
    figures = _figures(ask, name)
    if figures is None or figures.columns != [column.name for column in COLUMNS]:
        return None
    if sum(file.size for file in figures.files) > _MOST_BYTES:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in {file.name for file in figures.files}:
            path.unlink()
    if not all(_is_here(ask, name, file, folder / file.name) for file in figures.files):
        return None
    return Other(name, figures, [folder / file.name for file in figures.files])


def _figures(ask: Ask, name: str) -> Figures | None:
    until = time.monotonic() + _MAKING
    while True:
        try:
            found = msgspec.msgpack.decode(ask(name, AskFigures(make=False)), type=Figures)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
        if not found.making or time.monotonic() > until:
            return found
        time.sleep(_LOOK)


def _is_here(ask: Ask, name: str, file: FactFile, path: Path) -> bool:
    """Brought if it was not."""
    if path.is_file() and path.stat().st_size == file.size:
        return True
    fresh = path.with_name(f"{path.name}.new")
    with open(fresh, "wb") as out:
        while out.tell() < file.size:
            piece = ask(name, AskPiece(file.name, out.tell()))
            if not 0 < len(piece) <= file.size - out.tell():
                return False
            out.write(piece)
    fresh.replace(path)
    return True
