"""Containers and objects from outside that a compiled function puts into each other: the very objects, no copies."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor

MODES = [{}, {"jit_level": "O0"}, {"backend": "interpreter"}]
LOG: list = []
TABLE: dict = {}
ITEMS: list = []


class Box:
    pass


BOX = Box()


def holds_itself(x):
    LOG.append(LOG)
    return x + 1


def held_by_others(x):
    LOG.append(1)
    TABLE["log"] = LOG
    ITEMS.append(LOG)
    return x * 1


def hold_each_other(x):
    TABLE["items"] = ITEMS
    ITEMS.append(TABLE)
    return x


def on_one_path(x):
    TABLE["items"] = ITEMS
    ITEMS.append(2)
    if x.sum() > 2:
        LOG.append(TABLE)
    return x


def an_object_that_holds_itself(x):
    BOX.me = BOX
    BOX.log = LOG
    LOG.append(BOX)
    return x


def links():
    """Which of the objects hold which."""
    named = {"log": LOG, "table": TABLE, "items": ITEMS, "box": BOX}
    held = {"log": LOG, "table": list(TABLE.values()), "items": ITEMS, "box": list(vars(BOX).values())}
    return [
        (name, [next((n for n, o in named.items() if o is one), type(one).__name__) for one in values])
        for name, values in held.items()
    ]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [holds_itself, held_by_others, hold_each_other, on_one_path, an_object_that_holds_itself])
def test_links(f, mode):
    compiled = ms.jit(f, **mode)
    for value in (1.0, 5.0, 1.0, 1.0, 5.0, 1.0):
        shown = []
        for g in (f, compiled):
            LOG.clear(), TABLE.clear(), ITEMS.clear(), vars(BOX).clear()
            g(Tensor([value]))
            shown.append(links())
        assert shown[0] == shown[1]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_an_argument_that_holds_itself(mode):
    @ms.jit(**mode)
    def f(x, d):
        d["self"] = d
        d["log"] = LOG
        return d, x

    LOG.clear()
    for _ in range(4):
        d: dict = {}
        result, _ = f(Tensor([1.0]), d)
        assert result is d
        assert d["self"] is d
        assert d["log"] is LOG


# Generators that are dropped half-way --------------------------------------------------------------------------------


def cleaning(x, n):
    for a in range(n):
        try:
            yield x + a
        finally:
            LOG.append(a)


def first_only(x):
    return next(cleaning(x, 2))


def let_go_of(x):
    held = cleaning(x, 3)
    y = next(held)
    held = None
    LOG.append("later")
    return y


def zipped(x):
    for a, b in zip(cleaning(x, 3), [1]):
        x = x + a * b
    return x


def left_by_an_exception(x):
    held = cleaning(x, 3)
    next(held)
    raise KeyError(1)


def closed(x):
    held = cleaning(x, 3)
    y = next(held)
    held.close()
    LOG.append("later")
    return y


def left_by_break(x):
    for y in cleaning(x, 3):
        if y.shape[0] > 1:
            break
    LOG.append("later")
    return y


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [first_only, let_go_of, zipped, left_by_an_exception, closed, left_by_break])
def test_generators_clean_up_when_python_drops_them(f, mode):
    compiled = ms.jit(f, **mode)
    for _ in range(3):
        shown = []
        for g in (f, compiled):
            LOG.clear()
            try:
                result = g(Tensor([1.0, 2.0])).tolist()
            except KeyError:
                result = "KeyError"
            shown.append((result, list(LOG)))
        assert shown[0] == shown[1]
    assert bool(compiled.explain().fallbacks) == (f not in (closed, left_by_break))


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_container_that_has_held_itself_before(mode):
    def f(x):
        LOG.append(2)
        return x * len(LOG), LOG[0]

    for g in (f, ms.jit(f, **mode)):
        LOG.clear()
        LOG.append(LOG)
        for n in (2.0, 3.0, 4.0):
            y, first = g(Tensor([1.0]))
            assert y.tolist() == [n]
            assert first is LOG is LOG[0]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_texts_known_at_run_time_as_keys(mode):
    def f(x):
        return {str(x.sum()): x, "a": 1}, {f"{x.sum()}"}, {1: 2}.get(str(x.sum()), 3)

    compiled = ms.jit(f, **mode)
    for value in (1.0, 2.0, 1.0):
        assert str(compiled(Tensor([value]))) == str(f(Tensor([value])))
    assert "only known at run time" in str(compiled.explain().fallbacks[0])
