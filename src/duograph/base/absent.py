"""Names that programs ask for and that are not there: what to write instead, or why there is nothing.

Two tables. `ELSEWHERE` has the names that PyTorch users write, by the place where they look for them. `NOT_HERE` has
families of MindSpore's public names that this package does not provide. `instead` ends the sentence of the
`AttributeError` or `ImportError`; a name in neither table gets the nearest one that there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["absence", "instead", "keyword_instead", "nearest"]

_GRADIENTS = "gradients come from value_and_grad(forward, None, net.trainable_params())(x), not from backward()"
_ONE_DEVICE = "there is one device, the CPU: leave it out"

_ELSEWHERE: dict[str, dict[str, str]] = {
    "": {
        "compile": "compile with jit(f) or @jit",
        "cuda": _ONE_DEVICE,
        "backends": _ONE_DEVICE,
        "autograd": _GRADIENTS,
        "optim": "optimizers are in nn (nn.Adam, nn.SGD) and, with PyTorch's signatures, in mint.optim",
        "vision": "image transforms are in dataset.vision, networks in packages like mindcv",
        "save": "save_checkpoint(net, 'file.ckpt') writes parameters",
        "zeros cat relu randn rand ones arange stack matmul softmax sum mean": "functions are in ops and, with "
        "PyTorch's signatures, in mint",
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
        "linear": "it is ops.dense(x, weight, bias), and mint.nn.functional.linear",
        "no_grad": "it is no_grad at the top of the package",
    },
    "Tensor": {
        "backward grad grad_fn retain_grad": _GRADIENTS,
        "cuda cpu is_cuda": _ONE_DEVICE,
        "detach detach_": "ops.stop_gradient(x) stops gradients",
    },
    "Cell": {
        "parameters named_parameters": "net.trainable_params() and net.parameters_and_names() list the parameters",
        "train": "it is net.set_train()",
        "eval": "it is net.set_train(False)",
        "forward": "the computation is construct(); call the network itself",
        "modules named_modules": "it is net.cells_and_names()",
        "children named_children": "it is net.cells() and net.name_cells()",
        "zero_grad": "gradients are values that value_and_grad returns: there is nothing to clear",
        "cuda cpu": _ONE_DEVICE,
        "half double": "it is net.to_float(float16)",
        "to": "there is one device, the CPU, and net.to_float(float16) sets the dtype of computation",
        "step": "an optimizer is called with the gradients: optimizer(grads)",
        "param_groups": "it is optimizer.parameters, and group_params for groups",
    },
}
ELSEWHERE = {
    place: {name: text for names, text in table.items() for name in names.split()}
    for place, table in _ELSEWHERE.items()
}
"""Place (a module below the top, or a class) -> name -> what to write instead."""

_FILES = "is not read yet; GeneratorDataset takes any Python object with __getitem__ and __len__"
_ASCEND = "is an operator of Ascend processors, and there is one device, the CPU"

NOT_HERE: tuple[tuple[str, str, str], ...] = (
    (r"dataset(\.engine.*)?", r"\w*Dataset", _FILES),
    (r"dataset\.audio.*", r".*", "is a transform of audio, which is not provided; map a function of your own"),
    (r"dataset\.vision.*", r"[A-Z].*", "is not provided; ds.map(lambda image: ...) takes functions of NumPy arrays"),
    (r"dataset\.text.*", r"[A-Z].*", "is not provided; ds.map(lambda text: ...) takes functions of NumPy arrays"),
    (r"rewrite.*", r".*", ("edits networks as source text, which is not provided; derive from the Cell, or assign to "
     "its members")),
    (r"boost.*", r".*", "speeds training up by changing its results, which is not provided; see jit and amp"),
    (r"nn\.probability.*", r".*", ("is a distribution, which is not provided; sample with ops.standard_normal, "
     "ops.uniform, ops.gamma and others")),
    (r"(ops.*)?", r"(csr|coo|sparse)_\w+|Sparse\w+|SparseTensor", ("computes with sparse tensors, of which there are "
     "only the containers COOTensor and CSRTensor; use x.to_dense()")),
    (r"ops.*", (r"Custom|CustomRegOp|custom_info_register|kernel|TBERegOp|AiCPURegOp|DataType|CustomOpBuilder|"
     r"op_info_register"), ("makes operators of C++ or Ascend code, which is not provided; write the computation "
     "in ops, it is compiled")),
    (r"ops.*", (r"NPU\w+|\w*V2Ext|AllGatherMatmul|MatmulReduceScatter|FlashAttentionScore|PromptFlashAttention|"
     r"IncreFlashAttention|MoeFinalizeRouting|GroupedMatmul\w*"), (f"{_ASCEND}; see ops.flash_attention_score and "
     "the float functions of ops")),
    (r"ops.*", r"(Scalar|Tensor|Image|Histogram)Summary", ("writes from inside of a network, which is not provided; "
     "return the value, and give it to SummaryRecord.add_value")),
    (r"", r"set_dump|dump|TensorDump", "writes tensors of Ascend operators; print(x) works in every mode"),
    (r"", r"flops_collection", "counts on Ascend; summary(net, x) counts operations of layers"),
    (r"", r"Node|SymbolTree|ScopedValue|NodeType", ("edits networks as source text, which is not provided; derive from "
     "the Cell, or assign to its members")),
    (r"", (r"SummaryLandscape|ConvertModelUtils|ConvertNetUtils|convert_model|build_searched_strategy|"
     r"merge_sliced_parameter|load_distributed_checkpoint|restore_group_info_list|parse_print|obfuscate_ckpt|"
     r"load_obf_params_into_net|async_ckpt_thread_status|unified_safetensors|transform_checkpoint\w*|"
     r"rank_list_for_transform|load_segmented_checkpoints"),
     "belongs to files and tools of MindSpore that are not provided; see save_checkpoint and load_checkpoint"),
    (r"device_context.*", r".*", "sets up Ascend and GPU devices; there is one device, the CPU"),
    (r"safeguard.*|parallel\.checkpoint_transform.*|parallel\.nn.*", r".*", "is not provided"),
)  # fmt: skip
"""Module below the top (a pattern), name (a pattern), and what is to be said of such a name."""

_MISSPELT = 0.85
"""How alike a name must be to one that is there, to be a misspelling of it rather than a name of MindSpore's."""

KEYWORDS = {
    "lr": "learning_rate", "bias": "has_bias", "eps": "epsilon", "amsgrad": "use_amsgrad", "in_features": "in_channels",
    "out_features": "out_channels", "num_embeddings": "vocab_size", "embedding_dim": "embedding_size",
    "size_average": "reduction", "dim": "axis", "keepdim": "keep_dims",
    "elementwise_affine": "has_bias", "track_running_stats": "use_batch_statistics",
    "nesterov": "use_nesterov", "betas": "beta1",
}  # fmt: skip
"""Keyword of PyTorch's: the one that means it here, in what has that one."""


def _below(place: str) -> str:
    """The part of a module's name below the top: ``nn`` of ``duograph.nn`` and of ``mindspore.nn``."""
    return place.partition(".")[2] if place.partition(".")[0] in ("duograph", "mindspore") else place


def absence(module: str, name: str) -> str:
    """What is to be said of a public name of MindSpore that is not there; empty: nothing is known of it."""
    inside = _below(module)
    for where, names, text in NOT_HERE:
        if re.fullmatch(where, inside) and re.fullmatch(names, name):
            return text
    return ""


def instead(place: str, name: str, names: Iterable[str] = ()) -> str:
    """The end of the sentence that ``place`` has no ``name``: what to write instead, or the nearest of ``names``.

    Nobody has mistyped a private name: it is asked for by tools that look at any object (pytest, copy, IPython), and
    often.

    Args:
        place: full name of the module; ``Tensor`` or ``Cell``.
        name: what was asked for.
        names: what there is.
    """
    if name.startswith("_"):
        return ""
    text = ELSEWHERE.get(_below(place), {}).get(name, "")
    if text:
        return f"; {text}"
    from difflib import SequenceMatcher

    near = nearest(name, names)
    text = "" if place in ("Tensor", "Cell") else absence(place, name)
    if text and not (near and SequenceMatcher(None, name.lower(), near.lower()).ratio() > _MISSPELT):
        return f": it {text}"
    return f"; the nearest name is {near!r}" if near else ""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The public one of ``names`` that looks most like ``name``; in other case only if nothing else does."""
    from difflib import get_close_matches

    public = [item for item in names if not item.startswith("_") and item != name]
    found = get_close_matches(name, public, n=1)
    if found:
        return found[0]
    folded = {item.lower(): item for item in public}
    found = get_close_matches(name.lower(), folded, n=1)
    return folded[found[0]] if found else None


def keyword_instead(name: str, known: Iterable[str]) -> str:
    """The end of the sentence that a keyword is unexpected: which of ``known`` means it, or is like it."""
    names = list(known)
    if KEYWORDS.get(name) in names:
        return f"; it is called {KEYWORDS[name]!r} here"
    near = nearest(name, names)
    return f"; the nearest is {near!r}" if near else ""
