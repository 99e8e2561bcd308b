"""X-Robots-Tag: what a response's headers forbid."""

from __future__ import annotations

import re

from gossamer.regex import compiled_later

_TAG = compiled_later(rb"\nx-robots-tag[ \t]*:[ \t]*([^\r\n]*)", re.I)
# A name with a colon after it is a crawler's, unless it is a rule that takes a value.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_NAMED = compiled_later(r"\s*([A-Za-z0-9_-]+)\s*:(.*)", re.S)


def robots_tag(head: bytes, agent: str) -> tuple[bool, bool]:
    """(noindex, nofollow) for a crawler whose product token is `agent`, in lower case.

    Several headers add up; one that begins with the name of another crawler is not for us.
    """
    if head.find(b"obots-") < 0 and head.find(b"OBOTS-") < 0:  # asked of every page: `in` takes three times as long
        return False, False
    noindex = nofollow = False
    for value in _TAG.findall(head):
        text = value.decode("latin-1").lower()
        named = _NAMED.match(text)
        if named is not None and named[1] not in _VALUED:
            if named[1] != agent:
                continue
            text = named[2]
        rules = {rule.strip() for rule in text.split(",")}
        none = "none" in rules
        noindex = noindex or none or "noindex" in rules
        nofollow = nofollow or none or "nofollow" in rules
    return noindex, nofollow
