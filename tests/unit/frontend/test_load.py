"""The source of a function is found, wherever the function comes from."""

from __future__ import annotations

import ast
import functools
import importlib
import linecache
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor
from duograph.base.source import register_source
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.source import load
from duograph.frontend.source.load import load_function
from tests.children import PATIENCE

X = Tensor([1.0, 2.0])


def text_of(fn):
    return ast.unparse(load_function(fn).node)


def plain(x, k=2):
    return x * k


def decorate(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args) + 1

    return wrapper


@decorate
@decorate
def decorated(x):
    return x * 3


# fmt: off
first, second = lambda a: a * 2, lambda a: a * 3
same = [lambda a: a + 1, lambda a: a + 2, lambda b: b + 3]
nested = lambda a: (lambda a: a * 7)(a)
# fmt: on


def test_a_function_of_a_file():
    assert text_of(plain) == "def plain(x, k=2):\n    return x * k"
    assert load_function(plain) is load_function(plain)


def test_lambdas_that_share_a_line():
    assert [text_of(f) for f in (first, second)] == ["lambda a: a * 2", "lambda a: a * 3"]
    assert [text_of(f) for f in same] == ["lambda a: a + 1", "lambda a: a + 2", "lambda b: b + 3"]
    assert text_of(nested) == "lambda a: (lambda a: a * 7)(a)"
    assert [ms.jit(f)(X).tolist() for f in (first, second, *same, nested)] == [
        f(X).tolist() for f in (first, second, *same, nested)
    ]


def test_decorated_functions_are_themselves():
    inner = decorated.__wrapped__.__wrapped__
    assert text_of(inner).endswith("return x * 3")
    compiled = ms.jit(decorated)
    assert compiled(X).tolist() == decorated(X).tolist()
    assert not compiled.explain().fallbacks


def test_exec():
    namespace = {}
    exec("def f(x):\n    return x - 5\n", namespace)
    assert text_of(namespace["f"]) == "def f(x):\n    return x - 5"


def test_a_cell_of_a_notebook():
    name = "<ipython-input-3-0123456789ab>"
    source = "def f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {}
    exec(compile(source, name, "exec"), namespace)
    compiled = ms.jit(namespace["f"])
    assert compiled(-X).tolist() == [1.0, 2.0] and not compiled.explain().fallbacks


def test_methods_closures_and_private_names():
    class Thing:
        def __init__(self):
            self.__hidden = 4

        def __private(self, __x):
            return __x * self.__hidden

        def method(self, x):
            return self.__private(x)

    thing = Thing()
    compiled = ms.jit(thing.method)
    assert compiled(X).tolist() == [4.0, 8.0] and not compiled.explain().fallbacks


def test_private_names_in_functions_inside_methods():
    class _Thing:
        __step = 3

        def method(self, x, *, __scale=2):
            def inner(__y):
                __local = __y * __scale
                return [__local + self.__step for __i in range(2)]

            return inner(x), _Thing.__step

        def made(self):
            return lambda x: x * self.__step

    thing = _Thing()
    for fn in (thing.method, thing.made()):
        compiled = ms.jit(fn)
        assert str(compiled(X)) == str(fn(X)) and not compiled.explain().fallbacks


def test_a_function_of_a_private_name_inside_a_method():
    class Thing:
        def method(self, x):
            def __double(y):
                return y * 2

            return __double(x), __double.__name__

    compiled = ms.jit(Thing().method)
    assert str(compiled(X)) == str(Thing().method(X))
    (fallback,) = compiled.explain().fallbacks
    assert fallback.reason.startswith("the function '__double' inside a method: its name is private; ")


@pytest.mark.parametrize("how", ["-c", "-"])
def test_the_command_line_and_standard_input(how):
    text = "import duograph as ms\n@ms.jit\ndef f(x):\n    return x * 2\nprint(f(ms.Tensor([1.0])))\n"
    given = {"input": text} if how == "-" else {}
    args = [sys.executable, how, *([text] if how == "-c" else [])]
    done = subprocess.run(args, **given, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.startswith("[2.]")


def test_changed_files_are_noticed(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("def f(x):\n    return x * 2\n")
    namespace = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    file.write_text("# another file now\n")
    with pytest.raises(Uncapturable):
        load_function(namespace["f"])
    assert ms.jit(namespace["f"])(X).tolist() == [2.0, 4.0]


def test_a_function_is_the_same_from_its_lines_and_from_the_whole_file():
    """Strings and brackets that go on at the margin, comments and code that never runs do not matter."""
    text = textwrap.dedent('''
        def outer(a):
            """Begins here
        and goes on at the margin."""
            # a comment
        # and one at the margin
            def inner(b, *, c=(lambda: 2)):
                return b + c()

            return inner(
        a)


        class Some:
            @staticmethod
            def method(x):
                if x:
                    return x
                text = """
            not indented
        """
                return 0 if x else (
                    "dead"
                )
        def after(): return 1
    ''')
    namespace: dict[str, object] = {}
    exec(compile(text, "<lines>", "exec"), namespace)
    source = register_source(text, "<lines>")
    functions = [namespace["outer"], namespace["Some"].method, namespace["after"]]  # type: ignore[attr-defined]
    for fn in functions:
        code = fn.__code__  # type: ignore[attr-defined]
        alone = load._found_in_lines(source, code)
        load._trees.pop("<lines>", None)
        assert alone is not None
        whole = load._found_in_file(source, code)
        load._trees.pop("<lines>", None)
        assert ast.dump(alone, include_attributes=True) == ast.dump(whole, include_attributes=True)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module's text, and imports it when it is called first."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    name = f"written_{tmp_path.name}"

    def write(text):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield write
    sys.modules.pop(name, None)


def test_a_file_that_was_changed_after_its_import_is_not_read_as_the_function(module):
    held = module("def g(x):\n    return x * 2\n")
    module("def g(x):\n    return x * 5\n")
    compiled = ms.jit(lambda x: held.g(x))
    assert compiled(X).asnumpy().tolist() == [2.0, 4.0]
    with pytest.raises(Uncapturable, match="is not what g was made from"):
        load_function(held.g)


def test_a_module_that_is_loaded_again_is_read_again(module):
    held = module("def g(x):\n    return x * 2\n")
    compiled = ms.jit(lambda x: held.g(x))
    assert compiled(X).asnumpy().tolist() == [2.0, 4.0]
    linecache.getlines(held.__file__)
    module("def g(x):\n    y = x + 1\n    return y * 3\n")
    importlib.reload(held)
    assert compiled(X).asnumpy().tolist() == [6.0, 9.0]
    assert text_of(held.g) == "def g(x):\n    y = x + 1\n    return y * 3"


def test_code_that_was_rewritten_is_not_what_the_text_says():
    def g(x):
        return x * 2

    g.__code__ = g.__code__.replace(co_consts=tuple(7 if c == 2 else c for c in g.__code__.co_consts))
    assert ms.jit(lambda x: g(x))(X).asnumpy().tolist() == [7.0, 14.0]


def test_code_without_a_hash():
    """A list among the constants of a code object has none."""

    def g():
        return "an item"

    g.__code__ = g.__code__.replace(co_consts=tuple([7.0] if c == "an item" else c for c in g.__code__.co_consts))
    assert ms.jit(lambda x: x * g()[0])(X).asnumpy().tolist() == [7.0, 14.0]
    assert ms.jit(lambda x, fn: x * fn()[0])(X, g).asnumpy().tolist() == [7.0, 14.0]
    with pytest.raises(TypeError):
        hash(g.__code__)


class _Mangled:
    factor = 3

    def method(self, x):
        def inner():
            return self.__private(x) + super(_Mangled, self).__init__.__name__.count("i") - 1

        return inner()

    def __private(self, x):
        return [v * _Mangled.factor for v in (x, np.float32(1))][0]


@pytest.mark.parametrize(
    "fn",
    [
        plain,
        _Mangled.method,
        _Mangled._Mangled__private,  # type: ignore[attr-defined]
        textwrap.dedent,
        functools.reduce if hasattr(functools.reduce, "__code__") else functools.wraps,
        lambda x, *, y=[k for k in range(3)]: np.sum([x, *y]) if x else (yield),  # noqa: B006, C416
    ],
)
def test_functions_are_known_as_they_were_compiled(fn):
    """With names of enclosing functions and classes, private ones, and modules that are imported."""
    assert load_function(fn) is load_function(fn)


PAIR = (lambda: 2), (lambda: 3)


def test_functions_on_one_line_that_differ_in_a_constant():
    assert [text_of(fn) for fn in PAIR] == ["lambda: 2", "lambda: 3"]
