"""The process that crawls, and the one that serves."""

from __future__ import annotations

from gossamer.config.kinds import Choice, Duration, Switch, Whole, WholeOrNone
from gossamer.config.option import Settings, declare, settings


@settings
class AgentConfig(Settings):
    """The loop: its limits and its commits."""

    max_pages: int = declare(
        0,
        Whole(0),
        "Stop after exactly this many pages, counted over all runs of the crawl; 0 is no limit.",
        cost="Holds for this run: a later one says its own.",
        flag="--max-pages",
        metavar="N",
        once=True,
        live=True,
    )
    time_limit: float = declare(
        0.0,
        Duration(0),
        "Stop after this time; 0 is no limit.",
        cost="Holds for this run: a later one says its own.",
        flag="--time-limit",
        metavar="TIME",
        once=True,
        live=True,
    )
    commit_interval: float = declare(
        1.0,
        Duration(0.01, 3600),
        "Everything becomes durable together at least this often.",
        cost="A commit waits for the disk; what came after the last one is fetched again after a crash.",
        live=True,
    )
    commit_pages: int = declare(
        5000,
        Whole(1, 1_000_000),
        "Commit after this many pages even if the interval is not over.",
        cost="Memory for what is not yet committed.",
        live=True,
    )
    paused: bool = declare(
        False,
        Switch(),
        "Start no visits; `gossamer control` pauses and resumes. A paused crawl stays so when it is started again.",
        cost="Nothing is visited.",
        live=True,
    )
    remember: bool = declare(
        True,
        Switch(),
        "Remember searches that find nothing as watches, for 30 days: those of people with a key, or on this machine. "
        "What pages link to that come to match is visited next.",
        cost="A watch each, 100 at most. Whoever may see the watches sees the words.",
        live=True,
    )
    log_format: str = declare(
        "text",
        Choice("text", "json"),
        "How DIR/logs/crawl.log is written: a line for people, or a JSON object, for each commit and notice.",
        cost="At most 30 MB of disk; one line for each commit.",
    )


@settings
class ServiceConfig(Settings):
    """API and pages, served by a process of its own."""

    port: int | None = declare(
        None,
        WholeOrNone(0, 65535),
        "Serve API and pages at this port of loopback while the crawl runs; 0 takes one that is free.",
        cost="A process of about 100 MB. With keys (gossamer keys add) each request needs one.",
        flag="--serve",
        metavar="PORT",
        local=True,
    )
