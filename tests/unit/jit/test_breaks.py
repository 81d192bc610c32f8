"""The catalogue of reasons: every row breaks as it says, and its remedy does not; the page shows just that."""

import functools
import pathlib
import sys
import time

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from duograph.frontend.rules.remedies import REMEDIES, remedy
from tests.unit.jit.break_examples import EXAMPLES

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "breaks.md"
X = Tensor([1.0, 2.0])
HEAD = """# Graph breaks

A statement that cannot be captured runs as plain Python, between compiled segments ([capture.md](capture.md)).
`f.explain().breaks` lists these statements: `reason`, `span`, `times`, `milliseconds`, and `hint`, which says what to
change. This page has a section for each hint, with a function that breaks, and an equivalent one that does not. It is
generated from the table of hints (`frontend/rules/remedies.py`) and run by `tests/unit/jit/test_breaks.py`. For any
other reason the hint is: *Do it less often, or outside of the function.*
"""


def page() -> str:
    rows = []
    for part, text in REMEDIES.items():
        broken, whole = (text.strip() for text in EXAMPLES[part])
        rows.append(f"\n## {part}\n\n```python\n{broken}\n```\n\n{text}\n\n```python\n{whole}\n```\n")
    return HEAD + "".join(rows)


def values(result):
    parts = result if isinstance(result, tuple | list) or hasattr(result, "__next__") else [result]
    return [p.tolist() if isinstance(p, Tensor) else p for p in parts]


def made(text, namespace):
    exec(compile(text, f"<{len(text)} of a catalogue>", "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("part", REMEDIES)
def test_a_row(part):
    broken, whole = EXAMPLES[part]
    namespace = {"ms": ms, "Tensor": Tensor, "ops": ops, "np": np, "time": time, "functools": functools, "sys": sys}
    plain = made(broken, namespace)
    compiled = ms.jit(plain)
    for _ in range(3):
        assert repr(values(compiled(X))) == repr(values(plain(X)))
    told = compiled.explain()
    reasons = [one.reason for one in (*told.breaks, *told.fallbacks)]
    assert any(part in reason and remedy(reason) == REMEDIES[part] for reason in reasons), reasons
    other = ms.jit(made(whole, namespace), fullgraph=True)
    given, wanted = values(other(X)), values(plain(X))
    assert given[0] == wanted[0]


def test_the_page_is_the_table(request):
    if request.config.getoption("--golden", default=False):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
