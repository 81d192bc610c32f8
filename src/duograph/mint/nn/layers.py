"""Layers of ``mint.nn`` that only call a function of ``mint.nn.functional`` with their settings."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any

from duograph.nn.cell import Cell

from . import functional as F

REQUIRED = Argument.empty
"""Marks a setting without default."""


class FunctionLayer(Cell):
    """Base class: binds its settings to `settings` and gives them to `function` with every call."""

    function: Callable[..., Any]
    settings = Signature()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self.settings.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.__init__() {error}") from None
        bound.apply_defaults()
        self.arguments = dict(bound.arguments)
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    def construct(self, *inputs):
        return type(self).function(*inputs, **self.arguments)

    def extend_repr(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.arguments.items())


def layer(name: str, function: Callable[..., Any], doc: str, **settings: Any) -> type[FunctionLayer]:
    """A layer class that calls ``function``; ``settings`` are its arguments with their defaults, in order."""
    arguments = [Argument(key, Argument.POSITIONAL_OR_KEYWORD, default=value) for key, value in settings.items()]
    signature = Signature(arguments)
    body = {
        "__doc__": f"{doc}\n\nArgs: ``{signature}``; see `mint.nn.functional`.",
        "__module__": __name__,
        "function": staticmethod(function),
        "settings": signature,
        "__signature__": signature,
    }
    return type(name, (FunctionLayer,), body)


def _flatten(x: Any, start_dim: int, end_dim: int) -> Any:
    return x.flatten(start_dim=start_dim, end_dim=end_dim)


def _padded(mode: str) -> Callable[..., Any]:
    def pad(x: Any, padding: Any, value: Any = None, axes: int = 1) -> Any:
        pads = (padding,) * (2 * axes) if isinstance(padding, int) else tuple(padding)
        return F.pad(x, pads, mode, value)

    return pad


def _padding_layer(kind: str, axes: int) -> type[FunctionLayer]:
    mode = {"Constant": "constant", "Zero": "constant", "Reflection": "reflect", "Replication": "replicate"}[kind]
    pad = _padded(mode)
    if kind == "Constant":

        def function(x: Any, padding: Any, value: Any) -> Any:
            return pad(x, padding, value, axes)

        return layer(f"ConstantPad{axes}d", function, "Pads with a value.", padding=REQUIRED, value=REQUIRED)

    def function_without_value(x: Any, padding: Any) -> Any:
        return pad(x, padding, 0 if kind == "Zero" else None, axes)

    return layer(f"{kind}Pad{axes}d", function_without_value, "Pads.", padding=REQUIRED)


def _resize(mode: str) -> Callable[..., Any]:
    def function(x: Any, size: Any, scale_factor: Any) -> Any:
        align = True if mode == "bilinear" else None
        return F.interpolate(x, size, scale_factor, mode, align)

    return function


def _upsample(x: Any, size: Any, scale_factor: Any, mode: str, align_corners: Any, recompute_scale_factor: Any) -> Any:
    return F.interpolate(x, size, scale_factor, mode, align_corners, recompute_scale_factor)


def _soft(function: Callable[..., Any]) -> Callable[..., Any]:
    def along(x: Any, dim: int | None) -> Any:
        if dim is None:
            dim = 0 if x.ndim in (0, 1, 3) else 1
        return function(x, dim)

    return along


def _activations() -> list[type[FunctionLayer]]:
    return [
        layer("ReLU", F.relu, "``max(x, 0)``."),
        layer("ReLU6", F.relu6, "``min(max(x, 0), 6)``.", inplace=False),
        layer("Sigmoid", F.sigmoid, "The logistic function."),
        layer("Tanh", F.tanh, "The hyperbolic tangent."),
        layer("SiLU", F.silu, "``x * sigmoid(x)``.", inplace=False),
        layer("GELU", F.gelu, "Gaussian error linear unit.", approximate="none"),
        layer("Mish", F.mish, "``x * tanh(softplus(x))``."),
        layer("SELU", F.selu, "Scaled exponential linear unit."),
        layer("ELU", F.elu, "Exponential linear unit.", alpha=1.0, inplace=False),
        layer("Hardshrink", F.hardshrink, "0 within ``lambd``.", lambd=0.5),
        layer("Softshrink", F.softshrink, "Nearer to 0 by ``lambd``.", lambd=0.5),
        layer("Hardsigmoid", F.hardsigmoid, "``relu6(x + 3) / 6``."),
        layer("Hardswish", F.hardswish, "``x * hardsigmoid(x)``."),
        layer("Hardtanh", F.hardtanh, "Clipped.", min_val=-1.0, max_val=1.0, inplace=False),
        layer("LogSigmoid", F.logsigmoid, "Logarithm of the logistic function."),
        layer("Softplus", F.softplus, "``log(1 + exp(beta x)) / beta``.", beta=1, threshold=20),
        layer("LeakyReLU", F.leaky_relu, "``x`` times ``negative_slope`` below 0.", negative_slope=0.01),
        layer("GLU", F.glu, "One half times the sigmoid of the other.", dim=-1),
        layer("Threshold", F.threshold, "``value`` up to ``threshold``.", threshold=REQUIRED, value=REQUIRED,
              inplace=False),
        layer("Softmax", _soft(F.softmax), "Softmax along ``dim``.", dim=None),
        layer("LogSoftmax", _soft(F.log_softmax), "Logarithm of the softmax along ``dim``.", dim=None),
    ]  # fmt: skip


def _losses() -> list[type[FunctionLayer]]:
    return [
        layer("L1Loss", F.l1_loss, "Absolute error.", reduction="mean"),
        layer("MSELoss", F.mse_loss, "Squared error.", reduction="mean"),
        layer("SmoothL1Loss", F.smooth_l1_loss, "Squared near 0, else absolute.", reduction="mean", beta=1.0),
        layer("BCELoss", F.binary_cross_entropy, "Binary cross entropy.", weight=None, reduction="mean"),
        layer("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, "Binary cross entropy of logits.", weight=None,
              reduction="mean", pos_weight=None),
        layer("KLDivLoss", F.kl_div, "Divergence of distributions.", reduction="mean", log_target=False),
        layer("SoftMarginLoss", F.soft_margin_loss, "``log(1 + exp(-y x))``.", reduction="mean"),
        layer("CosineEmbeddingLoss", F.cosine_embedding_loss, "Cosine distance.", margin=0.0, reduction="mean"),
        layer("NLLLoss", F.nll_loss, "Negative log likelihood.", weight=None, ignore_index=-100, reduction="mean"),
        layer("CrossEntropyLoss", F.cross_entropy, "Cross entropy of logits.", weight=None, ignore_index=-100,
              reduction="mean", label_smoothing=0.0),
    ]  # fmt: skip


def _shapes() -> list[type[FunctionLayer]]:
    window = {"kernel_size": REQUIRED, "stride": None, "padding": 0}
    mean = {**window, "ceil_mode": False, "count_include_pad": True}
    blocks = {"kernel_size": REQUIRED, "dilation": 1, "padding": 0, "stride": 1}
    pads = [_padding_layer(k, n) for k in ("Constant", "Zero", "Reflection", "Replication") for n in (1, 2, 3)]
    return [
        *pads,
        layer("AvgPool1d", F.avg_pool1d, "Means of windows.", **mean),
        layer("AvgPool2d", F.avg_pool2d, "Means of windows.", **mean, divisor_override=None),
        layer("AvgPool3d", F.avg_pool3d, "Means of windows.", **mean, divisor_override=None),
        layer("MaxPool2d", F.max_pool2d, "Maxima of windows.", **window, dilation=1, return_indices=False,
              ceil_mode=False),
        layer("MaxUnpool2d", F.max_unpool2d, "Puts maxima back.", **window),
        layer("AdaptiveAvgPool1d", F.adaptive_avg_pool1d, "Means of equal windows.", output_size=REQUIRED),
        layer("AdaptiveAvgPool2d", F.adaptive_avg_pool2d, "Means of equal windows.", output_size=REQUIRED),
        layer("AdaptiveAvgPool3d", F.adaptive_avg_pool3d, "Means of equal windows.", output_size=REQUIRED),
        layer("AdaptiveMaxPool1d", F.adaptive_max_pool1d, "Maxima of equal windows.", output_size=REQUIRED,
              return_indices=False),
        layer("AdaptiveMaxPool2d", F.adaptive_max_pool2d, "Maxima of equal windows.", output_size=REQUIRED,
              return_indices=False),
        layer("Flatten", _flatten, "Axes in one.", start_dim=1, end_dim=-1),
        layer("Fold", F.fold, "Sums windows.", output_size=REQUIRED, **blocks),
        layer("Unfold", F.unfold, "Takes windows out.", **blocks),
        layer("PixelShuffle", F.pixel_shuffle, "Channels to pixels.", upscale_factor=REQUIRED),
        layer("Upsample", _upsample, "Resizes.", size=None, scale_factor=None, mode="nearest", align_corners=None,
              recompute_scale_factor=None),
        layer("UpsamplingNearest2d", _resize("nearest"), "Resizes.", size=None, scale_factor=None),
        layer("UpsamplingBilinear2d", _resize("bilinear"), "Resizes.", size=None, scale_factor=None),
    ]  # fmt: skip


LAYERS = {made.__name__: made for made in (*_activations(), *_losses(), *_shapes())}
