"""Errors name the function, method, Primitive or layer that was called, not an operator inside of it."""

from __future__ import annotations

import ast
import gc
import inspect
import re
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import duograph as ms
import duograph.numpy as mnp
from duograph import Tensor, jit, mint, nn, ops
from duograph.api import public_ops
from duograph.api.tensor_methods import DELEGATED
from duograph.mint.nn import functional
from duograph.scipy import linalg
from tests.fuzz.surface import calls, fixtures

NAMED = re.compile(r"(?:For primitive\[|For ['\"`]?|Failed calling )([\w.]+)")
OF_OUR_CODE = re.compile(
    r"\w+ index out of range|zip\(\)|(not enough|too many) values|integer (modulo|division)|'\w+' object "
    r"|can only concat|\w+ operand type|not all arguments|invalid literal|could not convert"
)
"""What Python says of mistakes in an expression."""
OF_PYTHON = {"grad", "jvp", "jacrev", "jacfwd", "vmap", "vjp", "value_and_grad"}
"""What calls a function of the user: that one's mistakes are its own, and have the words of Python's operators."""


def plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.rpartition(".")[2]).lower()


def mutants(value: Tensor, number: int) -> Iterator[Any]:
    """Operands that cannot stand for ``value``: of another shape, and of another dtype or type."""
    yield Tensor(np.ones(((7,), (2, 3, 5, 7, 2), ())[number % 3], np.float32)).astype(value.dtype)
    yield value.astype(ms.int8 if value.dtype == ms.bool_ else ms.bool_) if number % 4 else "text"


def mistakes(step: int = 1) -> Iterator[tuple[str, set[str], str, dict[str, Any]]]:
    """Calls with one wrong operand: the text, what is called in it, the operand's name, all names."""
    found = fixtures()
    for number, call in enumerate(calls()[::step]):
        try:
            tree = ast.parse(call, mode="eval")
        except SyntaxError:
            continue
        called = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        called = {name.partition("(")[0].rpartition(".")[2] for name in called} | {
            name.rpartition(".")[2] for name in called
        }
        if not isinstance(tree.body, ast.Call) or called & OF_PYTHON:
            continue
        used = dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
        for name in (name for name in used if isinstance(found.get(name), Tensor)):
            for wrong in mutants(found[name], number):
                yield call, called, name, {**found, name: wrong}


def is_right(error: Exception, called: set[str]) -> bool:
    found = NAMED.match(str(error))
    if found is None:  # MindSpore's own words for some mistakes, or Python's: not where those are about our code
        trace = error.__traceback__.tb_next
        return trace is None or trace.tb_next is None or not OF_OUR_CODE.match(str(error))
    given = plain(found[1])
    # a Parameter is a Tensor; a layer may be another's name, or have one inside, which says that it is a layer
    return given == "tensor" or given in map(plain, called) or any(plain(n) == given for n in _classes(called))


def _classes(called: set[str]) -> Iterator[str]:
    for layers in (nn, mint.nn):
        yield from (base.__name__ for n in called for base in getattr(layers, n, object).__mro__)


def test_every_call_of_the_collection_names_what_was_called():
    wrong = []
    named = 0
    for call, called, name, names in mistakes(step=2):
        try:
            eval(call, names)
        except Exception as error:  # noqa: BLE001 - whichever it is
            named += bool(NAMED.match(str(error)))
            if not is_right(error, called):
                wrong.append((call, name, str(error).partition("\n")[0][:100]))
    assert not wrong, "\n".join(map(str, wrong))
    assert named > 1500


def tables() -> dict[str, dict[str, Any]]:
    shown = {
        "ops": public_ops.functions(),
        "mint": {n: getattr(mint, n) for n in mint.__all__},
        "mint.linalg": {n: getattr(mint.linalg, n) for n in mint.linalg.__all__},
        "functional": {n: getattr(functional, n) for n in functional.__all__},
        "numpy": {n: getattr(mnp, n) for n in mnp.__all__},
        "scipy": {n: getattr(linalg, n) for n in linalg.__all__},
        "Tensor": {n: f for n, f in vars(Tensor).items() if n[0] != "_"},
    }
    return {
        home: {n: f for n, f in table.items() if isinstance(f, types.FunctionType)} for home, table in shown.items()
    }


@pytest.mark.parametrize(("home", "table"), tables().items(), ids=list(tables()))
def test_every_public_function_names_itself(home, table):
    """Also those without a call in the collection."""
    odd = [Tensor(np.ones((7,), np.bool_)), Tensor(np.ones((2, 3, 5, 7, 2), np.float32)), Tensor(1), 9, "text"]
    wrong = []
    for name, function in table.items():
        needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty and p.kind < 2]
        for i in range(len(odd) - 2 * (home == "Tensor")):
            operands = [odd[(i + (k if k < 2 else i)) % len(odd)] for k in range(len(needed))]
            try:
                function(*operands)
            except Exception as error:  # noqa: BLE001 - whichever it is
                if not is_right(error, {name}):
                    wrong.append((name, str(error).partition("\n")[0][:100]))
    assert not wrong, "\n".join(map(str, wrong))


def test_methods_are_the_functions_that_they_are_called_like():
    assert all(getattr(Tensor, name).__name__ == name for name in DELEGATED)


X, Y = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((4, 5), np.float32))
CALLS = {
    "ops.cdist(X, Y)": "For 'cdist',",
    "mint.cdist(X, Y)": "For 'cdist',",
    "ops.mm(X, Y)": "For 'mm' the",
    "ops.where(X > 0, X, Y)": "For 'where',",
    "ops.clip(X, Y, Y)": "For 'clip',",
    "mint.divide(X, 'text')": 'Failed calling divide with "divide()(',
    "ops.cat([X, np.ones(2)])": "Failed calling cat with \"cat()(tensors=list<Tensor, <class 'numpy.ndarray'>>)\".",
    "X.sum(5)": "For 'sum',",
    "X.add_(Y)": "For 'add_',",
    "X.matmul(Y)": "For 'matmul' op",
    "ops.Select()(X > 0, X, Y)": "For 'Select',",
    "ops.AccumulateNV2()([X, Y])": "For 'AccumulateNV2',",
    "nn.L1Loss()(X, Y)": "For 'L1Loss',",
    "mnp.outer(X, 'text')": "For 'outer',",
    "ops.add(X, Y)": "For 'Add',",  # the operator itself, in MindSpore's spelling
    "X + Y": "For 'AddExt',",  # what has no name says what MindSpore says
    "X @ Y": "For 'MatMulExt' op",
    "own(X)": "For 'mm' the",  # a function of the user is no operator
    "ops.lrn(X)": "For 'lrn', the dimensions of the operands do not fit: not enough values to unpack",
    "ops.BatchMatMul()('text', X)": 'Failed calling BatchMatMul with "BatchMatMul()(input1=string, input2=Tensor)".',
    "X.where('text', X)": 'Failed calling where with "where()(condition=string, y=Tensor)".',
    "nn.GroupNorm(2, 4)(X[0])": "For 'GroupNorm', the dimensions of the operands do not fit: not enough values",
    "ops.unsorted_segment_sum(x=X)": "unsorted_segment_sum() got an unexpected keyword argument 'x'",
    "nn.MultiMarginLoss()(X, 'text')": "For 'MultiMarginLoss', the input 'target' must be a Tensor, but got str.",
    "vmap(own)(X[None])": "For 'mm' the",
    "ops.Map(own)([X])": "For 'mm' the",
    "ops.ForiLoop()(0, 2, lambda i, x: ops.mm(x, Y), X)": "For 'mm' the",
}


def own(x):
    return ops.mm(x, Y)


def caught_in_graph(call: str, parameters: str, names: dict[str, Any]) -> Any:
    """A compiled function of ``parameters`` that makes the call and returns what the error says."""
    body = f"try:\n    return {call}\n  except Exception as error:\n    return x + 1, str(error)\n"
    exec(f"def f({parameters}):\n  {body}", names)
    return jit(names["f"], fullgraph=True)


@pytest.mark.parametrize("call", CALLS)
def test_the_name_is_the_one_that_was_called(call):
    """The innermost that is public, seen from the user's code; while a graph is captured, too."""
    names = {"ops": ops, "mint": mint, "nn": nn, "mnp": mnp, "X": X, "Y": Y, "own": own, "np": np, "vmap": ms.vmap}
    with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
        eval(call, names)
    text = str(caught.value)
    assert text.startswith(CALLS[call])
    assert hasattr(caught.value, "__notes__") or "vmap" in call or "unexpected" in text  # Python's; or of no mode
    assert caught_in_graph(call, "x", names)(X)[1] == text


@pytest.mark.parametrize("call", ["ops.lrn(x)", "ops.BatchMatMul()('text', x)", "ops.mm(x, x)", "x.where('text', x)"])
def test_an_error_that_is_gone_keeps_nothing(call):
    x = Tensor(np.ones((2, 3), np.float32))
    left = weakref.ref(x)
    gc.collect()
    gc.disable()
    try:
        with pytest.raises((TypeError, ValueError)) as caught:
            eval(call, {"ops": ops, "x": x})
        del caught, x
        assert left() is None
    finally:
        gc.enable()


def test_the_drawing_has_the_operator_behind_the_name_of_the_call():
    with pytest.raises(ValueError, match="For 'cdist'") as caught:
        mint.cdist(X, Y)
    assert "^ cdist: Sub([2, 1, 3], [1, 4, 5])" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="'weights' must be") as caught:
        Tensor([0, 1, 2]).bincount(X)
    assert "^ bincount: 'weights' f32[2,3]" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="For 'Add'") as caught:
        ops.add(X, Y)
    assert "^ Add([2, 3], [4, 5])" in caught.value.__notes__[0]


def test_what_numpy_used_to_refuse_is_refused_before_or_done():
    with pytest.raises(ValueError, match="For 'lstsq', the rows of .* must be as many"):
        ops.lstsq(Tensor(np.ones((3, 11), np.float32)), Y)
    assert [x.tolist() for x in Tensor(1.0).nonzero(as_tuple=True)] == [[0]]
    assert [x.tolist() for x in jit(lambda x: x.nonzero(as_tuple=True))(Tensor(0.0))] == [[]]


def test_a_sample_says_the_same_while_a_graph_is_captured():
    checked = 0
    for call, _, name, names in mistakes(step=97):
        wrong = names[name]
        if not isinstance(wrong, Tensor):
            continue
        try:
            eval(call, names)
        except Exception as error:  # noqa: BLE001 - whichever it is
            text = str(error)
        else:
            continue
        if not NAMED.match(text):
            continue
        assert caught_in_graph(call, f"{name}, x", names)(wrong, X)[1] == text, call
        checked += 1
    assert checked > 20
