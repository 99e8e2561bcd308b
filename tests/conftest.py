"""The same examples in every run: a test that fails today fails tomorrow."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("gossamer", derandomize=True, database=None)
settings.load_profile("gossamer")
