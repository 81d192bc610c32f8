"""What docstrings claim of results and errors is tried on their own examples.

An example's call is made again with one argument exchanged for an object that nothing can be made of, which must be
refused as the section Raises says; and what the calls of Primitives give is held against the section Returns.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import duograph as ms
from duograph.api.primitives import base
from tests.house.test_docs import KNOWN, OF_RANKS, TABLES, Odd, _public

KINDS = (*TABLES, "scipy.linalg", "primitives")
TAKE_ANYTHING = {
    "functions": """
        bool_and bool_eq bool_not bool_or constexpr depend identity in_dict is_ is_not is_tensor make_list make_tuple
        not_in_dict print_ prim_arg_register prim_attr_register scalar_eq scalar_ne stop_gradient string_eq typeof""",
    "methods": "init_data data_sync wait_pipeline",
    "numpy": "isscalar",
    "primitives": "Barrier Depend Identity Primitive PrimitiveWithCheck PrimitiveWithInfer ReduceOp StopGradient",
}
"""What refuses no argument: it passes values on, asks what they are, or is a base of user classes."""
UNDESCRIBED = "Betainc Complex ForiLoop PrimitiveWithCheck PrimitiveWithInfer ReduceOp Scan WhileLoop".split()
"""Classes whose first lines name the operands, and bases of user classes."""
REFUSED = re.compile(r"TypeError: (?:``\*?(\w+)``|an argument or an operand) (?:is|has|cannot)\b")
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}


def _source(value: Any) -> str:
    return "".join(e.source for e in doctest.DocTestParser().get_doctest(value.__doc__, {}, "", None, None).examples)


def _calls(tree: ast.AST, name: str, is_class: bool) -> list[ast.Call]:
    """The calls of an operator; of a class: of its objects, or where these take nothing, of itself."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    own = [node for node in found if name in (getattr(node.func, "attr", ""), getattr(node.func, "id", ""))]
    if is_class:
        of_objects = [node for node in found if node.func in own and node.args]
        return of_objects or own
    return own


def _exchanged(value: Any, name: str, first: str) -> Iterator[ast.AST]:
    """The example, once for each call of the operator, with `Odd` for the argument that is named, or the first."""
    source, is_class = _source(value), isinstance(value, type)
    named = {} if is_class else {n: p for n, p in inspect.signature(value).parameters.items() if n != "self"}
    place = list(named).index(first) if first in named else 0
    takes_many = place < len(named) and list(named.values())[place].kind is inspect.Parameter.VAR_POSITIONAL
    for number in range(len(_calls(ast.parse(source), name, is_class))):
        tree = ast.parse(source)
        call = _calls(tree, name, is_class)[number]
        odd = ast.parse("Odd()", mode="eval").body
        keywords = [keyword for keyword in call.keywords if keyword.arg == first or is_class]
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            continue
        if takes_many:
            call.args[place:] = [odd] * (len(call.args) - place or 2)
        elif len(call.args) > place:
            call.args[place] = odd
        elif keywords:
            keywords[0].value = odd
        else:
            call.keywords.append(ast.keyword(first, odd))
        yield ast.fix_missing_locations(tree)


def _run(tree: Any, **known: Any) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, "<example>", "exec"), {**KNOWN, **known})


@pytest.mark.parametrize("kind", KINDS)
def test_refusals_are_stated_and_happen(kind):
    wrong, count = [], 0
    for name, value in _public()[kind].items():
        found = REFUSED.search(value.__doc__)
        if found is None:
            continue
        for tree in _exchanged(value, name, found[1] or ""):
            count += 1
            try:
                _run(tree, Odd=Odd)
            except TypeError as error:
                if re.search("unexpected keyword|positional argument", str(error)):
                    wrong.append(f"{name}: {error}")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is another than the one stated
                wrong.append(f"{name}: {type(error).__name__}: {error}")
            else:
                wrong.append(f"{name} refuses nothing")
    assert not wrong, "\n".join(wrong)
    assert count > 5


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_takes_arguments_says_what_it_raises(kind):
    exempt = (*TAKE_ANYTHING.get(kind, "").split(), *OF_RANKS)
    lacking = [
        name
        for name, value in _public()[kind].items()
        if "Raises:" not in value.__doc__
        and name not in exempt
        and ("Args:\n" in value.__doc__ or kind == "primitives")
    ]
    assert not lacking


def test_operands_of_primitives_are_described():
    lacking = []
    for name, value in _public()["primitives"].items():
        operands = re.findall(r"(?m)^ +- \*\*(\w+)\*\* \(", value.__doc__)
        forward = getattr(value, "forward", None)
        named = list(inspect.signature(forward).parameters.values())[1:] if forward is not None else []
        lacking += [
            f"{name}: {p.name}"
            for p in named
            if p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in operands and not callable(p.default)
        ]
        if "Args:" not in value.__doc__ and not operands and name not in UNDESCRIBED:
            lacking.append(name)
    assert not lacking


@pytest.mark.parametrize("file", ["operands.txt", "results.txt"])
def test_every_row_of_the_texts_is_shown(file):
    classes = {name: getattr(ms.ops, name) for name in ms.ops.__all__ if isinstance(getattr(ms.ops, name), type)}
    shown = "\n".join(value.__doc__ or "" for value in classes.values())
    if file == "operands.txt":
        rows = base._meanings()
        unused = [row for row in rows if f"- **{row.partition('.')[0]}** (" not in shown]
        unused += [row for row in rows if "." in row and rows[row][1] not in classes[row.split(".")[1]].__doc__]
    else:
        unused = [name for name, text in base._results().items() if text not in classes[name].__doc__]
    assert not unused


def _observed(value: Any, name: str) -> list[tuple[tuple[Any, ...], Any]]:
    """Operands and result of each call of objects of a class in its example."""
    seen: list[tuple[tuple[Any, ...], Any]] = []

    def noted(call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        seen.append((args, call(*args, **named)))
        return seen[-1][1]

    tree = ast.parse(_source(value))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    for call in calls:
        if isinstance(call.func, ast.Call) and getattr(call.func.func, "attr", "") == name:
            call.args.insert(0, call.func)
            call.func = ast.Name("noted", ast.Load())
    _run(ast.fix_missing_locations(tree), noted=noted)
    return seen


def _is_as_claimed(claim: str, operands: tuple[Any, ...], result: Any) -> bool:
    count = re.match(r"tuple of (\w+) Tensors", claim)
    if claim.startswith("tuple"):
        return isinstance(result, tuple) and len(result) == NUMBERS.get(count[1] if count else "", len(result))
    if claim.startswith("None"):
        return result is None
    if not claim.startswith("Tensor") or " or Tensor" in claim or " a tuple " in claim:
        return True
    if not isinstance(result, ms.Tensor):
        return False
    shape = re.search(r"of shape ``\((.*?)\)``", claim)
    if shape and "..." not in shape[1] and len([x for x in shape[1].split(",") if x]) != result.ndim:
        return False
    if "of the shape of the first operand." in claim or "of the shape and dtype of the first operand" in claim:
        if operands[0].shape != result.shape:
            return False
    if "dtype of the first operand" in claim and operands[0].dtype != result.dtype:
        return False
    dtype = re.search(r", (int32|bool|uint8|float32)\b(?! or)", claim)
    if dtype and str(result.dtype).lower() not in (dtype[1], dtype[1] + "_"):
        return False
    return ", complex" not in claim or result.dtype.is_complex


def test_results_of_primitives_are_as_they_say():
    wrong, count = [], 0
    for name, value in _public()["primitives"].items():
        claim = re.search(r"Returns:\n\s+(.*(?:\n\s+\S.*)*)", value.__doc__)
        if claim is None or name in TAKE_ANYTHING["primitives"]:
            continue
        for operands, result in _observed(value, name):
            count += 1
            if not _is_as_claimed(" ".join(claim[1].split()), operands, result):
                wrong.append(f"{name}: {claim[1]}, but {result!r}")
    assert not wrong, "\n".join(wrong)
    assert count > 200
