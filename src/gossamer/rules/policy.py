"""How politely: when a host may be visited again. Pure; time is passed in."""

from __future__ import annotations

from gossamer.config import PolicyConfig


class Policy:
    """Delays and back-offs. Invariant: no pause is shorter than the host's delay."""

    __slots__ = (
        "delay",
        "delay_factor",
        "host_connections",
        "max_crawl_delay",
        "max_retry_wait",
        "max_tries",
        "retry_wait",
    )

    def __init__(self, config: PolicyConfig) -> None:
        self.delay = config.delay
        self.max_crawl_delay = config.max_crawl_delay
        self.delay_factor = config.delay_factor
        self.host_connections = config.host_connections
        self.max_tries = config.max_tries
        self.retry_wait = config.retry_wait
        self.max_retry_wait = config.max_retry_wait

    def delay_of(self, crawl_delay: float) -> float:
        """Seconds between visits to a host whose robots.txt asks for `crawl_delay` (0: asks for nothing)."""
        if not crawl_delay:
            return self.delay
        return max(self.delay, min(crawl_delay, self.max_crawl_delay))

    def pause(self, crawl_delay: float, seconds: float) -> float:
        """How long a host rests after a response that took `seconds`: a slow host is visited more slowly."""
        delay = self.delay_of(crawl_delay)
        return max(delay, self.delay_factor * seconds) if delay else 0.0

    def back_off(self, failures: int, crawl_delay: float, jitter: float) -> float:
        """How long a host rests after its n-th failure in a row; `jitter` in 0..1 spreads hosts that fail together."""
        doubled = self.retry_wait * float(2 ** min(failures - 1, 30))
        wait = min(doubled, self.max_retry_wait) * (1 + 0.25 * jitter)
        return max(wait, self.delay_of(crawl_delay))

    def is_down(self, failures: int) -> bool:
        """After this many failures in a row a host's URLs are stalled: kept, tried again much later."""
        return failures >= self.max_tries
