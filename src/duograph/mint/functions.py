"""Functions of ``mint`` whose arguments or results differ from those of ``ops``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.api import operators
from duograph.api import tensor_shape as shaped
from duograph.api.functional import (
    array,
    creation,
    forms,
    index,
    joining,
    linalg,
    math,
    products,
    random,
    reduce,
    sorting,
    statistics,
    unary,
)
from duograph.api.functional.activation import softmax as compute
from duograph.api.functional.compare import isclose
from duograph.api.functional.forms import as_float, axis_of, in_dtype, need_tensor, on_cpu, renamed, static_int
from duograph.api.native import make_public
from duograph.api.promote import as_tensor, is_number, to_dtype
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.shapes import existing_axis
from duograph.ops import diagonals, movement, search
from duograph.ops.random import bernoulli as bernoulli_op
from duograph.ops.random import multinomial as draw
from duograph.ops.random import normal as normal_op
from duograph.ops.random import randint as randint_op
from duograph.ops.random import randperm as randperm_op
from duograph.ops.random import standard_normal, standard_uniform
from duograph.ops.reduce import reduce_all
from duograph.ops.sort import sort as sort_op
from duograph.ops.sort import topk as topk_op
from duograph.ops.unary import sqrt
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

_M = unary.FUNCTIONS | math.FUNCTIONS


def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input + alpha * other``."""
    return _M["add"](input, other if is_number(alpha) and alpha == 1 else _M["mul"](other, alpha))


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``."""
    return math.addcdiv(input, tensor1, tensor2, value)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``."""
    return products.baddbmm(input, batch1, batch2, beta, alpha)


def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The maximum over ``dim``."""
    return reduce.amax(input, dim, keepdim)


def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The minimum over ``dim``."""
    return reduce.amin(input, dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the first minimum."""
    return to_dtype(reduce.argmin(input, dim, keepdim), dt.int64)


def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number of elements that are not 0 (int64)."""
    return reduce.count_nonzero(input, dim, dtype=dt.int64)


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Running sum; integers as int64."""
    need_tensor("CumsumExt", input=input)
    wide = (
        input if dtype is not None or input.dtype.is_floating or input.dtype.is_complex else to_dtype(input, dt.int64)
    )
    return reduce.cumsum(wide, dim, dtype)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with ``input`` on a diagonal, or a diagonal of a matrix."""
    need_tensor("Diag", input=input)
    if input.ndim == 1:
        return diagonals.diag_embed(input, diagonal)
    if input.ndim != 2:
        raise ValueError(f"For 'diag', the input must be 1-D or 2-D, but got {input.ndim}-D.")
    return diagonals.diagonal(input, offset=diagonal, axis1=0, axis2=1)


def eq(input: Any, other: Any) -> Tensor:
    """Elementwise equality."""
    return operators.equal(input, other)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both tensors have one shape and the same elements: a Python bool."""
    need_tensor("Equal", input=input, other=other)

    if tuple(input.shape) != tuple(other.shape):
        return False
    return hooks.truth(reduce_all(eq(input, other), axis=tuple(range(input.ndim)), keep_dims=False))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close: a Python bool."""
    return hooks.truth(reduce.all(isclose(input, other, rtol, atol, equal_nan)))


def empty(*args: Any, size: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose contents do not matter (zeros)."""
    on_cpu("empty", device)
    return zeros(*args, size=size, dtype=dtype)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`empty` in the shape of ``input``."""
    on_cpu("empty_like", device)
    return creation.zeros_like(input, dtype=dtype)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim`` as one."""
    need_tensor("Flatten", input=input)
    return shaped.flatten(input, start_dim=start_dim, end_dim=end_dim)


_gather = index.gather_elements


_index_select = index.index_select


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """``input`` with ``alpha * source`` added to the slices ``index`` along ``dim``."""
    return _index_add(input, index, source if alpha == 1 else _M["mul"](source, alpha), dim)


_index_add = index.index_add


def item(input: Tensor) -> Any:
    """The only element as a Python number."""
    need_tensor("Item", input=input)
    return input.item()  # type: ignore[attr-defined]


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` everywhere, in its own dtype by default (Python floats: float32)."""
    return creation.full(size, fill_value, dtype=as_tensor(fill_value).dtype if dtype is None else dtype)


def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Tensor:
    """``steps`` evenly spaced numbers."""
    return in_dtype(creation.linspace(start, end, steps), dtype)


def _extreme(largest: bool) -> Callable[..., Any]:
    plain, pair = (reduce.amax, reduce.max) if largest else (reduce.amin, reduce.min)
    both = _M["maximum" if largest else "minimum"]

    def function(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return both(input, dim if other is None else other)
        return plain(input) if dim is None else pair(input, dim, keepdim)

    function.__name__ = "max" if largest else "min"
    function.__doc__ = "Of all elements; with ``dim`` values and indices; with a tensor the elementwise one."
    return function


max, min = _extreme(True), _extreme(False)


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean over ``dim``."""
    return reduce.mean(in_dtype(input, dtype), dim, keepdim)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of all elements; with ``dim`` also its index."""
    need_tensor("Median", input=input)
    if dim is None:
        return sorting.median(shaped.ravel(input), 0)[0]
    return sorting.median(input, dim, keepdim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Vectors as coordinate grids; ``"ij"`` by default."""
    return joining.meshgrid(*tensors, indexing=indexing or "ij")


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn in proportion to ``input``."""
    return draw(input, num_samples, replacement, dt.int64, generator)


def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm over ``dim``."""
    order = 2 if p in ("fro", None) else p
    if order == "nuc":
        return linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return linalg.vector_norm(input, order, dim, keepdim, dtype=dtype)


def _extents(name: str, args: tuple[Any, ...], size: Any) -> Any:
    """The shape, given as ``f(2, 3)``, ``f((2, 3))`` or ``f(size=(2, 3))``."""
    if size is None:
        return args[0] if len(args) == 1 else args
    if args:
        raise TypeError(f"{name}() got multiple values for argument 'size'")
    return size


def ones(*args: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Ones in the shape ``size``."""
    return creation.ones(_extents("ones", args, size), dtype)


def zeros(*args: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Zeros in the shape ``size``."""
    return creation.zeros(_extents("zeros", args, size), dtype)


def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product over ``dim``."""
    return reduce.prod(input, dim, keepdim, dtype)


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform in [0, 1)."""
    on_cpu("rand", device)

    return standard_uniform(
        shaped.shape_of(size, "rand"), dt.float32 if dtype is None else dt.as_dtype(dtype), generator
    )


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Standard normal."""
    on_cpu("randn", device)

    return standard_normal(
        shaped.shape_of(size, "randn"), dt.float32 if dtype is None else dt.as_dtype(dtype), generator
    )


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`rand` in the shape of ``input``."""
    on_cpu("rand_like", device)
    return random.rand_like(input, dtype=dtype)


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`randn` in the shape of ``input``."""
    on_cpu("randn_like", device)
    return random.randn_like(input, dtype=dtype)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """``randint(high, size)`` or ``randint(low, high, size)``."""
    on_cpu("randint", device)
    low, high, size = (0, *args) if len(args) == 2 else args

    return randint_op(low, high, tuple(size), dt.int64 if dtype is None else dt.as_dtype(dtype), generator)


def randint_like(input: Tensor, *args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`randint` in the shape of ``input``."""
    on_cpu("randint_like", device)
    low, high = (0, *args) if len(args) == 1 else args
    return random.randint_like(input, low, high, dtype=dtype)


def randperm(n: int, *, generator: Any = None, dtype: Any = dt.int64) -> Tensor:
    """A permutation of 0 ... n-1."""
    return randperm_op(n, dt.as_dtype(dtype), generator)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Normal with the given mean and standard deviation; without ``size``, in the shape that both broadcast to."""
    means, deviations = as_float(mean), as_float(std)
    if size is None:
        if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
            raise TypeError("For 'normal', the 'size' must be given where 'mean' and 'std' are numbers.")
        shape = shaped.broadcast_shape(tuple(means.shape), tuple(deviations.shape))
    else:
        shape = shaped.broadcast_shape(shaped.shape_of((size,), "normal"), means.shape, deviations.shape)
    return normal_op(means, to_dtype(deviations, means.dtype), shape, generator)


def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability that the element is, else 0."""
    need_tensor("Bernoulli", input=input)
    return to_dtype(bernoulli_op(input, tuple(input.shape), generator), input.dtype)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices."""
    need_tensor("mm", input=input, mat2=mat2)
    if input.ndim != 2 or mat2.ndim != 2:
        raise ValueError(f"For 'mm', both inputs must be 2-D, but got {input.ndim}-D and {mat2.ndim}-D.")
    return operators.matrix_multiply(input, mat2)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """p-norms of the differences of all pairs of rows; always computed from the differences."""
    modes = (
        "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist",
    )  # fmt: skip
    if compute_mode not in modes:
        raise ValueError(f"For 'cdist', the 'compute_mode' must be in {list(modes)}, but got {compute_mode!r}.")
    return linalg.cdist(x1, x2, p)


_scatter = index.scatter


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``input`` with ``src`` added at one index along ``dim`` each."""
    return statistics.scatter_add_elements(input, dim, index, src)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice ``index`` along ``dim``."""
    axis = existing_axis(dim, input.ndim, "select")
    at = index + input.shape[axis] if index < 0 else index
    return movement.squeeze(shaped.narrow(input, axis, at, 1), (axis,))


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """``exp(input)`` divided by its sum along ``dim``."""
    return compute(input, dim, dtype=dtype)


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """In order along ``dim``, and the int64 indices."""
    need_tensor("Sort", input=input)
    axis = axis_of(dim, input, "sort")
    return sort_op(input, axis=axis, descending=descending, index_dtype=dt.int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The int64 indices that put ``input`` in order."""
    return sort(input, dim=dim, descending=descending)[1]


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest elements and their int64 indices."""
    axis = axis_of(dim, input, "topk")
    return topk_op(input, k=static_int(k, "topk", "k"), axis=axis, largest=largest, index_dtype=dt.int64)


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without axes of size 1."""
    need_tensor("Squeeze", input=input)
    return shaped.squeeze(input, dim)


def _moment(root: bool, with_mean: bool) -> Callable[..., Any]:
    def function(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
        variance, mean_ = reduce.var_and_mean(input, dim, correction, keepdim, "var")
        out = sqrt(variance) if root else variance
        return (out, mean_) if with_mean else out

    function.__name__ = ("std" if root else "var") + ("_mean" if with_mean else "")
    function.__doc__ = "Divides by the count minus ``correction``."
    return function


std, var, std_mean, var_mean = (_moment(True, False), _moment(False, False), _moment(True, True), _moment(False, True))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements; on demand which one each element is, and how often each occurs."""
    need_tensor("Unique", input=input)
    if dim is not None:
        raise ValueError("For 'unique', 'dim' is not supported; unique elements of the flattened tensor are.")
    values, inverse, counts = search.unique(shaped.ravel(input), ordered=sorted)
    inverse = movement.reshape(inverse, shape=tuple(input.shape))
    picked = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return picked[0] if len(picked) == 1 else tuple(picked)


def clone(input: Tensor) -> Tensor:
    """A copy."""
    need_tensor("Clone", input=input)
    return input.copy()  # type: ignore[attr-defined]


def _as(fn: Callable[..., Any], name: str, weak_numbers: bool = False, /, **names: str) -> Callable[..., Any]:
    return renamed(fn, name, weak_numbers, "mint", **names)


_RENAMED: dict[str, Callable[..., Any]] = {
    "sub": _as(math.subtract, "sub"),
    "div": _as(math.div, "div", True),
    "all": _as(reduce.all, "all", axis="dim", keep_dims="keepdim"),
    "any": _as(reduce.any, "any", axis="dim", keep_dims="keepdim"),
    "arange": _as(creation.arange, "arange"),
    "argmax": _as(reduce.argmax, "argmax"),
    "cat": _as(joining.concat, "cat", axis="dim"),
    "stack": _as(joining.stack, "stack", axis="dim"),
    "chunk": _as(joining.chunk, "chunk", axis="dim"),
    "split": _as(joining.split, "split", axis="dim"),
    "cummax": _as(reduce.cummax, "cummax", axis="dim"),
    "cummin": _as(reduce.cummin, "cummin", axis="dim"),
    "cumprod": _as(reduce.cumprod, "cumprod"),
    "diff": _as(statistics.diff, "diff", x="input", axis="dim"),
    "dstack": _as(joining.dstack, "dstack"),
    "flip": _as(array.flip, "flip"),
    "gather": _as(index.gather_elements, "gather"),
    "index_select": _as(index.index_select, "index_select", axis="dim"),
    "nansum": _as(reduce.nansum, "nansum", axis="dim", keepdims="keepdim"),
    "narrow": _as(array.narrow, "narrow", axis="dim"),
    "permute": _as(array.permute, "permute", axis="dims"),
    "scatter": _as(index.scatter, "scatter", axis="dim"),
    "transpose": _as(array.swapaxes, "transpose", axis0="dim0", axis1="dim1"),
    "float_power": _as(_M["float_power"], "float_power"),
}
"""Functions of ``ops`` whose parameters have PyTorch's names here."""

FUNCTIONS: dict[str, Callable[..., Any]] = forms.public_functions(globals()) | _RENAMED | {
    "sqrt": renamed(_M["sqrt"], x="input"), "frac": renamed(_M["frac"], x="input"),
    "bmm": renamed(products.bmm, input_x="input"), "mv": renamed(products.mv, mat="input"),
    "isnan": renamed(_M["isnan"], input="tensor"), "mm": launchable(mm), "concat": _RENAMED["cat"],
    "divide": _RENAMED["div"], "floor_divide": _M["floor_divide"], "fix": _M["trunc"], "vdot": products.dot,
}  # fmt: skip
make_public(FUNCTIONS, globals())
