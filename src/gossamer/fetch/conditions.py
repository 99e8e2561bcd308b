"""What a visit asks with when its page was fetched before: "only if it has changed" (RFC 9110, 13.1)."""

from __future__ import annotations

from typing import Final

from gossamer.regex import compiled_later

Validators = tuple[bytes, bytes]
"""An ETag and a Last-Modified."""

NONE: Final[Validators] = (b"", b"")

# Validators come from a server, and go into a request: nothing that could end a line, and nothing endless. `*` stands
# for whatever there is, so that every answer would be that nothing has changed.
_sendable = compiled_later(rb"(?!\*\Z)[^\x00-\x1f\x7f]{1,1000}")


def usable(validators: Validators) -> Validators:
    """Those that can be asked with, exactly as they are; empty in place of each other."""
    if validators == NONE:
        return NONE
    etag, modified = (value if _sendable.fullmatch(value) else b"" for value in validators)
    return etag, modified


def condition_lines(validators: Validators) -> list[bytes]:
    etag, modified = validators
    return ([b"If-None-Match: " + etag] if etag else []) + ([b"If-Modified-Since: " + modified] if modified else [])
