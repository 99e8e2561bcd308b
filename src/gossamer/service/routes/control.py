"""The crawl commanded: what only an admin may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from gossamer.agent import Control
from gossamer.agent.application import Request as Asked
from gossamer.agent.speed_limits import Limits
from gossamer.agent.spool import Answer
from gossamer.errors import ConfigError
from gossamer.model import RequestOutcome
from gossamer.service.answers import answering, json_answer
from gossamer.service.callers import Caller, needs
from gossamer.service.command_answers import (
    BlocklistAnswer,
    ChangesAnswer,
    CommandAnswer,
    RefusedRequest,
    RefusedSeed,
    RequestedUrl,
    RequestsAnswer,
    SeedsAnswer,
)
from gossamer.service.commanding import commanding
from gossamer.service.orders import (
    MOST_REQUESTS,
    HostOrder,
    LimitsOrder,
    PatternOrder,
    PriorityOrder,
    RequestsOrder,
    SeedsOrder,
)
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of

router = APIRouter(prefix="/api/v1", tags=["control"])

Admin = Annotated[Caller, Depends(needs("admin"))]


@router.post("/control/{action}", **answering(CommandAnswer, 404, 409, 413))
def command(
    request: Request, caller: Admin, action: Literal["pause", "resume", "checkpoint", "stop", "retry", "rejudge"]
) -> Response:
    """Pause or resume the crawl, commit now, stop it, try again what is dead or down, or judge again what is
    excluded.
    """
    with commanding(request, caller) as control:
        actions: dict[str, Callable[[], Answer]] = {
            "pause": control.pause,
            "resume": control.resume,
            "checkpoint": control.checkpoint,
            "stop": lambda: control.stop(wait=False),  # perhaps this service ends with it
            "retry": control.retry,
            "rejudge": control.rejudge,
        }
        return _done(actions[action](), control)


@router.post("/seeds", **answering(SeedsAnswer, 404, 409, 413))
def seeds(request: Request, caller: Admin, order: SeedsOrder) -> Response:
    """Add seeds; priority 0 comes first, 9 last. Known URLs are visited again with `POST /api/v1/requests`."""
    with commanding(request, caller) as control:
        answer = control.add_seeds(order.urls, order.priority, order.links)
        facts = answer.facts
        refused = [RefusedSeed(**each) for each in facts.get("refused", [])]
        new, known, again, left_out = (facts.get(name, 0) for name in ("new", "known", "again", "left_out"))
        links = facts.get("links", 0)
        said = SeedsAnswer(answer.text, control.running, answer.later, new, known, again, left_out, refused, links)
        return json_answer(said)


@router.post("/requests", **answering(RequestsAnswer, 404, 409, 413))
def requests(request: Request, caller: Admin, order: RequestsOrder) -> Response:
    """Ask for pages; with a `max_age` known ones are visited again. What became of them `GET /api/v1/results` says by
    their tags.
    """
    given = order.given()
    if not 0 < len(given) <= MOST_REQUESTS:
        raise Problem(422, f"urls, requests: give between 1 and {MOST_REQUESTS:,} in all")
    with commanding(request, caller) as control:
        try:
            asked = [Asked(each.url, each.priority, each.tag, None, each.max_age) for each in given]
        except ValueError as error:
            raise ConfigError(f"requests: {error}") from None
        answer = control.request(asked, order.app)
        facts = answer.facts
        refused = [RefusedRequest(**each) for each in facts.get("refused", [])]
        results = [
            RequestedUrl(each["url"], RequestOutcome(each["result"]), each["why"]) for each in facts.get("each", [])
        ]
        new, known, left_out, handed = (facts.get(name, 0) for name in ("new", "known", "left_out", "handed_over"))
        again, fresh = facts.get("queued_again", 0), facts.get("fresh_enough", 0)
        said = answer.text, control.running, answer.later, new, known, left_out, refused, handed, again, fresh, results
        return json_answer(RequestsAnswer(*said))


@router.get("/limits", **answering(Limits, 404))
def limits(request: Request, caller: Admin) -> Response:
    """How fast the crawl may be."""
    with commanding(request, caller) as control:
        return json_answer(control.limits())


@router.put("/limits", **answering(Limits, 404, 409, 413))
def set_limits(request: Request, caller: Admin, order: LimitsOrder) -> Response:
    """Change limits; those not given stay. In force within two seconds, and kept. Gives those that hold now."""
    with commanding(request, caller) as control:
        control.set_limits(order.given())
        return json_answer(control.limits())


@router.get("/blocklist", **answering(BlocklistAnswer, 404))
def blocklist(request: Request, caller: Admin) -> Response:
    """Hosts and pages that nobody may visit."""
    with commanding(request, caller) as control:
        return json_answer(BlocklistAnswer(list(control.blocklist())))


@router.post("/blocklist", **answering(BlocklistAnswer, 404, 409, 413))
def block(request: Request, caller: Admin, order: PatternOrder) -> Response:
    """Block a host, a domain or pages at once, also for visits in flight. Gives the list."""
    with commanding(request, caller) as control:
        control.block([order.pattern])
        return json_answer(BlocklistAnswer(list(control.blocklist())))


@router.delete("/blocklist", **answering(BlocklistAnswer, 404, 409, 413))
def unblock(
    request: Request,
    caller: Admin,
    order: PatternOrder | None = None,
    pattern: Annotated[str, Query(max_length=2000, description="Instead of a body.")] = "",
) -> Response:
    """Take a pattern off the list. Gives the list."""
    chosen = order.pattern if order is not None else pattern
    if not chosen:
        raise Problem(422, "pattern: say which, in the body or the query")
    with commanding(request, caller) as control:
        control.unblock([chosen])
        return json_answer(BlocklistAnswer(list(control.blocklist())))


@router.put("/priority", **answering(CommandAnswer, 404, 409, 413))
def priority(request: Request, caller: Admin, order: PriorityOrder) -> Response:
    """Raise or lower a host: 0 comes first, 9 last, null is usual."""
    with commanding(request, caller) as control:
        return _done(control.set_priority(order.host, order.priority), control)


@router.post("/purge", **answering(CommandAnswer, 404, 409, 413))
def purge(request: Request, caller: Admin, order: HostOrder) -> Response:
    """Remove a host and all below it for good: not visited, its URLs excluded, its pages out of the index."""
    with commanding(request, caller) as control:
        return _done(control.purge(order.host), control)


@router.get("/audit", **answering(ChangesAnswer, 404))
def audit(
    request: Request,
    caller: Admin,
    limit: Annotated[int, Query(ge=1, le=1000, description="Changes at most, the last ones.")] = 100,
) -> Response:
    """Who changed what, and when; the last change comes first."""
    return json_answer(ChangesAnswer(crawl_of(request).audit(limit)[::-1]))


def _done(answer: Answer, control: Control) -> Response:
    return json_answer(CommandAnswer(answer.text, control.running, answer.later))
