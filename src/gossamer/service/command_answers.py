"""What is answered to commands, as JSON."""

from __future__ import annotations

import msgspec

from gossamer.agent.audit import Change
from gossamer.agent.speed_limits import Limits


class CommandAnswer(msgspec.Struct):
    """`text` says what was done. `later`: no crawl runs, or it has not answered yet, and it will be done."""

    text: str
    running: bool
    later: bool


class RefusedSeed(msgspec.Struct):
    seed: str
    why: str


class SeedsAnswer(msgspec.Struct):
    """How many seeds are `new`, `known` already and `left_out`; the first of these in `refused`."""

    text: str
    running: bool
    later: bool
    new: int
    known: int
    left_out: int
    refused: list[RefusedSeed]


class RefusedRequest(msgspec.Struct):
    url: str
    why: str


class RequestsAnswer(msgspec.Struct):
    """How many requests are `new`, `known` already and `left_out`; the first of these in `refused`. Of the new ones
    `handed_over` are other agents', who know whether they are.
    """

    text: str
    running: bool
    later: bool
    new: int
    known: int
    left_out: int
    refused: list[RefusedRequest]
    handed_over: int


class BlocklistAnswer(msgspec.Struct):
    patterns: list[str]


class ChangesAnswer(msgspec.Struct):
    changes: list[Change]


SCHEMAS = (CommandAnswer, SeedsAnswer, RequestsAnswer, BlocklistAnswer, ChangesAnswer, Limits)
