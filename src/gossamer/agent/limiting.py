"""What holds a crawl back at this moment, in one sentence."""

from __future__ import annotations

from gossamer.agent.progress import Progress


def what_limits(progress: Progress, capped: str) -> str:
    """`capped`: what the caps say of it. Empty where there is nothing to say."""
    if progress.paused:
        return "it is paused: gossamer control resume goes on"
    if capped:
        return capped
    active = progress.hosts_ready + progress.hosts_waiting
    if progress.in_flight >= progress.connections:
        return f"connections: all {progress.in_flight:,} are in use"
    if progress.hosts_waiting and not progress.hosts_ready:
        return f"politeness: {progress.hosts_waiting:,} of {active + progress.in_flight:,} hosts wait for their delay"
    if progress.hosts_ready:
        return f"this machine: {progress.hosts_ready:,} hosts are ready"
    if progress.in_flight:
        return f"the servers: {progress.in_flight:,} responses are awaited"
    return ""
