"""duograph: one program, dynamic and static, with MindSpore's public API.

    import duograph as ms
    from duograph import Tensor, nn, ops

This file is the list of what a user finds at the top. ``HOMES`` says which module each name comes from; a name is
loaded when it is first asked for, so ``import duograph`` stays fast. ``MODULES`` are the modules of the API, which a
program imports by these names wherever they lie. Some names of the API are also names of our packages (``IN_FRONT``):
as attributes of ``duograph`` they always mean the API, ``duograph.jit`` the function, and
``from duograph.jit.entry import ...`` finds the packages in ``sys.modules`` as ever.

What packages show of packages that stand above them is said here too, for this file alone may know everything.
"""

from __future__ import annotations

from typing import Any

from duograph.base.public import Names, explain_missing_modules, keep_in_front, lend, open_paths

__version__ = "0.1.0"

HOMES: dict[str, str] = {
    "duograph.api.tensor_methods": "Tensor",
    "duograph.api.tensor_python": "tensor from_numpy is_tensor from_dlpack to_dlpack frombuffer",
    "duograph.api.functional.sparse": "COOTensor CSRTensor RowTensor",
    "duograph.core.dtype": """
        bool=bool_ float=float32 int=int32
        bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128
        float8_e4m3fn float8_e5m2 byte short intc long intp ubyte ushort uintc uintp half single double cfloat cdouble
        number int_ uint float_ string list_ tuple_ type_none tensor_type
        Int TensorType Type dtype_to_nptype dtype_to_pytype pytype_to_dtype get_py_obj_dtype""",
    "duograph.common.parameter": "Parameter ParameterTuple",
    "duograph.common.generator": """
        Generator default_generator get_rng_state set_rng_state initial_seed manual_seed seed set_seed get_seed""",
    "duograph.common.mutable": "mutable",
    "duograph.common.hooks": "recompute lazy_inline no_inline",
    "duograph.context": """
        GRAPH_MODE PYNATIVE_MODE STRICT COMPATIBLE LAX set_context get_context set_device get_current_device
        set_deterministic set_recursion_limit ParallelMode set_auto_parallel_context get_auto_parallel_context
        reset_auto_parallel_context set_ps_context get_ps_context reset_ps_context""",
    "duograph.jit": "jit jit_class ms_class=jit_class ms_function enable_dynamic mark_dynamic Symbol constexpr",
    "duograph.context.jit_config": "JitConfig",
    "duograph.autodiff.api": "grad value_and_grad get_grad jvp vjp jacfwd jacrev vmap no_grad linearize",
    "duograph.train.serialization": """
        async_ckpt_thread_status
        save_checkpoint load_checkpoint load_param_into_net load_checkpoint_async export load ckpt_to_safetensors
        safetensors_to_ckpt""",
    "duograph.train": """
        Model Callback RunContext LossMonitor TimeMonitor ModelCheckpoint CheckpointConfig EarlyStopping History
        LambdaCallback LearningRateScheduler ReduceLROnPlateau SummaryCollector SummaryRecord DatasetHelper
        connect_network_with_dataset data_sink
        FixedLossScaleManager DynamicLossScaleManager LossScaleManager build_train_network
        Accuracy F1 Fbeta Precision Recall MAE MSE Loss Metric TopKCategoricalAccuracy Top1CategoricalAccuracy
        Top5CategoricalAccuracy Perplexity get_metric_fn names
        BleuScore ConfusionMatrix ConfusionMatrixMetric CosineSimilarity Dice ROC auc OnRequestExit""",
    "duograph.device.parallel": "Layout shard set_algo_parameters get_algo_parameters reset_algo_parameters",
    "duograph.device.hal": """
        Event Stream StreamCtx communication_stream current_stream default_stream dispatch_threads_num empty_cache
        launch_blocking set_cpu_affinity set_cur_stream synchronize""",
    "duograph.device.profiler": "Profiler",
    "duograph.tensor.numerics": "check_numerics",
    "duograph.profiling": "profile",
    "duograph.log": "get_level get_log_config",
    "duograph.nn.summary": "summary",
    "duograph.compat": "install_as_mindspore",
    "duograph.compat.run_check": "run_check",
}
"""Module: the public names that it holds."""

PATHS: dict[str, str] = {
    "amp": "duograph.train.amp",
    "communication": "duograph.device.communication",
    "hal": "duograph.device.hal",
    "jit_config": "duograph.context.jit_config",
    "mindrecord": "duograph.dataset.mindrecord",
    "onnx": "duograph.train.onnx",
    "parallel": "duograph.device.parallel",
    "profiler": "duograph.train.profiling",
}
"""Modules that users import from the top, and the rooms in which they lie."""

MODULES: dict[str, str] = {
    **PATHS,
    **{
        name: f"duograph.{name}"
        for name in (
            "common",
            "context",
            "dataset",
            "debug",
            "experimental",
            "log",
            "mint",
            "nn",
            "numpy",
            "ops",
            "passes",
            "scipy",
            "train",
        )
    },
    "dtype": "duograph.core.dtype",
    "runtime": "duograph.device.hal",
}
"""Modules that are part of the API, under the names that they have there; loaded at first use."""

IN_FRONT = frozenset({"jit", "tensor", "runtime"})
"""Names of the API that hide a package of ours."""

LENT: dict[str, dict[str, str]] = {
    "duograph.nn": {
        "duograph.mint.nn": """
            AvgPool1dExt=AvgPool1d AvgPool2dExt=AvgPool2d AvgPool3dExt=AvgPool3d DropoutExt=Dropout
            Dropout2dExt=Dropout2d EmbeddingExt=Embedding L1LossExt=L1Loss LayerNormExt=LayerNorm
            LogSoftmaxExt=LogSoftmax MaxPool2dExt=MaxPool2d PReLUExt=PReLU""",
        "duograph.train.metrics": """
            F1 MAE MSE Accuracy Fbeta Loss Metric Perplexity Precision Recall Top1CategoricalAccuracy
            Top5CategoricalAccuracy TopKCategoricalAccuracy get_metric_fn names BleuScore ConfusionMatrix
            ConfusionMatrixMetric CosineSimilarity Dice ROC auc rearrange_inputs""",
    },
}
"""Package: modules on layers above it, and their names that it shows."""

for _package, _homes in LENT.items():
    lend(_package, _homes)
open_paths({f"duograph.{name}": home for name, home in PATHS.items()})
open_paths(
    {
        "duograph.communication.comm_func": "duograph.device.comm_func",
        "duograph.ops.communication": "duograph.mint.distributed",
    }
)
explain_missing_modules("duograph", "mindspore")
keep_in_front(__name__, IN_FRONT)
_names = Names(__name__, HOMES, MODULES)
__all__ = ["__version__", *_names.all, *MODULES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.listing()


def _mint_names() -> dict[str, Any]:
    from duograph.mint.inner_names import inner_names

    return inner_names()


def _step() -> Any:
    from duograph.debug import step

    return step()


def _write_down(*failed: Any) -> str:
    from duograph.debug.hunt.files import write_down

    return write_down(*failed)


import duograph.base.failures  # noqa: E402
from duograph.base.config import config as _config  # noqa: E402
from duograph.base.tracebacks import fold_tracebacks  # noqa: E402

fold_tracebacks()
_config()  # what is wrong with an environment variable is said here, in one line, and not somewhere inside

import duograph.api.tensor_methods  # noqa: E402 - attaches methods to Tensor

if _config().check_numerics != "off":
    from duograph.tensor.numerics import check_everywhere as _check_everywhere

    _check_everywhere(_config().check_numerics)

duograph.api.inner_names.fill(_mint_names)
duograph.core.op.stepping.fill(_step)
duograph.base.failures.write_down.fill(_write_down)
