"""What MindSpore keeps in ``mindspore.common``: dtypes, Tensor, Parameter, initializers, generators."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "duograph.tensor.tensor": "Tensor",
    "duograph.tensor.parameter": "Parameter ParameterTuple",
    "duograph.common.initializer": "Initializer",
    "duograph.common.generator": "Generator default_generator get_rng_state set_rng_state initial_seed manual_seed "
    "seed set_seed get_seed",
    "duograph.common.mutable": "mutable",
    "duograph.jit_config": "JitConfig",
    "duograph.jit": "jit jit_class ms_function",
}
_home = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "dtype":
        return import_module("duograph.core.dtype")
    if name == "initializer":  # the module, as in MindSpore; its function has the same name
        return import_module("duograph.common.initializer")
    if name in _home:
        return getattr(import_module(_home[name]), name)
    raise AttributeError(f"module 'duograph.common' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_home, "dtype", "initializer"])
