"""Clocks that nobody looks at: the program is captured as a whole; where one is looked at, it is a step in Python."""

import logging
import time

from duograph import Tensor
from tests.conformance.harness import T, program

LOGGER = logging.getLogger("tests.conformance.clocks")  # warnings and more
BOTH = [(T([1.0, 2.0]),), (T([-1.0, -2.0]),), (T([3.0, -1.0]),)]


@program(calls=BOTH)
def a_time_that_is_dropped(x):
    began = time.time()
    y = x * 2
    del began
    return y


@program(calls=BOTH)
def a_duration_for_a_level_that_is_off(x):
    began = time.perf_counter()
    y = (x * x).tanh()
    LOGGER.debug("%.3f ms", 1e3 * (time.perf_counter() - began))
    return y


@program(calls=BOTH)
def times_on_some_paths(x):
    began = time.monotonic_ns()
    if x.sum() > 0:
        time.monotonic_ns() - began
        x = x + 1
    return x * 2


@program(calls=BOTH, captured=False)
def a_time_in_a_closure_and_a_dictionary(x):
    seen = {"began": time.time()}

    def elapsed():
        return time.time() - seen["began"]

    elapsed()
    return x * len(seen)


@program(calls=BOTH, captured=False)
def a_time_that_is_compared(x):
    began = time.time()
    y = (x * 2).tanh()
    if time.time() >= began - 3600:
        y = y + 1
    return y


@program(calls=BOTH, captured=False)
def a_time_that_is_a_number(x):
    began = time.perf_counter()
    return x * (int(began) * 0 + 2), isinstance(began, float), type(began) is float, began == began


@program(calls=BOTH, captured=False)
def a_time_that_an_operator_gets(x):
    return (x + time.time() * 0).sign()


@program(calls=BOTH, captured=False)
def a_time_that_is_shown(x):
    return x * min(1, len(f"{time.time():.2f}"))


@program(calls=BOTH)
def times_in_a_loop_of_tensors(x):
    last = time.time()
    while x.sum() < 10:
        last = time.time() - last
        x = x + 3
    return x


@program(calls=BOTH, captured=False)
def a_list_with_a_time(x):
    began = time.time()
    return x + Tensor([began]) * 0
