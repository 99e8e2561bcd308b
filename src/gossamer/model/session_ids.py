"""Parts of a URL that name the visitor and not the page: session ids and tracking parameters.

A site that puts a session id into its links gives every visit new URLs for the same pages, without end (K11).
The lists hold names whose meaning is known everywhere; a name that some sites use for content
(`ref`, `source`, `id`) is not in them, because dropping it would lose pages.
"""

from __future__ import annotations

import re
from functools import cache

_SESSION_NAMES = (
    "jsessionid",
    "jservsessionid[a-z]*",
    "phpsessid",
    "sessionid",
    "session_id",
    "sess_id",
    "sessid",
    "aspsessionid[a-z]*",
    "asp\\.net_sessionid",
    "cfid",
    "cftoken",
    "oscsid",
    "zenid",
    "bv_sessionid",
    "bv_engineid",
)
_TRACKING_NAMES = (
    "utm_[a-z0-9_-]*",
    "fbclid",
    "fb_action_ids",
    "fb_action_types",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "srsltid",
    "msclkid",
    "yclid",
    "ysclid",
    "_openstat",
    "twclid",
    "ttclid",
    "li_fat_id",
    "igshid",
    "igsh",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "__hstc",
    "__hssc",
    "__hsfp",
    "hsctatracking",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "wickedid",
    "rb_clickid",
)
# `sid` is a session id in forums and an article's number in portals: it goes when its value is long, or mixes letters
# and digits, and stays when it is a plain number or word.
_SID = "sid=(?:(?=[a-z]*[0-9])(?=[0-9]*[a-z])[^&;/?]*|[^&;/?]{16,})"

# Nearly all queries hold none of these names: their first letters, matched in lower case, tell so in half the time.
_maybe = re.compile(
    f"[?&](?:{'|'.join(sorted({name[:3] for name in (*_SESSION_NAMES, *_TRACKING_NAMES, 'sid')}))})"
).search
# A segment of its own (ASP.NET, cookieless).
_PATH_SEGMENT = re.compile(r"/\((?:[AFSX]\([^()/]*\))+\)(?=/)", re.I)


# The long patterns are made when first needed: they take 5 ms, and many a crawl meets no session id.
@cache
def _parameter() -> re.Pattern[str]:
    names = "|".join(_SESSION_NAMES + _TRACKING_NAMES)
    return re.compile(f"[?&](?:(?:{names})(?:=[^&]*)?|{_SID})(?=&|\\Z)", re.I)


@cache
def _path_parameter() -> re.Pattern[str]:
    """`;jsessionid=…` at the end of a path segment (servlets)."""
    return re.compile(f";(?:(?:{'|'.join(_SESSION_NAMES)})=[^;/]*|{_SID})(?=[;/]|\\Z)", re.I)


def strip_query(query: str) -> str:
    """`query` begins with "?"; so does the result, unless nothing is left. The order of what stays is kept."""
    if _maybe(query.lower()) is None:
        return query
    kept = _parameter().sub("", query)[1:]
    return "?" + kept if kept else ""


def strip_path(path: str) -> str:
    if ";" in path:
        path = _path_parameter().sub("", path)
    if "/(" in path:
        path = _PATH_SEGMENT.sub("", path)
    return path
