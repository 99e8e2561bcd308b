"""What several agents measure, as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gossamer.agent import Progress
from gossamer.agent.metrics import Metric, about

_LEAST: Final = ("gossamer_companion_up", "gossamer_disk_free_bytes")  # of which the worst counts
_MOST: Final = ("gossamer_limit",)  # that all have in common


def metrics_together(
    progress: Progress, found: Sequence[Sequence[Metric]], missing: int, ended: int = 0
) -> list[Metric]:
    """Figures of all together; what is no sum is as `progress`, that of all, has it."""
    whole = {metric.name: metric for metric in about(progress)}
    summed = [metric for agent in found for metric in agent if metric.name not in whole]
    for metric in summed:
        known = whole.get(metric.name)
        samples = metric.samples if known is None else _joined(metric.name, known.samples, metric.samples)
        whole[metric.name] = Metric(metric.name, metric.kind, metric.help, samples, metric.label)
    agents = whole["gossamer_agents"]
    agents.samples = {**agents.samples, "missing": float(missing), "ended": float(ended)}
    return list(whole.values())


def _joined(name: str, one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    join = min if name in _LEAST else max if name in _MOST else None
    joined = dict(one)
    for value, number in other.items():
        known = joined.get(value)
        joined[value] = number if known is None else join(known, number) if join else known + number
    return joined
