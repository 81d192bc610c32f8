"""Readable things: contexts, references, registries, replaced functions of the standard library."""

from __future__ import annotations

import abc
import ast as syntax
import asyncio
import collections.abc
import contextlib
import contextvars
import copyreg
import decimal
import fnmatch
import functools
import gc
import hashlib
import inspect
import io
import itertools
import json
import linecache
import locale
import logging
import math
import mimetypes
import operator
import pickle
import re
import string
import sys
import textwrap
import threading
import types
import typing
import urllib.parse
import uuid
import warnings
import weakref

from .readable import attribute, calling, item, nothing, reads, setting

VARIABLE = contextvars.ContextVar("variable", default=2)
LOGGER = logging.getLogger("readable")
LOCALE = locale.setlocale(locale.LC_ALL)


class Held:
    v = 3


HELD = Held()
REFERENCE = weakref.ref(HELD)
PROXY = weakref.proxy(HELD)
WEAK_VALUES = weakref.WeakValueDictionary({"a": HELD})


# -- contexts ----------------------------------------------------------------------------------------------------------


def _precision(n):
    decimal.getcontext().prec = n


@reads(calling(lambda: _precision(3), lambda: _precision(28)))
def precision_of_decimals(x):
    return x, str(decimal.Decimal(1) / 3)


@reads(calling(lambda: _precision(3), lambda: _precision(28)))
def precision_of_a_sum(x):
    return x, float(sum([decimal.Decimal("1.2345"), decimal.Decimal("2.3456")]))


@reads(calling(lambda: _precision(3), lambda: _precision(28)))
def precision_of_a_method(x):
    return x, str(decimal.Decimal(2).sqrt())


@reads(calling(lambda: _precision(3), lambda: _precision(28)))
def precision_in_the_context(x):
    return x * decimal.getcontext().prec


TWO = decimal.Decimal(2)


@reads(calling(lambda: _precision(3), lambda: _precision(28)))
def precision_of_a_unary_operator(x):
    return x, str(-decimal.Decimal("1.23456789"))


@reads(calling(lambda: _precision(3), lambda: _precision(28)))
def precision_of_an_outside_decimal(x):
    return x, str(TWO / 3), str(TWO**0.5 if False else TWO.sqrt())


@reads(calling(lambda: VARIABLE.set(9), lambda: VARIABLE.set(2)))
def context_variable(x):
    return x * VARIABLE.get()


@reads(calling(lambda: VARIABLE.set(9), lambda: VARIABLE.set(2)))
def copied_context(x):
    return x * contextvars.copy_context().get(VARIABLE, 1)


@reads(calling(lambda: LOGGER.setLevel(10), lambda: LOGGER.setLevel(0)))
def level_of_a_logger(x):
    return x * (2 if LOGGER.isEnabledFor(10) else 1)


@reads(calling(lambda: LOGGER.setLevel(10), lambda: LOGGER.setLevel(0)))
def level_attribute_of_a_logger(x):
    return x * (1 + LOGGER.level)


@reads(calling(lambda: logging.disable(50), lambda: logging.disable(0)))
def logging_disabled(x):
    return x * LOGGER.getEffectiveLevel() * (1 + logging.root.manager.disable)


@reads(calling(lambda: warnings.simplefilter("error"), warnings.resetwarnings))
def filters_of_warnings(x):
    return x * len(warnings.filters)


@reads(setting(lambda: locale.setlocale(locale.LC_ALL), lambda name: locale.setlocale(locale.LC_ALL, name), "C.UTF-8"))
def present_locale(x):
    return x, locale.setlocale(locale.LC_ALL)


@contextlib.contextmanager
def one_thread_more():
    is_over = threading.Event()
    thread = threading.Thread(target=is_over.wait)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@reads(one_thread_more, by_itself=threading.active_count)  # those of earlier tests end
def number_of_threads(x):
    return x * threading.active_count()


@reads(attribute(threading.current_thread(), "name", "another"))
def name_of_the_thread(x):
    return x * len(threading.current_thread().name)


LOCAL = threading.local()
LOCAL.value = 2


@reads(attribute(LOCAL, "value", 5))
def local_of_the_thread(x):
    return x * LOCAL.value


LOCK = threading.Lock()


@reads(calling(LOCK.acquire, LOCK.release))
def lock_is_held(x):
    return x * (2 if LOCK.locked() else 1)


EVENT = threading.Event()


@reads(calling(EVENT.set, EVENT.clear))
def event_is_set(x):
    return x * (2 if EVENT.is_set() else 1)


@reads(calling(re.purge))
def compiled_pattern(x):
    return x * len(re.findall("a", "banana"))


# -- references, registries, replaced functions ------------------------------------------------------------------------


@reads(attribute(HELD, "v", 5))
def object_behind_a_weak_reference(x):
    return x * REFERENCE().v


@reads(attribute(HELD, "v", 5))
def object_behind_a_proxy(x):
    return x * PROXY.v


@reads(attribute(HELD, "v", 5))
def object_in_a_weak_dictionary(x):
    return x * WEAK_VALUES["a"].v


class Lost:
    pass


LOST = [Lost()]
LOST_REFERENCE = weakref.ref(LOST[0])


def _lose():
    LOST[0] = None
    gc.collect()


@reads(calling(_lose))
def reference_that_dies(x):
    return x * (1 if LOST_REFERENCE() is None else 2)


@reads(attribute(math, "sin", math.cos))
def function_of_math_replaced(x):
    return x * math.sin(0.5)


@reads(attribute(math, "pi", 3.0))
def constant_of_math_replaced(x):
    return x * math.pi


@reads(attribute(math, "mine", 3.0))
def constant_of_math_that_appears(x):
    return x * getattr(math, "mine", 2.0)


@reads(attribute(operator, "add", operator.mul))
def operator_replaced(x):
    return x * operator.add(3, 4)


@reads(attribute(functools, "reduce", lambda *a: 9))
def reduce_replaced(x):
    return x * functools.reduce(lambda a, b: a + b, [1, 2, 3])


@reads(attribute(itertools, "chain", zip))
def chain_replaced(x):
    return x * len(list(itertools.chain([1, 2], [3, 4])))


@reads(attribute(json, "dumps", lambda v: "mine"))
def json_replaced(x):
    return x, json.dumps([1])


@reads(attribute(re, "sub", lambda *a: "mine"))
def regular_expression_replaced(x):
    return x, re.sub("a", "b", "abc")


@reads(attribute(textwrap, "dedent", lambda t: "mine"))
def dedent_replaced(x):
    return x, textwrap.dedent("  a")


@reads(attribute(string, "ascii_letters", "abc"))
def letters_replaced(x):
    return x * len(string.ascii_letters)


@reads(attribute(copyreg, "dispatch_table", {}))
def registry_of_pickle(x):
    return x * (1 + len(copyreg.dispatch_table))


class Registered(abc.ABC):  # noqa: B024
    pass


class Candidate:
    pass


CANDIDATE = Candidate()


@reads(calling(lambda: Registered.register(Candidate)))
def registration_with_an_abstract_class(x):
    return x * (2 if isinstance(CANDIDATE, Registered) else 1)


class Sized:
    pass


class Candidate2:
    pass


CANDIDATE2 = Candidate2()


@reads(calling(lambda: collections.abc.Sequence.register(Candidate2)))
def registration_of_a_sequence(x):
    return x * (2 if isinstance(CANDIDATE2, collections.abc.Sequence) else 1)


@reads(attribute(Candidate, "__len__", lambda self: 3))
def class_that_becomes_sized(x):
    return x * (2 if isinstance(CANDIDATE, collections.abc.Sized) else 1)


class Family:
    pass


@reads(
    calling(
        lambda: globals().update(CHILD=type("Child", (Family,), {})), lambda: (globals().pop("CHILD"), gc.collect())
    )
)
def subclasses_of_a_class(x):
    return x * (1 + len(Family.__subclasses__()))


@functools.singledispatch
def dispatched(v):
    return 1


@reads(calling(lambda: dispatched.register(int, lambda v: 5)))
def registration_of_an_implementation(x):
    return x * dispatched(3)


CACHE_SCALE = 3


@functools.lru_cache
def cached(n):
    return n * CACHE_SCALE


@reads(item(globals(), "CACHE_SCALE", 5), calling(cached.cache_clear))
def cached_function(x):
    return x * cached(2)


@reads(
    calling(lambda: globals().update(CACHE_SCALE=7) or cached.cache_clear(), lambda: globals().update(CACHE_SCALE=3))
)
def cached_function_after_clearing(x):
    return x * cached(2)


@reads(calling(lambda: cached(77)))
def size_of_a_cache(x):
    return x * (1 + cached.cache_info().currsize)


@reads(calling(lambda: linecache.cache.update({"mine": (1, None, [], "mine")}), lambda: linecache.cache.pop("mine")))
def cache_of_lines(x):
    return x * ("mine" in linecache.cache)


@reads(calling(lambda: mimetypes.add_type("mine/x", ".mine")))
def known_types_of_files(x):
    return x, mimetypes.guess_type("a.mine")[0]


MODULE = types.ModuleType("a_module")
MODULE.value = 3


@reads(attribute(MODULE, "value", 5))
def attribute_of_a_made_module(x):
    return x * MODULE.value


LAZY = types.ModuleType("a_lazy_module")
LAZY_VALUES = {"value": 3}
LAZY.__getattr__ = lambda name: LAZY_VALUES[name]


@reads(item(LAZY_VALUES, "value", 5))
def attribute_that_a_module_computes(x):
    return x * LAZY.value


SPACE = types.SimpleNamespace(value=3)


@reads(attribute(SPACE, "value", 5))
def attribute_of_a_namespace(x):
    return x * SPACE.value


VIEWED = {"a": 3}
PROXY_OF_DICT = types.MappingProxyType(VIEWED)


@reads(item(VIEWED, "a", 5))
def item_of_a_mapping_proxy(x):
    return x * PROXY_OF_DICT["a"]


@reads(item(VIEWED, "b", 5))
def length_of_a_mapping_proxy(x):
    return x * len(PROXY_OF_DICT)


@reads(attribute(Held, "w", 5))
def names_of_a_class(x):
    return x * len(vars(Held))


@reads(attribute(Held, "w", 5))
def dictionary_of_a_class(x):
    return x * len(Held.__dict__)


@reads(attribute(HELD, "w", 5))
def names_of_an_object(x):
    return x * len(dir(HELD))


@reads(attribute(HELD, "w", 5))
def dictionary_of_an_object(x):
    return x * len(HELD.__dict__)


@reads(attribute(HELD, "w", 5))
def variables_of_an_object(x):
    return x * len(vars(HELD))


@reads(item(globals(), "a_new_global", 5))
def names_of_globals(x):
    return x * ("a_new_global" in globals())


def documented():
    """Text."""


@reads(attribute(documented, "__doc__", "other"), attribute(documented, "__name__", "other"))
def documentation_of_a_function(x):
    return x, documented.__doc__, documented.__name__


@reads(attribute(documented, "__annotations__", {"a": int}))
def annotations_of_a_function(x):
    return x * (1 + len(documented.__annotations__))


@reads(attribute(documented, "__annotations__", {"a": int}))
def type_hints_of_a_function(x):
    return x * (1 + len(typing.get_type_hints(documented)))


def with_default(a=1):
    return a


@reads(attribute(with_default, "__defaults__", (5,)))
def signature_of_a_function(x):
    return x * inspect.signature(with_default).parameters["a"].default


@reads(attribute(with_default, "__defaults__", (5,)))
def default_of_a_function(x):
    return x * with_default()


@reads(attribute(with_default, "__defaults__", None), attribute(with_default, "__defaults__", (5, 6)))
def whether_a_parameter_has_a_default(x):
    return x * with_default()


@reads(attribute(with_default, "__defaults__", None))
def default_that_is_not_needed(x):
    return x * with_default(3)


def without_default(a, *, b):
    return a + b


@reads(attribute(without_default, "__defaults__", (5,)), attribute(without_default, "__kwdefaults__", {"b": 7, "c": 1}))
def defaults_that_a_function_did_not_have(x):
    return x * without_default(1, b=2) + without_default(**({} if without_default.__defaults__ else {"a": 1}), b=3)


@reads(attribute(with_default, "__code__", (lambda a=1: a + 3).__code__))
def code_of_a_function(x):
    return x * with_default()


HUGE = 10**700


@contextlib.contextmanager
def _fewer_digits():
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


@reads(_fewer_digits)
def digits_that_a_text_may_have(x):
    return x * len(str(HUGE)), len("%d" % HUGE), len(f"{[HUGE]}")


@reads(_fewer_digits)
def digits_that_a_number_is_read_from(x):
    return x * (int("1" * 700) % 7)


class Documented:
    """Text."""


@reads(attribute(Documented, "__doc__", "other"), attribute(Documented, "__name__", "Other"))
def documentation_of_a_class(x):
    return x, Documented.__doc__, Documented.__name__


@reads(nothing)
def address_of_an_object(x):
    return x * (id(HELD) == id(HELD))


BUFFER = io.StringIO("abcdef")


@reads(calling(lambda: BUFFER.read(2)))
def position_in_a_buffer(x):
    return x * (1 + BUFFER.tell())


@reads(calling(lambda: BUFFER.write("xyz")))
def text_of_a_buffer(x):
    return x * len(BUFFER.getvalue())


HASH = hashlib.sha256()


@reads(calling(lambda: HASH.update(b"more")))
def state_of_a_digest(x):
    return x, HASH.hexdigest()


@reads(attribute(uuid, "uuid4", lambda: 4))
def unique_number(x):
    return x * (1 if uuid.uuid4() == 4 else 2)


@reads(attribute(fnmatch, "fnmatch", lambda *a: False))
def matching_of_names(x):
    return x * (1 + fnmatch.fnmatch("a", "*"))


@reads(attribute(urllib.parse, "quote", lambda t: "mine"))
def quoting(x):
    return x, urllib.parse.quote("a b")


@reads(attribute(syntax, "literal_eval", lambda t: 3))
def literals(x):
    return x * syntax.literal_eval("2")


@reads(attribute(pickle, "DEFAULT_PROTOCOL", 2))
def pickled(x):
    return x * pickle.DEFAULT_PROTOCOL


@reads(nothing)
def running_loop(x):
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return x * 2
    return x
