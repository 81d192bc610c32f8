"""Pooling with MindSpore's forms of kernel, stride and padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.ops import decoding as decoders
from duograph.ops import image, movement, pool
from duograph.ops import random as draws
from duograph.ops.movement import expand_dims, reshape
from duograph.tensor.tensor import Tensor

from .forms import documented, named, need_tensor, not_public, one_per_axis, public_functions


def _pooled(name: str, rank: int, doc: str, returns: str, *rest: str) -> str:
    """The docstring of a pooling function that makes 2 places of 4 along each axis."""
    call = f"ops.{name}(ops.ones({(1, 1, *[4] * rank)}), {', '.join(rest)}).shape"
    return documented(doc, returns, call, str((1, 1, *[2] * rank)))


_AVG = "The mean of each window over {rank} axes.\n\n    ``divisor_override``, if not 0, divides the sums."


@not_public
def batched(x: Tensor, rank: int, name: str) -> Tensor:
    """``x`` with a batch axis, if it lacks one.

    Raises:
        ValueError: the rank does not fit.
    """
    need_tensor(name, x=x)
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(f"For '{name}', the input must have {rank + 2} dimensions, but got shape {tuple(x.shape)}.")
    return x if x.ndim == rank + 2 else movement.expand_dims(x, 0)


def _restored(out: Tensor, x: Tensor) -> Tensor:
    return out if out.ndim == x.ndim else movement.squeeze(out, (0,))


@not_public
def pairs_of(padding: Any, rank: int, name: str) -> tuple[tuple[int, int], ...]:
    """(front, back) per axis, from an int, one or two ints per axis."""
    if isinstance(padding, list | tuple) and len(padding) == 2 * rank:
        return tuple((padding[2 * i], padding[2 * i + 1]) for i in range(rank))
    return tuple((p, p) for p in one_per_axis(padding, rank, name, "padding"))


@not_public
def average(
    rank: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor: Any = 0,
) -> Tensor:  # fmt: skip
    """Average pooling over ``rank`` axes."""
    name = f"avg_pool{rank}d"
    full = batched(x, rank, name)
    kernel = one_per_axis(kernel_size, rank, name, "kernel_size")
    steps = kernel if stride is None else one_per_axis(stride, rank, name, "stride")
    if any(n <= 0 for n in (*kernel, *steps)):
        raise ValueError(
            f"For '{name}', 'kernel_size' and 'stride' must be positive, but got {kernel_size} and {stride}."
        )
    out = pool.avg_pool(
        full, kernel=kernel, stride=steps, padding=pairs_of(padding, rank, name), ceil_mode=ceil_mode,
        count_include_pad=count_include_pad, divisor=divisor or 0,
    )  # fmt: skip
    return _restored(out, x)


def avg_pool1d(
    input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window over one axis.

    Returns:
        Tensor, of the dtype of ``input_x``, one place per window.

    Examples:
        >>> print(ops.avg_pool1d(Tensor([[[1.0, 3.0, 5.0]]]), 2))
        [[[2. 4.]]]
    """
    return average(1, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad)


def _avg_pool(rank: int) -> Callable[..., Tensor]:
    def function(
        input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int = 0,
    ) -> Tensor:  # fmt: skip
        return average(rank, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    return named(
        function, f"avg_pool{rank}d",
        _pooled(f"avg_pool{rank}d", rank, _AVG.format(rank=rank), "Tensor, of the dtype of ``input_x``.", "2, 2"),
    )  # fmt: skip


avg_pool2d, avg_pool3d = _avg_pool(2), _avg_pool(3)


@not_public
def maximum(
    rank: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Tensor, Tensor]:
    """Maximum pooling over ``rank`` axes: values and flat positions."""
    name = f"max_pool{rank}d"
    full = batched(x, rank, name)
    kernel = one_per_axis(kernel_size, rank, name, "kernel_size")
    steps = kernel if stride is None else one_per_axis(stride, rank, name, "stride")
    gaps = one_per_axis(dilation, rank, name, "dilation")
    if any(n <= 0 for n in (*kernel, *steps, *gaps)):
        raise ValueError(
            f"For '{name}', kernel, stride and dilation must be positive, but got {kernel}, {steps}, {gaps}."
        )
    values, places = pool.max_pool(
        full, kernel=kernel, stride=steps, padding=pairs_of(padding, rank, name), dilation=gaps, ceil_mode=ceil_mode
    )
    return _restored(values, x), _restored(places, x)


def max_pool2d(
    x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window over 2 axes; with ``return_indices`` also the flat positions (int64).

    Returns:
        Tensor, of the dtype of ``x``, one place per window; with ``return_indices`` a tuple.

    Examples:
        >>> print(ops.max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[4.]]]]
    """
    out = maximum(2, x, kernel_size, stride, padding, dilation, ceil_mode)
    return out if return_indices else out[0]


def max_pool3d(
    x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window over 3 axes; with ``return_indices`` also the flat positions (int64).

    Returns:
        Tensor, of the dtype of ``x``, one place per window; with ``return_indices`` a tuple.

    Examples:
        >>> print(ops.max_pool3d(Tensor([[[[[1.0, 2.0], [3.0, 4.0]]]]]), (1, 2, 2)))
        [[[[[4.]]]]]
    """
    out = maximum(3, x, kernel_size, stride, padding, dilation, ceil_mode)
    return out if return_indices else out[0]


def _adaptive_size(output_size: Any, x: Tensor, rank: int, name: str) -> tuple[int, ...]:
    given = (output_size,) * rank if output_size is None or isinstance(output_size, int) else tuple(output_size)
    if len(given) != rank:
        raise ValueError(f"For '{name}', the 'output_size' must have {rank} elements, but got {output_size}.")
    extents = x.shape[x.ndim - rank :]
    return tuple(n if k is None or k == -1 else k for k, n in zip(given, extents, strict=True))


@not_public
def adaptive_average(rank: int, x: Tensor, output_size: Any) -> Tensor:
    """Mean over nearly equal windows."""
    name = f"adaptive_avg_pool{rank}d"
    full = batched(x, rank, name)
    return _restored(image.adaptive_avg_pool(full, _adaptive_size(output_size, full, rank, name)), x)


@not_public
def adaptive_maximum(rank: int, x: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    """Maximum over nearly equal windows, and flat positions."""
    name = f"adaptive_max_pool{rank}d"
    full = batched(x, rank, name)
    values, places = pool.adaptive_max_pool(full, output_size=_adaptive_size(output_size, full, rank, name))
    return _restored(values, x), _restored(places, x)


def _adaptive(rank: int, largest: bool) -> Callable[..., Any]:
    if largest and rank > 1:

        def function(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
            out = adaptive_maximum(rank, input, output_size)
            return out if return_indices else out[0]

    elif largest:

        def function(input: Tensor, output_size: Any) -> Any:  # type: ignore[misc]
            return adaptive_maximum(rank, input, output_size)[0]

    else:

        def function(input: Tensor, output_size: Any) -> Any:  # type: ignore[misc]
            return adaptive_average(rank, input, output_size)

    kind = "max" if largest else "avg"
    name = f"adaptive_{kind}_pool{rank}d"
    doc = f"The {'maximum' if largest else 'mean'} over nearly equal windows, ``output_size`` of them"
    doc += " along the last axis." if rank == 1 else f" along each of the last {rank} axes."
    returns = "Tensor, of the dtype of ``input``" + "; with ``return_indices`` a tuple." * (largest and rank > 1)
    return named(function, name, _pooled(name, rank, doc, returns.rstrip(".") + ".", "2"))


def _lp(rank: int) -> Callable[..., Tensor]:
    def function(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
        name = f"lp_pool{rank}d"
        full = batched(x, rank, name)
        kernel = one_per_axis(kernel_size, rank, name, "kernel_size")
        steps = kernel if stride is None else one_per_axis(stride, rank, name, "stride")
        return _restored(pool.lp_pool(full, norm_type, kernel=kernel, stride=steps, ceil_mode=ceil_mode), x)

    doc, returns = "The ``norm_type``-norm of each window.", "Tensor, of the dtype of ``x``."
    return named(function, f"lp_pool{rank}d", _pooled(f"lp_pool{rank}d", rank, doc, returns, "2.0", "2"))


def _unpool(rank: int) -> Callable[..., Tensor]:
    def function(
        x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Tensor:
        name = f"max_unpool{rank}d"
        full, places = batched(x, rank, name), batched(indices, rank, name)
        kernel = one_per_axis(kernel_size, rank, name, "kernel_size")
        steps = kernel if stride in (None, 0) else one_per_axis(stride, rank, name, "stride")
        pads = one_per_axis(padding, rank, name, "padding")
        size = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(full.shape[2:], steps, pads, kernel, strict=True))
        if output_size:
            size = tuple(output_size)[-rank:]
        return _restored(pool.max_unpool(full, places, size=size), x)

    places = (1,) * (rank + 2)
    return named(
        function, f"max_unpool{rank}d",
        documented("Values put back at the flat positions that maximum pooling gave.", "Tensor, of the dtype of ``x``.",
                   f"ops.max_unpool{rank}d(ops.ones({places}), ops.zeros({places}, ms.int64), 2).shape",
                   str((1, 1, *[2] * rank))),
    )  # fmt: skip


def _fractional(rank: int) -> Callable[..., Any]:
    def function(
        input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Tensor | None = None,
    ) -> Any:  # fmt: skip
        name = f"fractional_max_pool{rank}d"
        need_tensor(name, input=input)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"For '{name}', exactly one of 'output_size' and 'output_ratio' must be given.")
        x = input if input.ndim == rank + 2 else expand_dims(input, 0)
        extents = x.shape[2:]
        if output_size is None:
            ratio = (output_ratio,) * rank if isinstance(output_ratio, float) else output_ratio
            size = tuple(int(n * r) for n, r in zip(extents, ratio, strict=True))
        else:
            size = one_per_axis(output_size, rank, name, "output_size")
        samples = _random_samples
        if samples is None:
            samples = draws.standard_uniform((*x.shape[:2], rank), x.dtype)
        kernel = one_per_axis(kernel_size, rank, name, "kernel_size")
        values, places = decoders.fractional_max_pool(x, samples, kernel=kernel, size=size)
        if input.ndim != rank + 2:
            values, places = (reshape(t, shape=tuple(t.shape[1:])) for t in (values, places))
        return (values, places) if return_indices else values

    function.__name__ = function.__qualname__ = f"fractional_max_pool{rank}d"
    function.__doc__ = _pooled(
        f"fractional_max_pool{rank}d", rank,
        "The maximum over windows at pseudo-random places, one window per result place.",
        "Tensor, of the dtype of ``input``; with ``return_indices`` a tuple.", "2", f"output_size={(2,) * rank}",
    )  # fmt: skip
    return function


FUNCTIONS = public_functions(globals()) | {
    **{f"adaptive_avg_pool{r}d": _adaptive(r, False) for r in (1, 2, 3)},
    **{f"adaptive_max_pool{r}d": _adaptive(r, True) for r in (1, 2, 3)},
    **{f"lp_pool{r}d": _lp(r) for r in (1, 2)},
    **{f"max_unpool{r}d": _unpool(r) for r in (1, 2, 3)},
    **{f"fractional_max_pool{r}d": _fractional(r) for r in (2, 3)},
}  # fmt: skip
