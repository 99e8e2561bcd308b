"""What a crawl says of itself: `Progress` while it runs, `Summary` at its end."""

from __future__ import annotations

import msgspec


class Summary(msgspec.Struct):
    """The JSON that `gossamer crawl --json` prints last."""

    pages: int = 0  # responses to visits stored, over all runs of this crawl
    ok: int = 0  # of these 2xx
    faults: int = 0  # visits that ended without a page
    excluded: int = 0
    urls: int = 0  # known
    hosts: int = 0
    bytes: int = 0  # received
    seconds: float = 0.0  # of this run
    cpu_seconds: float = 0.0  # user and system, of this run
    reason: str = ""  # complete, max_pages, time_limit, stopped
    searchable: int = 0  # pages in the index
    index_cpu_seconds: float = 0.0  # user and system, of the indexing process
    strategy: str = "breadth-first"
    strategy_figures: dict[str, int | float] = {}  # what it says of itself
    strategy_error: str = ""  # why it was stopped, if it was: the crawl has gone on breadth-first
    hosts_left: dict[str, int] = {}  # of a run that is complete: hosts with URLs that stay queued, by why
    given_up: dict[str, int] = {}  # URLs that are dead, by the reason of their last try
    lost: dict[str, int] = {}  # pages that agents had stored whose directories are gone, by the name of the agent


class AppFigures(msgspec.Struct):
    """One that shares the speed of a crawl: an application, its own links, or visits that are made again."""

    share: float = 1.0
    started: int = 0  # visits
    fetched: int = 0  # of these: brought a response
    failed: int = 0  # of these: brought none
    requests: int = 0  # made
    new: int = 0  # of these: URLs that were not known
    left_out: int = 0  # of these: no URL, or out of scope
    pages: int = 0  # that it has seen
    records: int = 0  # that it has written
    state: str = ""  # of its process; empty where there is none


class Progress(Summary):
    """A `Summary` so far, and what an operator wants to know besides."""

    run_pages: int = 0  # pages of this run
    max_pages: int = 0  # 0: no limit
    time_limit: float = 0.0  # 0: none
    pages_per_s: float = 0.0  # now
    mean_pages_per_s: float = 0.0
    peak_pages_per_s: float = 0.0
    bytes_per_s: float = 0.0
    queued: int = 0
    aside: int = 0  # of these in places that bring nothing new, which are left
    duplicates: int = 0  # pages that repeat another one
    findings: dict[str, int] = {}  # mirrors of hosts and barren places
    in_flight: int = 0
    connections: int = 0  # that there may be
    target_rate: float = 0.0  # pages a second that connections are adjusted to reach; 0: they are not
    adjusted: str = ""  # one sentence: what the adjustment waits for, where that is not for hosts
    hosts_ready: int = 0  # could be visited this moment
    hosts_waiting: int = 0  # have URLs, and wait for their delay
    hosts_held: int = 0  # have URLs, and wait for their domain or address
    hosts_down: int = 0  # back-off after failures
    waits: dict[str, int] = {}  # domains and addresses for which most hosts wait
    statuses: dict[str, int] = {}  # "2xx": n …
    reasons: dict[str, int] = {}  # faults by reason
    stages: dict[str, float] = {}  # microseconds a page by stage, by the clock, waiting for the network apart
    requests: int = 0  # of this run, robots.txt included
    robots_asked: int = 0  # of these for robots.txt; for the others the rules were known
    dns_asked: int = 0  # names that were asked for; for the other requests the address was known
    latency: float = 0.0  # seconds of a response, the mean now
    latency_95: float = 0.0  # 19 of 20 responses take no longer, to a power of two in milliseconds
    lag: float = 0.0  # seconds that the last commit came late: how busy the loop is
    core: float = 0.0  # share of a core in use now
    memory: int = 0  # bytes resident
    partitions: int = 0
    seeds_read: int = 0  # of this run's
    seeds_share: float = 1.0  # how much of the seeds has been read; below 1 the crawl has not begun
    limit: str = ""  # one sentence: what limits the speed now
    keep_fresh: bool = False  # pages are visited again
    revisits: int = 0  # of the pages: visits to what had been visited before
    revisits_changed: int = 0  # of these found a change
    revisits_unmodified: int = 0  # of these were answered without a body (304)
    gone: int = 0  # pages that a second look found to be there no more
    due: int = 0  # pages that wait to be visited again, their time having come
    freshness: float = 1.0  # estimated share of copies that are what their servers show now
    age: float = 0.0  # estimated seconds since a copy stopped being that; the mean over all, 0 for those that are
    running: bool = True
    paused: bool = False  # by an operator
    beside: dict[str, str] = {}  # index, service: running, or what became of it
    apps: dict[str, AppFigures] = {}  # applications, and who else has a share of the speed; empty where none are
    pid: int = 0
    updated_at: float = 0.0
