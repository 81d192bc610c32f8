"""Names of MindSpore that are not part of its public API, and that programs import nevertheless.

The heads of model-zoo files have them: a check of arguments, a question about parallel training, a base class with an
underscore. `INTERNALS` says where each is; whichever module of MindSpore a program asks for one, it finds it
(`alias`). Public names that are not provided (`base/not_here.py`) can be imported as well, since most files import more
than they use; they say why they are not there when they are used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from duograph.base.absent import absence

_HOMES: dict[str, str] = {
    "duograph.api.functional.sparse": "RowTensorInner=RowTensor",
    "duograph.autodiff.function": "_Function=Function",
    "duograph.autodiff.modes": "_no_grad=no_grad",
    "duograph.common.initializer": "_calculate_fan_in_and_fan_out=fans",
    "duograph.compat.checkparam": "_check_3d_int_or_tuple _check_param_value",
    "duograph.compat.functions": """
        AmpLevel ImageTensorOperation Implementation PyTensorOperation TextTensorOperation _StepSync
        _deconv_output_length _function_forbid_reuse _get_cache_prim _get_graph_seed _grad_overflow
        _interploate_ext_make_tuple _interpolate_ext_scale_factor_convert_size _make_directory
        _LogActionOnce _rnn_relu_cell MSContext TensorToScalar
        _transfer_tensor_to_tuple add_flags arg_handler cell_attr_register check_value_type deprecated
        get_broadcast_shape hwc_to_chw is_dim_unknown is_numpy is_shape_unknown issubclass_ opt_init_args_register
        raise_index_error raise_type_error raise_unimplemented_error raise_value_error tensor_operator_registry""",
    "duograph.compat.initializing": """
        _assignment _calculate_correct_fan _calculate_gain _init_random_normal _init_random_uniform
        _init_truncated_normal _random_normal _register""",
    "duograph.compat.reinforcement": "BatchAssign BufferAppend BufferGetItem BufferSample",
    "duograph.compat.executors": "_executor=_cell_graph_executor",
    "duograph.compat.parallel_context": """
        _device_number_check _get_device_num _get_enable_parallel_optimizer _get_full_batch _get_global_rank
        _get_gradients_mean _get_parallel_mode _get_parameter_broadcast _get_pipeline_stages _get_stage_device_num
        _is_in_auto_parallel_mode _is_in_data_parallel_mode _is_in_hybrid_parallel_mode _is_role_pserver _is_role_sched
        _is_role_worker _is_sharding_propagation auto_parallel_context""",
    "duograph.autodiff.hooks": "HookHandle",
    "duograph.context": "ParallelMode",
    "duograph.context.parallel": """
        _get_auto_parallel_context=get_auto_parallel_context _set_auto_parallel_context=set_auto_parallel_context
        _reset_auto_parallel_context=reset_auto_parallel_context""",
    "duograph.dataset.batches": "BucketBatchByLengthDataset=Buckets",
    "duograph.dataset.nodes": """
        ConcatDataset=Concat FilterDataset=Filter MapDataset=Map ProjectDataset=Project RenameDataset=Rename
        RepeatDataset=Repeat ShuffleDataset=ShuffleRows SkipDataset=Skip ZipDataset=Zip""",
    "duograph.dataset.transforms": "TensorOperation=Transform OneHotOp=OneHot",
    "duograph.tensor.tensor": "StubTensor=Tensor",
    "duograph.ops.rnn": "_gru_cell=gru_cell _lstm_cell=lstm_cell _rnn_tanh_cell=rnn_cell",
    "duograph.train.amp": """
        AMP_WHITE_LIST=_WHITE AMP_BLACK_LIST=_BLACK AMP_AUTO_WHITE_LIST=_WHITE AMP_AUTO_BLACK_LIST=_BLACK
        init_status _add_loss_network _auto_black_list _config_level _do_keep_batchnorm_fp32
        _auto_mixed_precision_rewrite""",
    "duograph.train.serialization": "_load_dismatch_prefix_params _update_param",
    "duograph.train.callback.monitors": "_handle_loss=loss_value",
    "duograph.train.callback": "_CallbackManager=CallbackManager _InternalCallbackParam=InternalCallbackParam",
    "duograph.device.hal": """
        max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats memory_summary
        ms_memory_recycle=empty_cache reset_max_memory_allocated reset_max_memory_reserved reset_peak_memory_stats
        set_memory""",
    "duograph.train.metrics": "get_metrics rearrange_inputs",
    "duograph.nn": "_Loss=LossBase",
    "duograph.nn.layer.activation": "_activation=_ACTIVATIONS",
    "duograph.nn.layer.normalization": "_BatchNorm=BatchNorm",
    "duograph.nn.wrap.cell_wrapper": "_VirtualDatasetCell",
}

INTERNALS: dict[str, tuple[str, str]] = {
    shown: (home, name or shown)
    for home, names in _HOMES.items()
    for shown, _, name in (entry.partition("=") for entry in names.split())
}
"""Name -> module that holds it, and its name there."""


class _Refused(type):
    """The class of what is not provided: it can be imported and derived from, and every use says why."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__module__.startswith("mindspore.ops") and cls.__name__[:1].isupper():
            return _Unrunnable(cls._said())
        raise NotImplementedError(cls._said())

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(cls._said(), name=name, obj=cls)

    def _said(cls) -> str:
        kind = next(c for c in cls.__mro__ if "reason" in vars(c))
        return f"duograph has no {kind.__module__}.{kind.__name__}: it {vars(kind)['reason']}"


class _Unrunnable:
    """A Primitive that is not provided: as in MindSpore, networks make those of other devices that they never run."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(self._reason)

    def _itself(self, *args: Any, **kwargs: Any) -> _Unrunnable:
        return self

    add_prim_attr = shard = set_device = set_stage = _itself


def internal(module: str, name: str) -> Any:
    """The name that is not public, or the class that says why it is not there.

    Raises:
        KeyError: there is no such name.
    """
    if name in INTERNALS:
        home, inner = INTERNALS[name]
        return getattr(import_module(home), inner)
    reason, is_listed = absence(module, name)
    if not is_listed:
        raise KeyError(name)
    return _Refused(name, (), {"__module__": module, "__doc__": f"It {reason}.", "reason": reason})
