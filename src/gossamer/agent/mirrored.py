"""gossamer.toml of a crawl with several agents, and the key that they judge by: each follows the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gossamer.agent.audit import record
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.settings import LiveSettings
from gossamer.agent.spool import Spool
from gossamer.cluster.coordinator import Coordinator
from gossamer.cluster.shared import Settings, read_settings, write_settings
from gossamer.config import Config, adopted, changed, live_changes, load, load_text
from gossamer.errors import ConfigError


class MirroredSettings:
    """Invariant: what is in the key becomes what is in the file. A change of the file goes to the key if nobody has
    changed that meanwhile; if somebody has, theirs holds.
    """

    def __init__(
        self,
        directory: CrawlDir,
        config: Config,
        settings: Settings,
        coordinator: Coordinator,
        notice: Callable[[str], None],
        local: Mapping[str, Any] | None = None,
    ) -> None:
        """`config` is what the settings say, with what is `local` to this machine."""
        self._directory = directory
        self._local = dict(local or {})
        self._config = config
        self._shared = _of(settings)
        self._coordinator = coordinator
        self._version = settings.version
        self._pending: Config | None = None
        self._notice = notice
        self._file = LiveSettings(directory.settings, config, notice, self._edited)

    async def look(self) -> None:
        """UnavailableError: try again, nothing is forgotten."""
        if (edited := self._file.look()) is not None:
            names = [name for name in live_changes(self._config, edited)[1] if name not in self._local]
            self._config = edited
            if names:
                self._pending = adopted(self._pending or self._shared, edited, names)
        if self._pending is not None:
            made = await write_settings(
                self._coordinator, self._pending.to_toml(), "gossamer.toml", since=self._version
            )
            if made is not None:
                self._version, self._shared = made.version, self._pending
            self._pending = None
        there = await read_settings(self._coordinator)
        if there is not None and there.version > self._version:
            self._version = there.version
            self._take(there)

    def _take(self, there: Settings) -> None:
        try:
            self._shared = _of(there)
            config = self._config = changed(self._shared, self._local)
        except ConfigError as error:
            self._notice(f"settings: {error}")
            return
        with Spool(self._directory.home).alone():
            self._directory.save(config)
        self._file = LiveSettings(self._directory.settings, config, self._notice, self._edited)

    def _edited(self, before: dict[str, str], after: dict[str, str]) -> None:
        record(self._directory.logs, "an editor", "settings", before, after)


def _of(settings: Settings) -> Config:
    return load_text(settings.toml, f"version {settings.version} of the cluster's settings")


def save_settings(directory: CrawlDir, config: Config, kept: Config | None) -> Config:
    """What this run uses, written. What somebody has changed in the file since `kept` was read from it holds."""
    with Spool(directory.home).alone():
        if kept is not None and directory.settings.is_file():
            now = load(directory.settings)
            config = adopted(config, now, live_changes(kept, now)[1])
        directory.save(config)
    return config
