"""A cluster as its broker knows it, at one moment, for people: who lives, who has what, how full everything is.

Ages are by the broker's clock alone: it says when it took a message, and what time it is.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from binascii import Error as Base64Error
from datetime import datetime
from typing import Final, TypeVar

import msgspec

from gossamer.cluster.broker import BUCKET
from gossamer.cluster.coordinator import Entry
from gossamer.cluster.leader import LEADER, PLAN, Mandate, read_plan
from gossamer.cluster.log import Kind, Record
from gossamer.cluster.nats_link import Link
from gossamer.cluster.ownership import read_claim
from gossamer.cluster.session import PREFIX, Beat, Over, read_beat
from gossamer.cluster.shared import CONFIG, CRAWL, DRAIN, END, End, Facts, Settings
from gossamer.errors import ClusterError
from gossamer.rules.territory import Territory

T = TypeVar("T")

_AT_ONCE: Final = 64  # questions to the broker
_KEYS: Final = f"KV_{BUCKET}"


class AgentView(msgspec.Struct):
    name: str
    state: str  # working, idle, silent (no beat for a lease), ended, revoked
    session: str = ""
    beat_age: float = 0.0  # seconds
    weight: float = 1.0
    partitions: int = 0  # that it has claimed
    planned: int = 0  # that it is to have
    pages: int = 0
    idle: bool = False
    log: int = 0  # records of its partitions that are in no checkpoint yet: what another one would have to read
    draining: bool = False


class StreamView(msgspec.Struct):
    name: str
    messages: int
    bytes: int
    limit: int
    replicas: int


class Overview(msgspec.Struct):
    """No `partitions`: no crawl has been made."""

    id: str = ""
    partitions: int = 0
    free: int = 0  # partitions that nobody has
    pins: int = 0
    leader: str = ""
    plan: int = 0  # its version
    settings: int = 0
    settings_by: str = ""
    end: str = ""  # the reason, where the crawl has ended
    agents: list[AgentView] = []
    streams: list[StreamView] = []


class _Stored(msgspec.Struct):
    subject: str = ""
    seq: int = 0
    data: str = ""
    hdrs: str = ""
    time: str = ""

    @property
    def bytes(self) -> bytes:
        try:
            return b64decode(self.data)
        except (Base64Error, ValueError):
            return b""


class _Got(msgspec.Struct):
    message: _Stored | None = None


class _State(msgspec.Struct):
    messages: int = 0
    bytes: int = 0
    subjects: dict[str, int] | None = None


class _Config(msgspec.Struct):
    max_bytes: int = 0
    num_replicas: int = 1


class _Info(msgspec.Struct):
    config: _Config = msgspec.field(default_factory=_Config)
    state: _State = msgspec.field(default_factory=_State)
    ts: str = ""


async def overview(link: Link) -> Overview:
    """UnavailableError if the broker does not answer."""
    keys = await _info(link, _KEYS, f"$KV.{BUCKET}.>")
    now = _moment(keys.ts)
    entries, times = {}, {}
    for stored in await _last(link, _KEYS, list(keys.state.subjects or ())):
        name = stored.subject.removeprefix(f"$KV.{BUCKET}.")
        removed = "KV-Operation" in b64decode(stored.hdrs or b"").decode("utf-8", "replace")
        entries[name] = Entry(name, None if removed else stored.bytes, stored.seq)
        times[name] = _moment(stored.time)
    found = Overview(streams=[_stream("keys", keys)])
    facts, settings, end = _read(entries, CRAWL, Facts), _read(entries, CONFIG, Settings), _read(entries, END, End)
    if settings is not None:
        found.settings, found.settings_by = settings.version, settings.by
    found.end = end.reason if end is not None else ""
    mandate = _read(entries, LEADER, Mandate)
    agents = {}
    for name, entry in entries.items():
        if name.startswith(f"{PREFIX}.") and (beat := read_beat(entry)) is not None:
            short = name.partition(".")[2]
            agents[short] = _agent(short, beat, max(0.0, now - times[name]), facts)
            agents[short].draining = _is(entries, f"{DRAIN}.{short}")
            if mandate is not None and beat.session == mandate.session and not beat.over:
                found.leader = short
    found.agents = [agents[name] for name in sorted(agents)]
    if facts is not None:
        await _fill(link, found, facts, entries.get(PLAN), agents)
    return found


async def _fill(link: Link, found: Overview, facts: Facts, plan: Entry | None, agents: dict[str, AgentView]) -> None:
    territory = Territory(facts.partitions, dict(facts.pins))
    found.id, found.partitions, found.pins = facts.id, territory.partitions, len(facts.pins)
    made = read_plan(plan, territory.partitions)
    if plan is not None and made is not None:
        found.plan = plan.revision
        for agent in agents.values():
            agent.planned = len(made.partitions(agent.name))
    found.free = territory.partitions
    for number in range(facts.streams):
        stream = f"U{number:02d}"
        info = await _info(link, stream, f"u.{number:02d}.>")
        found.streams.append(_stream(stream, info))
        counts = info.state.subjects or {}
        claims = [subject for subject in counts if subject.split(".")[2] == Kind.OWN]
        for stored in await _last(link, stream, claims):
            claim = read_claim(Record(stored.seq, Kind.OWN, stored.bytes))
            owner = agents.get(claim.agent) if claim is not None and not claim.free else None
            if claim is None or owner is None or owner.session != claim.session or owner.state in tuple(Over):
                continue
            _, part, _, partition = stored.subject.split(".")
            found.free -= 1
            owner.partitions += 1
            owner.log += sum(counts.get(f"u.{part}.{kind}.{partition}", 0) for kind in (Kind.IN, Kind.DONE))


def _agent(name: str, beat: Beat, age: float, facts: Facts | None) -> AgentView:
    silent = age > (facts or Facts()).terms.others
    state = str(beat.over) or ("silent" if silent else "idle" if beat.told.idle else "working")
    return AgentView(name, state, beat.session, age, beat.weight, pages=beat.told.pages, idle=beat.told.idle)


async def _info(link: Link, stream: str, subjects: str) -> _Info:
    answer = await link.ask(f"$JS.API.STREAM.INFO.{stream}", {"subjects_filter": subjects})
    return _decoded(answer, _Info)


async def _last(link: Link, stream: str, subjects: list[str]) -> list[_Stored]:
    """The last message on each."""
    found = []
    for start in range(0, len(subjects), _AT_ONCE):
        asked = [
            link.ask(f"$JS.API.STREAM.MSG.GET.{stream}", {"last_by_subj": subject})
            for subject in subjects[start : start + _AT_ONCE]
        ]
        for answer in await asyncio.gather(*asked):
            message = _decoded(answer, _Got).message
            if message is not None:
                found.append(message)
    return found


def _decoded(answer: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(answer, type=kind)
    except msgspec.MsgspecError as error:
        raise ClusterError(f"the broker's answer is not understood ({error}): is it nats-server?") from error


def _read(entries: dict[str, Entry], key: str, kind: type[T]) -> T | None:
    entry = entries.get(key)
    try:
        return None if entry is None or entry.value is None else msgspec.json.decode(entry.value, type=kind)
    except msgspec.MsgspecError:
        return None


def _is(entries: dict[str, Entry], key: str) -> bool:
    return key in entries and entries[key].value is not None


def _stream(name: str, info: _Info) -> StreamView:
    return StreamView(name, info.state.messages, info.state.bytes, info.config.max_bytes, info.config.num_replicas)


def _moment(text: str) -> float:
    """RFC 3339, with up to nine digits of a second."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0
