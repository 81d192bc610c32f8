"""What MindSpore keeps in ``mindspore.common``: dtypes, Tensor, Parameter, initializers, generators."""

from __future__ import annotations

from typing import Any

from duograph.base.public import Names
from duograph.core.traits import Traits

HOMES: dict[str, str] = {
    "duograph.tensor.tensor": "Tensor",
    "duograph.tensor.parameter": "Parameter ParameterTuple",
    "duograph.common.initializer": "Initializer",
    "duograph.common.generator": "Generator default_generator get_rng_state set_rng_state initial_seed manual_seed "
    "seed set_seed get_seed",
    "duograph.common.mutable": "mutable",
    "duograph.context.jit_config": "JitConfig",
    "duograph.jit": "jit jit_class ms_function",
}
_names = Names(__name__, HOMES, {"dtype": "duograph.core.dtype", "initializer": "duograph.common.initializer"})
"""``initializer`` is the module, as in MindSpore; its function has the same name."""
__all__ = [*_names.all, "dtype", "initializer"]  # noqa: PLE0604
__capture__ = Traits(rules=True)


def __getattr__(name: str) -> Any:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.listing()
