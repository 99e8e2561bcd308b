from collections.abc import Callable

from gossamer.frontier.hosts import Origin
from gossamer.frontier.parting import Away, Group, Wanted

def parted(
    groups: list[Group], origins: dict[str, Origin], find: Callable[[str], Origin], longest: int, slashes: int, /
) -> tuple[list[Wanted], list[bytes], list[Away]]: ...
