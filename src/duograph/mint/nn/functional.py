"""``mint.nn.functional``: functions of layers under PyTorch's signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duograph.api.functional import activation, creation, loss, nn, pool
from duograph.api.functional.forms import documented, in_dtype, need_tensor, one_per_axis, renamed
from duograph.api.functional.padding import pad as _pad
from duograph.api.functional.products import dense
from duograph.api.native import make_public
from duograph.api.public_ops import functions
from duograph.ops.reduce import reduce_max
from duograph.ops.scalar import extent_of
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
    """Negative log likelihood of the classes ``target``, given log probabilities.

    Returns:
        Tensor: a number, or one for each row with ``reduction="none"``.

    Examples:
        >>> log_probabilities = mint.log(Tensor([[0.25, 0.75], [0.5, 0.5]]))
        >>> print(mint.nn.functional.nll_loss(log_probabilities, Tensor([1, 0]), reduction="none"))
        [0.28768206 0.6931472 ]
    """
    return loss.nll_loss(input, target, weight, ignore_index, reduction)


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """``input`` (N, C, ...) normalised per channel; in training by own statistics, which move the running ones.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> x = Tensor([[1.0, 10.0], [3.0, 30.0]])
        >>> print(mint.nn.functional.batch_norm(x, mint.zeros(2), mint.ones(2), training=True))
        [[-0.999995 -1.      ]
         [ 0.999995  1.      ]]
    """
    return nn.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to 0 with probability ``p``, the others divided by ``1 - p``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> x = mint.nn.functional.dropout(mint.ones(1000), p=0.5)
        >>> print(sorted(set(x.tolist())), mint.nn.functional.dropout(mint.ones(3), training=False))
        [0.0, 2.0] [1. 1. 1.]
    """
    return _written(input, nn.dropout(input, p, training), inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels set to 0 with probability ``p``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> x = mint.nn.functional.dropout2d(mint.ones(50, 4, 2, 2), p=0.5)
        >>> print(sorted(set(x.sum((2, 3)).flatten().tolist())))
        [0.0, 8.0]
    """
    return _written(input, nn.dropout2d(input, p, training), inplace)


def _written(x: Tensor, value: Tensor, inplace: bool) -> Tensor:
    if not inplace:
        return value
    write(x, value)
    return x


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(input, 0), 6)``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(mint.nn.functional.relu6(Tensor([-1.0, 3.0, 9.0])))
        [0. 3. 6.]
    """
    return _written(input, _OPS["relu6"](input), inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(mint.nn.functional.silu(Tensor([-100.0, 0.0, 100.0])))
        [-3.72e-42  0.00e+00  1.00e+02]
    """
    return _written(input, _OPS["silu"](input), inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` above 0, ``alpha * (exp(input) - 1)`` below.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(mint.nn.functional.elu(Tensor([-100.0, 0.0, 2.0]), alpha=0.5))
        [-0.5  0.   2. ]
    """
    return _written(input, activation.elu(input, alpha), inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """``input`` above 0, ``negative_slope * input`` below.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(mint.nn.functional.leaky_relu(Tensor([-10.0, 2.0]), negative_slope=0.25))
        [-2.5  2. ]
    """
    return activation.leaky_relu(input, negative_slope)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second.

    Returns:
        Tensor, half as long along ``dim``.

    Examples:
        >>> print(mint.nn.functional.glu(Tensor([[1.0, 2.0, 0.0, 100.0]])))
        [[0.5 2. ]]
    """
    return activation.glu(input, dim)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` limited to ``min_val`` .. ``max_val``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(mint.nn.functional.hardtanh(Tensor([-3.0, 0.5, 3.0]), max_val=2.0))
        [-1.   0.5  2. ]
    """
    return _written(input, activation.hardtanh(input, min_val, max_val), inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` above ``threshold``, ``value`` elsewhere.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(mint.nn.functional.threshold(Tensor([0.5, 1.5, 2.5]), 1.0, -1.0))
        [-1.   1.5  2.5]
    """
    return _written(input, activation.threshold(input, threshold, value), inplace)


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """``exp(input)`` divided by its sum along ``dim``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(mint.nn.functional.softmax(Tensor([0.0, 0.0, 100.0]), dim=0))
        [3.8e-44 3.8e-44 1.0e+00]
    """
    return activation.softmax(input, -1 if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """Logarithm of `softmax`.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(mint.nn.functional.log_softmax(Tensor([[0.0, 100.0]]), dim=1))
        [[-100.    0.]]
    """
    return activation.log_softmax(in_dtype(input, dtype), -1 if dim is None else dim)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid of ``input``.

    Returns:
        Tensor: a number, or of the shape of ``input`` with ``reduction="none"``.

    Examples:
        >>> logits, target = Tensor([0.0, 50.0]), Tensor([1.0, 1.0])
        >>> print(mint.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none"))
        [0.6931472 0.       ]
    """
    return loss.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """``target * (log(target) - input)``.

    Returns:
        Tensor: a number, or of the shape of ``input`` with ``reduction="none"``.

    Examples:
        >>> print(mint.nn.functional.kl_div(mint.log(Tensor([0.5, 0.5])), Tensor([0.25, 0.75]), reduction="sum"))
        0.13081205
    """
    return loss.kl_div_of_logs(input, target, reduction, log_target)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """``gap**2 / (2 beta)`` below ``beta``, ``gap - beta / 2`` above.

    Returns:
        Tensor: a number, or of the shape of ``input`` with ``reduction="none"``.

    Examples:
        >>> print(mint.nn.functional.smooth_l1_loss(Tensor([1.0, 4.0]), Tensor([1.5, 1.0]), reduction="none"))
        [0.125 2.5  ]
    """
    return loss.smooth_l1_loss(input, target, beta, reduction)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu`, in place.

    Returns:
        Tensor: ``input``.

    Examples:
        >>> x = Tensor([-100.0, 2.0])
        >>> _ = mint.nn.functional.elu_(x)
        >>> print(x)
        [-1.  2.]
    """
    return elu(input, alpha, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh`, in place.

    Returns:
        Tensor: ``input``.

    Examples:
        >>> x = Tensor([-3.0, 0.5, 3.0])
        >>> _ = mint.nn.functional.hardtanh_(x)
        >>> print(x)
        [-1.   0.5  1. ]
    """
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
    images, kernels = (1, 2, *[5] * rank), (3, 2, *[3] * rank)
    function.__doc__ = documented(
        f"Convolution over {rank} axes; ``padding`` is numbers, ``'same'`` or ``'valid'``.",
        "Tensor, of shape (batch, channels of ``weight``, ...).",
        f"mint.nn.functional.conv{rank}d(mint.ones{images}, mint.ones{kernels}, stride=2).shape",
        f"{(1, 3, *[2] * rank)}",
    )
    return function


conv1d, conv2d, conv3d = (_conv(rank) for rank in (1, 2, 3))


def _avg_pool(rank: int) -> Any:
    def function(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Tensor:  # fmt: skip
        return pool.average(rank, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    function.__name__ = f"avg_pool{rank}d"
    function.__doc__ = documented(
        "The mean of each window.",
        "Tensor, with one element for each window.",
        f"mint.nn.functional.avg_pool{rank}d(mint.arange({4**rank}.0).reshape{(1, 1, *[4] * rank)}, 2).flatten()",
        {1: "[0.5 2.5]", 2: "[ 2.5  4.5 10.5 12.5]", 3: "[10.5 12.5 18.5 20.5 42.5 44.5 50.5 52.5]"}[rank],
    )
    return function


avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(rank) for rank in (1, 2, 3))


def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window; with ``return_indices`` also the flat positions.

    Returns:
        Tensor; with ``return_indices`` also the positions, in int64.

    Examples:
        >>> print(mint.nn.functional.max_pool2d(mint.arange(16.0).reshape(1, 1, 4, 4), 2))
        [[[[ 5.  7.]
           [13. 15.]]]]
    """
    return pool.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum over nearly equal windows.

    Returns:
        Tensor, with ``output_size`` windows; with ``return_indices`` also the positions.

    Examples:
        >>> print(mint.nn.functional.adaptive_max_pool1d(Tensor([[[1.0, 5.0, 2.0, 3.0]]]), 2))
        [[[5. 3.]]]
    """
    out = pool.adaptive_maximum(1, input, output_size)
    return out if return_indices else out[0]


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A new last axis that is 1 at the index (int64); the number of classes is that of the indices by default.

    Returns:
        Tensor of int64, with one axis more than ``tensor``.

    Examples:
        >>> print(mint.nn.functional.one_hot(Tensor([0, 2, 1])))
        [[1 0 0]
         [0 0 1]
         [0 1 0]]
    """
    need_tensor("OneHot", tensor=tensor)
    depth = extent_of(num_classes)
    if depth == -1:
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
