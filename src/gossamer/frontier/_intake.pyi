from collections.abc import Callable

from gossamer.frontier.hosts import Origin
from gossamer.frontier.parting import Away, Group, Wanted

def parted(
    groups: list[Group], origins: dict[str, Origin], find: Callable[[str], Origin], longest: int, slashes: int, /
) -> tuple[list[Wanted], list[bytes], list[Away]]: ...
def taken(
    start: int,
    keys: list[bytes],
    known: list[bool],
    wanted: list[Wanted],
    changes: dict[bytes, bytes | None],
    found: dict[tuple[Origin, int], list[str]],
    forms_only: bool,
    queued: tuple[bytes, ...],
    most_hops: int,
    /,
) -> tuple[int, int]: ...
