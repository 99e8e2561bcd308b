"""The same examples in every run: a test that fails today fails tomorrow."""

from __future__ import annotations

import gc

from hypothesis import settings

settings.register_profile("gossamer", derandomize=True, database=None)
settings.load_profile("gossamer")


def pytest_unconfigure() -> None:
    """A crawl in this process has frozen all objects (`gc.freeze`): DuckDB would call its own leaked at the end."""
    gc.unfreeze()
