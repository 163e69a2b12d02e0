"""OpenMetrics text, by prometheus_client."""

import types

from prometheus_client import Metric
from prometheus_client.openmetrics.exposition import generate_latest

from slabmark.errors import printable
from slabmark.gates import Gauge, States


def text(families: list[Gauge | States]) -> bytes:
    """In version 1.0 of the format."""
    metrics = [_states(family) if isinstance(family, States) else _gauge(family) for family in families]
    return generate_latest(types.SimpleNamespace(collect=lambda: metrics))


def _gauge(family):
    metric = Metric(family.name, printable(family.help), "gauge", family.unit)
    for labels, value in family.samples:
        if value is not None:
            metric.add_sample(family.name, _printable(labels), value)
    return metric


def _states(family):
    metric = Metric(family.name, printable(family.help), "stateset")
    for labels, chosen in family.samples:
        for state in family.known:
            metric.add_sample(family.name, _printable(labels) | {family.name: state}, int(state == chosen))
    return metric


def _printable(labels):
    return {name: printable(value) for name, value in labels.items()}
