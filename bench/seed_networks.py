"""Steady state of the seed documents' networks: dynamic, under jit, in graph mode.

Goal (row A12 of the seeds): compiled is not slower than dynamic, on each of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from bench._workloads import graph_mode, per_call, seed_networks


def cases() -> dict[str, Callable[[], float]]:
    """Dynamic, jit and graph per network; ratios are to dynamic."""
    return _cases("duograph")


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same lines on MindSpore."""
    return _cases(package) if package == "mindspore" else {}


def _cases(package: str) -> dict[str, Callable[[], float]]:
    ms = importlib.import_module(package)
    found = {}
    for name, (build, inputs) in seed_networks(ms).items():
        dynamic, graph = build(), build()
        jitted = ms.jit(build())
        found[f"{name}: dynamic"] = per_call(lambda f=dynamic, x=inputs: f(*x))
        found[f"{name}: jit"] = per_call(lambda f=jitted, x=inputs: f(*x))
        found[f"{name}: graph"] = _in_graph_mode(ms, per_call(lambda f=graph, x=inputs: f(*x)))
    return found


def _in_graph_mode(ms: Any, case: Callable[[], float]) -> Callable[[], float]:
    def inside() -> float:
        with graph_mode(ms):
            return case()

    return inside
