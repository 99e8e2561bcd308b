"""`gossamer crawl --agents N`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gossamer.cli.seed_list import Seeds
from gossamer.config import Config
from gossamer.errors import ConfigError


def crawl_together(
    arguments: Sequence[str], seeds: Seeds, settings: Config, kept: Config | None, directory: Path, as_json: bool
) -> int:
    raise ConfigError("--agents: this is not there yet")
