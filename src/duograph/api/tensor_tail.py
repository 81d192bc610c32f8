"""Less used methods of Tensor: statistics, the old scatter methods, draws, and flags that other back ends have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.dim import known_eq
from duograph.core.shapes import existing_axis, normalize_axis, numel
from duograph.ops import diagonals, movement, random, reduce, search, slices
from duograph.ops.arithmetic import abs_, add, div, mul, sub
from duograph.ops.creation import constant_like
from duograph.ops.linalg import matmul
from duograph.ops.scatter import scatter_nd_update
from duograph.ops.select import select
from duograph.ops.unary import exp, tan
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from . import operators
from .inplace import scatter_add_
from .promote import as_tensor, promote, promote_float, to_dtype
from .tensor_reduce import mean

# ---- statistics -----------------------------------------------------------------------------------------------------


def trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of the diagonal of the matrices in two axes."""
    i, j = normalize_axis(axis1, self.ndim, "trace"), normalize_axis(axis2, self.ndim, "trace")
    line = diagonals.diagonal(self, offset=offset, axis1=i, axis2=j)
    out = reduce.reduce_sum(line, axis=(line.ndim - 1,), keep_dims=False)
    return out if dtype is None else to_dtype(out, dt.as_dtype(dtype))


def diff(self: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along ``axis``, ``n`` times."""
    place = existing_axis(axis, self.ndim, "diff")
    parts = [as_tensor(p, self.dtype) for p in (prepend, append) if p is not None]
    out = self
    if parts:
        around = [as_tensor(prepend, self.dtype)] if prepend is not None else []
        around.append(self)
        around += [as_tensor(append, self.dtype)] if append is not None else []
        out = slices.concat(*around, axis=place)
    for _ in range(n):
        if out.shape[place] == 0:  # it stays empty, however often
            break
        later, earlier = slices.slice_axis(out, place, 1, None), slices.slice_axis(out, place, 0, -1)
        out = operators.not_equal(later, earlier) if out.dtype.is_bool else sub(later, earlier)
    return out


def cov(self: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariance matrix of the rows; columns are observations, which may have integer and real weights."""
    if self.ndim > 2:
        raise ValueError(f"For 'cov', the rank of input must be at most 2, but got {self.ndim}.")
    x = promote_float(self)
    x = movement.reshape(x, shape=(1, numel(x.shape))) if x.ndim < 2 else x
    count = x.shape[1]
    weights = None
    for given in (fweights, aweights):
        if given is not None:
            given = to_dtype(given, x.dtype)
            weights = given if weights is None else mul(weights, given)
    if weights is None:
        centred = sub(x, mean(x, 1, True))
        total = matmul(centred, movement.transpose(centred, perm=(1, 0)))
        out = div(total, constant_like(total, count - correction))
    else:
        whole = reduce.reduce_sum(weights, axis=(0,), keep_dims=False)
        centre = div(reduce.reduce_sum(mul(x, weights), axis=(1,), keep_dims=True), whole)
        centred = sub(x, centre)
        norm = whole
        if correction and aweights is not None:
            again = reduce.reduce_sum(mul(weights, to_dtype(aweights, x.dtype)), axis=(0,), keep_dims=False)
            norm = sub(whole, div(mul(again, constant_like(whole, correction)), whole))
        elif correction:
            norm = sub(whole, constant_like(whole, correction))
        out = div(matmul(mul(centred, weights), movement.transpose(centred, perm=(1, 0))), norm)
    return movement.reshape(out, shape=()) if known_eq(x.shape[0], 1) else out


def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are within ``atol + rtol * |other|`` of each other, as a Python bool."""
    return bool(isclose(self, other, rtol, atol, equal_nan).all())


def isclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Where the elements are within ``atol + rtol * |other|`` of each other."""
    x, y = promote(self, other, "IsClose")
    equal = operators.equal(x, y)
    x, y = promote_float(x), promote_float(y)
    room = add(constant_like(y, atol), mul(constant_like(y, rtol), abs_(y)))
    finite = operators.less(abs_(y), float("inf"))
    near = operators.bitwise_and(operators.less_equal(abs_(sub(x, y)), room), finite)
    close = operators.bitwise_or(equal, near)
    if not equal_nan:
        return close
    both = operators.bitwise_and(operators.not_equal(x, x), operators.not_equal(y, y))
    return operators.bitwise_or(close, both)


def add_method(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self + alpha * other``."""
    return operators.add(self, other if alpha == 1 else operators.multiply(other, alpha))


def sub_method(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self - alpha * other``."""
    return operators.subtract(self, other if alpha == 1 else operators.multiply(other, alpha))


# ---- choice and scatter ---------------------------------------------------------------------------------------------


def choose(self: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """Element ``choices[self[i]][i]`` for every place ``i``; ``mode`` for indices outside: clip, wrap or raise."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(
            f"For 'Tensor.choose', the argument 'mode' should be one of ['raise', 'wrap', 'clip'], but got {mode}."
        )
    rows = [as_tensor(c) for c in choices]
    index = to_dtype(self, dt.int64)
    if mode == "wrap":
        index = operators.remainder(index, len(rows))
    elif mode == "clip":
        index = index.clip(0, len(rows) - 1)
    out, index_shape = rows[0], tuple(index.shape)
    for k, row in enumerate(rows[1:], 1):
        x, y = promote(row, out, "choose")
        out = select(operators.equal(index, k), x, y)
    return movement.broadcast_to(out, shape=index_shape) if not out.shape and index_shape else out


def _scatter_nd(reduction: str, combine: Callable[[Tensor, Tensor], Tensor] | None = None) -> Callable[..., Tensor]:
    def method(self: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        values = to_dtype(updates, self.dtype)
        values = values if combine is None else combine(constant_like(values, int(reduction == "mul")), values)
        return scatter_nd_update(self, to_dtype(indices, dt.int64), values, reduction=reduction)

    method.__doc__ = f"A copy with ``updates`` combined ({reduction}) into the slices that rows of ``indices`` name."
    return method


_scatter_nd_add = _scatter_nd("add")


def scatter_add(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """``x.scatter_add(dim, index, src)``: an index per element; ``x.scatter_add(indices, updates)``: in rows."""
    if "dim" in options or "axis" in options or isinstance(args[0] if args else None, int):
        given = dict(zip(("dim", "index", "src"), args, strict=False)) | options
        return scatter_add_(
            self.copy(), given["dim"] if "dim" in given else given["axis"], given["index"], given["src"]
        )
    return _scatter_nd_add(self, *args, **options)


def unique(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The different elements, ascending; with the flags also where each element went, and how often each occurs."""
    if dim is not None and self.ndim != 1:
        raise ValueError("For 'unique', 'dim' is supported for 1-d tensors only.")
    values, inverse, counts = search.unique(self, ordered=sorted, index_dtype=dt.int64)
    chosen = (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))
    return chosen if len(chosen) > 1 else values


# ---- draws ----------------------------------------------------------------------------------------------------------


def uniform(self: Tensor, from_: float = 0.0, to: float = 1.0, generator: Any = None) -> Tensor:
    """A tensor of this shape and dtype, drawn evenly from ``from_`` to ``to``."""
    sample = random.standard_uniform(tuple(self.shape), dt.float32, generator)
    return to_dtype(operators.add(operators.multiply(sample, float(to - from_)), float(from_)), self.dtype)


def log_normal(self: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """A tensor of this shape whose logarithm is normal."""
    sample = random.standard_normal(tuple(self.shape), dt.float32)
    return to_dtype(exp(operators.add(operators.multiply(sample, float(std)), float(mean))), self.dtype)


def cauchy(self: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """A tensor of this shape with a Cauchy distribution."""
    sample = random.standard_uniform(tuple(self.shape), dt.float32)
    angle = operators.multiply(operators.subtract(sample, 0.5), 3.141592653589793)
    return to_dtype(operators.add(operators.multiply(tan(angle), float(sigma)), float(median)), self.dtype)


# ---- flags and storage ----------------------------------------------------------------------------------------------


def get_bytes(self: Tensor) -> bytes:
    """The elements in row-major order as bytes."""
    return hooks.value_of(self, "get_bytes()").tobytes()


def set_dtype(self: Tensor, dtype: Any) -> dt.DType:
    """Changes the dtype of this tensor, and returns it."""
    wanted = dt.as_dtype(dtype)
    if wanted is not self.dtype:
        hooks.changes_handle(self, "set_dtype()")
        self._share(self, wanted)
    return wanted


def set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """Marks the tensor as a constant for compiled functions."""
    self.__dict__["const_arg"] = const_arg
    return self


def _nothing(self: Tensor, *_: Any) -> None:
    """Does nothing on CPU."""


def _never(self: Tensor) -> bool:
    """``False`` on CPU."""
    return False


def pin_memory(self: Tensor) -> Tensor:
    """The tensor itself: all memory is host memory."""
    return self


METHODS: dict[str, Any] = {
    f.__name__: f
    for f in (
        trace, diff, cov, allclose, isclose, choose, scatter_add, unique, uniform, log_normal, cauchy, get_bytes,
        set_dtype, set_const_arg, pin_memory,
    )
} | {
    "add": add_method, "sub": sub_method, "scatter_mul": _scatter_nd("mul"), "scatter_max": _scatter_nd("max"),
    "scatter_min": _scatter_nd("min"), "scatter_sub": _scatter_nd("add", sub), "scatter_div": _scatter_nd("mul", div),
    "data_sync": _nothing, "wait_pipeline": _nothing, "is_shared": _never, "is_pinned": _never,
}  # fmt: skip
"""Methods by name."""

FLAGS: dict[str, Any] = {
    "init": None, "init_flag": False, "init_finished": True, "const_arg": False, "virtual_flag": False,
    "param_info": None, "is_meta": False, "symbolic_shape": None,
    "parent_tensor_": None, "index_of_parent_": None, "delta_seed": 0,
}  # fmt: skip
"""Attributes that every tensor has with this value unless it is set."""
