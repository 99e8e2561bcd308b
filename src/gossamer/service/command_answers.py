"""What is answered to commands, as JSON."""

from __future__ import annotations

import msgspec

from gossamer.agent.audit import Change
from gossamer.agent.speed_limits import Limits
from gossamer.model import RequestOutcome


class CommandAnswer(msgspec.Struct):
    """`text` says what was done. `later`: no crawl runs, or it has not answered yet, and it will be done."""

    text: str
    running: bool
    later: bool


class RefusedSeed(msgspec.Struct):
    seed: str
    why: str


class SeedsAnswer(msgspec.Struct):
    """How many seeds are `new`, `known` already and `left_out`; the first of these in `refused`. `again`: how many of
    the known ones had been excluded or had failed, and are queued again. So many `links` of stored pages come first,
    where that was asked for.
    """

    text: str
    running: bool
    later: bool
    new: int
    known: int
    again: int
    left_out: int
    refused: list[RefusedSeed]
    links: int = 0


class RefusedRequest(msgspec.Struct):
    url: str
    why: str


class RequestedUrl(msgspec.Struct):
    """What becomes of one request: it is queued, queued again (a known URL), fresh enough, known (it waits already, or
    no `max_age` was given), refused (`why` says why), handed over to the agent that it belongs to, or kept for the next
    run.
    """

    url: str
    result: RequestOutcome
    why: str


class RequestsAnswer(msgspec.Struct):
    """How many requests are `new`, `known` already and `left_out`; the first of these in `refused`. Of the new ones
    `handed_over` are other agents', who know whether they are. Known URLs are `queued_again`, or `fresh_enough`. `urls`
    has all requests in their order.
    """

    text: str
    running: bool
    later: bool
    new: int
    known: int
    left_out: int
    refused: list[RefusedRequest]
    handed_over: int
    queued_again: int
    fresh_enough: int
    urls: list[RequestedUrl]


class BlocklistAnswer(msgspec.Struct):
    patterns: list[str]


class ChangesAnswer(msgspec.Struct):
    changes: list[Change]


SCHEMAS = (CommandAnswer, SeedsAnswer, RequestsAnswer, BlocklistAnswer, ChangesAnswer, Limits)
