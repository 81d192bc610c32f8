"""Layers of ``mint.nn`` without parameters: each is a function of `functional` with stored arguments (a table)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from duograph import nn
from duograph.api.functional import loss as losses
from duograph.api.functional import pool
from duograph.api.public_ops import functions
from duograph.nn.cell import Cell

from . import functional as F

_OPS = functions()
REQUIRED: Any = ...
Compute = Callable[..., Any]


_EXAMPLES: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    # name: (arguments of the constructor, shapes of the operands, shape of the result)
    "GLU": ("", ((1, 2),), (1, 1)), "Threshold": ("0.5, 0.0", ((1, 2),), (1, 2)),
    "Flatten": ("", ((2, 3, 4),), (2, 12)), "Fold": ("(2, 2), (1, 2)", ((1, 2, 2),), (1, 1, 2, 2)),
    "Unfold": ("(1, 2)", ((1, 1, 2, 2),), (1, 2, 2)), "MaxPool2d": ("2", ((1, 1, 4, 4),), (1, 1, 2, 2)),
    **{f"AvgPool{n}d": ("2", ((1, 1, *[4] * n),), (1, 1, *[2] * n)) for n in (1, 2, 3)},
    **{f"AdaptiveMaxPool{n}d": ("2", ((1, 1, *[4] * n),), (1, 1, *[2] * n)) for n in (1, 2)},
    "Upsample": ("(4, 4)", ((1, 1, 2, 2),), (1, 1, 4, 4)),
    **{f"Upsampling{how}2d": ("(4, 4)", ((1, 1, 2, 2),), (1, 1, 4, 4)) for how in ("Nearest", "Bilinear")},
    **{
        f"{how}Pad{n}d": (args, ((1, 1, *[3] * n),), (1, 1, *[5] * n))
        for how, args in (("Constant", "1, 0.5"), ("Zero", "1"), ("Reflection", "1"), ("Replication", "1"))
        for n in (1, 2, 3)
    },
    "CosineEmbeddingLoss": ("", ((1, 2), (1, 2), (1,)), ()),
    **{
        f"{name}Loss": ("", ((1, 2), (1, 2)), ())
        for name in ("KLDiv", "L1", "SmoothL1", "BCEWithLogits", "SoftMargin")
    },
}  # fmt: skip
"""Layers whose example is another than that of a function of each element."""


def _documented(name: str, table: dict[str, Any]) -> str:
    """The docstring of a layer."""
    defaults = [key if value is REQUIRED else f"{key}={value!r}" for key, value in table.items()]
    arguments, operands, made = _EXAMPLES.get(name, ("", ((1, 2),), (1, 2)))
    given = ", ".join(f"ops.ones({shape})" for shape in operands)
    if name == "MaxUnpool2d":
        arguments, given, made = "2", "ops.ones((1, 1, 1, 1)), ops.zeros((1, 1, 1, 1), ms.int64)", (1, 1, 2, 2)
    text = f"PyTorch's layer ``{name}({', '.join(defaults)})``."
    return f"{text}\n\nExamples:\n    >>> print(ms.mint.nn.{name}({arguments})({given}).shape)\n    {made}\n"


def _layer(name: str, compute: Compute, parameters: dict[str, Any] | None = None) -> type[Cell]:
    """The Cell ``name`` that calls ``compute(cell, *inputs)``; its constructor takes ``parameters`` (with defaults)."""
    table = parameters or {}

    def __init__(self: Any, *args: Any, **named: Any) -> None:
        super(cls, self).__init__()
        if len(args) > len(table):
            raise TypeError(f"{name}() takes {len(table)} arguments, but {len(args)} were given")
        given = dict(zip(table, args, strict=False))
        for key in named:
            if key not in table or key in given:
                raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
        for key, default in (table | given | named).items():
            if default is REQUIRED:
                raise TypeError(f"{name}() needs the argument {key!r}")
            setattr(self, key, default)

    def construct(self: Any, *inputs: Any) -> Any:
        return compute(self, *inputs)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([
        inspect.Parameter(key, kind, default=inspect.Parameter.empty if default is REQUIRED else default)
        for key, default in table.items()
    ])  # fmt: skip
    members = {
        "__signature__": signature, "__init__": __init__, "construct": construct, "__module__": "duograph.mint.nn",
        "__doc__": _documented(name, table),
    }  # fmt: skip
    cls: type[Cell] = type(name, (Cell,), members)
    return cls


_RED = {"reduction": "mean"}
_WINDOW = {"kernel_size": REQUIRED, "stride": None, "padding": 0, "ceil_mode": False, "count_include_pad": True}


def _average(rank: int) -> Compute:
    def compute(c: Any, x: Any) -> Any:
        divisor = c.divisor_override if rank > 1 else None
        return pool.average(rank, x, c.kernel_size, c.stride, c.padding, c.ceil_mode, c.count_include_pad, divisor)

    return compute


_UPSAMPLE = {"size": None, "scale_factor": None}
_PADDED = {"padding": REQUIRED}


def _sides(padding: Any, axes: int) -> tuple[int, ...]:
    return (padding,) * (2 * axes) if isinstance(padding, int) else tuple(padding)


def _pad(axes: int, mode: str) -> Compute:
    return lambda c, x: F.pad(x, _sides(c.padding, axes), mode)


def _pad_constant(axes: int) -> Compute:
    return lambda c, x: F.pad(x, _sides(c.padding, axes), "constant", getattr(c, "value", 0))


def _softmax_dim(c: Any, x: Any) -> int:
    return c.dim if c.dim is not None else 0 if x.ndim in (0, 1, 3) else 1


LAYERS: dict[str, tuple[Compute, dict[str, Any] | None]] = {
    "ELU": (lambda c, x: F.elu(x, c.alpha, c.inplace), {"alpha": 1.0, "inplace": False}),
    "GELU": (lambda c, x: F.gelu(x, approximate=c.approximate), {"approximate": "none"}),
    "GLU": (lambda c, x: F.glu(x, c.dim), {"dim": -1}),
    "ReLU6": (lambda c, x: F.relu6(x, c.inplace), {"inplace": False}),
    "SiLU": (lambda c, x: F.silu(x, c.inplace), {"inplace": False}),
    "Hardtanh": (
        lambda c, x: F.hardtanh(x, c.min_val, c.max_val, c.inplace),
        {"min_val": -1.0, "max_val": 1.0, "inplace": False},
    ),
    "Hardsigmoid": (lambda c, x: F.hardsigmoid(x), None),
    "Hardswish": (lambda c, x: F.hardswish(x), None),
    "Threshold": (
        lambda c, x: F.threshold(x, c.threshold, c.value, c.inplace),
        {"threshold": REQUIRED, "value": REQUIRED, "inplace": False},
    ),
    "Softmax": (lambda c, x: F.softmax(x, _softmax_dim(c, x)), {"dim": None}),
    "LogSoftmax": (lambda c, x: F.log_softmax(x, _softmax_dim(c, x)), {"dim": None}),
    "Dropout": (lambda c, x: F.dropout(x, c.p, c.training, c.inplace), {"p": 0.5, "inplace": False}),
    "Dropout2d": (lambda c, x: F.dropout2d(x, c.p, c.training, c.inplace), {"p": 0.5, "inplace": False}),
    "Flatten": (lambda c, x: _OPS["flatten"](x, start_dim=c.start_dim, end_dim=c.end_dim),
                {"start_dim": 1, "end_dim": -1}),
    "Fold": (
        lambda c, x: F.fold(x, c.output_size, c.kernel_size, c.dilation, c.padding, c.stride),
        {"output_size": REQUIRED, "kernel_size": REQUIRED, "dilation": 1, "padding": 0, "stride": 1},
    ),
    "Unfold": (
        lambda c, x: F.unfold(x, c.kernel_size, c.dilation, c.padding, c.stride),
        {"kernel_size": REQUIRED, "dilation": 1, "padding": 0, "stride": 1},
    ),
    "AvgPool1d": (_average(1), _WINDOW),
    "AvgPool2d": (_average(2), {**_WINDOW, "divisor_override": None}),
    "AvgPool3d": (_average(3), {**_WINDOW, "divisor_override": None}),
    "MaxPool2d": (
        lambda c, x: F.max_pool2d(x, c.kernel_size, c.stride, c.padding, c.dilation, c.ceil_mode, c.return_indices),
        {"kernel_size": 1, "stride": None, "padding": 0, "dilation": 1, "return_indices": False, "ceil_mode": False},
    ),
    "MaxUnpool2d": (
        lambda c, x, i, size=None: F.max_unpool2d(x, i, c.kernel_size, c.stride, c.padding, size),
        {"kernel_size": REQUIRED, "stride": None, "padding": 0},
    ),
    "AdaptiveMaxPool1d": (
        lambda c, x: F.adaptive_max_pool1d(x, c.output_size, c.return_indices),
        {"output_size": REQUIRED, "return_indices": False},
    ),
    "AdaptiveMaxPool2d": (
        lambda c, x: F.adaptive_max_pool2d(x, c.output_size, c.return_indices),
        {"output_size": REQUIRED, "return_indices": False},
    ),
    "Upsample": (
        lambda c, x: F.interpolate(x, c.size, c.scale_factor, c.mode, c.align_corners, c.recompute_scale_factor),
        {**_UPSAMPLE, "mode": "nearest", "align_corners": None, "recompute_scale_factor": None},
    ),
    "UpsamplingNearest2d": (lambda c, x: F.interpolate(x, c.size, c.scale_factor, "nearest"), _UPSAMPLE),
    "UpsamplingBilinear2d": (lambda c, x: F.interpolate(x, c.size, c.scale_factor, "bilinear", True), _UPSAMPLE),
    **{f"ConstantPad{n}d": (_pad_constant(n), {**_PADDED, "value": REQUIRED}) for n in (1, 2, 3)},
    **{f"ZeroPad{n}d": (_pad_constant(n), _PADDED) for n in (1, 2, 3)},
    **{f"ReflectionPad{n}d": (_pad(n, "reflect"), _PADDED) for n in (1, 2, 3)},
    **{f"ReplicationPad{n}d": (_pad(n, "replicate"), _PADDED) for n in (1, 2, 3)},
    "CosineEmbeddingLoss": (
        lambda c, x, y, t: F.cosine_embedding_loss(x, y, t, c.margin, c.reduction), {"margin": 0.0, **_RED}
    ),
    "KLDivLoss": (lambda c, x, y: F.kl_div(x, y, c.reduction, c.log_target), {**_RED, "log_target": False}),
    "L1Loss": (lambda c, x, y: losses.l1_loss(x, y, c.reduction), _RED),
    "SmoothL1Loss": (lambda c, x, y: F.smooth_l1_loss(x, y, c.reduction, c.beta), {**_RED, "beta": 1.0}),
    "BCEWithLogitsLoss": (
        lambda c, x, y: F.binary_cross_entropy_with_logits(x, y, c.weight, c.reduction, c.pos_weight),
        {"weight": None, "reduction": "mean", "pos_weight": None},
    ),
    "SoftMarginLoss": (lambda c, x, y: losses.soft_margin_loss(x, y, c.reduction), _RED),
}  # fmt: skip

CLASSES: dict[str, type[Cell]] = {name: _layer(name, compute, table) for name, (compute, table) in LAYERS.items()}
"""Class name to class."""

SAME = {
    # name in mint.nn: name in nn
    **{
        name: name
        for name in (
            "Cell", "Identity", "ReLU", "Sigmoid", "Tanh", "Mish", "LogSigmoid", "MSELoss", "BCELoss", "NLLLoss",
            "CrossEntropyLoss", "PixelShuffle", "PixelUnshuffle", "AdaptiveAvgPool1d",
            "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "Linear",
        )
    },
    "Softshrink": "SoftShrink", "Hardshrink": "HShrink", "SELU": "SeLU",
}  # fmt: skip
CLASSES.update({name: getattr(nn, other) for name, other in SAME.items()})
