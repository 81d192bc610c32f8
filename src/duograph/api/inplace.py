"""In-place methods: ``x.add_(y)`` changes ``x``, everything that shares its memory, and returns ``x``.

Each one computes the new contents with ordinary ops and writes them (``tensor.eager.write``), so aliasing, gradients
and capture are those of every other write. The dtype and shape of ``x`` stay: values are cast to it, except that a
floating result does not fit an integer tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.op import state
from duograph.core.shapes import normalize_axis, numel
from duograph.ops import arithmetic, random, unary
from duograph.ops.advanced_indexing import advanced_put
from duograph.ops.cast import cast
from duograph.ops.creation import full, iota
from duograph.ops.indexing import index_add, scatter_elements
from duograph.ops.linalg import matmul
from duograph.ops.movement import broadcast_to, reshape
from duograph.ops.search import masked_scatter as scatter_into_mask
from duograph.ops.select import select
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from . import operators
from .functional.forms import documented, need_tensor
from .functional.index import clamp
from .functional.products import blend
from .indexing import check_mask, fitted, mask_indices, setitem
from .promote import as_tensor, constant, is_number, is_one, promote_float, python_number, refusal, to_dtype


def store(x: Tensor, value: Tensor, op: str) -> Tensor:
    """Writes ``value`` into ``x`` and returns ``x``.

    Raises:
        TypeError: the dtype of ``value`` does not fit.
        ValueError: its shape does not broadcast to that of ``x``.
    """
    if _rank(value.dtype) > _rank(x.dtype):
        raise TypeError(
            f"For '{op}', the result of dtype {value.dtype} cannot be stored in a tensor of dtype {x.dtype}."
        )
    write(x, fitted(to_dtype(value, x.dtype), tuple(x.shape)))
    return x


def _read(x: Tensor) -> Tensor:
    """The contents of ``x`` for an operator whose result replaces them: a copy where a gradient may be taken, as its
    rule may need them when they are gone. Who else has read them, and needs them, is told by `Overwritten`."""
    return cast(x, dtype=x.dtype) if state.tapes or state.binder is not None else x


def _rank(dtype: dt.DType) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating else 1 if dtype.is_integer else 0


def _scaled(other: Any, alpha: Any) -> Any:
    return other if is_one(alpha, other) else operators.multiply(other, alpha)


def add_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self += alpha * other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).add_(1, alpha=2))
        [3. 4.]
    """
    return store(self, operators.add(self, _scaled(other, alpha)), "add_")


def sub_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self -= alpha * other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).sub_(1, alpha=2))
        [-1.  0.]
    """
    return store(self, operators.subtract(self, _scaled(other, alpha)), "sub_")


def mul_(self: Tensor, other: Any) -> Tensor:
    """``self *= other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).mul_(3))
        [3. 6.]
    """
    return store(self, operators.multiply(_read(self), other), "mul_")


def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``self /= other``; ``rounding_mode`` is ``None``, ``'floor'`` or ``'trunc'``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).div_(2))
        [0.5 1. ]
    """
    if rounding_mode == "floor":
        return store(self, operators.floor_divide(self, other), "div_")
    quotient = operators.true_divide(_read(self), other)
    if rounding_mode == "trunc":
        return store(self, to_dtype(unary.trunc(quotient), self.dtype), "div_")
    if rounding_mode is not None:
        raise ValueError(f"For 'div', rounding_mode value should be 'floor' or 'trunc', but got {rounding_mode}.")
    return store(self, quotient, "div_")


def floor_divide_(self: Tensor, other: Any) -> Tensor:
    """``self //= other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([5, 6]).floor_divide_(2))
        [2 3]
    """
    return store(self, operators.floor_divide(self, other), "floor_divide_")


def remainder_(self: Tensor, other: Any) -> Tensor:
    """``self %= other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([5, 6]).remainder_(4))
        [1 2]
    """
    return store(self, operators.remainder(_read(self), other), "remainder_")


def pow_(self: Tensor, exponent: Any) -> Tensor:
    """``self **= exponent``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([2.0, 3.0]).pow_(2))
        [4. 9.]
    """
    return store(self, operators.power_(_read(self), exponent), "pow_")


def addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``self = beta * self + alpha * mat1 @ mat2``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1.0]]).addmm_(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[12.]]
    """
    return store(self, blend(self, matmul(mat1, mat2), beta, alpha), "addmm_")


# ---- one tensor -----------------------------------------------------------------------------------------------------


_AT_ZERO = {"exp_": "[1.]", "sigmoid_": "[0.5]", "tanh_": "[0.]", "sin_": "[0.]", "cos_": "[1.]", "erfinv_": "[0.]"}
_AT_ONE = {"log_": "[0.]", "neg_": "[-1.]"}


def _unary(op: Callable[[Tensor], Tensor], name: str, floating: bool = True) -> Callable[[Tensor], Tensor]:
    def method(self: Tensor) -> Tensor:
        return store(self, op(promote_float(_read(self)) if floating else _read(self)), name)

    method.__name__ = name
    operand, printed = ("[0.0]", _AT_ZERO[name]) if name in _AT_ZERO else ("[1.0]", _AT_ONE.get(name, "[1.]"))
    method.__doc__ = documented(f"`{name[:-1]}` in place.", "This tensor.", f"Tensor({operand}).{name}()", printed)
    return method


_UNARY = {
    **{
        f"{name}_": _unary(op, f"{name}_")
        for name, op in (
            ("exp", unary.exp), ("log", unary.log), ("sqrt", unary.sqrt), ("sigmoid", unary.sigmoid),
            ("tanh", unary.tanh), ("erfinv", unary.erfinv), ("sin", unary.sin), ("cos", unary.cos),
            ("reciprocal", arithmetic.reciprocal),
        )
    },
    "sign_": _unary(arithmetic.sign, "sign_", floating=False),
    "neg_": _unary(operators.negative, "neg_", floating=False),
    "abs_": _unary(operators.absolute, "abs_", floating=False),
    "floor_": _unary(lambda x: unary.floor(x) if x.dtype.is_floating else x, "floor_", floating=False),
    "ceil_": _unary(lambda x: unary.ceil(x) if x.dtype.is_floating else x, "ceil_", floating=False),
    "round_": _unary(operators.rounded, "round_", floating=False),
    "relu_": _unary(unary.relu, "relu_", floating=False),
}  # fmt: skip


def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Values below ``min`` become ``min``, those above ``max`` become ``max``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 5, 9]).clamp_(2, 7))
        [2 5 7]
    """
    low, high = (None if limit is None else as_tensor(limit, self.dtype) for limit in (min, max))
    return store(self, clamp(_read(self), low, high), "clamp_")


# ---- filling --------------------------------------------------------------------------------------------------------


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """The elements become those of ``src`` (broadcast and cast).

    Returns:
        This tensor.

    Raises:
        TypeError: ``src`` is not a Tensor.
        RuntimeError: ``src`` has more axes.

    Examples:
        >>> print(Tensor([1.0, 2.0]).copy_(Tensor([3, 4])))
        [3. 4.]
    """
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'src' (position 1) must be Tensor, not {type(src).__name__}.")
    if src.ndim > self.ndim:
        raise RuntimeError(
            "For 'InplaceCopy', the rank of 'value' must be less than 'variable', but got the dimension of 'value': "
            f"{tuple(src.shape)} and 'variable': {tuple(self.shape)}."
        )
    write(self, fitted(to_dtype(src, self.dtype), tuple(self.shape)))
    return self


def fill_(self: Tensor, value: Any) -> Tensor:
    """Every element becomes ``value``, a number or a 0-d tensor.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).fill_(3))
        [3. 3.]
    """
    value = python_number(value)
    if not is_number(value) and not (isinstance(value, Tensor) and not value.shape):
        raise TypeError(f"For 'fill_', the 'value' must be a number or a 0-d Tensor, but got {value!r}.")
    scalar = to_dtype(value, self.dtype) if isinstance(value, Tensor) else constant(value, self.dtype)
    write(self, broadcast_to(scalar, shape=tuple(self.shape)))
    return self


def zero_(self: Tensor) -> Tensor:
    """Every element becomes 0.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).zero_())
        [0. 0.]
    """
    return fill_(self, 0)


def _mask(self: Tensor, mask: Any, op: str) -> Tensor:
    if not isinstance(mask, Tensor) or not mask.dtype.is_bool:
        raise TypeError(f"For '{op}', the 'mask' must be a bool Tensor.")
    return mask


def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Elements where ``mask`` holds become ``value``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2, 3]).masked_fill_(Tensor([True, False, True]), 0))
        [0 2 0]
    """
    return store(self, select(_mask(self, mask, "masked_fill_"), as_tensor(value, self.dtype), self), "masked_fill_")


def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Elements where ``mask`` holds become the first elements of ``source``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2, 3]).masked_scatter_(Tensor([True, False, True]), Tensor([8, 9])))
        [8 2 9]
    """
    mask = broadcast_to(_mask(self, mask, "masked_scatter_"), shape=tuple(self.shape))
    return store(self, scatter_into_mask(self, mask, to_dtype(source, self.dtype)), "masked_scatter_")


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """The main diagonal becomes ``fill_value``; with ``wrap`` it starts again after the columns of a tall matrix.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).fill_diagonal_(0))
        [[0 2]
         [3 0]]
    """
    return store(self, with_diagonal(self, fill_value, wrap), "fill_diagonal_")


def with_diagonal(x: Tensor, value: Any, wrap: bool = False) -> Tensor:
    """``x`` with its main diagonal filled (for more than two axes of equal size: where all indices are equal)."""
    if x.ndim < 2:
        raise ValueError(f"For 'fill_diagonal', the rank of input must be at least 2, but got {x.ndim}.")
    if x.ndim > 2 and any(n != x.shape[0] for n in x.shape):
        raise ValueError(f"For 'fill_diagonal', all dimensions must be equal, but got shape {tuple(x.shape)}.")
    shape = tuple(x.shape)
    rows = iota(shape=shape, axis=0, dtype=dt.int64)
    if wrap and x.ndim == 2:
        rows = arithmetic.mod(rows, full(shape=(), value=shape[1] + 1, dtype=dt.int64))
    hits = operators.equal(rows, iota(shape=shape, axis=1, dtype=dt.int64))
    for axis in range(2, x.ndim):
        hits = operators.bitwise_and(hits, operators.equal(rows, iota(shape=shape, axis=axis, dtype=dt.int64)))
    return select(hits, as_tensor(value, x.dtype), x)


# ---- by index -------------------------------------------------------------------------------------------------------


def _index(index: Any) -> Tensor:
    return to_dtype(as_tensor(index), dt.int64)


def index_add_(self: Tensor, dim: int, index: Any, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Slice ``i`` of ``alpha * source`` is added to slice ``index[i]`` along ``dim``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_add_(0, Tensor([1]), Tensor([[10, 10]])))
        [[ 1  2]
         [13 14]]
    """
    axis = normalize_axis(dim, self.ndim, "index_add_")
    value = to_dtype(_scaled(source, alpha), self.dtype)
    return store(self, index_add(self, _index(index), value, axis=axis), "index_add_")


def _along(x: Tensor, axis: int, index: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * axis, _index(index))


def index_copy_(self: Tensor, dim: int, index: Any, source: Tensor) -> Tensor:
    """Slice ``index[i]`` along ``dim`` becomes slice ``i`` of ``source``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_copy_(0, Tensor([1]), Tensor([[8, 9]])))
        [[1 2]
         [8 9]]
    """
    setitem(self, _along(self, normalize_axis(dim, self.ndim, "index_copy_"), index), source)
    return self


def index_fill_(self: Tensor, dim: int, index: Any, value: Any) -> Tensor:
    """The slices ``index`` along ``dim`` become ``value``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_fill_(1, Tensor([0]), 7))
        [[7 2]
         [7 4]]
    """
    setitem(self, _along(self, normalize_axis(dim, self.ndim, "index_fill_"), index), value)
    return self


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: Any = False) -> Tensor:
    """``self[indices] = values``; with ``accumulate``: ``+=``, repeated indices included.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2, 3]).index_put_((Tensor([0, 0]),), Tensor([10, 20]), accumulate=True))
        [31  2  3]
    """
    index = tuple(indices)
    if accumulate:
        columns: list[Tensor] = []
        for entry in index:
            tensor = as_tensor(entry)
            if tensor.dtype.is_bool:
                check_mask(self, tensor, len(columns))
                columns += mask_indices(tensor)
            else:
                columns.append(_index(tensor))
        new = advanced_put(
            self, to_dtype(values, self.dtype), *columns, spec=("index",) * len(columns), reduction="add"
        )
        return store(self, new, "index_put_")
    setitem(self, index, values)
    return self


def _scatter(self: Tensor, dim: int, index: Tensor, src: Any, reduction: str, op: str) -> Tensor:
    axis = normalize_axis(dim, self.ndim, op)
    index = _index(index)
    if is_number(src):
        updates = broadcast_to(as_tensor(src, self.dtype), shape=tuple(index.shape))
    else:
        need_tensor(op, src=src)
        updates = to_dtype(src, self.dtype)
        if tuple(updates.shape) != tuple(index.shape):
            updates = updates[tuple(slice(0, n) for n in index.shape)]
    return store(self, scatter_elements(_read(self), index, updates, axis=axis, reduction=reduction), op)


def scatter_(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """``self[index[i][j]][j] = src[i][j]`` for ``dim`` 0; ``reduce`` is ``None``, ``'add'`` or ``'multiply'``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).scatter_(1, Tensor([[1], [0]]), Tensor([[8], [9]])))
        [[1 8]
         [9 4]]
    """
    how = {None: "none", "none": "none", "add": "add", "multiply": "mul"}.get(reduce)
    if how is None:
        raise ValueError(f"For 'scatter_', the 'reduce' must be None, 'add' or 'multiply', but got {reduce!r}.")
    return _scatter(self, dim, index, value if src is None else src, how, "scatter_")


def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``self[index[i][j]][j] += src[i][j]`` for ``dim`` 0.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).scatter_add_(1, Tensor([[1], [0]]), Tensor([[8], [9]])))
        [[ 1 10]
         [12  4]]
    """
    return _scatter(self, dim, index, src, "add", "scatter_add_")


def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Elements at flat positions become (with ``accumulate``: grow by) those of ``source``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).put_(Tensor([3, 0]), Tensor([8, 9])))
        [[9 2]
         [3 8]]
    """
    flat = reshape(self, shape=(numel(self.shape),))
    places = reshape(_index(index), shape=(numel(index.shape),))
    values = reshape(to_dtype(source, self.dtype), shape=(numel(source.shape),))
    new = advanced_put(flat, values, places, spec=("index",), reduction="add" if accumulate else "none")
    return store(self, reshape(new, shape=tuple(self.shape)), "put_")


# ---- random ---------------------------------------------------------------------------------------------------------


def _drawn(self: Tensor, sample: Tensor) -> Tensor:
    write(self, to_dtype(sample, self.dtype))
    return self


def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Any = None) -> Tensor:
    """Every element is drawn evenly from ``from_`` to ``to``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([0.0, 0.0]).uniform_(1, 2) >= 1)
        [ True  True]
    """
    if from_ > to:
        raise ValueError(f"For 'uniform_', 'from_' must not exceed 'to', but got {from_} and {to}.")
    sample = random.standard_uniform(tuple(self.shape), dt.float32, generator)
    return _drawn(self, operators.add(operators.multiply(sample, float(to - from_)), float(from_)))


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Every element is drawn from a normal distribution.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([0.0, 0.0]).normal_().shape)
        (2,)
    """
    sample = random.standard_normal(tuple(self.shape), dt.float32, generator)
    return _drawn(self, operators.add(operators.multiply(sample, std), mean))


def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Every element is drawn from an exponential distribution of rate ``lambd``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([-1.0, -1.0]).exponential_() >= 0)
        [ True  True]
    """
    sample = random.exponential(tuple(self.shape), dt.float32, generator)
    return _drawn(self, operators.true_divide(sample, float(lambd)))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Every element is 1 with probability ``p``, else 0.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([0.0, 0.0]).bernoulli_(1.0))
        [1. 1.]
    """
    chance = p if isinstance(p, Tensor) else as_tensor(float(p), dt.float32)
    return _drawn(self, random.bernoulli(chance, tuple(self.shape), generator))


def random_(self: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Every element is an integer drawn evenly from ``from_`` to ``to - 1``; ``random_(to)`` starts at 0.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([0, 0]).random_(3, 4))
        [3 3]
    """
    if not isinstance(self, Tensor):
        raise refusal("Random", self)
    if to is None and from_ != 0:
        from_, to = 0, from_
    if to is None:
        digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}.get(self.dtype.name)
        to = 1 << (digits if digits is not None else 8 * self.dtype.itemsize - int(self.dtype.is_signed))
        to = min(to, (1 << 63) - 1)
    return _drawn(self, random.randint(from_, to, tuple(self.shape), dt.int64, generator))


METHODS: dict[str, Callable[..., Tensor]] = _UNARY | {
    f.__name__: f
    for f in (
        add_, sub_, mul_, div_, floor_divide_, remainder_, pow_, addmm_, clamp_, copy_, fill_, zero_, masked_fill_,
        masked_scatter_, fill_diagonal_, index_add_, index_copy_, index_fill_, index_put_, scatter_, scatter_add_, put_,
        uniform_, normal_, exponential_, bernoulli_, random_,
    )
}  # fmt: skip
