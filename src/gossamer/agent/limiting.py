"""What holds a crawl back at this moment, in one sentence."""

from __future__ import annotations

from gossamer.agent.progress import Progress


def what_limits(progress: Progress, capped: str, short: bool) -> str:
    """`capped`: what the caps say of it; `short`: hosts were ready that were not visited. Empty where there is nothing
    to say.
    """
    if progress.paused:
        return "it is paused: gossamer control resume continues it"
    if capped:
        return capped
    if progress.adjusted:
        return progress.adjusted
    if progress.in_flight >= progress.connections:
        return f"connections: all {progress.in_flight:,} are in use"
    if short:
        return f"this machine: {progress.hosts_ready:,} hosts are ready"
    hosts = progress.hosts_ready + progress.hosts_waiting + progress.hosts_held + progress.in_flight
    if progress.hosts_held > progress.hosts_waiting:
        name, number = max(progress.waits.items(), key=lambda wait: wait[1], default=("", 0))
        most = f", {number:,} of them for {name}" if name else ""
        return f"politeness: {progress.hosts_held:,} of {hosts:,} hosts wait for their domain or address{most}"
    if progress.hosts_waiting:
        return f"politeness: {progress.hosts_waiting:,} of {hosts:,} hosts wait for their delay"
    if progress.in_flight:
        awaited = "one response is" if progress.in_flight == 1 else f"{progress.in_flight:,} responses are"
        return f"the servers: {awaited} awaited"
    if progress.keep_fresh and not progress.due and progress.queued <= progress.aside:
        return "the pages: none is due to be visited again yet"
    return ""
