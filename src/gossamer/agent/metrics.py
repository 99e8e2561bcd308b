"""What a crawl measures, under the names that docs/metrics.md explains. Read from its last commit: it costs the crawl
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec

from gossamer import __version__
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.index_status import read_status
from gossamer.agent.parts import progress_of
from gossamer.agent.progress import Progress
from gossamer.agent.statistics import Statistics
from gossamer.config import load
from gossamer.errors import ConfigError
from gossamer.frontier.reader import FrontierReader


class Metric(msgspec.Struct):
    """`samples` by the value of the one label, which is empty where there is none."""

    name: str
    kind: str  # counter or gauge
    help: str
    samples: Mapping[str, float]
    label: str = ""


def metrics_of(directory: CrawlDir, frontier: FrontierReader) -> list[Metric]:
    """As of the last commit, and what the directory itself tells."""
    progress, counted = progress_of(directory, frontier), frontier.meta("statistics")
    statistics = msgspec.msgpack.decode(counted, type=Statistics) if counted else Statistics()
    counts = frontier.counts()
    states = {"queued": counts.queued, "fetched": counts.fetched, "dead": counts.dead, "excluded": counts.excluded}
    agents = {"answering": 1.0, "missing": 0.0}
    return [
        *about(progress),
        Metric("gossamer_agents", "gauge", "Agents of the crawl, by whether they answer.", agents, "state"),
        Metric("gossamer_urls", "gauge", "URLs known, by state.", states, "state"),
        *totals(statistics),
        *beside(directory, progress),
    ]


def about(progress: Progress) -> Iterator[Metric]:
    running = progress.running
    places = {
        "ready": progress.hosts_ready,
        "waiting": progress.hosts_waiting,
        "held": progress.hosts_held,
        "down": progress.hosts_down,
    }
    stages = {stage: micros / 1e6 for stage, micros in progress.stages.items()}
    build = {__version__: 1}
    yield Metric("gossamer_build_info", "gauge", "1, with the version of the service.", build, "version")
    yield _gauge("gossamer_running", "Whether a process crawls.", running)
    yield _gauge("gossamer_paused", "Whether an operator has paused the crawl.", progress.paused)
    yield _gauge("gossamer_committed_timestamp_seconds", "When the last commit was made.", progress.updated_at)
    yield _gauge("gossamer_run_seconds", "How long this run, or the last one, has lasted.", progress.seconds)
    yield _gauge("gossamer_run_cpu_seconds", "User and system time of this run, or the last one.", progress.cpu_seconds)
    asked = {"all": progress.requests, "robots": progress.robots_asked, "dns": progress.dns_asked}
    help = "Requests of this run, or the last one; of these for robots.txt, and names asked of DNS servers."
    yield Metric("gossamer_run_requests", "gauge", help, asked, "what")
    yield _gauge("gossamer_pages_per_second", "Pages a second over the last seconds.", progress.pages_per_s * running)
    yield _gauge("gossamer_bytes_per_second", "Bytes a second over the last seconds.", progress.bytes_per_s * running)
    yield _gauge("gossamer_in_flight", "Visits under way.", progress.in_flight * running)
    yield _gauge("gossamer_connections", "Connections that there may be.", progress.connections * running)
    help = "Pages a second that connections are adjusted to reach; 0 where they are not."
    yield _gauge("gossamer_target_pages_per_second", help, progress.target_rate * running)
    took = {"mean": progress.latency * running, "95": progress.latency_95 * running}
    yield Metric("gossamer_response_seconds", "gauge", "How long responses take, over the last seconds.", took, "of")
    yield _gauge("gossamer_core_ratio", "Share of a core that the agent uses.", progress.core * running)
    yield _gauge("gossamer_memory_bytes", "Resident memory of the agent.", progress.memory * running)
    yield _gauge("gossamer_lag_seconds", "How late the last commit came.", progress.lag * running)
    yield _gauge("gossamer_hosts", "Hosts known.", progress.hosts)
    yield Metric("gossamer_hosts_scheduled", "gauge", "Hosts with URLs in memory, by what they do.", places, "place")
    yield _gauge("gossamer_urls_aside", "Queued URLs in places that bring nothing new, which are left.", progress.aside)
    help = "Hosts with URLs that stay queued when a run is complete, by why."
    yield Metric("gossamer_hosts_left", "gauge", help, progress.hosts_left, "reason")
    help = "Pages that were stored and are not at hand when a run is complete, by agent."
    yield Metric("gossamer_pages_lost", "gauge", help, progress.lost, "agent")
    help = "Seconds a page by stage, waiting for the network apart."
    yield Metric("gossamer_stage_seconds_per_page", "gauge", help, stages, "stage")
    yield from freshness(progress)
    help = "What the strategy says of itself."
    yield Metric("gossamer_strategy", "gauge", help, dict(progress.strategy_figures), "figure")
    yield _gauge("gossamer_strategy_failed", "Whether the strategy was stopped.", bool(progress.strategy_error))


def freshness(progress: Progress) -> Iterator[Metric]:
    """Of pages that are visited again. Estimates only where that is done: without it nobody knows."""
    changed, unmodified = progress.revisits_changed, progress.revisits_unmodified
    found = {"changed": changed, "unmodified": unmodified, "same": max(0, progress.revisits - changed - unmodified)}
    help = "Visits to pages visited before, by what they found."
    yield Metric("gossamer_revisits_total", "counter", help, found, "found")
    yield _counter("gossamer_gone_total", "Pages that were found to be there no more.", progress.gone)
    yield _gauge("gossamer_keep_fresh", "Whether pages are visited again.", progress.keep_fresh)
    if progress.keep_fresh:
        yield _gauge("gossamer_due", "Pages that wait to be visited again, their time having come.", progress.due)
        help = "Estimated share of copies that are what their servers show now."
        yield _gauge("gossamer_freshness_ratio", help, progress.freshness)
        help = "Estimated time since a copy stopped being that: the mean over all, 0 for those that are."
        yield _gauge("gossamer_age_seconds", help, progress.age)


def totals(statistics: Statistics) -> Iterator[Metric]:
    """Over all runs of the crawl; they never go back."""
    statuses = {str(status): count for status, count in sorted(statistics.statuses.items())}
    yield Metric("gossamer_pages_total", "counter", "Pages stored, by HTTP status.", statuses, "status")
    yield _counter("gossamer_received_bytes_total", "Bytes received, heads included.", statistics.bytes)
    reasons = dict(sorted(statistics.reasons.items()))
    yield Metric("gossamer_failures_total", "counter", "Failed tries, by reason.", reasons, "reason")
    yield _counter("gossamer_left_out_total", "Visits that found what is not wanted.", statistics.left_out)
    yield _counter("gossamer_robots_total", "robots.txt files asked for.", statistics.robots)
    yield _counter("gossamer_sources_total", "Sitemaps and feeds read for links.", statistics.sources)
    yield _counter("gossamer_links_total", "Links found.", statistics.links)
    yield _counter("gossamer_full_parses_total", "Pages that took the whole parser.", statistics.full_parses)
    yield _counter("gossamer_duplicates_total", "Pages that say what another one has said.", statistics.duplicates)
    found = dict(sorted(statistics.findings.items()))
    yield Metric("gossamer_findings_total", "counter", "Mirrors, barren places, endless domains found.", found, "kind")


def beside(directory: CrawlDir, progress: Progress) -> Iterator[Metric]:
    """The index, other processes, the disk, the caps."""
    up = {name: float(state.startswith("running")) * progress.running for name, state in progress.beside.items()}
    yield Metric("gossamer_companion_up", "gauge", "Whether a process beside the crawl runs.", up, "name")
    visits = {name: float(app.started) for name, app in progress.apps.items()}
    yield Metric("gossamer_party_visits_total", "counter", "Visits, by whom they were for.", visits, "party")
    asked = {name: float(app.requests) for name, app in progress.apps.items()}
    yield Metric("gossamer_party_requests_total", "counter", "Requests, by who made them.", asked, "party")
    index = read_status(directory.index)
    if index is not None:
        yield _gauge("gossamer_index_pages", "Pages that can be found.", index.pages)
        behind = max(0, index.total - index.done)
        yield _gauge("gossamer_index_behind_bytes", "Of the lists of captures, not indexed yet.", behind)
    disk = os.statvfs(directory.home)
    yield _gauge("gossamer_disk_free_bytes", "On the disk of the crawl.", disk.f_bavail * disk.f_frsize)
    try:
        config = load(directory.settings)
    except ConfigError:  # somebody edits it
        return
    caps = {
        "rate": config.fetch.rate,
        "bandwidth": config.fetch.bandwidth,
        "delay": config.policy.delay,
        "connections": config.fetch.connections,
    }
    yield Metric("gossamer_limit", "gauge", "Limits that are set, those by the hour apart; 0 is none.", caps, "limit")


def _gauge(name: str, help: str, value: float) -> Metric:
    return Metric(name, "gauge", help, {"": float(value)})


def _counter(name: str, help: str, value: float) -> Metric:
    return Metric(name, "counter", help, {"": float(value)})
