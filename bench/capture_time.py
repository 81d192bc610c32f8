"""What compiling costs: capture and passes for the seed networks and for a training step, in all and per node."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

from bench._workloads import digits_batch, digits_networks, seed_networks, training_step


def cases() -> dict[str, Callable[[], float]]:
    """Fresh copies are compiled for each measurement; "per node" counts the nodes of the captured graph."""
    import duograph as ms

    found: dict[str, Callable[[], float]] = {}
    for name, (build, inputs) in _programs(ms).items():
        latest: dict[str, Any] = {}

        def capture(build=build, inputs=inputs, latest=latest) -> float:
            function = ms.jit(build())
            function.prepare(*inputs)
            latest["stats"], latest["versions"] = function.stats, function.explain().versions
            return latest["stats"]["capture_ms"] / 1e3

        def compile(latest=latest) -> float:
            return latest["stats"]["compile_ms"] / 1e3

        def per_node(latest=latest) -> float:
            nodes = sum(v["captured"].count(" = ") for v in latest["versions"])
            return (latest["stats"]["capture_ms"] + latest["stats"]["compile_ms"]) / 1e3 / nodes

        found |= {f"{name}: capture": capture, f"{name}: passes": compile, f"{name}: both, per node": per_node}
    return found


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """MindSpore tells no times: the first call, less a later one."""
    if package != "mindspore":
        return {}
    ms = importlib.import_module(package)
    return {f"{name}: first call": _first_call(ms, *program) for name, program in _programs(ms).items()}


def _programs(ms: Any) -> dict[str, tuple[Callable[[], Any], tuple[Any, ...]]]:
    found = dict(seed_networks(ms))
    for name, build in digits_networks(ms).items():
        found[f"digits {name} step"] = (lambda build=build: training_step(ms, build())), digits_batch(ms)
    return found


def _first_call(ms: Any, build: Callable[[], Any], inputs: tuple[Any, ...]) -> Callable[[], float]:
    def case() -> float:
        function = ms.jit(build())
        times = []
        for _ in range(2):
            start = time.perf_counter()
            function(*inputs)
            times.append(time.perf_counter() - start)
        return times[0] - times[1]

    return case
