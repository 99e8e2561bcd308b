"""`python -m gossamer.config` prints docs/configuration.md."""

from __future__ import annotations

import sys

from gossamer.config.reference import markdown

sys.stdout.write(markdown())
