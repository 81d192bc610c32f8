"""Random primitives and the distributions made of them.

A primitive takes ``seed`` and ``offset`` as int operands and is a pure function of them; the functions at the end draw
them from a `Generator` (``tensor/random.py``). Nothing here is differentiable by itself; the composites are, in the
parameters of the distribution.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import Dim
from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.shapes import numel, taken_at_most
from duograph.core.types import INT, TensorType
from duograph.tensor.random import Generator, default_generator

from .arithmetic import add, div, maximum, minimum, mul, neg, sub
from .cast import cast
from .compare import less
from .creation import constant_like, constant_of
from .cumulative import cumsum
from .movement import broadcast_to
from .philox import words32, words64
from .random_kernels import gamma_samples, poisson_samples
from .rules import require_kind
from .slices import slice_axis
from .sort import searchsorted, topk
from .special_kernels import erf as erf_kernel
from .unary import erfinv, log


def _check_operands(op: str, seed: Any, offset: Any) -> None:
    if seed != INT or offset != INT:
        raise TypeError(f"{op} needs int operands seed and offset, got {seed} and {offset}")


def _check_floating(op: str, dtype: dt.DType) -> None:
    if not dtype.is_floating:
        raise TypeError(f"For '{op}', the dtype must be a floating type, but got {dtype}.")


def _check_real(op: str, dtype: dt.DType) -> None:
    if dtype.is_complex:
        raise TypeError(f"For '{op}', the dtype must not be complex, but got {dtype}.")


@primitive
class random_bits:
    """Uniform 32-bit words (uint32)."""

    bprop = NOT_DIFFERENTIABLE

    def infer(seed, offset, *, shape):
        _check_operands("random_bits", seed, offset)
        return TensorType(dt.uint32, shape)

    def reference(seed, offset, *, shape):
        return words32(seed, offset, numel(shape)).reshape(shape)


_MANTISSA = {"float16": 11, "bfloat16": 8, "float32": 24}


@primitive
class random_uniform:
    """Uniform in [0, 1): multiples of 2 to the minus mantissa width, so that 1 cannot come out of rounding."""

    bprop = NOT_DIFFERENTIABLE

    def infer(seed, offset, *, shape, dtype=dt.float32):
        _check_operands("random_uniform", seed, offset)
        _check_floating("uniform", dtype)
        return TensorType(dtype, shape)

    def reference(seed, offset, *, shape, dtype):
        n = numel(shape)
        out: np.ndarray
        if dtype is dt.float64:
            out = (words64(seed, offset, n) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        else:
            width = _MANTISSA[dtype.name]
            out = (words32(seed, offset, n) >> np.uint32(32 - width)).astype(np.float32) * np.float32(2.0**-width)
        return out.astype(dtype.numpy).reshape(shape)


@primitive
class random_normal:
    """Standard normal by the method of Box and Muller, computed in float64."""

    bprop = NOT_DIFFERENTIABLE

    def infer(seed, offset, *, shape, dtype=dt.float32):
        _check_operands("random_normal", seed, offset)
        _check_floating("standard_normal", dtype)
        return TensorType(dtype, shape)

    def reference(seed, offset, *, shape, dtype):
        n = numel(shape)
        pairs = (n + 1) // 2
        if dtype is dt.float64:
            unit = (words64(seed, offset, 2 * pairs) >> np.uint64(11)).astype(np.float64) * 2.0**-53
            tiny = 2.0**-53
        else:
            unit, tiny = words32(seed, offset, 2 * pairs).astype(np.float64) * 2.0**-32, 2.0**-32
        radius = np.sqrt(-2.0 * np.log(unit[0::2] + tiny))
        angle = 2.0 * math.pi * unit[1::2]
        out = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)[:n]
        return out.astype(dtype.numpy).reshape(shape)


@primitive
class random_integers:
    """Uniform integers in [low, high)."""

    raises = True
    bprop = NOT_DIFFERENTIABLE

    def infer(seed, offset, *, low, high, shape, dtype=dt.int64):
        _check_operands("random_integers", seed, offset)
        _check_real("randint", dtype)
        if not isinstance(low, int | Dim) or not isinstance(high, int | Dim):
            raise TypeError(f"For 'randint', 'low' and 'high' must be integers, but got {low!r} and {high!r}.")
        if isinstance(low, int) and not -(2**63) <= low < 2**63:
            raise OverflowError(f"For 'randint', 'low' must fit into int64, but got {low}.")
        if not taken_at_most(low + 1, high):
            raise ValueError(f"For 'randint', the 'high' must be larger than 'low', but got low {low} and high {high}.")
        return TensorType(dtype, shape)

    def reference(seed, offset, *, low, high, shape, dtype):
        picked = words64(seed, offset, numel(shape)) % np.uint64(high - low)
        return (picked.astype(np.int64) + np.int64(low)).astype(dtype.numpy).reshape(shape)


@primitive
class random_permutation:
    """A permutation of 0 ... n-1: the order of ``n`` random words."""

    bprop = NOT_DIFFERENTIABLE

    def infer(seed, offset, *, n, dtype=dt.int64):
        _check_operands("random_permutation", seed, offset)
        _check_real("randperm", dtype)
        return TensorType(dtype, (n,))

    def reference(seed, offset, *, n, dtype):
        return np.argsort(words64(seed, offset, n), kind="stable").astype(dtype.numpy)


@primitive
class random_gamma:
    """Gamma distributed with shape parameter ``alpha`` and scale 1, one per element of ``alpha``."""

    bprop = NOT_DIFFERENTIABLE

    def batch(in_axes, operands):
        return random_gamma(*operands), 0

    def infer(seed, offset, alpha):
        _check_operands("random_gamma", seed, offset)
        return require_kind("random_gamma", alpha, "f", "alpha")

    def reference(seed, offset, alpha):
        return gamma_samples(seed, offset, alpha.astype(np.float64)).astype(alpha.dtype)


@primitive
class random_poisson:
    """Poisson distributed with mean ``rate``, one per element of ``rate``."""

    bprop = NOT_DIFFERENTIABLE

    def batch(in_axes, operands):
        return random_poisson(*operands), 0

    def infer(seed, offset, rate):
        _check_operands("random_poisson", seed, offset)
        return require_kind("random_poisson", rate, "f", "rate")

    def reference(seed, offset, rate):
        return poisson_samples(seed, offset, rate.astype(np.float64)).astype(rate.dtype)


# ---- distributions --------------------------------------------------------------------------------------------------


def _draw(generator: Generator | None) -> tuple[Any, Any]:
    return (generator or default_generator()).next_offset()


def standard_uniform(shape: tuple[int, ...], dtype: dt.DType = dt.float32, generator: Generator | None = None) -> Any:
    """Uniform in [0, 1)."""
    return random_uniform(*_draw(generator), shape=shape, dtype=dtype)


def standard_normal(shape: tuple[int, ...], dtype: dt.DType = dt.float32, generator: Generator | None = None) -> Any:
    """Mean 0, standard deviation 1."""
    return random_normal(*_draw(generator), shape=shape, dtype=dtype)


def uniform(low: Any, high: Any, shape: tuple[int, ...], generator: Generator | None = None) -> Any:
    """Uniform in [low, high); ``low`` and ``high`` are tensors of one floating dtype that broadcast to ``shape``."""
    return add(mul(standard_uniform(shape, low.dtype, generator), sub(high, low)), low)


def normal(mean: Any, stddev: Any, shape: tuple[int, ...], generator: Generator | None = None) -> Any:
    """Normal with tensors ``mean`` and ``stddev`` of one floating dtype that broadcast to ``shape``."""
    return add(mul(standard_normal(shape, mean.dtype, generator), stddev), mean)


def truncated_normal(
    low: float, high: float, shape: tuple[int, ...], dtype: dt.DType = dt.float32, generator: Generator | None = None
) -> Any:
    """Standard normal, kept within [low, high] (Python numbers), by inversion."""
    bounds = erf_kernel(np.array([low, high], np.float64) / math.sqrt(2.0)).tolist()
    u = standard_uniform(shape, dtype, generator)
    position = add(mul(u, constant_like(u, bounds[1] - bounds[0])), constant_like(u, bounds[0]))
    out = mul(erfinv(position), constant_like(u, math.sqrt(2.0)))
    return minimum(maximum(out, constant_like(u, low)), constant_like(u, high))


def exponential(shape: tuple[int, ...], dtype: dt.DType = dt.float32, generator: Generator | None = None) -> Any:
    """Exponential with rate 1."""
    u = standard_uniform(shape, dtype, generator)
    return neg(log(sub(constant_like(u, 1), u)))


def randint(
    low: int, high: int, shape: tuple[int, ...], dtype: dt.DType = dt.int64, generator: Generator | None = None
) -> Any:
    """Uniform integers in [low, high)."""
    return random_integers(*_draw(generator), low=low, high=high, shape=shape, dtype=dtype)


def randperm(n: int, dtype: dt.DType = dt.int64, generator: Generator | None = None) -> Any:
    """A permutation of 0 ... n-1."""
    return random_permutation(*_draw(generator), n=n, dtype=dtype)


def bernoulli(p: Any, shape: tuple[int, ...], generator: Generator | None = None) -> Any:
    """A bool tensor that is true with probability ``p`` (a floating tensor that broadcasts to ``shape``)."""
    return less(standard_uniform(shape, p.dtype, generator), p)


def dropout_mask(keep_prob: float, shape: tuple[int, ...], generator: Generator | None = None) -> Any:
    """A bool tensor that is true with probability ``keep_prob``; drawn in float32 whatever is masked with it."""
    return bernoulli(constant_of(keep_prob, dt.float32), shape, generator)


def gamma(alpha: Any, generator: Generator | None = None) -> Any:
    """Gamma with shape parameter ``alpha`` and scale 1, one per element of ``alpha``."""
    return random_gamma(*_draw(generator), alpha)


def poisson(rate: Any, generator: Generator | None = None) -> Any:
    """Poisson with mean ``rate``, one per element of ``rate``."""
    return random_poisson(*_draw(generator), rate)


def multinomial(
    weights: Any, num_samples: int, replacement: bool = True, dtype: dt.DType = dt.int64,
    generator: Generator | None = None,
) -> Any:  # fmt: skip
    """Indices along the last axis of ``weights`` (1-d or 2-d, floating, not negative), drawn in proportion to them."""
    n = weights.shape[-1]
    rows = tuple(weights.shape[:-1])
    if not replacement:
        if not taken_at_most(num_samples, n):
            raise ValueError(f"For 'multinomial', cannot draw {num_samples} of {n} without replacement.")
        # The largest of weight / Exp(1) is each index with the right probability (A. S. Efraimidis, P. G. Spirakis).
        keys = div(weights, exponential(tuple(weights.shape), weights.dtype, generator))
        return topk(keys, k=num_samples, axis=len(weights.shape) - 1, largest=True, index_dtype=dtype)[1]
    cumulated = cumsum(weights, axis=len(weights.shape) - 1)
    total = slice_axis(cumulated, len(rows), -1, None)
    u = mul(standard_uniform((*rows, num_samples), weights.dtype, generator), total)
    # Rounding may lift u to the total: the largest number below it belongs to the last weight that is not 0.
    index = searchsorted(cumulated, u, right=True, dtype=dt.int64)
    last = searchsorted(cumulated, total, right=False, dtype=dt.int64)
    return cast(minimum(index, broadcast_to(last, shape=tuple(index.shape))), dtype=dtype)


__all__ = [
    "bernoulli", "dropout_mask", "exponential", "gamma", "multinomial", "normal", "poisson", "randint",
    "random_bits", "random_gamma", "random_integers", "random_normal", "random_permutation", "random_poisson",
    "random_uniform", "randperm", "standard_normal", "standard_uniform", "truncated_normal",
    "uniform",
]  # fmt: skip
