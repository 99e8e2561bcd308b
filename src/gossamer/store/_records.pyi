from collections.abc import Callable

from gossamer.model import Page
from gossamer.store.cdxj import Entry

def spelled(digest: bytes, /) -> str: ...
def records(
    page: Page, digest: bytes, blocks: tuple[bytes, bytes], run: str, number: int, /
) -> tuple[bytes, bytes]: ...
def surt(url: str, /) -> str | None: ...
def lines(
    entries: list[Entry],
    file: str,
    mimes: dict[str | None, str],
    mime: Callable[[str | None], str],
    line: Callable[[Entry, str], str],
    /,
) -> bytes: ...
