"""Log in with a key, and out. The key is in the body of one request and nowhere else: no URL, no page, no cookie."""

from __future__ import annotations

from typing import Final

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from gossamer.service.callers import is_https, peer_of, session_cookie
from gossamer.service.pages.forms import fields, own_path
from gossamer.service.pages.frame import new_router, render
from gossamer.service.problems import Problem
from gossamer.service.sessions import LIFETIME, cookie_name, drop_cookie, fresh_binding, read_cookie, set_cookie

_FORM: Final = "form"  # the cookie that ties the form to who was shown it
_STALE: Final = "This form is too old, or cookies are turned off. Try once more."

router = new_router()


@router.get("/login")
def login_form(request: Request, next: str = "/") -> Response:
    return _form(request, next)


@router.post("/login")
async def login(request: Request) -> Response:
    given = await fields(request)
    gate, https = request.app.state.gate, is_https(request)
    target = own_path(given.get("next", "/"))
    if not gate.sessions.form_token_holds(given.get("token", ""), _binding(request)):
        return _form(request, target, _STALE, 403)
    try:
        key = gate.shown(f"Bearer {given.get('key', '').strip()}", peer_of(request))
    except Problem as problem:
        response = _form(request, target, problem.detail, problem.status)
        if "Retry-After" in problem.headers:
            response.headers["Retry-After"] = problem.headers["Retry-After"]
        return response
    response = RedirectResponse(target, 303)
    set_cookie(response, gate.sessions.make(key), https=https)
    drop_cookie(response, https=https, name=_FORM)
    return response


@router.post("/logout")
async def logout(request: Request) -> Response:
    """A session that has ended is out already; another site's page cannot log anybody out."""
    given = await fields(request)
    session = session_cookie(request)
    sessions = request.app.state.gate.sessions
    if sessions.key(session) and not sessions.form_token_holds(given.get("token", ""), session):
        raise Problem(403, "This form is not of your login. Go back, load the page again, and log out there.")
    response = RedirectResponse("/login", 303)
    drop_cookie(response, https=is_https(request))
    return response


def _form(request: Request, target: str, wrong: str = "", status: int = 200) -> Response:
    binding = _binding(request)
    fresh = binding or fresh_binding()
    response = render(
        request, "login.html", None, status=status, here="login", wrong=wrong, next=own_path(target),
        hours=LIFETIME // 3600,
        token=request.app.state.gate.sessions.form_token(fresh),
    )  # fmt: skip
    if not binding:
        set_cookie(response, fresh, https=is_https(request), name=_FORM)
    return response


def _binding(request: Request) -> str:
    return read_cookie(request.headers.get("cookie", ""), cookie_name(is_https(request), _FORM))
