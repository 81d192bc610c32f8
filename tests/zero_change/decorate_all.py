"""A pytest plugin (``-p decorate_all``, with this folder on the path) that compiles what is tested.

It is as if each ``def`` of a package had the decorator, from when its modules are imported: whatever holds a function
holds its compiled form. Of the tests, each is compiled as a whole.

``ZERO_CHANGE`` is the name of the package; ``ZERO_CHANGE_MODE`` how it is captured.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import os
import sys
import types
from collections.abc import Sequence
from typing import Any

import duograph as ms

PACKAGE, MODE = os.environ["ZERO_CHANGE"], os.environ.get("ZERO_CHANGE_MODE", "bytecode")
_LEFT = {"__new__", "__init_subclass__", "__class_getitem__", "__set_name__", "__subclasshook__"}
"""Python makes class methods of some of these, and finds them in ways of its own."""
_DECORATOR = "__compiled_by_zero_change__"
decorated: list[Any] = []


def compiled(fn: types.FunctionType) -> Any:
    """What stands as decorator in front of each function."""
    made = ms.jit(fn, capture_mode=MODE)
    decorated.append(made)
    return made


def is_tests(name: str) -> bool:
    """Whether a module of the package holds tests, which pytest rewrites."""
    return any(part in ("tests", "test", "conftest") or part.startswith("test_") for part in name.split("."))


class Decorate(ast.NodeTransformer):
    """Functions of modules and classes with one more decorator, below those that they have."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name not in _LEFT:
            mark = ast.Name(_DECORATOR, ast.Load())
            node.decorator_list.append(ast.copy_location(mark, node))
            mark.end_lineno, mark.end_col_offset = node.lineno, node.col_offset
        return node  # functions inside are those of the program that is captured

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return self.visit_FunctionDef(node)  # type: ignore[arg-type,return-value]


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with its functions decorated; neither reads nor writes ``.pyc`` files."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        tree = Decorate().visit(ast.parse(self.get_data(path), path))
        return compile(tree, path, "exec", dont_inherit=True)


class Finder:
    """Finds the package's modules, for `Loader`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if (name != PACKAGE and not name.startswith(PACKAGE + ".")) or is_tests(name):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = Loader(name, spec.loader.path)
        return spec


assert PACKAGE not in sys.modules
setattr(builtins, _DECORATOR, compiled)
sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]


def pytest_collection_modifyitems(items: Sequence[Any]) -> None:
    """Compiles the tests, once all are loaded."""
    for item in items:
        fn = getattr(item, "obj", None)
        if type(fn) is types.FunctionType:
            item.obj = ms.jit(fn, capture_mode=MODE)
        elif type(fn) is types.MethodType and type(fn.__func__) is types.FunctionType:
            setattr(type(fn.__self__), fn.__name__, ms.jit(fn.__func__, capture_mode=MODE))
            item.obj = getattr(fn.__self__, fn.__name__)
    print(f"{len(decorated)} functions of {PACKAGE} and {len(items)} tests are compiled ({MODE})")
