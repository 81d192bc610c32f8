"""Readable things: NumPy, installed packages, this package."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops

from .readable import another_second, attribute, calling, item, reads, second

ARRAY = np.array([1.0, 2.0], np.float32)
ARRAYS = [ARRAY]
RECORD = {"a": ARRAY}
ROW = np.arange(3)


@reads(item(ARRAYS[0].reshape(-1).tolist(), 0, 5.0), calling(lambda: ARRAY.fill(7), lambda: ARRAY.fill(1)))
def array(x):
    return x * float(ARRAY.sum())


array_changed = calling(lambda: ARRAY.fill(7), lambda: ARRAY.fill(1))


@reads(array_changed)
def array_as_a_tensor(x):
    return x * Tensor(ARRAY)


@reads(array_changed)
def array_converted(x):
    return x * Tensor.from_numpy(ARRAY)


@reads(array_changed)
def array_in_a_list(x):
    return x * float(np.stack(ARRAYS).sum())


@reads(array_changed)
def array_in_a_list_made_here(x):
    return x * float(np.stack([ARRAY, ARRAY]).sum())


@reads(array_changed)
def array_in_a_list_as_tensor(x):
    return x * Tensor([ARRAY, ARRAY]).sum()


@reads(array_changed)
def array_in_a_dict(x):
    return x * RECORD["a"][0]


@reads(array_changed)
def array_indexed(x):
    return x * float(ARRAY[0])


@reads(array_changed)
def array_iterated(x):
    for v in ARRAY:
        x = x * float(v)
    return x


@reads(array_changed)
def array_in_builtins(x):
    return x * float(sum(ARRAY)), float(max(ARRAY)), len(list(ARRAY)), list(ARRAY)[0] > 2


@reads(array_changed)
def array_contains(x):
    return x * (2 if 7 in ARRAY else 1)


@reads(array_changed)
def array_compared(x):
    return x * (2 if (ARRAY == 7).all() else 1)


@reads(array_changed)
def array_as_text(x):
    return x, str(ARRAY), f"{ARRAY}"


@reads(array_changed)
def array_zipped(x):
    for a, b in zip(ARRAY, [1, 2], strict=False):
        x = x * float(a) * b
    return x


@reads(array_changed)
def array_mapped(x):
    for a in map(float, ARRAY):
        x = x * a
    return x


@reads(array_changed)
def array_unpacked(x):
    a, b = ARRAY
    return x * float(a) * float(b)


@reads(array_changed)
def array_in_an_operation(x):
    return ops.add(x, Tensor(ARRAY)) * 1


@reads(array_changed)
def array_added_to_a_tensor(x):
    return x + ARRAY


@reads(array_changed)
def array_in_a_function_of_ops(x):
    return ops.add(x, ARRAY)


@reads(array_changed)
def array_by_list_comprehension(x):
    return x * sum([float(v) for v in ARRAY])


@reads(calling(lambda: ROW.setflags(write=False), lambda: ROW.setflags(write=True)))
def flags_of_an_array(x):
    return x * (2 if ROW.flags.writeable else 1)


@reads(calling(lambda: np.seterr(divide="raise"), lambda: np.seterr(divide="warn")))
def errors_of_numpy(x):
    return x, np.geterr()["divide"]


@reads(calling(lambda: np.seterr(divide="raise"), lambda: np.seterr(divide="warn")))
def division_of_numpy(x):
    try:
        return x * float(np.isinf(np.log(0.0)))
    except FloatingPointError:
        return x * 5


@reads(calling(lambda: np.seterr(divide="raise"), lambda: np.seterr(divide="warn")))
def division_of_numpy_scalars(x):
    try:
        return x * float(np.isinf(np.float32(1) / np.float32(0)))
    except FloatingPointError:
        return x * 5


@reads(calling(lambda: np.seterr(over="raise"), lambda: np.seterr(over="warn")))
def overflow_of_numpy_arrays(x):
    try:
        return x * float(np.isinf(np.full(2, 1e30, np.float32) * np.float32(1e30)).sum())
    except FloatingPointError:
        return x * 5


@reads(calling(lambda: np.set_printoptions(precision=2), lambda: np.set_printoptions(precision=8)))
def print_options_of_numpy(x):
    return x * np.get_printoptions()["precision"]


@reads(calling(lambda: np.set_printoptions(precision=2), lambda: np.set_printoptions(precision=8)))
def text_of_a_made_array(x):
    return x, str(np.array([1 / 3])), f"{np.array([1 / 3])}", repr([np.array([1 / 3])])


@reads(calling(lambda: np.set_printoptions(precision=2), lambda: np.set_printoptions(precision=8)))
def array_to_string(x):
    return x, np.array2string(np.array([1 / 3])), np.array_repr(np.array([1 / 3]))


@reads(calling(lambda: np.set_printoptions(legacy="1.13"), lambda: np.set_printoptions(legacy=False)))
def text_of_a_numpy_number(x):
    return x, str(np.float32(1 / 3)), repr(np.float64(2.5))


@reads(calling(lambda: np.set_printoptions(precision=2), lambda: np.set_printoptions(precision=8)))
def text_of_a_constant_tensor(x):
    return x, str(Tensor(np.array([1 / 3])))


@reads(another_second, by_itself=second)
def moment_of_numpy(x):
    return x, int(np.datetime64("now").astype(int))


@reads(calling(lambda: np.random.seed(3), lambda: np.random.seed(3)))
def random_state_of_numpy(x):
    return x, int(np.random.get_state()[2])


@reads(attribute(np, "mine", 5))
def attribute_of_numpy_that_appears(x):
    return x * getattr(np, "mine", 2)


@reads(attribute(np, "sin", np.cos))
def function_of_numpy_replaced(x):
    return x * float(np.sin(0.5))


@reads(attribute(np.linalg, "norm", lambda v: 5.0))
def function_of_a_submodule_replaced(x):
    return x * float(np.linalg.norm([3.0, 4.0]))


@reads(attribute(np, "linalg", np.fft))
def submodule_replaced(x):
    return x * (2 if hasattr(np.linalg, "norm") else 1)


@reads(attribute(np, "pi", 3.0))
def constant_of_numpy_replaced(x):
    return x * np.pi


@reads(attribute(np, "float32", np.float64))
def type_of_numpy_replaced(x):
    return x * np.array([1], np.float32).dtype.itemsize


@reads(attribute(pytest, "a_flag", 5))
def attribute_of_an_installed_package(x):
    return x * getattr(pytest, "a_flag", 1)


@reads(attribute(pytest, "version_tuple", (1, 2)))
def tuple_of_an_installed_package(x):
    return x * pytest.version_tuple[0]


@reads(attribute(pytest.Item, "nextitem", 5))
def attribute_of_an_installed_class(x):
    return x * (pytest.Item.nextitem or 2)


@reads(attribute(pytest, "Item", 5))
def class_of_an_installed_package(x):
    return x * (pytest.Item if isinstance(pytest.Item, int) else 1)


# -- this package ------------------------------------------------------------------------------------------------------


@reads(calling(lambda: ms.set_context(mode=ms.GRAPH_MODE), lambda: ms.set_context(mode=ms.PYNATIVE_MODE)))
def mode_of_the_context(x):
    return x * (1 + ms.get_context("mode"))


@reads(calling(lambda: ms.set_seed(77), lambda: ms.set_seed(1)))
def seed(x):
    return x * (ms.get_seed() or 1)


@reads(calling(lambda: ms.set_seed(77), lambda: ms.set_seed(1)))
def initial_seed(x):
    return x * ms.initial_seed() if hasattr(ms, "initial_seed") else x


@reads(calling(lambda: ms.set_context(device_id=1), lambda: ms.set_context(device_id=0)))
def device_of_the_context(x):
    return x * (1 + ms.get_context("device_id"))


@reads(calling(lambda: ms.set_auto_parallel_context(device_num=4), ms.reset_auto_parallel_context))
def parallel_context(x):
    return x * ms.get_auto_parallel_context("device_num")


@reads(calling(lambda: ms.dataset.config.set_seed(99), lambda: ms.dataset.config.set_seed(3)))
def seed_of_the_data(x):
    return x * ms.dataset.config.get_seed()


@reads(attribute(ms, "mine", 5))
def attribute_of_this_package_that_appears(x):
    return x * getattr(ms, "mine", 2)


@reads(attribute(ops, "relu", lambda v: v * 7))
def function_of_ops_replaced(x):
    return ops.relu(x)


@reads(attribute(ms, "ops", nn))
def module_of_this_package_replaced(x):
    return x * (2 if hasattr(ms.ops, "relu") else 1)


@reads(attribute(ms, "float32", ms.float16))
def type_of_this_package_replaced(x):
    return ops.cast(x, ms.float32)


@reads(attribute(nn, "Dense", None))
def class_of_this_package_replaced(x):
    return x * (1 if nn.Dense is None else 2)


@reads(attribute(ms, "__version__", "9"))
def version_of_this_package(x):
    return x, ms.__version__


@reads(calling(lambda: ms.set_deterministic(True), lambda: ms.set_deterministic(False)))
def determinism(x):
    return x, ms.get_context("deterministic")


DENSE = nn.Dense(2, 2, weight_init="ones")


@reads(calling(lambda: DENSE.to_float(ms.float16), lambda: DENSE.to_float(ms.float32)))
def precision_of_a_cell(x):
    return DENSE(x)


@reads(calling(lambda: DENSE.weight.set_data(Tensor(np.zeros((2, 2), np.float32))),
               lambda: DENSE.weight.set_data(Tensor(np.ones((2, 2), np.float32)))))  # fmt: skip
def contents_of_a_parameter(x):
    return DENSE(x)


@reads(calling(lambda: DENSE.register_forward_hook(lambda cell, args, out: out * 3)))
def hook_of_a_cell(x):
    return DENSE(x)


@reads(calling(lambda: DENSE.add_flags(mine=True), lambda: DENSE.add_flags(mine=False)))
def flags_of_a_cell(x):
    return x * (2 if DENSE.get_flags().get("mine") else 1)


@reads(calling(lambda: ms.nn.Cell.set_grad(DENSE, True), lambda: ms.nn.Cell.set_grad(DENSE, False)))
def gradient_flag_of_a_cell(x):
    return x * (2 if DENSE.requires_grad else 1)


STATE = ms.Generator() if hasattr(ms, "Generator") else None


@reads(calling(lambda: STATE.manual_seed(5), lambda: STATE.manual_seed(1)))
def seed_of_a_generator(x):
    return x, STATE.initial_seed()


@reads(calling(lambda: ms.manual_seed(5), lambda: ms.manual_seed(1)))
def state_of_the_generator(x):
    return x, ms.get_rng_state().asnumpy().tolist()


INSTALLED = importlib.import_module("iniconfig")


@reads(attribute(INSTALLED, "MINE", 5))
def flag_of_an_installed_package(x):
    return x * getattr(INSTALLED, "MINE", 1)


@reads(calling(lambda: sys.modules.update(a_late_module=INSTALLED), lambda: sys.modules.pop("a_late_module")))
def import_that_becomes_possible(x):
    try:
        import a_late_module  # noqa: F401
    except ImportError:
        return x
    return x * 3


@reads(item(sys.modules, "iniconfig", np))
def import_that_gives_another_module(x):
    import iniconfig

    return x * (2 if hasattr(iniconfig, "pi") else 1)


@reads(attribute(INSTALLED, "IniConfig", 5))
def name_imported_from_a_module(x):
    from iniconfig import IniConfig

    return x * (IniConfig if isinstance(IniConfig, int) else 1)
