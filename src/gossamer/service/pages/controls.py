"""The crawl operated from a page: what holds now, what a change will do, and what became of it.

Forms that work without a script. With one, what a change will do is said while one types, and the page stays.
"""

from __future__ import annotations

import time
from typing import Annotated, Any, Final
from urllib.parse import urlencode

import msgspec
from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from gossamer.agent.speed import local_time
from gossamer.agent.speed_limits import shown
from gossamer.config import Config
from gossamer.errors import GossamerError
from gossamer.service.callers import Caller, needs
from gossamer.service.commanding import commanding
from gossamer.service.pages.actions import ACTIONS, Action, Given
from gossamer.service.pages.changes import said_of
from gossamer.service.pages.foretold import Prospect
from gossamer.service.pages.forms import Fields, check_token, own_path
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.pages.outcomes import Outcome, Outcomes
from gossamer.service.pages.week import Row, Week, painted
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of

Admin = Annotated[Caller, Depends(needs("admin"))]

_CHANGES: Final = 100  # of the audit log
_BLOCKED: Final = 500  # patterns that are listed

router = new_router()


class Controls(msgspec.Struct):
    """What the templates of the controls need to know."""

    admin: bool
    exists: bool  # a crawl, perhaps one that has ended
    running: bool
    paused: bool
    back: str  # where forms lead
    home: str
    clock: str  # the zone of the crawl's machine
    outcome: Outcome | None = None  # of the command that led here
    limits: dict[str, str] = {}  # as they are written in gossamer.toml
    schedule: tuple[str, ...] = ()
    blocklist: list[str] = []
    more_blocked: int = 0
    week: list[Row] = []
    today: tuple[int, int] = (0, 0)  # day of the week and hour, where the crawl is
    opened: bool = False  # the drawer
    wrong: str = ""  # why the settings cannot be read


def controls(request: Request, caller: Caller, back: str = "") -> dict[str, Any]:
    """The context of controls.html and buttons.html; `back` is where forms lead, this page itself if not given."""
    view = crawl_of(request)
    found = Controls(
        admin=caller.operates,
        exists=view.exists,
        running=view.running,
        paused=False,
        back=back or _here(request),
        home=str(view.directory.home),
        clock=time.strftime("%Z"),
        outcome=_outcomes(request).find(_whose(caller), request.query_params.get("done", "")),
    )
    day, minute = local_time(view.clock())
    found.today = day, minute // 60
    found.opened = found.outcome is not None and found.outcome.place != "crawl"
    if found.exists:
        try:
            _add_settings(found, view.config())
        except GossamerError as error:  # somebody edits the file; the page is of use all the same
            found.wrong = str(error)
    return {"controls": found}


def _add_settings(found: Controls, config: Config) -> None:
    found.paused = config.agent.paused
    found.limits = shown(config)
    found.schedule = config.fetch.schedule
    found.week = Week.of(found.schedule).rows(config.fetch.rate)
    if found.admin:
        listed = config.policy.blocklist
        found.blocklist = list(listed[:_BLOCKED])
        found.more_blocked = max(0, len(listed) - _BLOCKED)


@router.get("/controls")
def controls_page(request: Request, caller: Reader) -> HTMLResponse:
    known = controls(request, caller)
    changes = crawl_of(request).audit(_CHANGES)[::-1] if known["controls"].admin else []
    said = [said_of(change) for change in changes]
    return render(request, "controls_page.html", caller, here="controls", changes=said, most=_CHANGES, **known)


@router.get("/controls/part")
def controls_part(request: Request, caller: Reader, on: str = "/controls") -> HTMLResponse:
    """The controls alone, for the script of the page that they stand on."""
    return render(request, "controls_inside.html", caller, **controls(request, caller, own_path(on)))


@router.post("/controls/hours")
def strip(request: Request, caller: Admin, given: Fields) -> HTMLResponse:
    """The strip of hours as it would be, for the script: other lines, or other hours painted over."""
    check_token(request, caller, given)
    text, wrong = _foretell(request, ACTIONS["schedule"], given)
    lines = given.get("schedule", "").splitlines()
    known = controls(request, caller)
    try:
        week = painted([line.strip() for line in lines if line.strip()], given.get("paint", ""), given.get("caps", ""))
    except ValueError as error:
        return render(request, "before.html", caller, text=text if wrong else f"This is not {error}", wrong=True)
    if given.get("paint"):
        lines = week.lines()
        text, wrong = _foretell(request, ACTIONS["schedule"], {**given, "schedule": "\n".join(lines)})
    known["controls"].week = week.rows(float(known["controls"].limits.get("rate", 0)), bool(given.get("each")))
    return render(request, "strip.html", caller, lines="\n".join(lines), text=text, wrong=wrong, **known)


@router.post("/controls/before/{action}")
def before(request: Request, caller: Admin, action: str, given: Fields) -> HTMLResponse:
    """What it will do, for the script."""
    check_token(request, caller, given)
    text, wrong = _foretell(request, _known(action), given)
    return render(request, "before.html", caller, text=text, wrong=wrong)


@router.post("/controls/{action}")
def command(request: Request, caller: Admin, action: str, given: Fields) -> Response:
    check_token(request, caller, given)
    chosen, back = _known(action), own_path(given.get("back", "/controls"))
    sure = given.get("sure", "") == "yes" and (not chosen.again or given.get("again", "").strip() == given.get("host"))
    if chosen.asks and not sure:
        text, wrong = _foretell(request, chosen, given)
        kept = {name: value for name, value in given.items() if name not in ("token", "back", "sure", "again")}
        return render(
            request, "sure.html", caller, here="controls", action=action, chosen=chosen, text=text, wrong=wrong,
            kept=kept, back=back, missed=chosen.again and "again" in given,
        )  # fmt: skip
    done = _done(request, caller, chosen, given)
    name = _outcomes(request).keep(_whose(caller), done)
    return RedirectResponse(f"{back}{'&' if '?' in back else '?'}done={name}#{chosen.place}", 303)


def _done(request: Request, caller: Caller, chosen: Action, given: Given) -> Outcome:
    began = time.monotonic()
    try:
        with commanding(request, caller) as control:
            answer = chosen.do(control, given)
    except Problem as problem:
        return Outcome(chosen.title, chosen.place, problem.detail, time.time(), ok=False)
    took = time.monotonic() - began
    return Outcome(chosen.title, chosen.place, answer.text, time.time(), took, later=answer.later)


def _foretell(request: Request, chosen: Action, given: Given) -> tuple[str, bool]:
    """What will happen, or what is wrong with what was given."""
    view = crawl_of(request)
    if not view.exists:
        return "There is no crawl in the directory of this service yet.", True
    try:
        now = Prospect(view, view.config(), view.progress(), view.running)
        return chosen.foretell(now, given), False
    except GossamerError as error:
        return str(error), True


def _known(action: str) -> Action:
    chosen = ACTIONS.get(action)
    if chosen is None:
        raise Problem(404, "There is no such control.")
    return chosen


def _outcomes(request: Request) -> Outcomes:
    found: Outcomes = request.app.state.outcomes
    return found


def _whose(caller: Caller) -> str:
    return caller.key.digest if caller.key else ""


def _here(request: Request) -> str:
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "done"]
    return request.url.path + (f"?{urlencode(kept)}" if kept else "")
