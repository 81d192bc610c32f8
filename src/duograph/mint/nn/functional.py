"""``mint.nn.functional``: functions of layers under PyTorch's signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duograph.api.functional import activation, creation, loss, nn, pool
from duograph.api.functional.forms import in_dtype, need_tensor, one_per_axis, renamed
from duograph.api.functional.padding import pad as _pad
from duograph.api.functional.products import dense
from duograph.api.native import make_public
from duograph.api.public_ops import functions
from duograph.ops.reduce import reduce_max
from duograph.tensor import hooks
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from ..functions import FUNCTIONS as _MINT

_OPS = functions()
SAME = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool2d", "cosine_embedding_loss",
    "cross_entropy", "fold", "gelu", "grid_sample", "group_norm", "hardshrink", "hardsigmoid", "hardswish",
    "interpolate", "kl_div", "l1_loss", "layer_norm", "mse_loss", "normalize", "pixel_shuffle", "prelu", "relu",
    "sigmoid", "softplus", "softshrink", "soft_margin_loss", "tanh", "unfold", "upsample", "clamp", "conv_transpose2d",
    "embedding", "gumbel_softmax", "relu_", "threshold_",
]  # fmt: skip
globals().update({name: _OPS[name] for name in SAME})
flatten = _MINT["flatten"]


mish = renamed(_OPS["mish"], x="input")
selu = renamed(_OPS["selu"], input_x="input")
logsigmoid = renamed(_OPS["logsigmoid"], x="input")
max_unpool2d = renamed(_OPS["max_unpool2d"], x="input")
linear = renamed(dense, "linear", False, "mint.nn.functional")
binary_cross_entropy = renamed(loss.binary_cross_entropy, logits="input", labels="target")
pad = renamed(_pad, input_x="input", padding="pad")


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """Negative log likelihood of the classes ``target``, given log probabilities."""
    return loss.nll_loss(input, target, weight, ignore_index, reduction)


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """``input`` (N, C, ...) normalised per channel; in training by own statistics, which move the running ones."""
    return nn.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to 0 with probability ``p``, the others divided by ``1 - p``."""
    return _written(input, nn.dropout(input, p, training), inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels set to 0 with probability ``p``."""
    return _written(input, nn.dropout2d(input, p, training), inplace)


def _written(x: Tensor, value: Tensor, inplace: bool) -> Tensor:
    if not inplace:
        return value
    write(x, value)
    return x


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(input, 0), 6)``."""
    return _written(input, _OPS["relu6"](input), inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``."""
    return _written(input, _OPS["silu"](input), inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` above 0, ``alpha * (exp(input) - 1)`` below."""
    return _written(input, activation.elu(input, alpha), inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """``input`` above 0, ``negative_slope * input`` below."""
    return activation.leaky_relu(input, negative_slope)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second."""
    return activation.glu(input, dim)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` limited to ``min_val`` .. ``max_val``."""
    return _written(input, activation.hardtanh(input, min_val, max_val), inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` above ``threshold``, ``value`` elsewhere."""
    return _written(input, activation.threshold(input, threshold, value), inplace)


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """``exp(input)`` divided by its sum along ``dim``."""
    return activation.softmax(input, -1 if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """Logarithm of `softmax`."""
    return activation.log_softmax(in_dtype(input, dtype), -1 if dim is None else dim)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid of ``input``."""
    return loss.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """``target * (log(target) - input)``."""
    return loss.kl_div_of_logs(input, target, reduction, log_target)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """``gap**2 / (2 beta)`` below ``beta``, ``gap - beta / 2`` above."""
    return loss.smooth_l1_loss(input, target, beta, reduction)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu`, in place."""
    return elu(input, alpha, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh`, in place."""
    return hardtanh(input, min_val, max_val, inplace=True)


def _conv(rank: int) -> Any:
    def function(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:  # fmt: skip
        if isinstance(padding, str):
            return nn.convolve(rank, input, weight, bias, stride, padding, 0, dilation, groups)
        pads = one_per_axis(padding, rank, f"conv{rank}d", "padding")
        return nn.convolve(rank, input, weight, bias, stride, "pad", pads, dilation, groups)

    function.__name__ = f"conv{rank}d"
    function.__doc__ = f"Convolution over {rank} axes; ``padding`` is numbers, ``'same'`` or ``'valid'``."
    return function


conv1d, conv2d, conv3d = (_conv(rank) for rank in (1, 2, 3))


def _avg_pool(rank: int) -> Any:
    def function(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Tensor:  # fmt: skip
        return pool.average(rank, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    function.__name__ = f"avg_pool{rank}d"
    function.__doc__ = "The mean of each window."
    return function


avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(rank) for rank in (1, 2, 3))


def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window; with ``return_indices`` also the flat positions."""
    return pool.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum over nearly equal windows."""
    out = pool.adaptive_maximum(1, input, output_size)
    return out if return_indices else out[0]


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A new last axis that is 1 at the index (int64); the number of classes is that of the indices by default."""
    need_tensor("OneHot", tensor=tensor)
    depth = num_classes
    if num_classes == -1:
        top = reduce_max(tensor, axis=tuple(range(tensor.ndim)), keep_dims=False)
        depth = hooks.as_python_number(top, "index") + 1
    return creation.one_hot(tensor, depth)


if TYPE_CHECKING:  # what the table gives

    def __getattr__(name: str) -> Any: ...


_here = {n for n, value in globals().items() if n[0] != "_" and getattr(value, "__module__", "") == __name__}
_renamed = ["mish", "selu", "logsigmoid", "max_unpool2d", "linear", "binary_cross_entropy", "pad"]
__all__ = list(dict.fromkeys([*SAME, "flatten", *_renamed, *sorted(_here)]))
make_public({name: globals()[name] for name in __all__}, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
