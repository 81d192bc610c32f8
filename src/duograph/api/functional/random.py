"""Random draws. Calls take their numbers from a generator in program order; ``seed`` makes a generator of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import broadcast_shapes, taken_at_most
from duograph.ops import arithmetic
from duograph.ops import random as draws
from duograph.ops.activation import gumbel_softmax as compute
from duograph.ops.activation import rrelu as rrelu_op
from duograph.ops.creation import constant_like, full, iota
from duograph.ops.indexing import gather
from duograph.ops.movement import broadcast_to
from duograph.ops.norm import softmax
from duograph.ops.scalar import integer_of
from duograph.ops.search import nonzero
from duograph.ops.slices import slice_axis
from duograph.ops.unary import log, log1p
from duograph.tensor.eager import write
from duograph.tensor.random import Generator
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor, to_dtype
from ..tensor_shape import shape_of
from .forms import as_float, documented, dtype_or, need_tensor, not_public, only, public_functions, static_int
from .padding import pad_pairs


@not_public
def source(seed: Any) -> Generator | None:
    """A generator for ``seed``; ``None`` (the default generator) for ``None`` and 0."""
    return None if seed is None or seed == 0 else Generator(int(seed))


@not_public
def joined_seed(seed: Any, second: Any) -> Any:
    """One seed of the two that some functions take; the first alone where the second is 0."""
    return seed if not second else (int(seed or 0) * 0x9E3779B97F4A7C15 + int(second)) % (1 << 63) or 1


def _size(size: tuple[Any, ...], op: str) -> tuple[Any, ...]:
    return shape_of(size, op) if size else ()


def _floating(dtype: Any, op: str) -> dt.DType:
    found = dtype_or(dtype, dt.float32)
    if not found.is_floating:
        raise ValueError(f"For '{op}', the 'dtype' must be a float type, but got {found}.")
    return found


def rand(*size: Any, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Uniform in [0, 1).

    Returns:
        Tensor, of shape ``size``.

    Raises:
        ValueError: ``dtype`` is not a float type.

    Examples:
        >>> print(ops.rand(2, 3).shape)
        (2, 3)
    """
    return draws.standard_uniform(_size(size, "rand"), _floating(dtype, "rand"), source(seed))


def randn(*size: Any, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Standard normal.

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> print(ops.randn(2, 3).shape)
        (2, 3)
    """
    return draws.standard_normal(_size(size, "randn"), _floating(dtype, "randn"), source(seed))


def rand_like(input: Tensor, seed: int | None = None, *, dtype: Any = None) -> Tensor:
    """`rand` in the shape of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.rand_like(Tensor([1.0, 2.0])).shape)
        (2,)
    """
    need_tensor("rand_like", input=input)
    return draws.standard_uniform(tuple(input.shape), _floating(dtype or input.dtype, "rand_like"), source(seed))


def randn_like(input: Tensor, seed: int | None = None, *, dtype: Any = None) -> Tensor:
    """`randn` in the shape of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.randn_like(Tensor([1.0, 2.0])).shape)
        (2,)
    """
    need_tensor("randn_like", input=input)
    return draws.standard_normal(tuple(input.shape), _floating(dtype or input.dtype, "randn_like"), source(seed))


def randint(low: int, high: int, size: Any, seed: int | None = None, *, dtype: Any = None) -> Tensor:
    """Uniform integers in [low, high); int64 by default.

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> print(ops.randint(3, 4, (2,)))
        [3 3]
    """
    low, high = (integer_of(static_int(v, "randint", name)) for v, name in ((low, "low"), (high, "high")))
    if not taken_at_most(low + 1, high):
        raise ValueError(f"For 'randint', 'high' must be greater than 'low', but got 'low' {low} and 'high' {high}.")
    return draws.randint(low, high, shape_of((size,), "randint"), dtype_or(dtype, dt.int64), source(seed))


def randint_like(input: Tensor, low: int, high: int, seed: int | None = None, *, dtype: Any = None) -> Tensor:
    """`randint` in the shape of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.randint_like(Tensor([1, 2]), 3, 4))
        [3 3]
    """
    need_tensor("RandIntLike", input=input)
    return randint(low, high, tuple(input.shape), seed, dtype=dtype or input.dtype)


def randperm(n: Any, seed: int = 0, offset: int = 0, dtype: Any = dt.int64) -> Tensor:
    """A permutation of 0 ... n-1.

    Returns:
        Tensor, of shape ``(n,)`` and ``dtype``.

    Examples:
        >>> print(ops.randperm(3).sort()[0])
        [0 1 2]
    """
    count = integer_of(static_int(n, "randperm", "n"))
    if not taken_at_most(0, count):
        raise ValueError(f"For 'randperm', the 'n' must not be negative, but got {count}.")
    return draws.randperm(count, dt.as_dtype(dtype), source(joined_seed(seed, offset)))


def standard_normal(shape: Any, seed: int | None = None) -> Tensor:
    """Standard normal, float32.

    Returns:
        Tensor of float32, of shape ``shape``.

    Examples:
        >>> print(ops.standard_normal((2, 3)).shape)
        (2, 3)
    """
    return draws.standard_normal(shape_of((shape,), "StandardNormal"), dt.float32, source(seed))


def standard_laplace(shape: Any, seed: int | None = None) -> Tensor:
    """Laplace with mean 0 and scale 1.

    Returns:
        Tensor of float32, of shape ``shape``.

    Examples:
        >>> print(ops.standard_laplace((2, 3)).shape)
        (2, 3)
    """
    return laplace(shape, 0.0, 1.0, seed)


def _broadcast(shape: Any, *parameters: Tensor) -> tuple[Any, ...]:
    return tuple(broadcast_shapes(shape, *[p.shape for p in parameters]))


def normal(shape: Any, mean: Any, stddev: Any, seed: int | None = None) -> Tensor:
    """Normal with the given mean and standard deviation (tensors broadcast with ``shape``).

    Returns:
        Tensor of float32, of the shape that ``shape``, ``mean`` and ``stddev`` broadcast to.

    Examples:
        >>> print(ops.normal((2, 3), Tensor(0.0), Tensor(1.0)).shape)
        (2, 3)
    """
    mean, stddev = as_float(mean), as_float(stddev)
    full = _broadcast(shape_of((shape,), "normal"), mean, stddev)
    return draws.normal(mean, to_dtype(stddev, mean.dtype), full, source(seed))


def uniform(shape: Any, minval: Any, maxval: Any, seed: int | None = None, dtype: Any = dt.float32) -> Tensor:
    """Uniform in [minval, maxval); integers for integer ``dtype`` (numbers as limits).

    Returns:
        Tensor, of the shape that ``shape`` and the limits broadcast to.

    Examples:
        >>> print(ops.uniform((2, 3), Tensor(0.0), Tensor(1.0)).shape)
        (2, 3)
    """
    target = dt.as_dtype(dtype)
    size = shape_of((shape,), "uniform")
    if target.is_integer:
        low, high = (static_int(v, "uniform", "minval") for v in (minval, maxval))
        return draws.randint(low, high, size, target, source(seed))
    low, high = to_dtype(as_tensor(minval), target), to_dtype(as_tensor(maxval), target)
    return draws.uniform(low, high, _broadcast(size, low, high), source(seed))


def laplace(shape: Any, mean: Any, lambda_param: Any, seed: int | None = None) -> Tensor:
    """Laplace with mean ``mean`` and scale ``lambda_param``.

    Returns:
        Tensor of float32, of the shape that ``shape``, ``mean`` and ``lambda_param`` broadcast to.

    Examples:
        >>> print(ops.laplace((2, 3), Tensor(0.0), Tensor(1.0)).shape)
        (2, 3)
    """
    mean, scale = as_float(mean), as_float(lambda_param)
    full = _broadcast(shape_of((shape,), "laplace"), mean, scale)
    u = draws.standard_uniform(full, mean.dtype, source(seed))
    centred = arithmetic.sub(u, constant_like(u, 0.5))
    size = log1p(arithmetic.neg(arithmetic.mul(arithmetic.abs_(centred), constant_like(u, 2 - 2.0**-20))))
    return arithmetic.sub(mean, arithmetic.mul(scale, arithmetic.mul(arithmetic.sign(centred), size)))


def gamma(shape: Any, alpha: Any, beta: Any, seed: int | None = None) -> Tensor:
    """Gamma with shape parameter ``alpha`` and rate ``beta`` (they broadcast with ``shape``).

    Returns:
        Tensor of float32, of the shape that ``shape``, ``alpha`` and ``beta`` broadcast to.

    Examples:
        >>> print(ops.gamma((2, 3), Tensor(1.0), Tensor(1.0)).shape)
        (2, 3)
    """
    alpha, beta = as_float(alpha), as_float(beta)
    full = _broadcast(shape_of((shape,), "gamma"), alpha, beta)
    drawn = draws.gamma(broadcast_to(alpha, shape=full), source(seed))
    return arithmetic.div(drawn, beta)


def random_gamma(shape: Any, alpha: Any, seed: int | None = None) -> Tensor:
    """Gamma with shape parameter ``alpha`` and rate 1; the draws come in front.

    Returns:
        Tensor, of shape ``(*shape, *alpha.shape)``.

    Examples:
        >>> print(ops.random_gamma((2,), Tensor([1.0, 2.0, 3.0])).shape)
        (2, 3)
    """
    alpha = as_float(alpha)
    full = (*shape_of((shape,), "random_gamma"), *alpha.shape)
    return draws.gamma(broadcast_to(alpha, shape=full), source(seed))


def random_poisson(shape: Any, rate: Any, seed: int | None = None, dtype: Any = dt.float32) -> Tensor:
    """Poisson with mean ``rate``; the draws come in front.

    Returns:
        Tensor, of shape ``(*shape, *rate.shape)``.

    Examples:
        >>> print(ops.random_poisson((2,), Tensor([1.0, 2.0, 3.0])).shape)
        (2, 3)
    """
    rate = as_float(rate)
    full = (*shape_of((shape,), "random_poisson"), *rate.shape)
    return to_dtype(draws.poisson(broadcast_to(rate, shape=full), source(seed)), dt.as_dtype(dtype))


def poisson(shape: Any, mean: Any, seed: int | None = None) -> Tensor:
    """Poisson with mean ``mean``, which broadcasts with ``shape``.

    Returns:
        Tensor of float32, of the shape that ``shape`` and ``mean`` broadcast to.

    Examples:
        >>> print(ops.poisson((2, 3), Tensor([1.0])).shape)
        (2, 3)
    """
    rate = as_float(mean)
    full = _broadcast(shape_of((shape,), "poisson"), rate)
    return draws.poisson(broadcast_to(rate, shape=full), source(seed))


def bernoulli(input: Tensor, p: Any = 0.5, seed: int | None = None) -> Tensor:
    """1 with probability ``p``, else 0, in the shape and dtype of ``input``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.bernoulli(Tensor([1.0, 2.0]), 1.0))
        [1. 1.]
    """
    need_tensor("Bernoulli", input=input)
    if not isinstance(p, Tensor) and not 0 <= p <= 1:
        raise ValueError(f"For 'Bernoulli', the 'p' must be in the range [0, 1], but got {p}.")
    return to_dtype(draws.bernoulli(as_float(p), tuple(input.shape), source(seed)), input.dtype)


def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """Indices (int32) drawn in proportion to ``input``.

    Returns:
        Tensor of int32, of shape ``(..., num_samples)``.

    Examples:
        >>> print(ops.multinomial(Tensor([0.0, 1.0]), 3))
        [1 1 1]
    """
    need_tensor("Multinomial", input=input)
    count = integer_of(static_int(num_samples, "multinomial", "num_samples"))
    return draws.multinomial(as_float(input), count, replacement, dt.int32, source(seed))


def multinomial_with_replacement(
    x: Tensor, seed: int, offset: int, numsamples: int, replacement: bool = False
) -> Tensor:
    """Indices drawn in proportion to ``x``; each at most once without ``replacement``.

    Returns:
        Tensor of int64, of shape ``(..., numsamples)``.

    Examples:
        >>> print(ops.multinomial_with_replacement(Tensor([0.0, 1.0]), 1, 0, 3, replacement=True))
        [1 1 1]
    """
    return draws.multinomial(as_float(x), numsamples, replacement, dt.int64, source(joined_seed(seed, offset)))


def random_categorical(logits: Tensor, num_sample: int, seed: int = 0, dtype: Any = dt.int64) -> Tensor:
    """Indices drawn from the softmax of ``logits``.

    Returns:
        Tensor, of shape ``(rows, num_sample)`` and ``dtype``.

    Examples:
        >>> print(ops.random_categorical(Tensor([[0.0, 1.0]]), 3).shape)
        (1, 3)
    """
    need_tensor("RandomCategorical", logits=logits)

    weights = softmax(as_float(logits), axis=logits.ndim - 1)
    return draws.multinomial(weights, num_sample, True, dt.as_dtype(dtype), source(seed))


def shuffle(x: Tensor, seed: int | None = None) -> Tensor:
    """The slices along the first axis in a random order.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.shuffle(Tensor([1, 2, 3])).sort()[0])
        [1 2 3]
    """
    need_tensor("RandomShuffle", x=x)
    if not x.shape:
        return x
    return gather(x, draws.randperm(x.shape[0], dt.int64, source(seed)), axis=0)


def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """A sample of the Gumbel softmax; one-hot with ``hard``.

    Returns:
        Tensor, of the shape and dtype of ``logits``.

    Examples:
        >>> print(ops.gumbel_softmax(Tensor([[0.0, 1.0]]), hard=True).sum())
        1.0
    """
    need_tensor("gumbel_softmax", logits=logits)
    noise = arithmetic.neg(log(draws.exponential(tuple(logits.shape), logits.dtype)))
    return compute(logits, noise, tau, hard, dim)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """``input`` at and above 0, below it times a slope drawn from [lower, upper).

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.rrelu(Tensor([1.0, 2.0])))
        [1. 2.]
    """
    need_tensor("rrelu", input=input)
    u = draws.standard_uniform(tuple(input.shape), input.dtype)
    return rrelu_op(input, arithmetic.add(arithmetic.mul(u, constant_like(u, upper - lower)), constant_like(u, lower)))


def bernoulli_ext(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Ones with the probabilities ``input``, else zeros, in the dtype of ``input``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.bernoulli_ext(Tensor([0.0, 1.0])))
        [0. 1.]
    """
    need_tensor("BernoulliExt", input=input)
    return to_dtype(draws.bernoulli(input, tuple(input.shape), generator), input.dtype)


def _in_place(name: str, draw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(input: Tensor, *args: Any, generator: Generator | None = None, **options: Any) -> Tensor:
        need_tensor(title, input=input)
        write(input, to_dtype(draw(input, generator, *args, **options), input.dtype))
        return input

    title = name.strip("_").capitalize()
    function.__name__ = name
    function.__doc__ = documented(
        f"Fills ``input`` in place. {draw.__doc__}", "``input`` itself.",
        f"ops.{name}(ops.zeros((2, 3))).shape", "(2, 3)",
    )  # fmt: skip
    return function


def _uniform(x: Tensor, generator: Any, from_: float = 0, to: float = 1) -> Tensor:
    """Drawn evenly from ``from_`` (0) to ``to`` (1)."""
    u = draws.standard_uniform(tuple(x.shape), x.dtype, generator)
    return arithmetic.add(arithmetic.mul(u, constant_like(u, to - from_)), constant_like(u, from_))


def _normal(x: Tensor, generator: Any, mean: float = 0, std: float = 1) -> Tensor:
    """Normal, with ``mean`` (0) and ``std`` (1)."""
    z = draws.standard_normal(tuple(x.shape), x.dtype, generator)
    return arithmetic.add(arithmetic.mul(z, constant_like(z, std)), constant_like(z, mean))


def _exponential(x: Tensor, generator: Any, lambd: float = 1) -> Tensor:
    """Exponential, of rate ``lambd`` (1)."""
    e = draws.exponential(tuple(x.shape), x.dtype, generator)
    return arithmetic.div(e, constant_like(e, lambd))


def _random(x: Tensor, generator: Any, from_: int = 0, to: int | None = None) -> Tensor:
    """Integers drawn evenly from ``from_`` (0) to below ``to`` (all that the dtype holds exactly)."""
    widest = 1 << 24 if x.dtype.is_floating else (1 << (8 * x.dtype.itemsize - 1)) - 1
    return draws.randint(from_, widest if to is None else to, tuple(x.shape), dt.int64, generator)


def _bernoulli(x: Tensor, generator: Any, p: Any = 0.5) -> Tensor:
    """1 with probability ``p`` (0.5), else 0."""
    return draws.bernoulli(as_float(p), tuple(x.shape), generator)


def choice_with_mask(input_x: Tensor, count: int = 256, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """Coordinates of ``count`` randomly chosen True elements, and which of them are real.

    Returns:
        Two Tensors: ``(count, rank)`` of int32, ``(count,)`` of bool.

    Examples:
        >>> print(*ops.choice_with_mask(Tensor([False, True]), 2))
        [[1]
         [0]] [ True False]
    """
    found = nonzero(input_x)
    n = found.shape[0]
    order = draws.randperm(n, dt.int64, source(seed))
    picked = gather(found, order, axis=0)

    short = max(count - n, 0)
    rows = pad_pairs(picked, [(0, short), (0, 0)])

    valid = arithmetic.sub(constant_like(order, n), iota(shape=(count,), axis=0, dtype=dt.int64))
    return to_dtype(slice_axis(rows, 0, 0, count), dt.int32), to_dtype(
        arithmetic.maximum(valid, constant_like(valid, 0)), dt.bool_
    )


def uniform_candidate_sampler(
    true_classes: Tensor, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0,
    remove_accidental_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Classes drawn evenly below ``range_max``, and how often true and drawn classes are expected.

    Returns:
        Three Tensors: ``(num_sampled,)`` classes, the shape of ``true_classes``, ``(num_sampled,)``.

    Raises:
        ValueError: ``num_true`` is not the number of true classes of each sample, or drawn ones must differ from them.

    Examples:
        >>> print([part.shape for part in ops.uniform_candidate_sampler(Tensor([[1], [2]]), 1, 3, True, 5)])
        [(3,), (2, 1), (3,)]
    """
    need_tensor("UniformCandidateSampler", true_classes=true_classes)
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"For 'UniformCandidateSampler', the shape of 'true_classes' must be (batch, num_true={num_true}), but got "
            f"{tuple(true_classes.shape)}."
        )
    only("UniformCandidateSampler", "remove_accidental_hits", remove_accidental_hits, False)
    if unique:
        drawn = slice_axis(draws.randperm(range_max, dt.int64, source(seed or None)), 0, 0, num_sampled)
    else:
        drawn = draws.randint(0, range_max, (num_sampled,), dt.int64, source(seed or None))
    share = num_sampled / range_max
    counts = (full(shape=s, value=share, dtype=dt.float32) for s in (tuple(true_classes.shape), (num_sampled,)))
    return (to_dtype(drawn, true_classes.dtype), *counts)  # type: ignore[return-value]


FUNCTIONS = public_functions(globals()) | {
    "uniform_": _in_place("uniform_", _uniform),
    "normal_": _in_place("normal_", _normal),
    "exponential_": _in_place("exponential_", _exponential),
    "random_": _in_place("random_", _random),
    "bernoulli_": _in_place("bernoulli_", _bernoulli),
}  # fmt: skip
