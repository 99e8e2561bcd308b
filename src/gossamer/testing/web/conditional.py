"""Conditional requests: when a server may say 304."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from gossamer.testing.web.message import Request, find_header, response

_KEPT = (b"Date", b"ETag", b"Last-Modified", b"Cache-Control", b"Expires", b"Vary", b"Content-Location")


def unchanged(request: Request, etag: str, modified: int) -> bool:
    """RFC 9110, 13.2.2: If-None-Match decides where it is given, If-Modified-Since otherwise.

    An empty `etag` and a `modified` of 0 are validators that the server does not have.
    """
    matches = request.header("If-None-Match")
    if matches is not None:
        own = etag.removeprefix("W/")
        return bool(etag) and (matches == "*" or own in (tag.strip().removeprefix("W/") for tag in matches.split(",")))
    since = request.header("If-Modified-Since")
    return since is not None and modified > 0 and seconds_of(since) >= modified


def not_modified(request: Request, whole: bytes) -> bytes | None:
    """The 304 to say instead of a whole response of status 200, None where it must be sent."""
    if not whole.startswith(b"HTTP/1.1 200"):
        return None
    head = whole[: whole.find(b"\r\n\r\n") + 2]
    kept = {name.decode(): (find_header(head, name) or b"").decode("latin-1") for name in _KEPT}
    if not unchanged(request, kept["ETag"], int(seconds_of(kept["Last-Modified"]))):
        return None
    return response(304, "", b"", [(name, value) for name, value in kept.items() if value])


def seconds_of(date: str) -> float:
    """A date of HTTP as seconds since 1970, -1 for what is none."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return -1.0
