"""Exceptions: raised, caught, chained, and what was done before them."""

import contextlib

import pytest

import duograph as ms
from duograph import Tensor, ops
from tests.unit.frontend.cases import Cases, name_of

case = Cases()
LOG = []


@case(LOG=[])
def exception_mid_effects(x):
    LOG.append(1)
    try:
        LOG.append(2)
        if x.sum() > 0:
            raise ValueError("no")
        LOG.append(3)
    except ValueError as e:
        LOG.append(str(e))
    finally:
        LOG.append(4)
    return x


@case(LOG=[])
def exception_out_after_effects(x):
    LOG.append(1)
    x.add_(1)
    if x.sum() > 0:
        raise ValueError("bad", 3)
    LOG.append(2)
    return x


@case()
def exception_message_with_value(x):
    if x.sum() > 0:
        raise ValueError(f"sum {x.sum()} of {x}")
    return x


class MyErr(Exception):
    def __init__(self, v, extra):
        super().__init__(f"my {extra}")
        self.v = v
        LOG.append(extra)


@case(LOG=[])
def user_exception(x):
    try:
        if x.sum() > 0:
            raise MyErr(x * 2, 3)
        return x
    except MyErr as e:
        return e.v, str(e), e.args


@case(LOG=[])
def user_exception_escapes_error(x):
    if x.sum() > 0:
        raise MyErr(x * 2, 3)
    return x


@case()
def exception_chain(x):
    try:
        try:
            if x.sum() > 0:
                raise ValueError("a")
            raise KeyError("b")
        except ValueError as e:
            raise TypeError("c") from e
    except TypeError as e:
        return str(e), str(e.__cause__), x
    except KeyError as e:
        return str(e), e.args, x


@case()
def reraise(x):
    log = []
    try:
        try:
            if x.sum() > 0:
                raise ValueError("a")
        except ValueError:
            log.append(1)
            raise
        else:
            log.append(2)
    except Exception as e:  # noqa: BLE001
        log.append(type(e).__name__)
    return log, x


@case()
def exception_in_function_in_branch(x):
    def check(v):
        if v.sum() > 0:
            raise ValueError("positive")
        return v

    try:
        return check(x)
    except ValueError:
        return x * 10


@case()
def assert_error(x):
    assert x.sum() < 0, f"sum is {x.sum()}"
    return x


@case()
def index_error(x):
    try:
        return x[5]
    except IndexError:
        return x


@case()
def shape_error(x):
    try:
        return x + ops.ones((3,))
    except ValueError as e:
        return x


@case()
def type_errors(x):
    out = []
    for f in (
        lambda: x + "a",
        lambda: len(3),
        lambda: None + x,
        lambda: x.foo,
        lambda: [][len(out)],
        lambda: {}["k"],
        lambda: int("z"),
    ):
        try:
            f()
        except Exception as e:  # noqa: BLE001
            out.append(type(e).__name__)
    return out, x


@case()
def unpack_error(x):
    try:
        a, b, c = x
    except ValueError as e:
        return str(e)


@case()
def del_local(x):
    y = x * 2
    del y
    try:
        return y  # noqa: F821
    except UnboundLocalError as e:
        return str(e)


@contextlib.contextmanager
def ctx(log):
    log.append("in")
    try:
        yield len(log)
    except ValueError:
        log.append("caught")
    finally:
        log.append("out")


@case()
def context_managers(x):
    log = []
    with ctx(log) as n, ctx(log):
        if x.sum() > 0:
            raise ValueError("x")
        log.append("body")
    return log, n, x


class CM:
    def __init__(self):
        self.log = []

    def __enter__(self):
        self.log.append(1)
        return self

    def __exit__(self, t, v, tb):
        self.log.append(t is None)
        return t is KeyError


@case()
def class_context_return(x):
    c = CM()

    def f():
        with c as k:
            for i in range(3):
                with c:
                    if x.sum() > 0:
                        return x * i
                    raise KeyError
        return x

    return f(), c.log


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()


def saved(x):
    try:
        while x.sum() < 9:
            x = x * 2
    except (ValueError, KeyboardInterrupt):
        return "interrupted"
    return x


def saved_from_anything(x):
    try:
        while x.sum() < 9:
            x = x * 2
    except:  # noqa: E722
        return "interrupted"
    return x


def saved_from_errors(x):
    try:
        while x.sum() < 9:
            x = x * 2
    except (ValueError, ArithmeticError):
        return "an error"
    return x


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("fn", [saved, saved_from_anything, saved_from_errors])
def test_what_catches_interrupts_is_around_a_loop_in_python(fn, mode):
    compiled = ms.jit(fn, capture_mode=mode)
    for n in (1.0, 2.0, 20.0):
        assert compiled(Tensor([n])).tolist() == fn(Tensor([n])).tolist()
    cut = [str(b) for b in compiled.explain().breaks]
    assert any("interruption by Ctrl-C" in b for b in cut) == (fn is not saved_from_errors and mode != "trace")
