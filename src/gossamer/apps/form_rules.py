"""Which forms may be filled in, and why others are left.

With GET a form asks a question: it may be repeated, and changes nothing (RFC 9110, 9.2.1). With POST it may do
anything: order, vote, write, log out. Nobody but the owner of a crawl can know that one is a search, so nothing is sent
unless it is allowed, and what looks like more than a search is left all the same.
"""

from __future__ import annotations

import re
from typing import Final

from gossamer.model.url import host_of
from gossamer.parse.forms import Field, Form

_TOKEN_NAME: Final = re.compile(
    r"csrf|xsrf|token|nonce|captcha|viewstate|eventvalidation|session|signature|secret|auth|(?:^|[_.-])(?:sid|hash)$",
    re.I,
)
_RANDOM: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/=_.:-]{20,}")


def text_of(form: Form) -> str:
    """The name of the one field for a text; empty where there is none, or more, or what nobody may fill in."""
    texts = [each.name for each in form.fields if each.kind == "text"]
    closed = any(each.kind in ("password", "file") for each in form.fields)
    return texts[0] if len(texts) == 1 and not closed else ""


def refusal(form: Form, page: str, allowed: str, tokens: bool) -> str:
    """Why a form on a page that is sent with POST is left; empty where it may be. `allowed` is where forms may be sent,
    `tokens` whether those may that have a token.
    """
    if not text_of(form):
        return "it has not just one field for a text, or one for a password or a file"
    if host_of(page) != host_of(form.action):
        return "it stands on a page of another host, which may have written anything into it"
    if form.encoding:
        return f"it is sent as {form.encoding[:50]}, which is not done here"
    if any(each.long for each in form.fields):
        return "its text has several lines, as those of letters and comments have"
    if empty := [each.name for each in form.fields if each.kind == "other" and not each.value]:
        return f"it asks for {empty[0][:50]} besides"
    found = next((each.name for each in form.fields if each.kind == "hidden" and is_token(each)), None)
    if found is not None and not tokens:
        return f"its hidden field {found[:50]} looks like a token (tokens=true allows those)"
    if not allowed or not re.fullmatch(allowed, form.action):
        return f"it is sent with POST, which must be allowed: post={re.escape(form.action)}"
    return ""


def is_token(field: Field) -> bool:
    """By its name, or as its value is long and looks random."""
    return bool(_TOKEN_NAME.search(field.name)) or _RANDOM.fullmatch(field.value) is not None
