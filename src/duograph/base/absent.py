"""Names that programs ask for and that are not there: what to write instead, or why there is nothing.

Two tables. `ELSEWHERE` has names of PyTorch's, and some of MindSpore's, for which there is another here, by the place
where they are looked for. `NOT_HERE` has families of MindSpore's public names that are not provided. `instead` ends the
sentence of the `AttributeError` or `ImportError`; a name in neither table gets the nearest one that there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

from .not_here import NOT_HERE

__all__ = ["ELSEWHERE", "Elsewhere", "absence", "instead", "keyword_instead", "nearest", "says_instead"]

_GRADIENTS = "gradients come from value_and_grad(forward, None, net.trainable_params())(x), not from backward()"
_ONE_DEVICE = "there is one device, the CPU: leave it out"

_THEIRS = "it is part of the machinery of MindSpore, which this package has not"
_ENGINE = "it belongs to MindSpore's engine of data sets; here they are plain Python iterators"
_SPARSE = "it computes with sparse tensors, of which there are only the containers; use x.to_dense()"

_ELSEWHERE: dict[str, dict[str, str]] = {
    "": {
        "compile": "compile with jit(f) or @jit",
        "cuda backends": _ONE_DEVICE,
        "autograd backward": _GRADIENTS,
        "optim": "optimizers are in nn (nn.Adam, nn.SGD) and, with PyTorch's signatures, in mint.optim",
        "vision": "image transforms are in dataset.vision, networks in packages like mindcv",
        "utils": "data sets are in dataset: dataset.GeneratorDataset(source, names).batch(32)",
        "GRAPH STATIC static_mode graph_mode": "it is GRAPH_MODE: set_context(mode=GRAPH_MODE)",
        "PYNATIVE EAGER eager_mode": "it is PYNATIVE_MODE, which is the default",
        "Variable": "write Tensor(data), or Parameter(data, name='w') for what is trained",
        "load_state_dict": "load_param_into_net(net, load_checkpoint('file.ckpt')) sets parameters",
        "save": "save_checkpoint(net, 'file.ckpt') writes parameters",
        "zeros cat relu randn rand ones arange stack matmul softmax sum mean eye tanh sigmoid exp sqrt randint "
        "where linspace full concat zeros_like ones_like max min argmax mm bmm einsum transpose": "functions are in "
        "ops and, with PyTorch's signatures, in mint",
        "DynamicLossScaler StaticLossScaler": "they are in amp",
        "FloatTensor LongTensor": "write Tensor(data, dtype)",
        "Module": "networks derive from nn.Cell, and forward() is called construct()",
        "inference_mode set_grad_enabled": "nothing is recorded outside of grad and value_and_grad; see no_grad",
    },
    "nn": {
        "Module": "networks derive from nn.Cell, and forward() is called construct()",
        "Sequential": "it is nn.SequentialCell",
        "ModuleList": "it is nn.CellList",
        "ModuleDict": "it is nn.CellDict",
        "Parameter ParameterList": "Parameter(tensor, name='w') and ParameterTuple are at the top of the package",
        "functional": "functions are in ops and, with PyTorch's signatures, in mint.nn.functional",
        "init": "see common.initializer: initializer('he_normal', shape, dtype)",
        "utils": "gradients are clipped by ops.clip_by_global_norm(grads, limit)",
        "DataParallel": "see docs/distributed.md: set_auto_parallel_context(parallel_mode='data_parallel')",
        "AdamW": "it is nn.AdamWeightDecay",
    },
    "ops": {
        "Assert": "an assert statement or raise works in every mode",
        "CheckNumerics": "write ops.isfinite(x).all()",
        "Conv3DTranspose": "it is nn.Conv3dTranspose",
        "LogSoftmaxExt": "it is ops.log_softmax(x, axis)",
        "DropoutDoMask DropoutGenMask": "it is ops.dropout",
        "DynamicRNN": "it is nn.LSTM",
        "DynamicGRUV2": "it is nn.GRU",
        "FractionalMaxPool": "it is nn.FractionalMaxPool2d",
        "GetNext": "iterate over the data set, or over its create_tuple_iterator()",
        "MaxUnpool2D": "it is nn.MaxUnpool2d",
        "MaxUnpool3D": "it is nn.MaxUnpool3d",
        "ResizeBicubic": "it is ops.interpolate(x, mode='bicubic')",
        "UniqueWithPad": "it is ops.unique_with_pad",
        "i0": "it is ops.bessel_i0",
        "Linear": "the layer is nn.Dense, and ops.dense(x, weight, bias) is the function",
        "gradient backward": _GRADIENTS,
        "linear": "it is ops.dense(x, weight, bias), and mint.nn.functional.linear",
        "no_grad": "it is no_grad at the top of the package",
    },
    "mint": {"conv2d": "it is mint.nn.functional.conv2d"},
    "dataset": {
        "DataLoader": "data sets give batches themselves: GeneratorDataset(source, names).batch(32)",
        "TensorDataset": "it is NumpySlicesDataset((x, y), ['x', 'y'])",
        "random_split": "it is a method: data.split([0.8, 0.2])",
        "Subset": "data.take(n), data.skip(n) and SubsetSampler(indices) choose rows",
        "BatchSampler": "data.batch(n) makes batches; samplers are SequentialSampler, RandomSampler, ...",
    },
    "Dataset": {
        "build_vocab": "it is text.Vocab.from_dataset(data, columns)",
        "build_sentencepiece_vocab": "it is not provided; text.Vocab.from_dataset(data, columns) has whole words",
        "copy_batch_size create_ir_tree disable_sync get_sync_notifiers input_indexs is_sharded is_shuffled is_sync "
        "iterator_bootstrap parse parse_tree post_parse pre_parse pre_process prepare_multiprocessing": _ENGINE,
        "device_que send recv": "model.train takes the data set, and data.create_tuple_iterator() gives its rows",
        "get_init_step set_init_step": "model.train(initial_epoch=...) and data.skip(n) go on where a run has ended",
        "to_json from_json": "a pipeline is made of Python functions, of which there is no text",
        "prefetch": "rows are made ahead; see config.set_prefetch_size",
        "as_numpy_iterator": "it is create_tuple_iterator(output_numpy=True)",
        "from_tensor_slices": "it is NumpySlicesDataset(data, names)",
        "cache": "rows of NumpySlicesDataset are in memory; keep those of others in a list, for GeneratorDataset",
    },
    "Sampler": {
        "get_shuffle_mode is_sharded is_shuffled parse parse_child parse_child_for_minddataset parse_for_minddataset "
        "set_offset": _ENGINE,
    },
    "Primitive": {
        "add_attr": "it is add_prim_attr(name, value)",
        "del_attr": "it is del_prim_attr(name)",
        "set_instance_name": "it is set_prim_instance_name(name)",
        "set_hook_fn": "see ops.HookBackward, and register_hook of tensors",
        "check_elim get_user_data set_const_input_indexes set_const_prim set_inplace_prim set_prim_type "
        "set_signatures set_user_data update_parameter": _THEIRS,
    },
    "Loop": {
        "add_attr add_prim_attr check_elim del_attr del_prim_attr get_attr_dict get_user_data init_prim_io_names place "
        "recompute set_const_input_indexes set_const_prim set_device set_hook_fn set_inplace_prim set_instance_name "
        "set_prim_instance_name set_prim_type set_signatures set_stage set_user_data shard update_parameter": "a loop "
        "becomes one of the graph, and has no attributes of its own",
    },
    "MultitypeFuncGraph": {
        "register_default_fn register_fn": "it is register(*types), a decorator",
        "set_doc_url set_doc_url_ set_need_raise set_need_raise_ set_signatures": _THEIRS,
    },
    "Profiler": {
        "op_analyse": "str(profiler.recorded) has the table of operators",
        "offline_analyse": "profiler.analyse() writes tables and timeline when the program ends",
    },
    "SparseTensor": {"add coalesce mm mv sum": _SPARSE},
    "Tensor": {
        "backward grad grad_fn retain_grad requires_grad is_leaf": _GRADIENTS,
        "cuda cpu is_cuda": _ONE_DEVICE,
        "detach detach_": "ops.stop_gradient(x) stops gradients",
        "eigvals geqrf igamma igammac lstsq lu_solve orgqr ormqr": "it is a function of ops, of x and further operands",
        "i0": "it is ops.bessel_i0(x)",
        "index": "write x[index]",
        "to_": "x.to(dtype) gives another tensor, and x.copy_(y) writes to this one",
        "remove_hook hooks": "x.register_hook(hook) gives a handle with remove()",
        "storage untyped_storage": "x.asnumpy() gives the contents, and x.data_ptr() the address",
        "offload offload_file_path delete_": "there is one device, and memory is freed with its last reference",
        "assign_value_cpp convert_bytes_to_tensor getitem_index_info is_init set_cast_dtype set_device_address "
        "set_init_flag set_param_info setitem_index_info": _THEIRS,
    },
    "Cell": {
        "parameters named_parameters": "net.trainable_params() and net.parameters_and_names() list the parameters",
        "train": "it is net.set_train()",
        "eval": "it is net.set_train(False)",
        "forward": "the computation is construct(); call the network itself",
        "modules named_modules": "it is net.cells_and_names()",
        "children named_children": "it is net.cells() and net.name_cells()",
        "add_module register_module": "it is insert_child_to_cell(name, cell), or an assignment: self.name = cell",
        "requires_grad_": "it is net.set_grad(), or parameter.requires_grad = False for each of net.trainable_params()",
        "zero_grad": "gradients are values that value_and_grad returns: there is nothing to clear",
        "cuda cpu": _ONE_DEVICE,
        "half double": "it is net.to_float(float16)",
        "to": "there is one device, the CPU, and net.to_float(float16) sets the dtype of computation",
        "to_empty offload": _ONE_DEVICE,
        "set_mixed_precision_type": "see net.to_float(float16), and amp.auto_mixed_precision(net)",
        "register_parameter_forward_hook": "see register_forward_pre_hook, which may read the parameters",
        "register_saved_tensors_hooks": "what gradients keep is decided while they are compiled; see net.recompute()",
        "remove_redundant_parameters": "parameters are kept once, however many cells hold them",
        "pipeline_segment": "stages are networks of their own; see docs/distributed.md",
        "compiled compile_phase phase_cache compile_cache": "net.explain() tells what was compiled",
        "IGNORE_LIST T_destination bprop_debug cell_init_args create_time enable_backward_hook exist_names exist_objs "
        "get_func_graph_proto global_cells parallel_parameter_merge_net_dict parallel_parameter_name_list "
        "parameter_layout_dict run_construct total_instance_count": _THEIRS,
        "reset_parameters reset_running_stats": "make the layer anew, or assign: "
        "parameter.set_data(initializer('he_uniform', parameter.shape))",
        "broadcast_params decay_weight flatten_gradients get_lr_parameter get_weight_decay gradients_centralization "
        "scale_grad target unique": "it is an attribute of the optimizer inside: net.opt",
        "check_axis_valid check_types_valid get_axis get_loss shape_mapping implementation": _THEIRS,
        "step": "an optimizer is called with the gradients: optimizer(grads)",
        "param_groups": "it is optimizer.parameters, and group_params for groups",
    },
    "Model": {
        "infer_predict_layout infer_train_layout": "networks are not spread over devices by the compiler; see "
        "docs/distributed.md",
        "compile": "what to train with is given to Model(network, loss_fn, optimizer); model.build compiles",
        "fit_generator": "it is model.fit(epochs, dataset)",
    },
}
ELSEWHERE = {
    place: {name: text for names, text in table.items() for name in names.split()}
    for place, table in _ELSEWHERE.items()
}
"""Place (a module below the top, or a class) -> name -> what to write instead."""
_CLASSES = frozenset(place for place in ELSEWHERE if place[:1].isupper())


@cache
def _families() -> list[tuple[str, list[str], str]]:
    found = []
    for paragraph in NOT_HERE.strip().split("\n\n"):
        head, _, text = paragraph.partition("\n= ")
        where, _, names = head.partition(": ")
        found.append(("" if where == "-" else where, names.split(), " ".join(text.split())))
    return found


_LIKE = 0.75
"""How alike a name must be to one that is there to be worth a word: ``Linear`` has nothing to do with ``inner``."""
_MISSPELT = 0.85
"""How alike a name must be to one that is there, to be a misspelling of it rather than a name of MindSpore's."""

KEYWORDS = {
    "lr": "learning_rate", "bias": "has_bias", "eps": "epsilon", "amsgrad": "use_amsgrad", "in_features": "in_channels",
    "out_features": "out_channels", "num_embeddings": "vocab_size", "embedding_dim": "embedding_size",
    "size_average": "reduction", "dim": "axis", "keepdim": "keep_dims",
    "elementwise_affine": "has_bias", "track_running_stats": "use_batch_statistics",
    "nesterov": "use_nesterov", "betas": "beta1", "num_classes": "depth", "argnums": "grad_position", "prob": "p",
    "drop_last": "drop_remainder", "num_workers": "num_parallel_workers", "groups": "group",
}  # fmt: skip
"""Keyword of PyTorch's: the one that means it here, in what has that one; what follows PyTorch has it the other way."""


def _below(place: str) -> str:
    """The part of a module's name below the top: ``nn`` of ``duograph.nn`` and of ``mindspore.nn``."""
    return place.partition(".")[2] if place.partition(".")[0] in ("duograph", "mindspore") else place


def absence(module: str, name: str) -> tuple[str, bool]:
    """What is to be said of a public name of MindSpore that is not there, and whether it is listed by itself.

    Returns:
        tuple, ``("", False)`` if nothing is known of it.
    """
    inside = _below(module)
    for where, names, text in _families():
        if re.fullmatch(where, inside) and any(re.fullmatch(pattern, name) for pattern in names):
            return text, name in names
    return "", False


def instead(place: str, name: str, names: Iterable[str] = ()) -> str:
    """The end of the sentence that ``place`` has no ``name``: what to write instead, or the nearest of ``names``.

    Nobody has mistyped a private name: it is asked for by tools that look at any object (pytest, copy, IPython), and
    often.

    Args:
        place: full name of the module; ``Tensor``, ``Cell`` or ``Model``.
        name: what was asked for.
        names: what there is.
    """
    if name.startswith("_"):
        return ""
    inside = _below(place)
    for where in (inside, inside.partition(".")[0]):  # ``ops.operations`` shows what ``ops`` does
        if name in ELSEWHERE.get(where, {}):
            return f"; {ELSEWHERE[where][name]}"
    from difflib import SequenceMatcher

    near = nearest(name, names)
    text, is_listed = ("", False) if place in _CLASSES else absence(place, name)
    is_misspelt = near is not None and SequenceMatcher(None, name.lower(), near.lower()).ratio() > _MISSPELT
    if text and (is_listed or not is_misspelt):
        return f": it {text}"
    return f"; the nearest name is {near!r}" if near else ""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The public one of ``names`` that looks most like ``name``; in other case only if nothing else does."""
    from difflib import get_close_matches

    public = [item for item in names if not item.startswith("_") and item != name]
    found = get_close_matches(name, public, n=1, cutoff=_LIKE)
    if found:
        return found[0]
    folded = {item.lower(): item for item in public}
    found = get_close_matches(name.lower(), folded, n=1, cutoff=_LIKE)
    return folded[found[0]] if found else None


def keyword_instead(name: str, known: Iterable[str]) -> str:
    """The end of the sentence that a keyword is unexpected: which of ``known`` means it, or is like it."""
    names = list(known)
    for other in (KEYWORDS.get(name), *[theirs for theirs, ours in KEYWORDS.items() if ours == name]):
        if other in names:
            return f"; it is called {other!r} here"
    near = nearest(name, names)
    return f"; the nearest is {near!r}" if near else ""


class Elsewhere:
    """An attribute that is not there, whose error says what to write instead: PyTorch's ``backward``.

    A ``__getattr__`` would say it as well, and make every attribute that is there slower, or harder to capture.
    """

    def __init__(self, place: str, name: str) -> None:
        self.place, self.name = place, name

    def __get__(self, subject: object, owner: type) -> Any:
        said = f"{owner.__name__!r} object has no attribute {self.name!r}{instead(self.place, self.name)}"
        raise AttributeError(said, name=self.name)  # with its ``obj``, Python would show the nearest name as well


_Class = TypeVar("_Class", bound=type)


def says_instead(place: str) -> Callable[[_Class], _Class]:
    """Decorator of a class: the names that `ELSEWHERE` has of ``place`` say what to write instead."""

    def attach(cls: _Class) -> _Class:
        for name in ELSEWHERE[place]:
            if not hasattr(cls, name):
                setattr(cls, name, Elsewhere(place, name))
        return cls

    return attach
