"""The crawl's metrics as Prometheus reads them. The only file that imports prometheus_client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gossamer.agent.metrics import Metric as Measured

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(measured: Iterable[Measured]) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Given(measured))
    return generate_latest(registry)


class _Given(Collector):
    """What was measured, once."""

    def __init__(self, measured: Iterable[Measured]) -> None:
        self._measured = list(measured)

    def collect(self) -> Iterator[Metric]:
        for each in self._measured:
            labels = [each.label] if each.label else []
            family = CounterMetricFamily if each.kind == "counter" else GaugeMetricFamily
            found = family(each.name, each.help, labels=labels)
            for value, number in each.samples.items():
                found.add_metric([value] if labels else [], number)
            yield found
