"""gossamer.toml, followed while the crawl runs: what is changed there takes effect within two seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from gossamer.config import OPTIONS, Config, live_changes, reread
from gossamer.errors import ConfigError

_LOOK_EVERY = 0.5  # seconds


class LiveSettings:
    """Invariant: a file is read only when it has been the same for two looks, so that half of one is not taken."""

    def __init__(self, file: Path, config: Config, notice: Callable[[str], None]) -> None:
        self._file = file
        self._config = config
        self._notice = notice
        self._taken = self._seen = _stamp(file)

    async def follow(self, change: Callable[[Config], None]) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            config = self.look()
            if config is not None:
                change(config)

    def look(self) -> Config | None:
        """What to run with from now on, if that was changed."""
        stamp = _stamp(self._file)
        settled = stamp == self._seen and stamp != self._taken
        self._seen = stamp
        if not settled:
            return None
        self._taken = stamp
        try:
            changed, names, others = live_changes(self._config, reread(self._file, self._config))
        except ConfigError as error:
            self._notice(f"settings: the change is not taken up. {error}")
            return None
        for name in others:
            self._notice(f"settings: {name} was changed; that takes effect when the crawl is started again")
        for name in names:
            self._notice(f"settings: {_words(name, changed)} from now on")
        self._config = changed
        return changed if names else None


def _words(name: str, config: Config) -> str:
    if name not in OPTIONS:
        return f"the tables of {name} hold"
    option = OPTIONS[name]
    return f"{name} = {option.kind.show(getattr(getattr(config, option.section), option.key))}"


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        found = file.stat()
    except OSError:  # an editor may take it away for a moment
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino
