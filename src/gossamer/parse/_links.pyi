from collections.abc import Callable
from typing import Any

OBEY: int
AREA: int

def may_scan(body: bytes, head: int, /) -> bool: ...
def links(
    body: bytes,
    url: str,
    known: dict[bytes, str | None],
    remember: Callable[[bytes], str | None],
    look: Callable[[bytes, Any], str | None],
    join: Callable[[str, str], str | None],
    reading: Any,
    flags: int,
    most_attributes: int,
    most_links: int,
    /,
) -> list[str] | None: ...
