"""Parts of a URL that name the visitor and not the page: session ids and tracking parameters.

A site that puts a session id into its links gives every visit new URLs for the same pages, without end (K11).
The lists hold names whose meaning is known everywhere; a name that some sites use for content
(`ref`, `source`, `id`) is not in them, because dropping it would lose pages.
"""

from __future__ import annotations

import re
from functools import cache

from gossamer.regex import compiled_later

_SESSION_NAMES = (
    "jsessionid",
    "jservsessionid[a-z]*",
    "phpsess(?:ion)?id",
    "gsessionid",
    "sessionid",
    "session[_-]id",
    "sess_id",
    "sessid",
    "aspsessionid[a-z]*",
    "asp\\.net_sessionid",
    "aspxautodetectcookiesupport",
    "cfid",
    "cftoken",
    "mscss?id",
    "oscsid",
    "xtcsid",
    "zenid",
    "wosid",
    "___sid",
    "bv_sessionid",
    "bv_engineid",
)
_TRACKING_NAMES = (
    # campaigns
    "utm_[a-z0-9_-]*",
    "mtm_[a-z]*",
    "pk_(?:campaign|kwd|keyword|source|medium|content|cid)",
    "piwik_(?:campaign|kwd|keyword)",
    "matomo_(?:campaign|kwd|keyword|source|medium|content|cid)",
    "ga_(?:campaign|content|medium|place|source|term)",
    "at_(?:campaign|campaign_type|custom[0-9]*|medium)",
    "ns_(?:campaign|fee|linkname|mchannel|source)",
    "hsa_[a-z]{2,4}",
    "wt.mc(?:_[a-z]*)?",
    "xtor",
    # clicks on advertisements
    "fbclid",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "gad_source",
    "gad_campaignid",
    "srsltid",
    "msclkid",
    "yclid",
    "ysclid",
    "_openstat",
    "twclid",
    "ttclid",
    "rdt_cid",
    "sccid",
    "epik",
    "li_fat_id",
    "irclickid",
    "irgwc",
    "cjevent",
    "zanpid",
    "dicbo",
    "tblci",
    "s_kwcid",
    "ef_id",
    "mkwid",
    "pcrid",
    "rb_clickid",
    "wickedid",
    "unicorn_click_id",
    # shares
    "fb_(?:action_ids|action_types|ref|source)",
    "__cft__[^=&]*",
    "__tn__",
    "__xts__[^=&]*",
    "__twitter_impression",
    "igshid",
    "igsh",
    "ref_src",
    "soc_src",
    "soc_trk",
    "wprov",
    "usqp",
    "guccounter",
    "guce_referrer(?:_sig)?",
    "_branch_match_id",
    # letters
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "ml_subscriber(?:_hash)?",
    "_hsenc",
    "_hsmi",
    "__hstc",
    "__hssc",
    "__hsfp",
    "hsctatracking",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "vero_conv",
    "_ke",
    "_kx",
    "bsft_[a-z]*",
    "_bta_c",
    "_bta_tid",
    "elqtrack(?:id)?",
    "trk_(?:contact|module|msg|sid)",
    "sfmc_id",
    # visitors
    "_ga",
    "_gl",
    "_gac",
)
# `sid` is a session id in forums and an article's number in portals: it goes when its value is long, or mixes letters
# and digits, and stays when it is a plain number or word.
_SID = "sid=(?:(?=[a-z]*[0-9])(?=[0-9]*[a-z])[^&;/?]*|[^&;/?]{16,})"
# `s` and `session` mean anything: they go when the value is a hash, 32 or 40 hexadecimal digits.
_HASH = "(?:s|ses|sess|session)=(?:[0-9a-f]{40}|[0-9a-f]{32})"


def _beginnings() -> str:
    """What the names begin with, up to four letters, gathered by the first of them: quick to see that none is there."""
    names = (*_SESSION_NAMES, *_TRACKING_NAMES, "sid=", "ses", "s=")
    starts = {re.match("[a-z_.=]{1,4}", name)[0] for name in names}  # type: ignore[index]
    letters = sorted({start[0] for start in starts})
    rests = ("|".join(sorted(start[1:] for start in starts if start[0] == letter)) for letter in letters)
    return "|".join(f"{letter}(?:{rest})" for letter, rest in zip(letters, rests, strict=True))


# A segment of its own (ASP.NET, cookieless).
_PATH_SEGMENT = compiled_later(r"/\((?:[AFSX]\([^()/]*\))+\)(?=/)", re.I)


# The long patterns are made when first needed: they take 5 ms, and many a crawl meets no session id.
@cache
def _maybe() -> re.Pattern[str]:
    """Nearly all queries hold none of the names: their beginnings, matched in lower case, tell so in half the time."""
    return re.compile(f"[?&](?:{_beginnings()})")


@cache
def _parameter() -> re.Pattern[str]:
    names = "|".join(_SESSION_NAMES + _TRACKING_NAMES)
    return re.compile(f"[?&](?:(?:{names})(?:=[^&]*)?|{_SID}|{_HASH})(?=&|\\Z)", re.I)


@cache
def _path_parameter() -> re.Pattern[str]:
    """`;jsessionid=…` at the end of a path segment (servlets)."""
    return re.compile(f";(?:(?:{'|'.join(_SESSION_NAMES)})=[^;/]*|{_SID}|{_HASH})(?=[;/]|\\Z)", re.I)


def strip_query(query: str) -> str:
    """`query` begins with "?"; so does the result, unless nothing is left. The order of what stays is kept."""
    if _maybe().search(query.lower()) is None:
        return query
    kept = _parameter().sub("", query)[1:]
    return "?" + kept if kept else ""


def strip_path(path: str) -> str:
    if ";" in path:
        path = _path_parameter().sub("", path)
    if "/(" in path:
        path = _PATH_SEGMENT.sub("", path)
    return path
