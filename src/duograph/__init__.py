"""duograph: one program, dynamic and static, with MindSpore's public API.

    import duograph as ms
    from duograph import Tensor, nn, ops

This file is the list of what a user finds at the top. ``HOMES`` says which module each name comes from; a name is
loaded when it is first asked for, so ``import duograph`` stays fast. Some names of the API are also names of our
packages (``IN_FRONT``): as attributes of ``duograph`` they always mean the API, ``duograph.jit`` the function, and
``from duograph.jit.entry import ...`` finds the packages in ``sys.modules`` as ever.
"""

from __future__ import annotations

import sys
import types
from importlib import import_module
from typing import Any

__version__ = "0.1.0"

HOMES: dict[str, str] = {
    "duograph.api.tensor_methods": "Tensor",
    "duograph.api.tensor_python": "tensor from_numpy is_tensor from_dlpack to_dlpack frombuffer",
    "duograph.core.dtype": """
        bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128
        float8_e4m3fn float8_e5m2 byte short intc long intp ubyte ushort uintc uintp half single double cfloat cdouble
        number int_ uint float_ string list_ tuple_ type_none tensor_type
        dtype_to_nptype dtype_to_pytype pytype_to_dtype get_py_obj_dtype""",
    "duograph.common.parameter": "Parameter ParameterTuple",
    "duograph.common.generator": """
        Generator default_generator get_rng_state set_rng_state initial_seed manual_seed seed set_seed get_seed""",
    "duograph.common.mutable": "mutable",
    "duograph.common.hooks": "recompute lazy_inline no_inline",
    "duograph.context": """
        GRAPH_MODE PYNATIVE_MODE STRICT COMPATIBLE LAX set_context get_context set_device get_current_device
        set_deterministic set_recursion_limit ParallelMode set_auto_parallel_context get_auto_parallel_context
        reset_auto_parallel_context set_ps_context get_ps_context reset_ps_context""",
    "duograph.jit": "jit jit_class ms_function enable_dynamic Symbol constexpr",
    "duograph.jit_config": "JitConfig",
    "duograph.autodiff.api": "grad value_and_grad get_grad jvp vjp jacfwd jacrev vmap no_grad",
    "duograph.train.serialization": """
        save_checkpoint load_checkpoint load_param_into_net load_checkpoint_async export load ckpt_to_safetensors
        safetensors_to_ckpt""",
    "duograph.train": """
        Model Callback RunContext LossMonitor TimeMonitor ModelCheckpoint CheckpointConfig EarlyStopping History
        LambdaCallback LearningRateScheduler ReduceLROnPlateau
        FixedLossScaleManager DynamicLossScaleManager LossScaleManager build_train_network
        Accuracy F1 Fbeta Precision Recall MAE MSE Loss Metric TopKCategoricalAccuracy Top1CategoricalAccuracy
        Top5CategoricalAccuracy Perplexity get_metric_fn names""",
    "duograph.hal": """
        Event Stream StreamCtx communication_stream current_stream default_stream dispatch_threads_num empty_cache
        launch_blocking set_cpu_affinity set_cur_stream synchronize""",
    "duograph.log": "get_level get_log_config",
    "duograph.compat": "install_as_mindspore",
    "duograph.compat.run_check": "run_check",
}
"""Module: the public names that it holds."""

SUBMODULES = (
    "amp", "common", "communication", "context", "dataset", "experimental", "hal", "jit_config", "log", "mint", "nn",
    "numpy", "onnx", "ops", "parallel", "profiler", "scipy", "train",
)  # fmt: skip
"""Sub-packages and modules that are part of the API; loaded at first use."""

SYNONYMS = {
    "bool": "bool_",
    "float": "float32",
    "int": "int32",
    "dtype": "duograph.core.dtype",
    "runtime": "duograph.hal",
}
"""MindSpore's other words for a name above, or for a module."""

IN_FRONT = ("jit", "tensor", "runtime")
"""Names of the API that hide a package of ours."""

_home = {name: module for module, names in HOMES.items() for name in names.split()}

__all__ = ["__version__", *_home, *SUBMODULES, *SYNONYMS]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in SUBMODULES:
        return import_module(f"duograph.{name}")
    other = SYNONYMS.get(name, name)
    if "." in other:
        value: Any = import_module(other)
    elif other in _home:
        value = getattr(import_module(_home[other]), other)
    else:
        raise AttributeError(_unknown(name), name=name, obj=sys.modules[__name__])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1, cutoff=0.5)
    return f"module 'duograph' has no attribute {name!r}" + (f"; the nearest name is {near[0]!r}" if near else "")


class _Package(types.ModuleType):
    """The package's class: keeps the API's names in front of our packages of these names."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in IN_FRONT and isinstance(value, types.ModuleType):
            return  # the import system binds every package to its parent
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

import duograph.api.tensor_methods  # noqa: E402, F401 - attaches methods to Tensor
