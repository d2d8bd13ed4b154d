"""Measures of a server for Prometheus."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector

from alpha_codium.serve.load import Load
from alpha_codium.verdict import Judgement


@dataclass(frozen=True)
class RefusedRequests(Collector):
    """The counter of the refused requests, which the load itself counts."""

    load: Load

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Yield the counter as it is now."""
        text = "Requests refused because the queue was full"
        yield CounterMetricFamily("gencode_refused", text, value=self.load.refused)


class ServiceMetrics:
    """Counts of verdicts and tests, and the load."""

    media_type = CONTENT_TYPE_LATEST

    def __init__(self, load: Load) -> None:
        self._registry = CollectorRegistry()
        self._verdicts = self._counter("gencode_verdicts", "Programs judged, by verdict", ["verdict"])
        self._tests = self._counter("gencode_tests", "Tests run")
        self._cpu = self._counter("gencode_cpu_seconds", "CPU time of the programs under test")
        self._gauge("gencode_queue_cost", "Tests of the requests in progress", lambda: load.cost)
        self._gauge("gencode_queue_programs", "Programs that wait for their turn", lambda: load.waiting)
        self._gauge("gencode_queue_limit", "The highest cost that is accepted", lambda: load.most_cost)
        self._registry.register(RefusedRequests(load))

    def judged(self, judgement: Judgement) -> None:
        """Count a program."""
        self._verdicts.labels(judgement.verdict.value).inc()
        self._tests.inc(len(judgement.tests))
        self._cpu.inc(sum(test.execution.cpu_seconds for test in judgement.tests))

    def text(self) -> bytes:
        """Return the measures in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _counter(self, name: str, text: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(name, text, labels, registry=self._registry)

    def _gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        Gauge(name, text, registry=self._registry).set_function(value)
