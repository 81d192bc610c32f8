"""Functions of ``mint`` that make tensors: constants, ranges, random numbers, copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.api import tensor_shape as shaped
from duograph.api.functional import (
    creation,
    forms,
    joining,
    random,
)
from duograph.api.functional.forms import as_float, in_dtype, need_tensor, on_cpu
from duograph.api.native import make_public
from duograph.api.promote import as_tensor, to_dtype
from duograph.core import dtype as dt
from duograph.ops.random import bernoulli as bernoulli_op
from duograph.ops.random import multinomial as draw
from duograph.ops.random import normal as normal_op
from duograph.ops.random import randint as randint_op
from duograph.ops.random import randperm as randperm_op
from duograph.ops.random import standard_normal, standard_uniform
from duograph.ops.scalar import integer_of
from duograph.tensor.tensor import Tensor


def empty(*args: Any, size: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose contents do not matter (zeros).

    Returns:
        Tensor, of the given shape.

    Raises:
        ValueError: ``device`` is not the CPU.

    Examples:
        >>> print(mint.empty(2, 3).shape, mint.empty((2,), dtype=ms.int32).dtype)
        (2, 3) Int32
    """
    on_cpu("empty", device)
    return zeros(*args, size=size, dtype=dtype)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`empty` in the shape of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(mint.empty_like(Tensor([[1, 2, 3]]), dtype=ms.float32).shape)
        (1, 3)
    """
    on_cpu("empty_like", device)
    return creation.zeros_like(input, dtype=dtype)


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` everywhere, in its own dtype by default (Python floats: float32).

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> print(mint.full((2, 2), 7))
        [[7 7]
         [7 7]]
    """
    return creation.full(size, fill_value, dtype=as_tensor(fill_value).dtype if dtype is None else dtype)


def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Tensor:
    """``steps`` evenly spaced numbers.

    Returns:
        Tensor, of shape ``(steps,)``.

    Examples:
        >>> print(mint.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    return in_dtype(creation.linspace(start, end, steps), dtype)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Vectors as coordinate grids; ``"ij"`` by default.

    Returns:
        tuple of Tensors, one for each vector.

    Examples:
        >>> rows, columns = mint.meshgrid(Tensor([1, 2]), Tensor([10, 20, 30]))
        >>> print(rows)
        [[1 1 1]
         [2 2 2]]
        >>> print(columns)
        [[10 20 30]
         [10 20 30]]
    """
    return joining.meshgrid(*tensors, indexing=indexing or "ij")


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn in proportion to ``input``.

    Returns:
        Tensor of int64, of shape ``(..., num_samples)``.

    Examples:
        >>> print(mint.multinomial(Tensor([0.0, 1.0, 0.0]), 4, replacement=True))
        [1 1 1 1]
    """
    return draw(input, num_samples, replacement, dt.int64, generator)


def _extents(name: str, args: tuple[Any, ...], size: Any) -> Any:
    """The shape, given as ``f(2, 3)``, ``f((2, 3))`` or ``f(size=(2, 3))``."""
    if size is None:
        return args[0] if len(args) == 1 else args
    if args:
        raise TypeError(f"{name}() got multiple values for argument 'size'")
    return size


def ones(*args: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Ones in the shape ``size``.

    Returns:
        Tensor, of the given shape.

    Examples:
        >>> print(mint.ones(2, 3))
        [[1. 1. 1.]
         [1. 1. 1.]]
    """
    return creation.ones(_extents("ones", args, size), dtype)


def zeros(*args: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Zeros in the shape ``size``.

    Returns:
        Tensor, of the given shape.

    Examples:
        >>> print(mint.zeros((2, 3), dtype=ms.int32))
        [[0 0 0]
         [0 0 0]]
    """
    return creation.zeros(_extents("zeros", args, size), dtype)


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform in [0, 1).

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> x = mint.rand(2, 3)
        >>> print(x.shape, bool((0 <= x).all()), bool((x < 1).all()))
        (2, 3) True True
    """
    on_cpu("rand", device)

    return standard_uniform(
        shaped.shape_of(size, "rand"), dt.float32 if dtype is None else dt.as_dtype(dtype), generator
    )


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Standard normal.

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> generator = ms.Generator()
        >>> _ = generator.manual_seed(3)
        >>> first = mint.randn(2, 2, generator=generator)
        >>> _ = generator.manual_seed(3)
        >>> print(bool((first == mint.randn(2, 2, generator=generator)).all()))
        True
    """
    on_cpu("randn", device)

    return standard_normal(
        shaped.shape_of(size, "randn"), dt.float32 if dtype is None else dt.as_dtype(dtype), generator
    )


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`rand` in the shape of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(mint.rand_like(Tensor([[1.0, 2.0]]), dtype=ms.float16).dtype)
        Float16
    """
    on_cpu("rand_like", device)
    return random.rand_like(input, dtype=dtype)


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`randn` in the shape of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(mint.randn_like(Tensor([[1.0, 2.0]])).shape)
        (1, 2)
    """
    on_cpu("randn_like", device)
    return random.randn_like(input, dtype=dtype)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """``randint(high, size)`` or ``randint(low, high, size)``.

    Returns:
        Tensor of int64, or of ``dtype``.

    Examples:
        >>> dice = mint.randint(1, 7, (100,))
        >>> print(bool((dice >= 1).all()), bool((dice <= 6).all()), dice.dtype)
        True True Int64
    """
    on_cpu("randint", device)
    low, high, size = (0, *args) if len(args) == 2 else args

    return randint_op(
        integer_of(low), integer_of(high), tuple(size), dt.int64 if dtype is None else dt.as_dtype(dtype), generator
    )


def randint_like(input: Tensor, *args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`randint` in the shape of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(mint.randint_like(Tensor([[1, 2], [3, 4]]), 5, 6))
        [[5 5]
         [5 5]]
    """
    on_cpu("randint_like", device)
    low, high = (0, *args) if len(args) == 1 else args
    return random.randint_like(input, low, high, dtype=dtype)


def randperm(n: int, *, generator: Any = None, dtype: Any = dt.int64) -> Tensor:
    """A permutation of 0 ... n-1.

    Returns:
        Tensor of int64, or of ``dtype``.

    Examples:
        >>> print(mint.randperm(5).sort()[0])
        [0 1 2 3 4]
    """
    return randperm_op(integer_of(n), dt.as_dtype(dtype), generator)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Normal with the given mean and standard deviation; without ``size``, in the shape that both broadcast to.

    Returns:
        Tensor, of shape ``size``, or of the shape that ``mean`` and ``std`` have.

    Examples:
        >>> print(mint.normal(Tensor([1.0, 2.0, 3.0]), 0.5).shape, mint.normal(0.0, 1.0, (2, 4)).shape)
        (3,) (2, 4)
    """
    means, deviations = as_float(mean), as_float(std)
    if size is None:
        if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
            raise TypeError("For 'normal', the 'size' must be given where 'mean' and 'std' are numbers.")
        shape = shaped.broadcast_shape(tuple(means.shape), tuple(deviations.shape))
    else:
        shape = shaped.broadcast_shape(shaped.shape_of((size,), "normal"), means.shape, deviations.shape)
    return normal_op(means, to_dtype(deviations, means.dtype), shape, generator)


def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability that the element is, else 0.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(mint.bernoulli(Tensor([0.0, 1.0, 1.0])))
        [0. 1. 1.]
    """
    need_tensor("Bernoulli", input=input)
    return to_dtype(bernoulli_op(input, tuple(input.shape), generator), input.dtype)


def clone(input: Tensor) -> Tensor:
    """A copy.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> x = Tensor([1.0, 2.0])
        >>> y = mint.clone(x)
        >>> y[0] = 5.0
        >>> print(x, y)
        [1. 2.] [5. 2.]
    """
    need_tensor("Clone", input=input)
    return input.copy()  # type: ignore[attr-defined]


FUNCTIONS: dict[str, Callable[..., Any]] = forms.public_functions(globals())
make_public(FUNCTIONS, globals())
