"""The loop, its commit and its numbers."""

from gossamer.agent.progress import Progress, Summary
from gossamer.agent.run import Crawl, read_progress, read_visits, run

__all__ = ["Crawl", "Progress", "Summary", "read_progress", "read_visits", "run"]
