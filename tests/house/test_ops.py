"""Every primitive has the rules it needs; those that lack one are named here, each with the reason."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
import types
from collections.abc import Callable

import pytest

from duograph.core.op import NO_RULE, NOT_DIFFERENTIABLE, Op, all_ops

PACKAGES = ("autodiff", "frontend", "ir", "ops", "passes", "tensor")

BY_TAPE = "the tape has a rule of its own for it (`autodiff.tape.RULES`)"
DISCRETE = "the result is an integer, a bool or an index, or does not change with the operands"
UNDEFINED = "no gradient is defined for it; asking for one is refused with a message"
STOP = "gradients stop here, which is its purpose"
CONSTANT = "no operand that a gradient could flow to"
RANDOM = "random draws do not depend on values"
GRADIENT = "belongs to a gradient; second order is refused with a message"
LAST = "made by the last of the passes: nobody differentiates or batches what it gives"
NO_DERIVATIVE: dict[str, str] = {
    BY_TAPE: """
        call call_named cond cotangent_pop custom_vjp make_tuple pack scan stack_new stack_pop stack_push
        stack_rows stack_size tuple_get undef unpack while_loop
    """,
    DISCRETE: """
        argmax argmin bincount bitcast bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
        bitwise_xor dim_size equal greater greater_equal histogram isfinite isinf isnan less less_equal
        logical_and logical_not logical_or logical_xor nextafter nonzero not_equal one_hot py_effect reduce_all
        reduce_any scalar_binary scalar_tensor scalar_unary searchsorted signbit tensor_item unique
        unique_consecutive list_diff permutation_of_pivots edit_distance ctc_greedy_decoder nms_with_mask
        non_max_suppression
    """,
    UNDEFINED: "eig geqrf matrix_logarithm no_repeat_ngram receive send",
    LAST: "collective_start collective_wait",
    STOP: "stop_gradient",
    CONSTANT: "arange eye full iota linspace",
    RANDOM: "random_bits random_gamma random_integers random_normal random_permutation random_poisson random_uniform",
    GRADIENT: "ctc_grad crop_grad roi_align_grad igamma_grad_a",
}

SIZES = "the size of the result depends on values: one per element of the batch cannot be stacked"
SCALARS = "takes and gives Python numbers or structures, not tensors that a batch axis could be added to"
GRAPHS = "holds graphs: vmap runs on eager ops and on the ops inside"
SEQUENCE = "takes a batch already; nothing needs a second batch axis yet"
NOT_BATCHED: dict[str, str] = {
    SIZES: """
        bincount histogram masked_select nonzero unique unique_consecutive list_diff ctc_greedy_decoder
        non_max_suppression
    """,
    SCALARS: """
        arange cotangent_pop dim_size eye full iota linspace make_tuple pack py_effect random_bits
        random_integers random_normal random_permutation random_uniform range_slice range_update relabel
        residual_add scalar_binary scalar_tensor scalar_unary sized stack_new stack_pop stack_push stack_rows stack_size
        tensor_item tuple_get undef unpack
    """,
    GRAPHS: "call call_named cond custom_vjp scan while_loop",
    LAST: "collective_start collective_wait",
    SEQUENCE: """
        ctc_grad ctc_nll crop_and_resize crop_grad diagonals_of edit_distance fractional_max_pool nms_with_mask
        no_repeat_ngram roi_align roi_align_grad with_diagonals
    """,
}


@pytest.fixture(scope="module", autouse=True)
def _everything_declared() -> None:
    for package in PACKAGES:
        module = importlib.import_module(f"duograph.{package}")
        for found in pkgutil.walk_packages(module.__path__, f"{module.__name__}."):
            importlib.import_module(found.name)


def lacking(test: Callable[[Op], bool]) -> set[str]:
    """Names of the package's own primitives (tests declare some, too) for which ``test`` holds."""
    return {name for name, op in all_ops().items() if op.infer.__module__.startswith("duograph.") and test(op)}


def named(table: dict[str, str]) -> set[str]:
    return {name for names in table.values() for name in names.split()}


def test_every_primitive_has_a_meaning():
    structured = {"call", "call_named", "cond", "custom_vjp", "scan", "while_loop"}  # the interpreter runs these
    assert lacking(lambda op: op.reference is NO_RULE) == structured


def test_every_primitive_says_what_it_does():
    assert not lacking(lambda op: not op.doc.strip())


def test_derivatives():
    assert lacking(lambda op: op.builtin_bprop is NOT_DIFFERENTIABLE) == named(NO_DERIVATIVE)


def test_batch_rules():
    assert lacking(lambda op: op.batch is NO_RULE) == named(NOT_BATCHED)


def _raises(fn, seen):
    """Whether the Python function, or one of this package's that it names, has a ``raise``."""
    fn = inspect.unwrap(fn)
    if not isinstance(fn, types.FunctionType) or fn in seen or not fn.__module__.startswith("duograph"):
        return False
    seen.add(fn)
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return any(isinstance(node, ast.Raise) for node in ast.walk(tree)) or any(
        _raises(fn.__globals__.get(name), seen) for name in names
    )


def test_ops_that_may_raise_say_so():
    """An exception is an effect: an op whose reference raises is computed although nobody reads its result."""
    raising = {name for name, op in all_ops().items() if _raises(op.reference, set())}
    assert {"gather", "cholesky", "tensor_item"} <= raising, "the search finds what is known to raise"
    assert {name for name in raising if not all_ops()[name].raises} == set()
