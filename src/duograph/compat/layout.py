"""Where MindSpore keeps things: which of its modules exist, and where the names of each live in duograph.

MindSpore's packages are deep (``mindspore.nn.layer.conv``), duograph's public packages are flat. A name asked of
``mindspore.a.b.c`` is looked for in ``duograph.a.b.c`` if there is such a module, then in ``duograph.a.b``, then in
``duograph.a``. `ROUTES` holds the modules for which this is not the place, `MODULES` all modules that may be imported,
so that a misspelt one is an error that names the nearest.
"""

from __future__ import annotations

from collections.abc import Iterator

ROUTES: dict[str, tuple[str, ...]] = {
    "mindspore": ("duograph",),
    "mindspore._checkparam": ("duograph.compat.checkparam",),
    "mindspore._c_expression": ("duograph.core.dtype", "duograph"),
    "mindspore._c_expression.typing": ("duograph.core.dtype",),
    "mindspore.boost": ("duograph.nn.wrap.grad_accumulation",),
    "mindspore.common": ("duograph.common", "duograph"),
    "mindspore.common.api": ("duograph.compat.executors", "duograph.jit", "duograph"),
    "mindspore.common.dtype": ("duograph.core.dtype", "duograph"),
    "mindspore.common.np_dtype": ("ml_dtypes", "numpy"),
    "mindspore.common.tensor": ("duograph",),
    "mindspore.communication.comm_func": ("duograph.device.comm_func",),
    "mindspore.dtype": ("duograph.core.dtype", "duograph"),
    "mindspore.graph": ("duograph.compat.executors", "duograph"),
    "mindspore.dataset.core.config": ("duograph.dataset.config",),
    "mindspore.multiprocessing": ("multiprocessing",),
    "mindspore.nn": ("duograph.nn", "duograph.train.metrics"),
    "mindspore.ops.communication": ("duograph.mint.distributed",),
    "mindspore.ops.function.comm_func": ("duograph.mint.distributed",),
    "mindspore.ops.composite": ("duograph.ops.composite", "duograph.ops"),
    "mindspore.ops._grad": ("duograph.api.bprop_registry",),
    "mindspore.ops._grad.grad_base": ("duograph.api.bprop_registry", "duograph.ops"),
    "mindspore.ops._grad_experimental": ("duograph.api.bprop_registry",),
    "mindspore.ops._grad_experimental.grad_base": ("duograph.api.bprop_registry", "duograph.ops"),
    "mindspore.run_check": ("duograph.compat.run_check",),
    "mindspore.runtime": ("duograph.device.hal",),
    "mindspore.parallel": ("duograph.device.parallel", "duograph"),
    "mindspore.dataset.transforms.vision": ("duograph.dataset.vision",),
    "mindspore.device_manager": ("duograph.context",),
    "mindspore.nn.layer.rnn_cells": ("duograph.nn", "duograph.nn.layer.recurrent"),
    "mindspore.nn.metrics": ("duograph.train.metrics",),
    "mindspore.train.amp": ("duograph.train.amp", "duograph"),
    "mindspore.utils": ("duograph",),
    "mindspore.version": ("duograph.compat.version",),
}
"""MindSpore module: the duograph modules that hold its names, in the order of search."""

_METRICS = """
        accuracy auc bleu_score confusion_matrix cosine_similarity dice error fbeta hausdorff_distance loss
        mean_surface_distance metric occlusion_sensitivity perplexity precision recall roc
        root_mean_square_surface_distance topk"""

MODULES: dict[str, str] = {
    "": """
        _c_dataengine _c_expression _checkparam _extends amp boost common communication context dataset
        device_context device_manager dtype experimental graph hal log mindrecord mint multiprocessing nn numpy
        onnx ops parallel profiler rewrite run_check runtime safeguard scipy train utils version""",
    "_c_expression": "amp typing",
    "_extends": "parse",
    "_extends.parse": "compile_config namespace parser resources standard_method trope",
    "common": """
        _decorator _grad_function _jit_fallback_utils _monad _pijit_context _register_for_adapter
        _register_for_recompute _register_for_tensor _stub_tensor _utils api auto_dynamic_shape device dtype dump
        dynamic_shape file_system generator hook_handle initializer jit_begin_end jit_config jit_context jit_trace
        lazy_inline mindir_util mutable no_inline np_dtype parameter recompute seed sparse_tensor storage symbol
        tensor""",
    "common.dynamic_shape": "auto_dynamic_shape enable_dynamic",
    "boost": """
        adasum base boost boost_cell_wrapper dim_reduce grad_accumulation grad_freeze group_loss_scale_manager
        less_batch_normalization""",
    "communication": "_comm_helper comm_func management",
    "dataset": "audio callback config core debug engine samplers text transforms utils vision",
    "dataset.audio": "transforms utils",
    "dataset.core": "config datatypes",
    "dataset.engine": """
        datasets datasets_audio datasets_standard_format datasets_text datasets_user_defined datasets_vision iterators
        samplers""",
    "dataset.text": "transforms utils",
    "dataset.transforms": "c_transforms py_transforms transforms vision",
    "dataset.transforms.vision": "c_transforms py_transforms utils",
    "dataset.vision": "c_transforms py_transforms py_transforms_util transforms utils",
    "device_context": "ascend cpu gpu",
    "device_context.ascend": "device op_debug op_precision op_tuning",
    "device_context.cpu": "op_tuning",
    "device_context.gpu": "op_precision op_tuning",
    "experimental": "es map_parameter optim",
    "experimental.optim": """
        adadelta adagrad adam adamax adamw asgd lr_scheduler nadam optimizer radam rmsprop rprop sgd""",
    "graph": """
        api custom_backend dynamic_shape jit_begin_end jit_config jit_context jit_trace lazy_inline mutable no_inline
        symbol""",
    "hal": "contiguous_tensors_handle device event memory stream",
    "mindrecord": "common filereader filewriter mindpage shardutils tools",
    "mindrecord.tools": "cifar100_to_mr cifar10_to_mr csv_to_mr imagenet_to_mr mnist_to_mr tfrecord_to_mr",
    "mint": "distributed linalg nn optim special",
    "mint.nn": "functional layer",
    "mint.nn.layer": "activation basic conv loss normalization padding pooling",
    "mint.optim": "adam adamw sgd",
    "nn": """
        cell dynamic_lr extend grad layer learning_rate_schedule loss metrics optim probability reinforcement sparse
        transformer utils wrap""",
    "nn.grad": "cell_grad",
    "nn.layer": """
        activation basic channel_shuffle combined container conv dense embedding flash_attention image math
        normalization padding pooling rnn_cells rnns thor_layer timedistributed transformer""",
    "nn.loss": "loss",
    "nn.metrics": _METRICS,
    "nn.optim": """
        ada_grad adadelta adafactor adam adamax adasum asgd ftrl lamb lars lazyadam momentum optimizer
        proximal_ada_grad rmsprop rprop sgd tft_wrapper thor""",
    "nn.probability": "bijector distribution",
    "nn.sparse": "sparse",
    "nn.utils": "init",
    "nn.wrap": "cell_wrapper grad_reducer loss_scale",
    "numpy": "array_creations array_ops dtypes fft logic_ops math_ops utils utils_const",
    "ops": """
        _grad _grad_experimental _constants _op_impl _primitive_cache _register_for_op _tracefunc _utils _vmap
        auto_generate communication composite deprecated extend function functional functional_overload
        op_info_register operations primitive signature tensor_method vm_impl_registry""",
    "ops._grad": "grad_array_ops grad_base grad_implementations grad_math_ops grad_nn_ops",
    "ops._grad_experimental": "grad_array_ops grad_base grad_implementations grad_math_ops grad_nn_ops",
    "ops._utils": "utils",
    "ops._vmap": "vmap_base",
    "ops.auto_generate": "gen_extend_func gen_ops_def gen_ops_prim",
    "ops.composite": "base env_ops math_ops multitype_ops",
    "ops.composite.multitype_ops": "_constexpr_utils ones_like_impl zeros_like_impl",
    "ops.function": """
        array_func clip_func comm_func debug_func fft_func grad image_func linalg_func math_func nn_func other_func
        parameter_func random_func sparse_func sparse_unary_func spectral_func vmap_func""",
    "ops.function.grad": "grad_func",
    "ops.operations": """
        _custom_grad _grad_ops _infer_ops _inner_ops _quant_ops _rl_inner_ops _scalar_ops _sequence_ops _tensor_array
        _thor_ops array_ops comm_ops control_ops custom_ops debug_ops image_ops inner_ops linalg_ops
        manually_defined math_ops nn_ops other_ops random_ops sparse_ops spectral_ops""",
    "ops.operations.manually_defined": "ops_def",
    "parallel": """
        _auto_parallel_context _cost_model_context _ps_context _utils algo_parameter_config
        auto_parallel checkpoint_transform nn shard strategy""",
    "profiler": "envprofiler profiler profiling schedule",
    "run_check": "run_check",
    "runtime": "device event executor memory stream",
    "safeguard": "rewrite_obfuscation",
    "scipy": "fft linalg ops optimize",
    "train": """
        _utils amp callback data_sink dataset_helper loss_scale_manager metrics mind_ir_pb2 model
        node_strategy_pb2 serialization summary train_thor""",
    "train.callback": """
        _callback _checkpoint _early_stop _history _lambda_callback _loss_monitor _lr_scheduler_callback
        _reduce_lr_on_plateau _summary_collector _time_monitor""",
    "train.metrics": _METRICS,
    "train.summary": "summary_record",
    "utils": "dlpack utils",
}
"""Package below ``mindspore``: the modules in it."""


def module_names() -> Iterator[str]:
    """All MindSpore modules that can be imported, with full names."""
    yield "mindspore"
    for package, text in MODULES.items():
        prefix = f"mindspore.{package}." if package else "mindspore."
        yield from (prefix + name for name in text.split())


KNOWN = frozenset(module_names())


ALONE = ("mindspore.mint.distributed",)
"""Modules whose names mean something else than those of their parents (``gather``, ``scatter``, ``reduce``)."""


def search_path(name: str) -> tuple[str, ...]:
    """The duograph modules, existing or not, in which the names of MindSpore module ``name`` are looked for."""
    direct = ROUTES.get(name)
    if direct is not None:
        return direct
    path = ["duograph" + name.removeprefix("mindspore")]
    parent = name.rpartition(".")[0]
    while parent != "mindspore" and name not in ALONE:
        path += [item for item in _own(parent) if item not in path]
        parent = parent.rpartition(".")[0]
    return tuple(path)


def _own(name: str) -> tuple[str, ...]:
    return ROUTES.get(name) or ("duograph" + name.removeprefix("mindspore"),)
