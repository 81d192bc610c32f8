"""Whole training steps: MLPs, LeNet, a ResNet block, a GPT, an LSTM; forward, loss, gradients and update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench import _jax_steps, _mindspore_steps, _torch_steps
from bench._problems import PROBLEMS
from bench._workloads import per_call


def cases() -> dict[str, Callable[[], float]]:
    """Compiled and dynamic per problem; ratios are to the compiled step."""
    return _timed({name: dict(reversed(_mindspore_steps.cases("duograph", name).items())) for name in PROBLEMS})


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same steps in PyTorch, JAX or MindSpore."""
    build: dict[str, Callable[[str], Any]] = {
        "torch": _torch_steps.cases, "jax": _jax_steps.cases,
        "mindspore": lambda name: _mindspore_steps.cases("mindspore", name),
    }  # fmt: skip
    return _timed({name: build[package](name) for name in PROBLEMS})


def _timed(steps: dict[str, dict[str, Callable[[], Any]]]) -> dict[str, Callable[[], float]]:
    return {f"{name}: {mode}": per_call(step) for name, modes in steps.items() for mode, step in modes.items()}
