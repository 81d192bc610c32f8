"""Functions from their bytecode: what is recovered does the same; what is not has a reason."""

from __future__ import annotations

import ast
import dis
import importlib.util
import inspect
import linecache
import os
import pathlib
import py_compile
import sys
import textwrap
import time
import types

import pytest

import duograph as ms
from duograph.frontend.bytecode import instructions, stack, structure
from duograph.frontend.bytecode.depth import depths
from duograph.frontend.bytecode.flow import Flow
from duograph.frontend.bytecode.instructions import decode
from duograph.frontend.bytecode.load import load_recovered, recover
from duograph.frontend.bytecode.same import difference
from duograph.frontend.rules.errors import Uncapturable
from tests.unit.frontend.recovered import (
    CLASSES,
    FORMS,
    GROUPS,
    GUESSED,
    LEFT_CLAUSES,
    MATCHES,
    NAMES_AND_CHAINS,
    REFUSED,
)
from tests.unit.frontend.recovered_nested import DROPPED, NESTED

LIBRARY = pathlib.Path(os.__file__).parent
MODULES = ("argparse", "calendar", "configparser", "difflib", "functools", "heapq", "shutil", "textwrap", "typing")


def code_of(text: str) -> types.CodeType:
    """The first function in ``text``."""
    made = compile(textwrap.dedent(text), "<example>", "exec", dont_inherit=True)
    return next(c for c in made.co_consts if isinstance(c, types.CodeType))


def nested(code: types.CodeType):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


def codes_of(module: str) -> list[types.CodeType]:
    path = LIBRARY / f"{module}.py"
    return list(nested(compile(path.read_text(), str(path), "exec", dont_inherit=True)))


# -- decoding ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", MODULES)
def test_every_code_object_of_the_library_is_decoded(module):
    for code in codes_of(module):
        made = decode(code)
        assert all(0 <= n < len(made) for one in made for n in one.next)
        assert all(one.handler is None or 0 <= one.handler[0] < len(made) for one in made)
        assert difference(code, code) is None


@pytest.mark.parametrize("letter", ["_", *"abcdefghijklmnopqrstuvwxyz"])
def test_the_whole_library_is_decoded(letter):
    """Every code object of the modules that begin with a letter: how deep the stack becomes, and where handlers begin,
    is what CPython says."""
    for path in sorted(LIBRARY.glob(f"{letter}*.py")) + sorted(LIBRARY.glob(f"{letter}*/*.py")):
        if path.parent.name in ("site-packages", "test"):
            continue
        for code in nested(compile(path.read_bytes(), str(path), "exec", dont_inherit=True)):
            if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
                continue  # left to Python
            made = decode(code)
            found = depths(made)
            assert min(found) >= 0, (path, code)
            assert max(found) <= code.co_stacksize + 1, (path, code)  # what is taken apart holds one value more
            handlers = {one.handler[0] for one in made if one.handler is not None}
            assert len(handlers) <= len({entry.target for entry in dis.Bytecode(code).exception_entries})
            for place in handlers:  # a statement's, or what tidies up behind one
                assert made[place].op in ("PUSH_EXC_INFO", "COPY", "LOAD_CONST", "SWAP", "LIST_APPEND", "POP_TOP")


def test_an_unknown_version_is_a_reason(monkeypatch):
    monkeypatch.setattr(instructions, "VERSIONS", ())
    with pytest.raises(Uncapturable, match=r"bytecode of Python 3\.\d+, for which there is no table"):
        decode(code_of("def f(): pass"))


@pytest.mark.parametrize(
    ("ours", "other"),
    [
        ("def f(x): return x + 1", "def f(x): return x + 2"),
        ("def f(x): return x + 1", "def f(x): return x - 1"),
        ("def f(x): return 1", "def f(x): return True"),
        ("def f(x): return 0.0", "def f(x): return -0.0"),
        ("def f(x): return (1, 2)", "def f(x): return (1, 2.0)"),
        ("def f(x): return lambda: 1", "def f(x): return lambda: 2"),
        ("def f(x, y): return x", "def f(y, x): return x"),
        ("def f(x, y): return x", "def f(x, *y): return x"),
        ("def f(x):\n if x: return 1\n return 2", "def f(x):\n if x: return 2\n return 1"),
        ("def f(x):\n x += 1\n return x", "def f(x):\n x = x + 1\n return x"),
        ("def f(x):\n try: g()\n except E: x = 1\n return x", "def f(x):\n try: g()\n except E: x = 2\n return x"),
        ("def f(x):\n with x: g()\n h()", "def f(x):\n with x:\n  g()\n  h()"),
        ("def f(x):\n for i in x:\n  if i: break\n  g()", "def f(x):\n for i in x:\n  if i: continue\n  g()"),
        ("def f(x):\n global y\n y = x", "def f(x):\n y = x"),
    ],
)
def test_a_difference_is_found(ours, other):
    assert difference(code_of(ours), code_of(other)) is not None
    assert difference(code_of(ours), code_of(ours)) is None


def test_where_blocks_lie_makes_no_difference():
    a = "def f(x):\n if x > 0:\n  return 1\n return 2"
    b = "def f(x):\n if not x > 0:\n  return 2\n else:\n  return 1"
    assert difference(code_of(a), code_of(b)) is None


# -- flow ----------------------------------------------------------------------------------------------------------


def test_the_test_of_a_loop_is_there_once():
    flow = Flow(code_of("def f(x):\n while x > 3:\n  x = g(x)\n return x"))
    assert sum(one.op == "COMPARE_OP" for one in flow.instructions) == 1
    assert len(flow.loops) == 1


def test_copies_of_the_end_of_a_function_are_one():
    flow = Flow(code_of("def f(x):\n if x:\n  g()\n elif h:\n  k()\n"))
    assert sum(one.op == "RETURN_VALUE" for one in flow.instructions) == 1


# -- structure -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [*FORMS, *GUESSED, *GROUPS, *CLASSES, *MATCHES],
    ids=lambda text: text.strip().splitlines()[-1].strip()[:40],
)
def test_the_source_comes_back(text):
    """Not only some program that does the same: the same statements and expressions."""
    text = textwrap.dedent(text).strip()
    module = ast.parse(text)
    wanted = module.body[0]
    assert ast.unparse(recover(code_of(text))) == ast.unparse(wanted)


@pytest.mark.parametrize("text", [*LEFT_CLAUSES, *NAMES_AND_CHAINS, *NESTED, *DROPPED])
def test_a_program_that_does_the_same_comes_back(text):
    assert recover(code_of(text)).name == "f"


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_not_recovered_has_a_reason(text, reason):
    with pytest.raises(Uncapturable, match=reason):
        recover(code_of(text))


@pytest.mark.parametrize("module", MODULES)
def test_most_of_the_library_is_recovered(module):
    """None of it wrongly: `recover` compares. That is looked at once more here."""
    functions = [c for c in codes_of(module) if c.co_flags & inspect.CO_OPTIMIZED and c.co_name[0] != "<"]
    recovered = 0
    for code in functions:
        try:
            node = recover(code)
        except Uncapturable:
            continue
        assert ast.dump(node)
        recovered += 1
    assert recovered >= 0.9 * len(functions)


def test_places_are_those_of_the_source():
    text = "def f(x, y):\n    z = x + y\n    return g(z,\n        1)\n"
    node = recover(code_of(text))
    add, call = node.body[0].value, node.body[1].value
    assert (add.lineno, add.col_offset, add.end_col_offset) == (2, 8, 13)
    assert (call.lineno, call.end_lineno, call.col_offset) == (3, 4, 11)


def test_code_without_columns_is_recovered(monkeypatch):
    """As with ``-X no_debug_ranges``."""
    right = instructions._raw

    def without_columns(code):
        made = right(code)
        for one in made:
            one.position = (*one.position[:2], None, None)
        return made

    monkeypatch.setattr(instructions, "_raw", without_columns)

    def f(x):
        for i in x:
            if i > 3 and x:
                break
            x = [j for j in x if j]
        else:
            return 1
        return x

    assert recover(f.__code__).body


def test_variables_of_enclosing_functions():
    def around():
        n = 0

        def f(x):
            nonlocal n
            n += 1
            return x * n

        return f

    fn = around()
    assert ast.unparse(load_recovered(fn).node) == ("def f(x):\n    nonlocal n\n    n += 1\n    return x * n")


def test_a_tree_is_made_once():
    def f(x):
        return x

    assert load_recovered(f) is load_recovered(f)


def test_a_deep_stack_is_not_held_against_the_code():
    def f(x):
        return x + 1

    def deep(n):
        return deep(n - 1) if n else load_recovered(f)

    left = sys.getrecursionlimit() - len(inspect.stack(0))
    reasons = set()
    for n in range(left - 40, left):
        try:
            deep(n)
        except Uncapturable as exc:
            reasons.add(exc.reason)
        except RecursionError:
            break
    assert reasons <= {"the stack is too deep to look at bytecode"}
    assert load_recovered(f).origin == "bytecode"


def test_what_is_misread_is_refused(monkeypatch):
    monkeypatch.setattr(stack, "BINARY", (stack.BINARY[10], *stack.BINARY[1:10], stack.BINARY[0], *stack.BINARY[11:]))
    with pytest.raises(Uncapturable, match="BINARY_OP 0 in line 1 of f became BINARY_OP"):
        recover(code_of("def f(x, y): return x + y"))


# -- which of the two ----------------------------------------------------------------------------------------------

X = ms.Tensor([1.0, -2.0])
TEXT = "def f(x):\n    return x * 2 if x.sum() > 0 else -x\n"


def test_what_dropped_statements_say_holds():
    f = without_text("def f(x, n):\n if n:\n  return x * n\n  y = 1\n return y", y="of the module")
    compiled = ms.jit(f, capture_mode="bytecode")
    assert compiled(X, 2).tolist() == (X * 2).tolist()
    for call in (f, compiled):
        with pytest.raises(UnboundLocalError):
            call(X, 0)
    g = without_text("def f(x):\n yield_ = x * 2\n return yield_\n yield x")
    assert isinstance(ms.jit(g)(X), types.GeneratorType)


def captured_from(fn, **options):
    """What ``fn`` is captured from, once it has been called and was right."""
    compiled = ms.jit(fn, fullgraph=True, **options)
    assert compiled(X).tolist() == fn(X).tolist() == compiled(X).tolist()
    return compiled.explain().captured_from


def imported(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_text(text, **names):
    """The function ``f`` of a text that nobody has."""
    exec(compile(ast.parse(text), "<nowhere>", "exec"), names)
    return names["f"]


def test_text_that_is_not_kept():
    assert captured_from(without_text(TEXT)) == "bytecode"


def test_lambdas_on_one_line():
    f, g = (lambda x: x * 2), (lambda x: x * 3)
    f.__code__ = f.__code__.replace(co_filename="<nowhere>")
    g.__code__ = g.__code__.replace(co_filename="<nowhere>")
    assert captured_from(f) == captured_from(g) == "bytecode"


def test_compiled_files_alone(tmp_path):
    source = tmp_path / "alone.py"
    source.write_text(TEXT)
    compiled = py_compile.compile(str(source), cfile=str(tmp_path / "alone.pyc"))
    source.unlink()
    assert captured_from(imported(compiled, "alone").f) == "bytecode"


def test_a_file_that_was_changed(tmp_path):
    source = tmp_path / "changed.py"
    source.write_text(TEXT)
    module = imported(source, "changed")
    source.write_text(TEXT.replace("2", "3"))
    linecache.checkcache()
    compiled = ms.jit(module.f)
    assert compiled(-X).tolist() == [-2.0, 4.0]
    assert compiled.explain().captured_from == "bytecode"
    assert "captured from bytecode:" in str(compiled.explain())
    assert "changed.py is not what f was made from" in str(compiled.explain())


def test_code_that_is_replaced():
    def f(x):
        return x * 2

    def g(x):
        return x * 5

    compiled = ms.jit(f, capture_mode="bytecode")
    assert compiled(X).tolist() == [2.0, -4.0]
    f.__code__ = g.__code__
    assert compiled(X).tolist() == [5.0, -10.0]


def test_both_are_asked_for():
    def f(x):
        return x * 2

    assert captured_from(f) == "source"
    assert captured_from(f, capture_mode="bytecode") == captured_from(f, mode="PIJit") == "bytecode"


def test_what_is_not_recovered_is_captured_from_source():
    def f(x):
        if x.ndim > 3:

            class Made(*x):
                pass

        return x * 2

    assert captured_from(f, capture_mode="bytecode") == "source"


def test_what_neither_gives_runs_as_plain_python():
    compiled = ms.jit(without_text("def f(x):\n if x.ndim > 3:\n  class A(*x): pass\n return x"))
    assert compiled(X) is X
    (fallback,) = compiled.explain().fallbacks
    assert fallback.reason.startswith("the source of f is not available; ")


def makes_a_class(x):
    y = (x * 2).tanh() * x

    class Made:
        factor: int = 3

        def __init__(self, value):
            self.__value = value * self.factor

        def get(self):
            return self.__value, type(self).__qualname__

    value, name = Made(y).get()
    return (value * y + x).sum() - y, name


@pytest.mark.parametrize("mode", ["ast", "bytecode"])
def test_class_statements_are_left_to_python(mode):
    """From both for the same reason; what the class is called is what it is without the decorator."""
    compiled, wanted = ms.jit(makes_a_class, capture_mode=mode), makes_a_class(X)
    for _ in range(3):
        found = compiled(X)
        assert (found[0].tolist(), found[1]) == (wanted[0].tolist(), wanted[1])
    assert compiled.explain().captured_from == ("bytecode" if mode == "bytecode" else "source")
    assert [fallback.reason for fallback in compiled.explain().fallbacks] == ["the statement ClassDef"]


def test_statements_between_segments():
    """Graph breaks are made in the tree, wherever it is from."""
    f = without_text("def f(x):\n y = (x * 2).tanh() * x\n time.sleep(0)\n return (y * y + x).sum() - y\n", time=time)
    compiled = ms.jit(f)
    assert compiled(X).tolist() == f(X).tolist() == compiled(X).tolist()
    assert compiled.explain().captured_from == "bytecode"
    assert len(compiled.explain().segments) == 2


def test_guesses_within_guesses_have_an_end(monkeypatch):
    """Each guess about a condition reads those behind it; what would take too long is captured from its source."""
    monkeypatch.setattr(structure, "MOST_READ", 0)

    def f(x):
        return x * 2 if x.ndim and x.size else x + 1

    assert captured_from(f, capture_mode="bytecode") == "source"
    with pytest.raises(Uncapturable, match="too large"):
        recover(f.__code__)
