"""That something is not there is an assumption: what a program does about it ends when it appears."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import contextvars
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from duograph import Parameter, Tensor, jit, nn

VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("VARIABLE")


class Case(NamedTuple):
    """``look`` fails, or gives something else, until ``add`` has run."""

    look: Callable[[], Any]
    add: Callable[[], Any]
    remove: Callable[[], Any]


def _attribute(owner: Any, name: str = "q", value: Any = 2) -> Case:
    return Case(lambda: getattr(owner, name), lambda: setattr(owner, name, value), lambda: delattr(owner, name))


def _item(owner: Any, key: Any = "k", value: Any = 2) -> Case:
    return Case(lambda: owner[key], lambda: owner.__setitem__(key, value), lambda: owner.__delitem__(key))


def _of_class(look: Callable[[Any], Any], name: str, method: Callable[..., Any]) -> Case:
    class Plain:
        pass

    value = Plain()
    return Case(lambda: look(value), lambda: setattr(Plain, name, method), lambda: delattr(Plain, name))


def _closure() -> Case:
    def set_(new: int) -> None:
        nonlocal number
        number = new

    def remove() -> None:
        nonlocal number
        del number

    number = 0
    case = Case(lambda: number, lambda: set_(5), remove)
    remove()
    return case


def _cell() -> Case:
    return _attribute(types.CellType(), "cell_contents")


def _slots(names: tuple[str, ...], is_derived: bool) -> Case:
    class Slots:
        __slots__ = names

    class Derived(Slots):
        pass

    return _attribute(Derived() if is_derived else Slots())


def _hook() -> Case:
    class Hooked:
        def __getattr__(self, name: str) -> Any:
            if name == "other":
                return 3
            raise AttributeError(name)

    return _attribute(Hooked())


def _metaclass() -> Case:
    class Meta(type):
        pass

    class Plain(metaclass=Meta):
        pass

    return Case(lambda: Plain.q, lambda: setattr(Meta, "q", 2), lambda: delattr(Meta, "q"))  # type: ignore[attr-defined]


def _context() -> Case:
    tokens: list[Any] = []
    return Case(lambda: VARIABLE.get(), lambda: tokens.append(VARIABLE.set(2)), lambda: VARIABLE.reset(tokens.pop()))


def _default() -> Case:
    def asked(number):
        return number

    return Case(asked, lambda: setattr(asked, "__defaults__", (2,)), lambda: setattr(asked, "__defaults__", None))


def _module() -> Case:
    def look():
        import a_module_of_a_test

        return a_module_of_a_test.q

    made = types.SimpleNamespace(q=2)
    return Case(
        look,
        lambda: sys.modules.__setitem__("a_module_of_a_test", made),  # type: ignore[arg-type]
        lambda: sys.modules.pop("a_module_of_a_test"),
    )


def _list() -> Case:
    items: list[int] = []
    return Case(lambda: items[0], lambda: items.append(2), items.pop)


def _global_name() -> Case:
    return _item(globals(), "NUMBER_OF_A_TEST")._replace(look=lambda: NUMBER_OF_A_TEST)  # type: ignore[name-defined]  # noqa: F821


def _builtin_name() -> Case:
    return _attribute(builtins, "NUMBER_OF_TESTS")._replace(look=lambda: NUMBER_OF_TESTS)  # type: ignore[name-defined]  # noqa: F821


CASES: dict[str, Callable[[], Case]] = {
    "closure variable": _closure,
    "contents of a cell": _cell,
    "attribute": lambda: _attribute(types.SimpleNamespace()),
    "attribute of an exception": lambda: _attribute(ValueError("a")),
    "attribute of a function": lambda: _attribute(lambda: None),
    "attribute of a module": lambda: _attribute(types.ModuleType("made")),
    "attribute of a Cell": lambda: _attribute(nn.Cell()),
    "parameter of a Cell": lambda: _attribute(nn.Cell(), value=Parameter(Tensor(2.0), name="q")),
    "attribute of a class": lambda: _attribute(type("Plain", (), {})),
    "attribute of a metaclass": _metaclass,
    "attribute after __getattr__": _hook,
    "slot": lambda: _slots(("q",), is_derived=False),
    "slot of a base": lambda: _slots(("q",), is_derived=True),
    "item": lambda: _item({}),
    "item by a tuple": lambda: _item({}, (1, "a")),
    "item of an ordered dictionary": lambda: _item(collections.OrderedDict()),
    "item of a Counter": lambda: _item(collections.Counter()),
    "item of a ChainMap": lambda: _item(collections.ChainMap({}, {})),
    "item of a list": _list,
    "variable of the environment": lambda: _item(os.environ, "OF_A_TEST", "22")._replace(
        look=lambda: len(os.environ["OF_A_TEST"])
    ),
    "global": _global_name,
    "builtin": _builtin_name,
    "context variable": _context,
    "default of a parameter": _default,
    "module": _module,
    "__len__": lambda: _of_class(len, "__len__", lambda self: 2),
    "__bool__": lambda: _of_class(lambda value: 1 if value else 0, "__bool__", lambda self: False),
    "__eq__": lambda: _of_class(lambda value: 3 if value == 1 else 4, "__eq__", lambda self, other: True),
    "__hash__": lambda: _of_class(lambda value: 0 * hash(value), "__hash__", lambda self: 1 // 0),
    "__iter__": lambda: _of_class(sum, "__iter__", lambda self: iter([1, 2])),
    "__call__": lambda: _of_class(lambda value: 3 if callable(value) else 4, "__call__", lambda self: 2),
    "__getattr__": lambda: _of_class(lambda value: value.q, "__getattr__", lambda self, name: 2),
    "virtual subclass": lambda: _of_class(
        lambda value: 3 if isinstance(value, collections.abc.Iterable) else 4, "__iter__", lambda self: iter([])
    ),
}
ERRORS = (LookupError, AttributeError, ValueError, NameError, TypeError, ImportError, ZeroDivisionError)


def _run(case: Case, decorate: Callable[[Any], Any]) -> Iterator[float]:
    def told(x):
        try:
            return x * case.look()
        except ERRORS:
            return x - 1

    function = decorate(told)
    for change in (lambda: None, case.add, case.remove, case.add):
        change()
        for _ in range(3):
            yield float(function(Tensor(3.0)))
    case.remove()


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_appears_ends_what_was_compiled_without_it(case, mode):
    expected = list(_run(case(), lambda function: function))
    assert list(_run(case(), lambda function: jit(function, capture_mode=mode))) == expected


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_functions_of_one_code_may_lack_what_others_have(mode):
    def run(decorate, apply):
        for has_number in (False, False, True, True, False, True, True):
            if has_number:
                number = 5

            def scaled(x):
                try:
                    return x * number
                except NameError:
                    return x

            yield float(apply(Tensor(3.0), scaled)), float(decorate(scaled)(Tensor(3.0)))
            if has_number:
                del number

    def apply(x, function):
        return function(x)

    def decorate(function):
        return jit(function, capture_mode=mode)

    assert list(run(decorate, decorate(apply))) == list(run(lambda function: function, apply))
