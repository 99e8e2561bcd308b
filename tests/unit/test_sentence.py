"""The sentence at the top of the dashboard: one for every state a crawl can be in."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.agent.progress import Progress
from gossamer.service.pages.sentence import sentence
from gossamer.service.picture import Picture

NOW = 1_800_000_000.0
POLITE = "politeness: 912 of 950 hosts wait for their delay"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"pages_per_s": 4112.4, "limit": POLITE}, f"Crawling 4,112 pages/s. Limited by {POLITE}."),
        ({"pages_per_s": 1.5, "limit": ""}, "Crawling 1.50 pages/s."),
        ({"limit": "the schedule: it pauses at this hour"}, "Resting: the schedule pauses it at this hour."),
        (
            {"limit": "the pages: none is due to be visited again yet"},
            "Waiting: no page is due to be visited again yet.",
        ),
        ({"paused": True, "queued": 1234, "limit": "it is paused: …"}, "Paused. 1,234 URLs wait."),
        ({"paused": True, "queued": 1}, "Paused. 1 URL waits."),
        ({"seeds_share": 0.5, "seeds_read": 12_000}, "Reading seeds: 12,000 so far, 50 %."),
        ({"updated_at": NOW - 60}, "Running, but silent: the last commit was 1 min ago."),
        ({"reason": "stopped"}, "Starting again."),
        ({"updated_at": 0.0}, "A crawl is starting."),
        ({"running": False, "updated_at": 0.0}, "There is no crawl here yet. Start one with gossamer crawl."),
        ({"running": False, "reason": "complete"}, "Finished: every URL in scope has been visited."),
        (
            {"running": False, "reason": "complete", "queued": 12},
            "Finished: every URL in scope has been visited, but for 12 URLs that stay queued.",
        ),
        (
            {"running": False, "reason": "complete", "queued": 3, "hosts": 5, "hosts_left": {"dns": 1, "connect": 2}},
            "Ended: 3 of 5 hosts could not be reached (2 refused the connection, 1 could not be found in DNS); run the "
            "same command again later to try them again.",
        ),
        ({"running": False, "reason": "max_pages"}, "Finished: the limit of pages is reached."),
        ({"running": False, "reason": "time_limit"}, "Finished: the time limit is reached."),
        ({"running": False, "reason": "stopped"}, "Stopped. Run the same command to continue."),
        (
            {"running": False, "updated_at": NOW - 3600},
            "Not running since 2027-01-15 07:00:00 UTC: it ended without a last commit. "
            "Run the same command to continue.",
        ),
    ],
)
def test_sentence(state: dict[str, Any], said: str) -> None:
    progress = Progress(**{"updated_at": NOW - 1, "pages": 1, **state})
    assert sentence(Picture(NOW, True, progress)) == said


def test_a_crawl_that_cannot_be_read() -> None:
    picture = Picture(NOW, True, Progress(), trouble="frontier/ cannot be read.")
    assert sentence(picture) == "The crawl cannot be read: frontier/ cannot be read."
