"""What is compiled for a recording: conformance programs, the models of ``bench/``, every op of the tables.

An entry is a name and a function without arguments; it runs in a process of its own, so that what one entry compiles
does not depend on another.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable
from functools import partial
from typing import Any

import duograph as ms
from duograph import nn
from duograph.core.dtype import from_numpy
from duograph.core.types import TensorType
from tests.conformance import programs
from tests.conformance.harness import EAGER, MODES, PROGRAMS, Program, run

Entry = Callable[[], Any]
CALLS = 3
"""The first compiles, the second prepares native calls, the third is one."""


def entries() -> dict[str, Entry]:
    """The corpus, by name."""
    return {**_programs(), **_models(), **_ops()}


def start() -> None:
    """Makes the machines that a process has once: launcher, guards, calls, pool."""
    _several(ms.jit(lambda x: x + 1), ms.Tensor([1.0]))


def _programs() -> dict[str, Entry]:
    for info in pkgutil.iter_modules(programs.__path__):
        importlib.import_module(f"{programs.__name__}.{info.name}")
    return {f"programs/{p.name.replace(':', '/')}": partial(_program, p) for p in PROGRAMS}


def _program(program: Program) -> None:
    run(program, dataclasses.replace(EAGER, rounds=2))  # the second time by the launcher
    run(program, next(mode for mode in MODES if mode.name == "native"))


def _models() -> dict[str, Entry]:
    from bench._mindspore_steps import step
    from bench._problems import PROBLEMS
    from bench._workloads import digits_batch, digits_networks, seed_networks, training_cell, training_step

    def seed(name: str) -> None:
        build, inputs = seed_networks(ms)[name]
        _several(build(), *inputs)
        _several(ms.jit(build()), *inputs)

    def digits(name: str, make: Callable[[Any, nn.Cell], Any]) -> None:
        made = make(ms, digits_networks(ms)[name]())
        ms.set_context(mode=ms.GRAPH_MODE)
        _several(made if isinstance(made, nn.Cell) else ms.jit(made), *digits_batch(ms))

    def training(name: str) -> None:
        train, batch, _ = step(ms, name)
        _several(ms.jit(train), *batch)

    return {
        **{f"models/{name}": partial(seed, name) for name in seed_networks(ms)},
        **{f"models/digits {name}, step": partial(digits, name, training_step) for name in digits_networks(ms)},
        **{f"models/digits {name}, Cell": partial(digits, name, training_cell) for name in digits_networks(ms)},
        **{f"models/{name}": partial(training, name) for name in PROBLEMS},
    }


def _several(call: Callable[..., Any], *inputs: Any) -> None:
    for _ in range(CALLS):
        call(*inputs)


def _ops() -> dict[str, Entry]:
    """Every op with its samples in every dtype: kernels that no program has."""
    from tests.ops.test_native import ROWS, single, variants

    def op(name: str) -> None:
        for row in ROWS:
            for sample in row.samples if row.name == name else ():
                attrs = row.op.complete_attrs(sample.attrs)
                for arrays in variants(row, sample):
                    try:
                        row.op.infer(*[TensorType(from_numpy(a.dtype), a.shape) for a in arrays], **attrs)
                    except TypeError:  # not for this dtype
                        continue
                    single.run_single(row.op, arrays, attrs)

    return {f"ops/{name}": partial(op, name) for name in sorted({row.name for row in ROWS})}
