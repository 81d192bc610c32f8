"""Names of MindSpore that are not part of its public API, and that programs import nevertheless.

The heads of model-zoo files have them: a check of arguments, a question about parallel training, a base class with an
underscore. `INTERNALS` says where each is; whichever module of MindSpore a program asks for one, it finds it
(`alias`). `REFUSED` are public names that a program may import, and that say why they are not there when it calls
them: most files import more than they use.
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
    "duograph.compat.functions": """
        _get_cache_prim _get_graph_seed _make_directory add_flags arg_handler cell_attr_register deprecated
        get_broadcast_shape issubclass_ opt_init_args_register""",
    "duograph.compat.executors": "_executor=_cell_graph_executor",
    "duograph.compat.parallel_context": """
        _get_device_num _get_enable_parallel_optimizer _get_full_batch _get_global_rank _get_gradients_mean
        _get_parallel_mode _is_in_auto_parallel_mode _is_in_data_parallel_mode auto_parallel_context""",
    "duograph.context": "ParallelMode",
    "duograph.device.hal": "ms_memory_recycle=empty_cache",
    "duograph.nn": "_Loss=LossBase",
    "duograph.nn.layer.normalization": "_BatchNorm=BatchNorm",
    "duograph.nn.wrap.cell_wrapper": "_VirtualDatasetCell",
}

INTERNALS: dict[str, tuple[str, str]] = {
    shown: (home, name or shown)
    for home, names in _HOMES.items()
    for shown, _, name in (entry.partition("=") for entry in names.split())
}
"""Name -> module that holds it, and its name there."""

REFUSED = """
    AutoBoost OptimizerProcess ParameterProcess GroupLossScaleManager
    CocoDataset VOCDataset TFRecordDataset IMDBDataset CelebADataset AGNewsDataset WIDERFaceDataset LJSpeechDataset
    Custom CustomRegOp DataType FlashAttentionScore
    NPUAllocFloatStatus NPUGetFloatStatus NPUClearFloatStatus NPUGetFloatStatusV2 NPUClearFloatStatusV2
    Node NodeType ScopedValue SymbolTree ValueType
    SparseTensor SummaryLandscape set_dump
"""
"""Names that can be imported, not called."""


def internal(module: str, name: str) -> Any:
    """The name that is not public, or the class that says why it is not there.

    Raises:
        KeyError: there is no such name.
    """
    if name in INTERNALS:
        home, inner = INTERNALS[name]
        return getattr(import_module(home), inner)
    reason = absence(module, name)[0] if name in REFUSED.split() else ""
    if not reason:
        raise KeyError(name)

    def refuse(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"duograph has no {module}.{name}: it {reason}")

    return type(name, (), {"__new__": refuse, "__module__": module, "__doc__": f"It {reason}."})
