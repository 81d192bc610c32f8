"""A launchable function is the function in front of it, until native code takes the call."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

from duograph.core.launchable import LAUNCHABLES, Launchable, launchable


def plain(a: int, b: int = 2) -> Any:
    """Two numbers."""
    return ("plain", a, b)


def positional(a: int, /, b: int) -> Any:
    return ("positional", a, b)


def named(a: int, *, b: int = 2, c: int) -> Any:
    return ("named", a, b, c)


def many(a: int, *rest: int, b: int = 2, **others: int) -> Any:
    return ("many", a, rest, b, others)


@pytest.mark.parametrize("function", [plain, positional, named, many], ids=lambda f: f.__name__)
def test_it_looks_like_the_function(function: Any) -> None:
    public = Launchable(function, weak_numbers=False).public
    assert inspect.signature(public) == inspect.signature(function)
    assert (
        inspect.signature(public, follow_wrapped=False).parameters.keys()
        == inspect.signature(function).parameters.keys()
    )
    for name in ("__name__", "__qualname__", "__module__", "__defaults__", "__kwdefaults__"):
        assert getattr(public, name) == getattr(function, name)
    assert (public.__doc__ or "").startswith(function.__doc__ or "")
    assert public.__code__.co_filename == function.__code__.co_filename
    assert inspect.getsource(public) == inspect.getsource(function)


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (plain, (1,), {}), (plain, (1,), {"b": 3}), (positional, (1,), {"b": 2}), (named, (1,), {"c": 3}),
        (many, (1, 2, 3), {"b": 4, "c": 5}),
    ],
)  # fmt: skip
def test_it_calls_the_function_or_what_stands_in(function: Any, args: Any, kwargs: Any) -> None:
    made = Launchable(function, weak_numbers=False)
    want = function(*args, **kwargs)
    assert made.public(*args, **kwargs) == want
    made.redirect(lambda *a, **k: ("native", function(*a, **k)))
    assert made.public(*args, **kwargs) == ("native", want)


def test_wrong_arguments_are_refused_as_ever() -> None:
    with pytest.raises(TypeError, match=r"named\(\) missing 1 required keyword-only argument: 'c'"):
        Launchable(named, weak_numbers=False).public(1)


def test_once_is_enough() -> None:
    before = len(LAUNCHABLES)
    once = launchable(plain)
    assert launchable(once) is once
    assert launchable(len) is len
    assert len(LAUNCHABLES) == before + 1


def test_public_functions_are_pickled_by_name() -> None:
    from duograph import mint, ops
    from duograph.api.public_ops import functions
    from duograph.mint.nn import functional

    shown = [*functions().items(), *[(n, getattr(home, n)) for home in (mint, functional) for n in home.__all__]]
    left = set()
    for name, function in shown:
        try:
            assert pickle.loads(pickle.dumps(function)) is function
        except pickle.PicklingError:
            left.add(name)
    assert ops.relu in dict(shown).values()
    assert left <= {"abs", "pow", "all", "any", "numel", "mm", "sqrt", "isnan_ext"}  # their files use these names
