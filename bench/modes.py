"""A training step on the digits networks: dynamic, under jit, in graph mode; 64 images a step."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from bench._workloads import digits_batch, digits_networks, per_call, training_cell, training_step
from bench.seed_networks import _in_graph_mode


def cases() -> dict[str, Callable[[], float]]:
    """Dynamic, jit and graph per network; ratios are to dynamic."""
    return _cases("duograph")


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same lines on MindSpore."""
    return _cases(package) if package == "mindspore" else {}


def _cases(package: str) -> dict[str, Callable[[], float]]:
    ms = importlib.import_module(package)
    batch = digits_batch(ms)
    found = {}
    for name, build in digits_networks(ms).items():
        dynamic, jitted = training_step(ms, build()), ms.jit(training_step(ms, build()))
        cell = training_cell(ms, build())
        found[f"{name}: dynamic"] = per_call(lambda f=dynamic: f(*batch).asnumpy())
        found[f"{name}: jit"] = per_call(lambda f=jitted: f(*batch).asnumpy())
        found[f"{name}: graph"] = _in_graph_mode(ms, per_call(lambda f=cell: f(*batch).asnumpy()))
    return found
