"""gossamer.toml, followed while the crawl runs: what is changed there takes effect within two seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from gossamer.config import OPTIONS, Config, live_changes, reread
from gossamer.errors import ConfigError

_LOOK_EVERY = 0.5  # seconds


class LiveSettings:
    """Invariant: a file that somebody edits is read only when it has been the same for two looks, so that half of one
    is not taken.
    """

    def __init__(
        self,
        file: Path,
        config: Config,
        notice: Callable[[str], None],
        edited: Callable[[dict[str, str], dict[str, str]], None] = lambda before, after: None,
    ) -> None:
        """`edited` hears of changes that nobody announced: what was and what is."""
        self._file = file
        self._config = config
        self._notice = notice
        self._edited = edited
        self._taken = self._seen = stamp_of(file)

    async def follow(self, change: Callable[[Config], None]) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            config = self.look()
            if config is not None:
                change(config)

    def look(self) -> Config | None:
        """What to run with from now on, if that was changed."""
        stamp = stamp_of(self._file)
        settled = stamp == self._seen and stamp != self._taken
        self._seen = stamp
        if not settled:
            return None
        before = self._config
        try:
            changed, names = self._take(stamp)
        except ConfigError as error:
            self._notice(f"settings: the change is not taken up. {error}")
            return None
        if names:
            self._edited(values(before, names), values(changed, names))
        return changed if names else None

    def take(self) -> Config | None:
        """As `look`, at once: whoever changed the file says that it is whole. Raises ConfigError."""
        stamp = self._seen = stamp_of(self._file)
        if stamp == self._taken:
            return None
        changed, names = self._take(stamp)
        return changed if names else None

    def _take(self, stamp: tuple[int, int, int]) -> tuple[Config, list[str]]:
        self._taken = stamp
        changed, names, others = live_changes(self._config, reread(self._file, self._config))
        for name in others:
            self._notice(f"settings: {name} was changed; that takes effect when the crawl is started again")
        for name in names:
            self._notice(f"settings: {_words(name, changed)} from now on")
        self._config = changed
        return changed, names


def values(config: Config, names: Iterable[str]) -> dict[str, str]:
    """Of options, and the patterns of tables, as text. Tables may hold passwords, so that no more is said of them."""
    return {name: _value(name, config) for name in names}


def _words(name: str, config: Config) -> str:
    if name not in OPTIONS:
        return f"the tables of {name} hold"
    return f"{name} = {_value(name, config)}"


def _value(name: str, config: Config) -> str:
    if name not in OPTIONS:
        return ", ".join(rule.pattern for rule in getattr(config, name))
    option = OPTIONS[name]
    return option.kind.show(getattr(getattr(config, option.section), option.key))


def stamp_of(file: Path) -> tuple[int, int, int]:
    """What tells one version of a file from another."""
    try:
        found = file.stat()
    except OSError:  # an editor may take it away for a moment
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino
