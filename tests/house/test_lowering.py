"""Every primitive is lowered to kernels. Those that are not are named here, each with the reason."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from duograph.core.op import NO_RULE, Op, all_ops
from duograph.lower.rule import Host, Kernel, Pointwise, load_rules
from tests.house.test_ops import PACKAGES

LAPACK = "LAPACK, through NumPy: factorisations are its subject, and its threads are kept to one"
SIZE = "the size of the result depends on data: memory for it is found by the op itself"
SPARSE = "rows of sparse tensors are dictionaries in it: once per evaluation, on a few sequences"
WITH_NUMPY: dict[str, str] = {
    LAPACK: """
        cholesky cofactors cofactors_along det eig eigh geqrf inverse matrix_logarithm pseudo_inverse qr slogdet solve
        svd svd_values triangular_solve
    """,
    SIZE: """
        bincount ctc_greedy_decoder list_diff masked_select non_max_suppression nonzero range_slice unique
        unique_consecutive
    """,
    SPARSE: "edit_distance",
}

CONTROL = "control flow and structures: executables are built of them (`runtime.executable_control`)"
NUMBERS = "Python numbers: executables keep them in registers (`runtime.executable_scalars`)"
STACKS = "stacks of residuals: memory of executables that grows (`runtime.executable_stacks`)"
EFFECT = "calls Python, which is its purpose"
RANKS = "transport between processes, and sums in the order of the ranks: the engine of communication does it"
NAMES = "another name for the same memory"
NO_COMPUTATION: dict[str, str] = {
    CONTROL: "call call_named cond custom_vjp make_tuple scan tuple_get undef while_loop",
    NUMBERS: "dim_size scalar_binary scalar_tensor scalar_unary tensor_item",
    STACKS: "cotangent_pop pack residual_add stack_new stack_pop stack_push stack_rows stack_size unpack",
    EFFECT: "py_effect",
    RANKS: """
        all_gather all_reduce all_to_all broadcast collective_start collective_wait exchange receive reduce_scatter
        reduce_to
        send
    """,
    NAMES: "anchor relabel sized",
}


@pytest.fixture(scope="module", autouse=True)
def _everything_declared() -> None:
    for package in PACKAGES:
        root = importlib.import_module(f"duograph.{package}")
        for module in pkgutil.iter_modules(root.__path__):
            importlib.import_module(f"duograph.{package}.{module.name}")
    load_rules()


def own() -> dict[str, Op]:
    """The package's primitives; tests declare some, too."""
    return {name: op for name, op in all_ops().items() if op.infer.__module__.startswith("duograph.")}


def names(table: dict[str, str]) -> dict[str, str]:
    return {name: reason for reason, text in table.items() for name in text.split()}


def test_what_stays_with_numpy_is_listed_with_its_reason():
    hosted = {name: op.lower.reason for name, op in own().items() if isinstance(op.lower, Host)}
    assert hosted == names(WITH_NUMPY)


def test_every_other_op_has_kernels_or_is_no_computation():
    missing = {name for name, op in own().items() if op.lower is NO_RULE}
    assert missing == set(names(NO_COMPUTATION))
    rules = {type(op.lower) for op in own().values() if op.lower is not NO_RULE}
    assert rules == {Pointwise, Kernel, Host}
