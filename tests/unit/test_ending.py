"""How a crawl has ended, in words, and what that follows from."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_frontier import NOW

from gossamer.agent.ending import FAILED, ending
from gossamer.agent.progress import Progress
from gossamer.agent.statistics import Statistics
from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.model import Reason
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope

AGAIN = "run the same command again later to try them again"
KEPT = "complete: every URL in scope has been visited, but for those"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "complete: every URL in scope has been visited"),
        (
            {"hosts_left": {"connect": 2, "dns": 1}},
            "ended: 3 of 4 hosts could not be reached (2 refused the connection, 1 could not be found in DNS); "
            + AGAIN,
        ),
        (
            {"given_up": {"protocol": 1}},
            "ended: 1 URL was given up (1 sent no HTTP); gossamer control retry has them tried again",
        ),
        (
            {"hosts_left": {"tls": 1, "repeats": 3}, "given_up": {"timeout": 3, "other": 1}, "hosts": 1},
            "ended: 1 of 1 host could not be reached (1 failed at TLS), 4 URLs were given up (3 did not answer in "
            f"time, 1 for other reasons); {AGAIN}, with gossamer control retry for the URLs",
        ),
        ({"hosts_left": {"blocklist": 2}, "queued": 9}, f"{KEPT} of 2 hosts on the blocklist"),
        ({"hosts_left": {"repeats": 2}}, f"{KEPT} that only repeat what is known (gossamer status --findings)"),
        ({"pages": 0}, "ended: no page was stored; gossamer explain URL says why it was not visited"),
        ({"pages": 0, "hosts_left": {"dns": 1}}, "ended: no page was stored, 1 of 4 hosts could not be reached ("),
        ({"strategy": "random-walk"}, "complete: nothing that the strategy wants is left"),
        (
            {"strategy": "random-walk", "given_up": {"dns": 1}},
            "ended: 1 URL was given up (1 could not be found in DNS)",
        ),
        (
            {"lost": {"m2": 1200}},
            "ended: 1,200 pages of the agent m2 are not at hand; start it with its directory, or go on with "
            "--keep-fresh to visit those pages again",
        ),
        (
            {"lost": {"m2": 1, "m3": 2}, "given_up": {"tls": 2}},
            "ended: 2 URLs were given up (2 failed at TLS), 3 pages of the agents m2 and m3 are not at hand; gossamer "
            "control retry has them tried again; start them with their directories, or go on with --keep-fresh",
        ),
        ({"reason": "max_pages", "hosts_left": {"dns": 1}}, "the limit of pages is reached"),
    ],
)
def test_it_is_complete_only_where_it_is(known: dict[str, object], said: str) -> None:
    assert ending(Progress(**{"reason": "complete", "hosts": 4, "pages": 1, **known})).startswith(said)  # type: ignore[arg-type]


def test_every_reason_of_a_host_has_its_words() -> None:
    of_pages = {Reason.ADDRESS, Reason.UNWANTED_TYPE, Reason.RESERVED, Reason.FORM, Reason.ROBOTS}
    assert set(Reason) - of_pages == FAILED.keys() - {"other"}


def test_why_urls_are_dead() -> None:
    statistics = Statistics()
    statistics.give_up("dns", 3)
    statistics.give_up("tls", 1)
    statistics.give_up("tls", 0)
    assert statistics.dead_by_reason(4) == {"dns": 3, "tls": 1}
    statistics.take_back({"dns": 2})
    assert (statistics.faults, statistics.dead_by_reason(2)) == (2, {"dns": 1, "tls": 1})
    assert statistics.dead_by_reason(5) == {"dns": 1, "tls": 1, "other": 3}, "of an earlier version"
    assert statistics.dead_by_reason(1) == {"other": 1}, "of those of which others know"
    assert statistics.dead_by_reason(0) == {}


def test_hosts_that_have_urls_left(tmp_path: Path) -> None:
    """As many in memory as on disk, before a commit and after it."""
    policy = Policy(PolicyConfig(delay=0, max_tries=1, retry_wait=60.0, blocklist=("blocked.test",)))

    def opened() -> Frontier:
        return Frontier(tmp_path, FrontierConfig(partitions=4), policy, Scope("any"), None, NOW)

    frontier = opened()
    frontier.add([f"http://{name}.test/" for name in ("blocked", "gone", "slow", "late", "late")], 1, 4)
    for visit in frontier.lease(NOW, 10):
        reasons = {"gone.test": Reason.DNS, "slow.test": Reason.TIMEOUT, "late.test": Reason.TIMEOUT}
        frontier.settle_robots(visit, reasons[visit.host], NOW, 0.0, NOW + 60)
    assert frontier.exhausted
    left = {"blocklist": 1, "dns": 1, "timeout": 2}
    assert frontier.left() == left
    frontier.commit({}, clean=True)
    frontier.close()
    frontier = opened()
    assert frontier.left() == left
    frontier.close()
