"""The public ``duograph.ops``: every function and Primitive class, and the modules that MindSpore programs import.

`names` is the table of everything; `install` puts it into the package ``duograph.ops`` (which calls `lookup` when a
name is first asked for). `MODULES` says which other modules exist below ``duograph.ops`` and what they show.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any

from duograph.autodiff import api as autodiff
from duograph.base.public import missing

from . import bprop_registry, functional, inner_names
from .hybrid import kernel
from .native import FUNCTIONS, make_public
from .primitives import base, primitive_classes

PACKAGE = "duograph.ops"
FAMILIES = [module.name for module in iter_modules(functional.__path__) if module.name != "forms"]
"""Modules of ``functional``; each has a table."""

GRADIENTS = [
    "GradOperation", "grad", "value_and_grad", "get_grad", "jvp", "vjp", "jacfwd", "jacrev", "vmap",
    "derivative", "jet", "linearize",
]  # fmt: skip
HOOKS = ["HookBackward", "InsertGradientOf"]


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Public functions by name."""
    table: dict[str, Callable[..., Any]] = {}
    for family in FAMILIES:
        module = import_module(f"{functional.__name__}.{family}")
        make_public(module.FUNCTIONS, vars(module), FUNCTIONS)
        table.update(module.FUNCTIONS)
    del table["complex"]  # the class ``Complex`` is public, the function is not
    for name, function in table.items():
        if getattr(function, "__name__", "") == "<lambda>":
            function.__name__ = function.__qualname__ = name
    return table


@cache
def extended() -> dict[str, Any]:
    """Functions of higher layers under MindSpore's inner names."""
    return inner_names.value()


@cache
def names() -> dict[str, Any]:
    """Everything that ``duograph.ops`` shows."""
    shown: dict[str, Any] = {**extended(), **functions(), **primitive_classes()}
    shown.update({name: getattr(autodiff, name) for name in GRADIENTS})
    shown.update({name: getattr(autodiff, name) for name in HOOKS})
    shown.update({
        name: getattr(base, name)
        for name in ("Primitive", "PrimitiveWithInfer", "PrimitiveWithCheck", "ReduceOp", "prim_attr_register",
                     "prim_arg_register")
    })  # fmt: skip
    shown.update({"constexpr": constexpr, "_primexpr": constexpr, "kernel": kernel})
    return shown


def lookup(name: str) -> Any:
    """The public name ``name``, after everything was put into the package.

    Raises:
        AttributeError: there is no such name; the nearest one is named.
    """
    if f"{PACKAGE}.{name}" in MODULES:
        return import_module(f"{PACKAGE}.{name}")
    package = install()
    try:
        return vars(package)[name]
    except KeyError:
        raise missing(PACKAGE, name, names()) from None


def install() -> types.ModuleType:
    """Puts all public names into the package ``duograph.ops`` and gives it."""
    package = sys.modules[PACKAGE]
    vars(package).update(names())
    hidden = extended().keys() - functions().keys() - primitive_classes().keys()
    vars(package)["__all__"] = sorted(n for n in names() if not n.startswith("_") and n not in hidden)
    return package


def constexpr(
    fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True, check: bool = True
) -> Any:
    """Marks a function of constants, computed while a graph is built; here Python computes it anyway.

    Args:
        fn: the function; ``None`` to use this as a decorator with options.
        get_instance: accepted and not used.
        name: accepted and not used.
        reuse_result: accepted and not used.
        check: accepted and not used.

    Returns:
        The function.

    Examples:
        >>> @ops.constexpr
        ... def double(n):
        ...     return 2 * n
    """
    return fn if fn is not None else lambda function: function


# ---- modules below duograph.ops -------------------------------------------------------------------------------------


def _everything() -> dict[str, Any]:
    return names()


_GENERATED = """
    AcosExt AcoshExt AddExt Arange=arange ArgMaxExt=argmax_ext ArgMinExt=argmin_ext AsinExt AsinhExt AtanExt
    BatchMatMulExt=bmm Chunk=chunk_ext ClampScalar=clamp CumsumExt EluExt FlattenExt FmodScalar=fmod_ext GeluExt
    IndexSelect=index_select_ext L1LossExt=l1_loss_ext LeakyReLUExt=leaky_relu_ext LogSoftmaxExt
    MatMulExt=matmul_ext MeanExt MishExt Muls=mul
    MSELossExt=mse_loss_ext OnesLikeExt Outer=outer_ext ProdExt RepeatInterleaveTensor=repeat_interleave_ext
    Scatter=scatter SoftplusExt SortExt SplitWithSize=split_ext SubExt SumExt Swiglu=swiglu TopkExt TraceExt TrilExt
    ZerosLikeExt
"""
"""Operator of ``ops.auto_generate`` that has no class in ``ops``: the function that it is (``add_ext`` is `AddExt`)."""


@cache
def _generated() -> dict[str, Any]:
    own = {}
    for name, _, function in (entry.partition("=") for entry in _GENERATED.split()):
        words = function or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        own[name] = base.from_function(name, _positional(names()[words]))
    own["OneHotExt"] = names()["OneHot"]
    return names() | own | {"StackExt": base.declare("StackExt", _stacked, {"dim": 0})}


def _positional(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as an operator: what it takes by name alone is an operand as well."""
    parameters = list(signature(function).parameters)

    @wraps(function)
    def forward(*operands: Any) -> Any:
        if len(operands) > len(parameters):
            return function(*operands)  # which says what it takes
        return function(**dict(zip(parameters, operands, strict=False)))

    return forward


def _stacked(primitive: Any, tensors: Any) -> Any:
    return names()["stack_ext"](tensors, primitive.dim)


def _gradient_base() -> dict[str, Any]:
    return {n: getattr(bprop_registry, n) for n in ("bprop_getters", "binop_grad_common", "P")} | {
        "bprops": bprop_registry.bprop_getters
    }


def _tensor_operators() -> dict[str, Any]:
    """Functions with the names that MindSpore's older modules give the operators."""
    aliases = {
        "tensor_add": "add", "tensor_sub": "sub", "tensor_mul": "mul", "tensor_div": "div", "tensor_pow": "pow",
        "tensor_gt": "gt", "tensor_ge": "ge", "tensor_lt": "lt", "tensor_le": "le",
    }  # fmt: skip
    return names() | {old: names()[new] for old, new in aliases.items()}


_FUNCTION_MODULES = [
    "array_func", "clip_func", "debug_func", "fft_func", "grad", "image_func", "linalg_func", "math_func", "nn_func",
    "other_func", "parameter_func", "random_func", "reshard_func", "sparse_func", "spectral_func", "vmap_func",
]  # fmt: skip
_OPERATION_MODULES = [
    "array_ops", "comm_ops", "control_ops", "custom_ops", "debug_ops", "image_ops", "inner_ops", "linalg_ops",
    "math_ops", "manually_defined", "nn_ops", "other_ops", "random_ops", "sparse_ops", "spectral_ops", "_inner_ops",
]  # fmt: skip
MODULES: dict[str, Callable[[], dict[str, Any]]] = {
    **{
        f"{PACKAGE}.{name}": _everything
        for name in ("operations", "function", "primitive", "extend", "_primitive_cache", "_utils")
    },
    f"{PACKAGE}.functional": _tensor_operators,
    f"{PACKAGE}.composite": _everything,
    f"{PACKAGE}.composite.base": _everything,
    f"{PACKAGE}.auto_generate": _generated,
    f"{PACKAGE}.auto_generate.gen_ops_prim": _generated,
    f"{PACKAGE}.auto_generate.gen_ops_def": _everything,
    **{f"{PACKAGE}.function.{name}": _everything for name in _FUNCTION_MODULES},
    f"{PACKAGE}.function.nn_func": lambda: names() | {"linear": names()["linear_ext"]},
    **{f"{PACKAGE}.operations.{name}": _everything for name in _OPERATION_MODULES},
    f"{PACKAGE}._grad": _gradient_base,
    f"{PACKAGE}._grad.grad_base": _gradient_base,
    f"{PACKAGE}._grad_experimental": _gradient_base,
    f"{PACKAGE}._grad_experimental.grad_base": _gradient_base,
}
"""Module name to what it shows."""


def make_module(name: str) -> types.ModuleType:
    """The module ``name`` of `MODULES`."""
    module = types.ModuleType(name, f"Names of duograph.ops under {name}.")
    shown = MODULES[name]()
    vars(module).update(shown)
    module.__path__ = []  # type: ignore[attr-defined]
    vars(module)["__all__"] = sorted(n for n in shown if not n.startswith("_"))
    return module
