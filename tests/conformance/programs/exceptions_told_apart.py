"""Which exception it is, what it tells, and who is asked on its way: what ends a capture is not the program's, and
what the program raises does not end a capture."""

import contextlib
import enum
import functools
import sys
import traceback
from typing import Any, Optional, Union

import duograph as ms
from tests.conformance.harness import T, program

X, P = T([1.0]), T([1.0, 2.0])


class Stop(BaseException):
    pass


# Exceptions that are no Exception ---------------------------------------------------------------------------------


@program(calls=[(X, []), (X, []), (P, [])], captured=False)
def base_exception_on_a_path_that_is_not_taken(x, log):
    log.append(1)
    print("hi")
    try:
        if x.sum() > 1:
            raise Stop(x)
    except Stop:
        return x * 5
    return x * 2


@program(calls=[(X, k, []) for k in (0, 1, 2, 3, 1)], captured=False)
def base_exceptions_are_caught(x, k, log):
    try:
        try:
            log.append("a")
            if k == 1:
                raise Stop(k)
            if k == 2:
                raise KeyboardInterrupt
            if k == 3:
                sys.exit(3)
        finally:
            log.append("fin")
    except Stop as e:
        return x * 5, e.args
    except SystemExit as e:
        return x * 6, e.code
    except:  # noqa: E722
        return x * 7, k
    return x * 2, k


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, kind, exc, trace):
        return True


@program(calls=[(X, [])] * 2, captured=False)
def context_swallows_system_exit(x, log):
    with Swallowing():
        raise SystemExit
    log.append("after")
    return x * 2


def _closed(log):
    try:
        yield 1
    except GeneratorExit:
        log.append("exit")
        raise
    finally:
        log.append("fin")


@program(calls=[(X, [])] * 2)
def generator_is_closed(x, log):
    it = _closed(log)
    v = next(it)
    it.close()
    log.append("end")
    return x * v


@program(calls=[(X, [])] * 2)
def generator_with_a_handler_is_left(x, log):
    for v in _closed(log):
        x = x + v
        break
    log.append("end")
    return x


def _goes_on(log):
    with Swallowing():
        yield 1
    log.append("after")


@program(calls=[(X, [])] * 2, captured=False)
def generator_goes_on_after_it_is_closed(x, log):
    it = _goes_on(log)
    next(it)
    it.close()
    return x


def _handles(log):
    try:
        yield 1
    except ValueError:
        log.append("handled")


@program(calls=[(X, k, []) for k in (0, 1, 2, 0)], captured=False)
def exceptions_thrown_into_a_generator(x, k, log):
    it = _handles(log)
    next(it)
    try:
        it.throw((ValueError(), KeyboardInterrupt(), GeneratorExit())[k])
    except BaseException as e:  # noqa: BLE001
        log.append(type(e).__name__)
    return x


# Contexts made by generators --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _context(log, n=1):
    log.append(f"in {n}")
    try:
        yield n
    except KeyError:
        log.append("swallowed")
    finally:
        log.append("out")


_NOTES: list[Any] = []


@_context(_NOTES)
def _decorated(x):
    return x * 2


@program(calls=[(X,)] * 2, captured=False)
def context_of_a_generator_as_a_decorator(x):
    return _decorated(x) + len(_NOTES) * 0


class _Both(contextlib.ContextDecorator):
    def __enter__(self):
        print("in")

    def __exit__(self, *exc):
        print("out")


@_Both()
def _decorated_too(x):
    return x * 2


@program(calls=[(X,)] * 2, captured=False)
def context_decorator(x):
    return _decorated_too(x) + 1


@program(calls=[(X, [])] * 2, captured=False)
def context_is_entered_by_hand(x, log):
    m = _context(log, 2)
    v = m.__enter__()
    m.__exit__(None, None, None)
    return x * v


@program(calls=[(X, [])] * 2, captured=False)
def context_is_entered_twice(x, log):
    m = _context(log, 2)
    with m:
        x = x + 1
    try:
        with m:
            x = x + 1
    except Exception as e:  # noqa: BLE001
        log.append(type(e).__name__)
    return x, isinstance(m, contextlib.AbstractContextManager), type(m).__name__


@program(calls=[(X, []), (-X, []), (X, [])], captured=False)
def context_is_made_before_a_branch(x, log):
    m = _context(log, 2)
    if x.sum() > 0:
        with m as v:
            y = x * v
    else:
        with m as v:
            y = x + v
    return y


@program(calls=[(X, k, []) for k in (0, 1, 2, 3)])
def contexts_are_left_by_exceptions(x, k, log):
    try:
        with _context(log):
            if k:
                raise (StopIteration, KeyError, RuntimeError)[k - 1]("q")
            log.append("body")
    except StopIteration:
        log.append("stop")
    except RuntimeError as e:
        log.append(e.args)
    return x


# Definitions ------------------------------------------------------------------------------------------------------


def _noted(log, what):
    log.append(what)
    return what


def _decorator(log, name):
    log.append(f"eval {name}")

    def decorate(fn):
        log.append(f"apply {name}")
        return fn

    return decorate


@program(calls=[(X, [])] * 2)
def parts_of_a_definition_in_order(x, log):
    @_decorator(log, "a")
    @_decorator(log, "b")
    def g(
        p: _noted(log, 1) = _noted(log, "d"), /, q: _noted(log, 2) = 2, *r: _noted(log, 3), k: _noted(log, 4) = 3
    ) -> _noted(log, 5):
        return q * k

    return x * g()


@program(calls=[(X,)] * 2)
def annotation_that_is_not_defined(x):
    try:

        def g(v: undefined_name):  # noqa: F821
            return v
    except NameError as e:
        return x * 3, e.name
    return x * g(2)


class _Kind:
    a = 1


@program(calls=[(X, 2)])
def annotations_of_typing(x, n):
    def g(
        a: Optional[ms.Tensor],  # noqa: UP007, UP045
        b: "text" = 1,  # noqa: F821
        c: ms.Tensor | None = None,
        *d: tuple[int, ...],
        e: Union[int, str] = 2,  # noqa: UP007
        f: _Kind | None = None,
        **g: dict[str, Any],
    ) -> list[ms.Tensor]:
        return [a * e]

    return g(x), g(x, e=n)


@program(calls=[(X, [], _Kind())] * 2)
def annotated_targets(x, log, obj):
    (_noted(log, obj)).a: int  # noqa: B032
    return x * len(log)


def _counted(log):
    def decorate(fn):
        @functools.wraps(fn)
        def counted(*args):
            log.append(fn.__name__)
            return fn(*args) * 2

        return counted

    return decorate


def _tagged(x):
    return x * 3


_tagged.tag = 4


@program(calls=[(X, [])] * 2)
def wraps_of_functions_inside(x, log):
    @_counted(log)
    @_counted(log)
    def g(v):
        return v + 1

    h = _counted(log)(_tagged)
    return g(x), g.__name__, g.__wrapped__(x), h(x), h.tag, h.__wrapped__ is _tagged


@program(calls=[(X, [])] * 2, captured=False)
def wraps_of_a_function_with_attributes(x, log):
    def g(v):
        return v + 1

    g.tag = 5
    h = _counted(log)(g)
    return h(x), h.tag


# Names of except clauses ------------------------------------------------------------------------------------------

_e = 1


@program(calls=[(X, 0), (X, 1), (X, 0)], _e=1)
def except_clause_with_a_global_name(x, k):
    global _e
    _e = 3
    try:
        if k:
            raise ValueError("q")
    except ValueError as _e:
        return x, _e.args
    return x, _e


@program(calls=[(X,)] * 2, captured=False)
def except_clause_with_a_nonlocal_name(x):
    e = 3

    def g():
        nonlocal e
        try:
            raise ValueError
        except ValueError as e:
            pass

    g()
    try:
        return x, e
    except NameError:
        return x, "no name"


# StopIteration ----------------------------------------------------------------------------------------------------


@program(calls=[(X, k) for k in (0, 1, 2, 3, 0)])
def stop_iteration_in_comprehensions(x, k):
    it = iter([1, 2])
    try:
        if k == 0:
            return x, [next(it) for _ in range(3)]
        if k == 1:
            return x, {next(it) for _ in range(1) for _ in range(3)}
        if k == 2:
            return x, {i: next(it) for i in range(3)}
        return x, list(next(it) for _ in range(3))
    except StopIteration:
        return x, "stop"
    except RuntimeError as e:
        return x, str(e)


@program(calls=[(X,)] * 2)
def stop_iteration_of_a_called_iterator(x):
    it = iter([1, 2, 3])
    return x, list(iter(lambda: next(it), None)), list(iter(lambda: 2, 2))


def _takes(it, log):
    try:
        while True:
            v = next(it)
            yield v
    except StopIteration:
        log.append("stop")


def _is_taken(it):
    found = True
    while found:
        yield 1
        found = next(it)


@program(calls=[(X,)] * 2)
def stop_iteration_in_generators(x):
    found = []
    found += list(_takes(iter([1, 2]), found))
    try:
        list(_is_taken(iter([1])))
    except RuntimeError as e:
        found.append((str(e), type(e.__cause__).__name__))
    return x, found


@program(calls=[(X, [])] * 2)
def comprehension_of_keys_that_cannot_be(x, log):
    try:
        return x, {_noted(log, k): 1 for k in ("a", [], "b")}
    except TypeError:
        return x, log


# Texts ------------------------------------------------------------------------------------------------------------


class _Told(Exception):
    def __repr__(self):
        return "R"


class _Word(str):
    def __repr__(self):
        return "R"


class _Number(enum.IntEnum):
    ONE = 1

    def __repr__(self):
        return "R"


@program(calls=[(X,)] * 2, captured=False)
def texts_of_classes_that_only_have_a_repr(x):
    print(_Told("q"), _Word("w"), _Number.ONE)
    return x, str(_Told("q")), f"{_Told('q')} {_Told('q')!r}", str(_Word("w")), str(_Number.ONE), f"{_Number.ONE}"


class _Named:
    def __str__(self):
        return "abc"


@program(calls=[(X,)] * 2, captured=False)
def format_specifications_of_a_class_with_str(x):
    try:
        return x, f"{_Named():>10}"
    except TypeError as e:
        return x, str(e), f"{_Named()} {_Named()!s:>5}"


@program(calls=[(X,), (P,)])
def exception_with_a_tensor_is_printed(x):
    print(ValueError(x), [KeyError("a")], ValueError(x.sum().item()))
    return x


@program(calls=[(X, k) for k in (0, 1, 0)], captured=False)
def mappings_that_are_none(x, k):
    def g(**kw):
        return x

    try:
        return g(**5) if k else {**5}
    except TypeError as e:
        return x * 2, str(e).rpartition(".")[2]


# What exceptions tell ---------------------------------------------------------------------------------------------


class _Any(type):
    def __instancecheck__(cls, obj):
        return True


class _Caught(Exception, metaclass=_Any):
    pass


@program(calls=[(X,)] * 2)
def except_clause_asks_no_metaclass(x):
    try:
        raise ValueError("v")
    except _Caught:
        return x * 3
    except ValueError:
        return x * 5


@program(calls=[(X,)] * 2, captured=False)
def traceback_of_a_caught_exception(x):
    try:
        raise ValueError("a")
    except ValueError as e:
        trace = e.__traceback__
        told = trace.tb_frame.f_code.co_name, trace.tb_next is None, "traceback_of" in traceback.format_exc()
    return x, told, sys.exc_info()[2] is None


@program(calls=[(X, _Kind())] * 2)
def names_of_errors(x, obj):
    told = []
    try:
        obj.zz  # noqa: B018
    except AttributeError as e:
        told.append((e.name, e.obj is obj, str(e)))
    try:
        undefined_name  # noqa: B018, F821
    except NameError as e:
        told.append((e.name, str(e)))
    try:
        later  # noqa: B018, F821
        later = 1
    except UnboundLocalError as e:
        told.append((e.name, str(e)))
    try:
        del obj.zz
    except AttributeError as e:
        told.append((e.name, str(e)))
    return x, told


KEPT: list[Any] = []


@program(calls=[(X, k) for k in (0, 0, 0, 1)], captured=False, KEPT=[])
def new_exceptions_are_new_in_every_call(x, k):
    if k:
        told = [a is b for a, b in zip(KEPT[0], KEPT[-1], strict=True)], KEPT[0][0].args
        KEPT.clear()
        return x, told
    KEPT.append((ValueError("a", x), KeyError("b"), object()))
    return x


@program(calls=[(X,), (P,)])
def new_exceptions_are_returned(x):
    e = ValueError("a", x)
    return x, e, [e, KeyError(1), StopIteration(x), AttributeError("b", name="c")], e.args


@program(calls=[(X, k) for k in (0, 1, 2, 0)], captured=False)
def exceptions_that_were_raised_are_returned(x, k):
    e = ValueError("q")
    if k == 1:
        e.code = 5
    if k == 2:
        try:
            raise e
        except ValueError as caught:
            return x, caught.args, caught
    return x, e.args, e


class _Holding:
    bounds = slice(1, 2)


@program(calls=[(X, k, _Holding()) for k in (0, 1, 2)])
def functions_with_values_of_the_program_leave_it(x, k, obj):
    items = {"a": x * 2}
    if k == 0:
        return x, items.get, obj.bounds
    if k == 1:
        return functools.partial(max, x * 2, key=len), slice(x * 2, [1])
    return x, (x * 2).sum, obj.bounds


@program(calls=[(X, k) for k in (0, 1, 0, 1)], captured=False, KEPT=[])
def functions_and_views_keep_values_of_their_call(x, k):
    if k:
        told = [v() if callable(v) else list(v) for v in KEPT]
        KEPT.clear()
        return x, told
    items = {"a": x * 2}
    KEPT.extend([items.values(), items.keys(), items.copy, (x * 2).sum, functools.partial(int, x.sum())])
    return x


# Order ------------------------------------------------------------------------------------------------------------


def _made_one_by_one(log):
    for i in (1, 3, 2):
        log.append(("made", i))
        yield i


def _key(log):
    def key(v):
        log.append(("asked", v))
        return -v

    return key


@program(calls=[(X, [])] * 2)
def keys_are_asked_one_by_one(x, log):
    return x * max(_made_one_by_one(log), key=_key(log)) + min(_made_one_by_one(log), key=_key(log))


class _Noting:
    def __init__(self, log, n):
        self.log, self.n = log, n

    def __iter__(self):
        self.log.append("begins")
        for i in range(self.n):
            self.log.append(i)
            yield i


class _Looking:
    def __init__(self, into):
        self.into = into

    def __iter__(self):
        yield 1
        yield len(self.into)
        raise ValueError


@program(calls=[(X, [])] * 2, captured=False)
def set_is_updated_by_one_after_the_other(x, log):
    found = set()
    found.update(_Noting(log, 2), _Noting(log, 3))
    return x, len(found)


@program(calls=[(X, [])] * 2)
def list_is_extended_until_one_is_raised(x, found):
    try:
        found.extend(_Looking(found))
    except ValueError:
        found.append("error")
    return x * len(found)
