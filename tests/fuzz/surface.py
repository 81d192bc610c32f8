"""Every call of the collection that is compared with MindSpore (``tests/compare/calls``), compiled.

The collection has some thousand calls over the whole public surface, mistakes among them. Each becomes a function of
its tensors, which eager mode and compiled modes call with these, with them again, and with other values; gradients are
taken of the compiled function, and inside one.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import Any

import duograph as ms

from .mutants import load
from .relatives import compare

MODULE = """\
from tests.conformance.harness import program
from tests.fuzz.surface import other, others, tensors, total
import duograph as ms
globals().update(others())

def called({names}):
    {body}

@program(calls=[tensors({texts}), tensors({texts}), other({texts})], grad={grad})
def compiled(*args):
    return {result}
"""


@functools.cache
def calls() -> tuple[str, ...]:
    """All calls, each possibility of a line by itself."""
    from tests.compare import evaluate

    lines: list[str] = []
    for path in sorted((Path(evaluate.__file__).parent / "calls").glob("*.txt")):
        lines += [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return tuple(call.lstrip("~ ") for line in lines for call in evaluate.expanded(line))


def fixtures() -> dict[str, Any]:
    """The names of the calls; tensors are new ones each time."""
    from tests.compare import evaluate

    ms.install_as_mindspore()
    return evaluate.fixtures()


def others() -> dict[str, Any]:
    """What is not a tensor among them: modules and classes."""
    return {name: value for name, value in fixtures().items() if not isinstance(value, ms.Tensor)}


def tensors(*names: str) -> tuple[Any, ...]:
    """Arguments of a call."""
    found = fixtures()
    return tuple([found[name] for name in names])


def other(*names: str) -> tuple[Any, ...]:
    """Arguments of another call."""
    return tuple([x if x.dtype in (ms.bool_, ms.uint8) else -x for x in tensors(*names)])


def total(value: Any) -> Any:
    """The sum of all floats of a result."""
    if isinstance(value, list | tuple):
        return functools.reduce(lambda a, b: a + b, map(total, value), ms.Tensor(0.0))
    if isinstance(value, ms.Tensor) and "Float" in str(value.dtype):
        return value.astype(ms.float32).sum()
    return ms.Tensor(0.0)


def module_of(call: str, is_gradient: bool) -> str | None:
    """The text of the call's program, or that of its gradient; None if it is not a function of tensors."""
    *before, last = [part.strip() for part in call.split(";")]
    try:
        tree = ast.parse("\n".join([*before, last]))
        ast.parse(last, mode="eval")
    except SyntaxError:
        return None
    found = fixtures()
    used = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & set(found))
    names = [name for name in used if isinstance(found[name], ms.Tensor)]
    if not names:
        return None
    floats = tuple(i for i, name in enumerate(names) if "Float" in str(found[name].dtype))
    gradient = f"ms.grad(lambda *own: total(called(*own)), {floats})(*args)"
    return MODULE.format(
        names=", ".join(names),
        texts=", ".join(map(repr, names)),
        body="\n    ".join([*before, f"return {last}"]),
        grad=floats if floats and not is_gradient else None,
        result=gradient if floats and is_gradient else "called(*args)",
    )


def examine(seed: int, table: list[Any]) -> tuple[str, str | None]:
    """The call of a seed (first all calls, then all gradients, and so on), and in what it differs."""
    from tests.conformance.harness import MODES

    by_name = {mode.name: mode for mode in MODES}
    rounds, number = divmod(seed, len(calls()))
    source = module_of(calls()[number], is_gradient=rounds % 2 == 1)
    mode = ("jit", "interpreter", "jit-O0", "graph")[rounds // 2 % 4]
    return calls()[number], source and compare(lambda: load(source, "call"), [by_name[mode]])
