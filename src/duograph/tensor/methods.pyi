# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

class Methods:
    """What is attached to `Tensor`."""

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
    @property
    def T(self, *axes: Any) -> Tensor:
        """The axes in another order, reversed by default; with two axes of a tensor with more: those two swapped."""
    def __abs__(self) -> Tensor:
        """``abs(x)``."""
    def __add__(self, y: Any) -> Tensor:
        """``x + y``."""
    def __and__(self, y: Any) -> Tensor:
        """``x & y``."""
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> _np.ndarray:
        ...
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """``numpy.mean(tensor)`` and its like: NumPy's function of the arrays, whose result is NumPy's."""
    def __bool__(self) -> builtins.bool:
        ...
    def __complex__(self) -> complex:
        ...
    def __contains__(self, value: Any) -> builtins.bool:
        ...
    def __copy__(self) -> Tensor:
        """Another handle on the same storage."""
    def __deepcopy__(self, memo: dict[builtins.int, Any]) -> Tensor:
        """A tensor of its own; views of a storage that is copied along become views of the copy."""
    def __dlpack__(self, **options: Any) -> Any:
        ...
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]:
        ...
    def __eq__(self, y: Any) -> Any:
        """``x == y``: elementwise with tensors and numbers; ``False`` with anything else."""
    def __float__(self) -> builtins.float:
        ...
    def __floordiv__(self, y: Any) -> Tensor:
        """``floor(x / y)``."""
    def __ge__(self, y: Any) -> Tensor:
        """``x >= y``."""
    def __getitem__(self, index: Any) -> Tensor:
        """``x[index]``."""
    def __gt__(self, y: Any) -> Tensor:
        """``x > y``."""
    def __hash__(self) -> builtins.int:
        ...
    def __index__(self) -> builtins.int:
        ...
    def __int__(self) -> builtins.int:
        ...
    def __invert__(self) -> Tensor:
        """``~x``: logical not, on every dtype (MindSpore's; for the bits there is `bitwise_not`)."""
    def __iter__(self) -> Iterator[Tensor]:
        ...
    def __le__(self, y: Any) -> Tensor:
        """``x <= y``."""
    def __len__(self) -> builtins.int:
        ...
    def __lt__(self, y: Any) -> Tensor:
        """``x < y``."""
    def __matmul__(self, y: Any) -> Tensor:
        """``x @ y``."""
    def __mod__(self, y: Any) -> Tensor:
        """``x % y``, with the sign of ``y``."""
    def __mul__(self, y: Any) -> Tensor:
        """``x * y``."""
    def __ne__(self, y: Any) -> Any:
        """``x != y``: elementwise with tensors and numbers; ``True`` with anything else."""
    def __neg__(self) -> Tensor:
        """``-x``."""
    def __or__(self, y: Any) -> Tensor:
        """``x | y``."""
    def __pos__(self) -> Tensor:
        """``+x``: the same tensor."""
    def __pow__(self, y: Any) -> Tensor:
        """``x ** y``."""
    def __radd__(self, y: Any) -> Tensor:
        """``x + y``."""
    def __rand__(self, y: Any) -> Tensor:
        """``x & y``."""
    def __rfloordiv__(self, y: Any) -> Tensor:
        """``floor(x / y)``."""
    def __rmatmul__(self, y: Any) -> Tensor:
        """``x @ y``."""
    def __rmod__(self, y: Any) -> Tensor:
        """``x % y``, with the sign of ``y``."""
    def __rmul__(self, y: Any) -> Tensor:
        """``x * y``."""
    def __ror__(self, y: Any) -> Tensor:
        """``x | y``."""
    def __round__(self, ndigits: builtins.int | None = None) -> Tensor:
        """``round(x, ndigits)``: halves to even; integers stay."""
    def __rpow__(self, y: Any) -> Tensor:
        """``x ** y``."""
    def __rsub__(self, y: Any) -> Tensor:
        """``x - y``; on bool: exactly one of them."""
    def __rtruediv__(self, y: Any) -> Tensor:
        """``x / y``; bool and integers give float32."""
    def __rxor__(self, y: Any) -> Tensor:
        """``x ^ y``."""
    def __setitem__(self, index: Any, value: Any) -> None:
        """``x[index] = value``; ``value`` is cast to the dtype of ``x`` and broadcast."""
    def __sub__(self, y: Any) -> Tensor:
        """``x - y``; on bool: exactly one of them."""
    def __truediv__(self, y: Any) -> Tensor:
        """``x / y``; bool and integers give float32."""
    def __xor__(self, y: Any) -> Tensor:
        """``x ^ y``."""
    def _repr_html_(self) -> str:
        ...
    def abs(self) -> Tensor:
        """``|x|``; real for complex numbers."""
    def abs_(self) -> Tensor:
        """`abs` in place."""
    def absolute(self) -> Tensor:
        """As `abs`."""
    def acos(self) -> Tensor:
        """Inverse cosine."""
    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""
    def add(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """``self + alpha * other``."""
    def add_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """``self += alpha * other``."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * sum of the products bmm(batch1, batch2)``."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
        """``input + value * tensor1 / tensor2``."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
        """``input + value * tensor1 * tensor2``."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)``."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``self = beta * self + alpha * mat1 @ mat2``."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * (mat @ vec)``."""
    def addr(self, vec1: Tensor, vec2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * self + alpha * outer(vec1, vec2)``."""
    def adjoint(self) -> Tensor:
        """The last two axes exchanged, conjugated."""
    def all(self, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
        """Whether all elements over ``axis`` (default: all) are true."""
    def allclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
        """Whether all elements are within ``atol + rtol * |other|`` of each other, as a Python bool."""
    def amax(self, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
        """The maximum over ``axis``; equal elements share the gradient, ``initial`` takes part, ``where`` masks out."""
    def amin(self, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
        """The minimum over ``axis``; equal elements share the gradient, ``initial`` takes part, ``where`` masks out."""
    def aminmax(self, *, axis: builtins.int | None = 0, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Minimum and maximum along ``axis``."""
    def angle(self) -> Tensor:
        """Argument of a complex number."""
    def any(self, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
        """Whether any element over ``axis`` (default: all) is true."""
    def approximate_equal(self, other: Any, tolerance: Any = 1e-05) -> Tensor:
        """Whether ``|x - other| < tolerance``."""
    def arccos(self) -> Tensor:
        """Inverse cosine."""
    def arccosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""
    def arcsin(self) -> Tensor:
        """Inverse sine."""
    def arcsinh(self) -> Tensor:
        """Inverse hyperbolic sine."""
    def arctan(self) -> Tensor:
        """Inverse tangent."""
    def arctan2(self, other: Any) -> Tensor:
        """As `atan2`."""
    def arctanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""
    def argmax(self, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
        """The position of the maximum along ``axis`` (default: in the flattened tensor)."""
    def argmax_with_value(self, axis: builtins.int | None = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Value and index of the maximum along ``axis``; without one, of all elements, and 0 as MindSpore gives."""
    def argmin(self, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
        """The position of the minimum along ``axis`` (default: in the flattened tensor)."""
    def argmin_with_value(self, axis: builtins.int | None = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Value and index of the minimum along ``axis``; without one, of all elements, and 0 as MindSpore gives."""
    def argsort(self, axis: builtins.int = -1, descending: builtins.bool = False) -> Tensor:
        """The int32 indices that put ``input`` in order along ``axis``."""
    def argwhere(self, *, as_tuple: builtins.bool = False) -> Tensor:
        """Coordinates (N, rank) of the elements that are not 0; with ``as_tuple`` one vector per axis."""
    def asin(self) -> Tensor:
        """Inverse sine."""
    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine."""
    def asnumpy(self) -> _np.ndarray:
        """The tensor as a NumPy array that shares its memory."""
    def assign_value(self, value: Tensor) -> Tensor:
        """The contents become those of ``value``."""
    def astype(self, dtype: Any, copy: builtins.bool = True) -> Tensor:
        """The tensor in ``dtype``; the same object if it has it already."""
    def atan(self) -> Tensor:
        """Inverse tangent."""
    def atan2(self, other: Any) -> Tensor:
        """Angle of the point (other, input)."""
    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2)``."""
    def bernoulli(self, *, generator: Any = None) -> Tensor:
        """1 with the probability that the element is, else 0."""
    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Tensor:
        """Every element is 1 with probability ``p``, else 0."""
    def bfloat16(self) -> Tensor:
        """The tensor in bfloat16."""
    def bincount(self, weights: Any = None, minlength: Any = 0) -> Tensor:
        """How often each of 0, 1, ... occurs, or the sums of ``weights`` there."""
    def bitwise_and(self, other: Any) -> Tensor:
        """``input & other``."""
    def bitwise_left_shift(self, other: Any) -> Tensor:
        """``input << other``."""
    def bitwise_not(self) -> Tensor:
        """``~x`` on integers and bool."""
    def bitwise_or(self, other: Any) -> Tensor:
        """``input | other``."""
    def bitwise_right_shift(self, other: Any) -> Tensor:
        """``input >> other``."""
    def bitwise_xor(self, other: Any) -> Tensor:
        """``input ^ other``."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """Products of matrices, one per leading index; leading shapes must agree."""
    def bool(self) -> Tensor:
        """The tensor in bool."""
    def broadcast_to(self, *shape: Any) -> Tensor:
        """Repeated along new axes and axes of size 1 up to ``shape``; -1 keeps an extent."""
    def byte(self) -> Tensor:
        """The tensor in uint8."""
    def cauchy(self, median: builtins.float = 0.0, sigma: builtins.float = 1.0) -> Tensor:
        """A tensor of this shape with a Cauchy distribution."""
    def ceil(self) -> Tensor:
        """Rounded up."""
    def ceil_(self) -> Tensor:
        """`ceil` in place."""
    def cholesky(self, upper: builtins.bool = False) -> Tensor:
        """The Cholesky factor, lower or upper."""
    def cholesky_inverse(self, upper: builtins.bool = False) -> Tensor:
        """The inverse of the matrix with the Cholesky factor ``input_x``."""
    def cholesky_solve(self, input2: Tensor, upper: builtins.bool = False) -> Tensor:
        """Solution ``X`` of ``A @ X = input``, given the Cholesky factor ``input2`` of ``A``."""
    def choose(self, choices: Any, mode: str = 'clip') -> Tensor:
        """Element ``choices[self[i]][i]`` for every place ``i``; ``mode`` for indices outside: clip, wrap or raise."""
    def chunk(self, chunks: builtins.int, axis: builtins.int = 0, *, dim: builtins.int | None = None) -> tuple[Tensor, ...]:
        """At most ``chunks`` views of equal size (the last may be smaller) along ``axis``."""
    def clamp(self, min: Any = None, max: Any = None) -> Any:
        """Every element limited to ``min`` .. ``max``; tensors, or a list or tuple of them."""
    def clamp_(self, min: Any = None, max: Any = None) -> Tensor:
        """Values below ``min`` become ``min``, those above ``max`` become ``max``."""
    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Every element limited to ``min`` .. ``max``; tensors, or a list or tuple of them."""
    def clone(self) -> Tensor:
        """A copy with a storage of its own; gradients flow through it."""
    def col2im(self, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any) -> Tensor:
        """Columns (N, C, taps, positions) added up to images (N, C, H, W): the adjoint of `unfold`."""
    def conj(self) -> Tensor:
        """Complex conjugate."""
    def contiguous(self) -> Tensor:
        """The tensor itself if it is contiguous, else a contiguous copy."""
    def copy(self) -> Tensor:
        """A copy with a storage of its own; gradients flow through it."""
    def copy_(self, src: Any, non_blocking: builtins.bool = False) -> Tensor:
        """The elements become those of ``src`` (broadcast and cast)."""
    def copysign(self, other: Any) -> Tensor:
        """The magnitude of ``x`` with the sign of ``other``."""
    def cos(self) -> Tensor:
        """Cosine."""
    def cos_(self) -> Tensor:
        """`cos` in place."""
    def cosh(self) -> Tensor:
        """Hyperbolic cosine."""
    def count_nonzero(self, axis: Any = ..., keep_dims: builtins.bool = False, dtype: Any = ...) -> Tensor:
        """The number of elements over ``axis`` that are not 0."""
    def cov(self, *, correction: builtins.int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
        """The covariance matrix of the rows; columns are observations, which may have integer and real weights."""
    def cross(self, other: Tensor, dim: builtins.int | None = None) -> Tensor:
        """Vector product along an axis of size 3 (default: the first such axis)."""
    def cummax(self, axis: builtins.int) -> tuple[Tensor, Tensor]:
        """Running maximum along ``axis`` and its index."""
    def cummin(self, axis: builtins.int) -> tuple[Tensor, Tensor]:
        """Running minimum along ``axis`` and its index."""
    def cumprod(self, dim: builtins.int, dtype: Any = None) -> Tensor:
        """Running product along ``dim``."""
    def cumsum(self, axis: builtins.int | None = None, dtype: Any = None, dim: builtins.int | None = None) -> Tensor:
        """The running sum along ``axis`` (or ``dim``); without one, of the flattened tensor."""
    @property
    def data(self) -> Tensor:
        """Another handle on the same storage."""
    def data_ptr(self) -> builtins.int:
        """Address of the first element."""
    def data_sync(self, *_: Any) -> None:
        """Does nothing on CPU, where every result is there when the call returns."""
    def deg2rad(self) -> Tensor:
        """Degrees as radians."""
    def det(self) -> Tensor:
        """The determinant of every matrix."""
    @property
    def device(self) -> str:
        """Where the tensor lives: ``CPU``."""
    def diag(self) -> Tensor:
        """A tensor with ``input`` on its diagonal, of shape ``input.shape + input.shape``."""
    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """A matrix with all elements of ``input`` on a diagonal."""
    def diagonal(self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, **options: Any) -> Tensor:
        """The diagonal of the matrices in two axes, as the last axis; a view."""
    def diagonal_scatter(self, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
        """``input`` with a diagonal replaced by ``src``."""
    def diff(self, n: builtins.int = 1, axis: builtins.int = -1, prepend: Any = None, append: Any = None) -> Tensor:
        """Differences of neighbours along ``axis``, ``n`` times."""
    def digamma(self) -> Tensor:
        """Derivative of ``lgamma``."""
    def dim(self) -> builtins.int:
        """Number of dimensions."""
    def div(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """``input / other``; integers give float32."""
    def div_(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """``self /= other``; ``rounding_mode`` is ``None``, ``'floor'`` or ``'trunc'``."""
    def divide(self, other: Any, *, rounding_mode: Any = None) -> Tensor:
        """``input / other``; integers give float32."""
    def dot(self, other: Tensor) -> Tensor:
        """Sum over the last axis of ``input`` and the last but one of ``other``."""
    def double(self) -> Tensor:
        """The tensor in float64."""
    def dsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along the third axis."""
    def eq(self, other: Any) -> Tensor:
        """As `equal`."""
    def equal(self, other: Any) -> Tensor:
        """Whether equal; NaN equals nothing."""
    def erf(self) -> Tensor:
        """Error function."""
    def erfc(self) -> Tensor:
        """``1 - erf(x)``."""
    def erfinv(self) -> Tensor:
        """Inverse of the error function; infinite at -1 and 1, NaN beyond."""
    def erfinv_(self) -> Tensor:
        """`erfinv` in place."""
    def exp(self) -> Tensor:
        """``e**x``."""
    def exp_(self) -> Tensor:
        """`exp` in place."""
    def expand(self, *size: Any) -> Tensor:
        """As `broadcast_to`."""
    def expand_as(self, other: Tensor) -> Tensor:
        """Repeated up to the shape of ``other``."""
    def expand_dims(self, axis: builtins.int) -> Tensor:
        """With a new axis of size 1 at position ``axis``."""
    def expm1(self) -> Tensor:
        """``e**x - 1``, accurate near 0."""
    def exponential_(self, lambd: builtins.float = 1, *, generator: Any = None) -> Tensor:
        """Every element is drawn from an exponential distribution of rate ``lambd``."""
    def fill(self, value: Any) -> Tensor:
        """A new tensor of this shape and dtype, every element ``value`` (``None``: 0)."""
    def fill_(self, value: Any) -> Tensor:
        """Every element becomes ``value``, a number or a 0-d tensor."""
    def fill_diagonal(self, fill_value: Any, wrap: builtins.bool = False) -> Tensor:
        """A copy with the main diagonal filled."""
    def fill_diagonal_(self, fill_value: Any, wrap: builtins.bool = False) -> Tensor:
        """The main diagonal becomes ``fill_value``; with ``wrap`` it starts again after the columns of a tall matrix."""
    def fills(self, value: Any) -> Tensor:
        """``value`` in the shape and dtype of ``x``."""
    def flatten(self, order: Any = 'C', end: builtins.int | None = None, *, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """The axes from ``start_dim`` to ``end_dim`` as one; ``order`` is ``'C'`` (rows) or ``'F'`` (columns)."""
    def flip(self, dims: Any, *more: Any) -> Tensor:
        """The elements in reverse order along ``dims``: ``x.flip(0, 1)``, ``x.flip((0, 1))`` or ``x.flip(dims=(0, 1))``."""
    def fliplr(self) -> Tensor:
        """``input`` with its columns in reverse order."""
    def flipud(self) -> Tensor:
        """``input`` with its rows in reverse order."""
    def float(self) -> Tensor:
        """The tensor in float32."""
    def float_power(self, other: Any) -> Tensor:
        """``input ** other`` in float64."""
    def floor(self) -> Tensor:
        """Rounded down."""
    def floor_(self) -> Tensor:
        """`floor` in place."""
    def floor_divide(self, other: Any) -> Tensor:
        """As `floor_div`."""
    def floor_divide_(self, other: Any) -> Tensor:
        """``self //= other``."""
    def flush_from_cache(self) -> None:
        """Does nothing: there is no host cache."""
    def fmax(self, other: Any) -> Tensor:
        """The larger of both; the other one if one is NaN."""
    def fmin(self, other: Any) -> Tensor:
        """The smaller of both; the other one if one is NaN."""
    def fmod(self, other: Any) -> Tensor:
        """Remainder with the sign of ``input``."""
    def fold(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        """Columns added up to an image; the adjoint of `unfold`."""
    def frac(self) -> Tensor:
        """The part after the point."""
    from_dlpack: Any
    from_numpy: Any
    def gather(self, *args: Any, **options: Any) -> Tensor:
        """``x.gather(dim, index)``: one element per index; ``x.gather(input_indices, axis)``: whole slices."""
    def gather_elements(self, dim: builtins.int, index: Tensor) -> Tensor:
        """One index along ``dim`` per result element."""
    def gather_nd(self, indices: Any) -> Tensor:
        """The slices that the rows of ``indices`` name."""
    def gcd(self, other: Any) -> Tensor:
        """Greatest common divisor."""
    def ge(self, other: Any) -> Tensor:
        """As `greater_equal`."""
    def ger(self, vec2: Tensor) -> Tensor:
        """Products of every element of one vector with every element of another."""
    def get_bytes(self) -> bytes:
        """The elements in row-major order as bytes."""
    def greater(self, other: Any) -> Tensor:
        """``input > other``."""
    def greater_equal(self, other: Any) -> Tensor:
        """``input >= other``."""
    def gt(self, other: Any) -> Tensor:
        """As `greater`."""
    def half(self) -> Tensor:
        """The tensor in float16."""
    def hardshrink(self, lambd: Any = 0.5) -> Tensor:
        """0 in the interval from ``-lambd`` to ``lambd``, ``x`` outside."""
    @property
    def has_init(self) -> builtins.bool:
        """Whether an initializer has yet to fill the tensor; here it always has."""
    def heaviside(self, values: Any) -> Tensor:
        """0 where ``input`` is below 0, 1 above, ``values`` where it is 0."""
    def histc(self, bins: builtins.int = 100, min: builtins.float = 0.0, max: builtins.float = 0.0) -> Tensor:
        """How many elements fall into each of ``bins`` equal intervals."""
    def hsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along the second axis, of vectors along the first."""
    def hypot(self, other: Any) -> Tensor:
        """``sqrt(input**2 + other**2)``."""
    def imag(self) -> Tensor:
        """Imaginary part."""
    def index_add(self, *args: Any, alpha: Any = 1, **options: Any) -> Tensor:
        """``x.index_add(dim, index, source, alpha=1)``, or ``x.index_add(indices, y, axis)``: slices added at indices."""
    def index_add_(self, dim: builtins.int, index: Any, source: Tensor, *, alpha: Any = 1) -> Tensor:
        """Slice ``i`` of ``alpha * source`` is added to slice ``index[i]`` along ``dim``."""
    def index_copy(self, dim: builtins.int, index: Any, tensor: Tensor) -> Tensor:
        """A copy whose slices ``index`` along ``dim`` are those of ``tensor``."""
    def index_copy_(self, dim: builtins.int, index: Any, source: Tensor) -> Tensor:
        """Slice ``index[i]`` along ``dim`` becomes slice ``i`` of ``source``."""
    def index_fill(self, dim: Any = None, index: Any = None, value: Any = None, *, axis: Any = None) -> Tensor:
        """A copy whose slices ``index`` along ``dim`` are ``value``."""
    def index_fill_(self, dim: builtins.int, index: Any, value: Any) -> Tensor:
        """The slices ``index`` along ``dim`` become ``value``."""
    def index_put(self, indices: Any, values: Tensor, accumulate: Any = False) -> Tensor:
        """A copy with ``x[indices] = values`` (or ``+=``) done."""
    def index_put_(self, indices: Any, values: Tensor, accumulate: Any = False) -> Tensor:
        """``self[indices] = values``; with ``accumulate``: ``+=``, repeated indices included."""
    def index_select(self, axis: builtins.int, index: Tensor) -> Tensor:
        """The slices along ``axis`` at the vector ``index``."""
    def init_data(self, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
        """The tensor itself: initializers run when a tensor is made."""
    def inner(self, other: Tensor) -> Tensor:
        """Sum of products over the last axes."""
    def inplace_update(self, v: Any, indices: Any) -> Tensor:
        """A copy whose rows ``indices`` are those of ``v``."""
    def int(self) -> Tensor:
        """The tensor in int32."""
    def inv(self) -> Tensor:
        """``1 / x``."""
    def inverse(self) -> Tensor:
        """The inverse of every matrix."""
    def invert(self) -> Tensor:
        """``~x`` on integers."""
    def is_complex(self) -> builtins.bool:
        """Whether the dtype is complex."""
    def is_contiguous(self) -> builtins.bool:
        """Whether the elements lie one after the other in memory."""
    def is_floating_point(self) -> builtins.bool:
        """Whether the dtype is a floating one."""
    def is_pinned(self) -> builtins.bool:
        """Whether other processes see the memory, or a device reads it directly: not on CPU."""
    def is_shared(self) -> builtins.bool:
        """Whether other processes see the memory, or a device reads it directly: not on CPU."""
    def is_signed(self) -> builtins.bool:
        """Whether the dtype can hold negative numbers."""
    def isclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
        """Where the elements are within ``atol + rtol * |other|`` of each other."""
    def isfinite(self) -> Tensor:
        """Whether neither infinite nor NaN."""
    def isinf(self) -> Tensor:
        """Whether infinite."""
    def isnan(self) -> Tensor:
        """Whether NaN."""
    def isneginf(self) -> Tensor:
        """Whether negative infinity."""
    def isposinf(self) -> Tensor:
        """Whether positive infinity."""
    def isreal(self) -> Tensor:
        """Whether the imaginary part is 0."""
    def item(self, *index: Any) -> builtins.int:
        """The element at ``index`` (a flat position, or one per axis) as a Python number."""
    def itemset(self, *args: Any) -> Tensor:
        """A copy with one element replaced: ``x.itemset(value)``, ``x.itemset(i, value)``, ``x.itemset((i, j), value)``."""
    @property
    def itemsize(self) -> builtins.int:
        """Bytes of one element."""
    def kthvalue(self, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The ``k``-th smallest element along ``dim`` and its index."""
    def lcm(self, other: Any) -> Tensor:
        """Least common multiple."""
    def ldexp(self, other: Any) -> Tensor:
        """``x * 2**other``."""
    def le(self, other: Any) -> Tensor:
        """As `less_equal`."""
    def lerp(self, end: Any, weight: Any) -> Tensor:
        """``input + weight * (end - input)``."""
    def less(self, other: Any) -> Tensor:
        """``input < other``."""
    def less_equal(self, other: Any) -> Tensor:
        """``input <= other``."""
    def lgamma(self) -> Tensor:
        """Logarithm of the absolute gamma function."""
    def log(self) -> Tensor:
        """Natural logarithm."""
    def log10(self) -> Tensor:
        """Base 10."""
    def log1p(self) -> Tensor:
        """``log(1 + x)``, accurate near 0."""
    def log2(self) -> Tensor:
        """Base 2."""
    def log_(self) -> Tensor:
        """`log` in place."""
    def log_matrix_determinant(self) -> tuple[Tensor, Tensor]:
        """Sign and logarithm of the absolute value of the determinant."""
    def log_normal(self, mean: builtins.float = 1.0, std: builtins.float = 2.0) -> Tensor:
        """A tensor of this shape whose logarithm is normal."""
    def logaddexp(self, other: Any) -> Tensor:
        """``log(exp(input) + exp(other))``."""
    def logaddexp2(self, other: Any) -> Tensor:
        """``log2(2**input + 2**other)``."""
    def logcumsumexp(self, axis: builtins.int) -> Tensor:
        """``log(cumsum(exp(input)))`` along ``axis``, without overflow."""
    def logdet(self) -> Tensor:
        """Logarithm of the determinant; NaN if it is negative."""
    def logical_and(self, other: Any) -> Tensor:
        """``input and other``, elementwise."""
    def logical_not(self) -> Tensor:
        """``not x``, elementwise."""
    def logical_or(self, other: Any) -> Tensor:
        """``input or other``, elementwise."""
    def logical_xor(self, other: Any) -> Tensor:
        """Exactly one of both, elementwise."""
    def logit(self, eps: builtins.float | None = None) -> Tensor:
        """``log(x / (1 - x))``; with ``eps``, of ``x`` limited to ``eps`` .. ``1 - eps``."""
    def logsumexp(self, dim: Any = None, keepdim: builtins.bool = False, *, axis: Any = None, keep_dims: builtins.bool = False) -> Tensor:
        """``log(sum(exp(input)))`` over ``dim``, without overflow; ``axis`` and ``keep_dims`` are older names."""
    def long(self) -> Tensor:
        """The tensor in int64."""
    def lt(self, other: Any) -> Tensor:
        """As `less`."""
    @property
    def mH(self) -> Tensor:
        """The last two axes exchanged, conjugated."""
    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        """``input_x`` with ``value`` where ``mask`` (bool) holds."""
    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        """Elements where ``mask`` holds become ``value``."""
    def masked_scatter(self, mask: Tensor, tensor: Tensor) -> Tensor:
        """``input`` with the places where ``mask`` holds taken from ``tensor`` in order."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """Elements where ``mask`` holds become the first elements of ``source``."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements of ``input`` where ``mask`` holds, in one dimension."""
    def matmul(self, other: Tensor) -> Tensor:
        """``input @ other``: matrices in the last two axes, the others broadcast; vectors as in NumPy."""
    def matrix_determinant(self) -> Tensor:
        """The determinant of every matrix."""
    def matrix_power(self, n: builtins.int) -> Tensor:
        """The n-th power of every square matrix, by squaring; negative ones of the inverse."""
    def max(self, *args: Any, initial: Any = None, where: Any = True, return_indices: builtins.bool = False, **options: Any) -> Tensor:
        """The maximum over all elements, or along an axis."""
    def maximum(self, other: Any) -> Tensor:
        """The larger of both; NaN if one is NaN."""
    def mean(self, axis: Any = None, keepdims: Any = False, *, dtype: Any = None, **options: Any) -> Tensor:
        """Mean over ``axis`` (default: all); of integers truncated, as in MindSpore."""
    def median(self, axis: builtins.int = -1, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The (lower) median along ``axis`` and its int64 index; the first NaN if there is one."""
    def min(self, *args: Any, initial: Any = None, where: Any = True, return_indices: builtins.bool = False, **options: Any) -> Tensor:
        """The minimum over all elements, or along an axis."""
    def minimum(self, other: Any) -> Tensor:
        """The smaller of both; NaN if one is NaN."""
    def mm(self, mat2: Tensor) -> Tensor:
        """Product of two matrices."""
    def move_to(self, to: str, blocking: builtins.bool = True) -> Tensor:
        """The tensor on device ``to``; there is only the CPU."""
    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """The axes ``source`` at the places ``destination``, the others in order."""
    def movedim(self, source: Any, destination: Any) -> Tensor:
        """The axes ``source`` at the places ``destination``, the others in order."""
    def msort(self) -> Tensor:
        """In order along the first axis."""
    def mul(self, other: Any) -> Tensor:
        """``input * other``."""
    def mul_(self, other: Any) -> Tensor:
        """``self *= other``."""
    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = True, seed: builtins.int | None = None) -> Tensor:
        """Indices (int32) drawn in proportion to ``input``."""
    def multiply(self, value: Any) -> Tensor:
        """As `mul`."""
    def mvlgamma(self, p: builtins.int) -> Tensor:
        """Logarithm of the multivariate gamma function of dimension ``p``."""
    def nan_to_num(self, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
        """NaN and infinities replaced: by 0, the largest and the smallest number by default."""
    def nanmean(self, axis: Any = None, keepdims: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The mean of what is not NaN."""
    def nanmedian(self, axis: builtins.int = -1, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The lower median of what is not NaN, and its index."""
    def nanquantile(self, q: Any, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Tensor:
        """`quantile` of what is not NaN."""
    def nansum(self, axis: Any = None, keepdims: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The sum of what is not NaN."""
    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """The ``length`` elements from ``start`` along ``dim``."""
    @property
    def nbytes(self) -> builtins.int:
        """Bytes of all elements."""
    def ndimension(self) -> builtins.int:
        """Number of dimensions."""
    def ne(self, other: Any) -> Tensor:
        """As `not_equal`."""
    def neg(self) -> Tensor:
        """``-x``."""
    def neg_(self) -> Tensor:
        """`neg` in place."""
    def negative(self) -> Tensor:
        """``-x``."""
    def nelement(self) -> builtins.int:
        """Number of elements."""
    def new_empty(self, *size: Any, dtype: Any = None, device: Any = None) -> Tensor:
        """A tensor of shape ``size`` filled with 0, of this dtype unless ``dtype`` says otherwise."""
    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
        """A tensor of shape ``size`` filled with ``fill_value``, of this dtype unless ``dtype`` says otherwise."""
    def new_ones(self, *size: Any, dtype: Any = None, device: Any = None) -> Tensor:
        """A tensor of shape ``size`` filled with 1, of this dtype unless ``dtype`` says otherwise."""
    def new_zeros(self, *size: Any, dtype: Any = None, device: Any = None) -> Tensor:
        """A tensor of shape ``size`` filled with 0, of this dtype unless ``dtype`` says otherwise."""
    def nextafter(self, other: Any) -> Tensor:
        """The next number towards other."""
    def nonzero(self, *, as_tuple: builtins.bool = False) -> Tensor:
        """Coordinates (N, rank) of the elements that are not 0; with ``as_tuple`` one vector per axis."""
    def norm(self, ord: Any = None, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """A vector norm, or a matrix norm for two axes with a matrix ``ord``; default: the 2-norm of all elements."""
    def normal_(self, mean: builtins.float = 0, std: builtins.float = 1, *, generator: Any = None) -> Tensor:
        """Every element is drawn from a normal distribution."""
    def not_equal(self, other: Any) -> Tensor:
        """Whether different."""
    def numel(self) -> builtins.int:
        """Number of elements."""
    def numpy(self) -> _np.ndarray:
        """The tensor as a NumPy array that shares its memory."""
    def outer(self, vec2: Tensor) -> Tensor:
        """Products of every element of one vector with every element of another."""
    def permute(self, *axis: Any) -> Tensor:
        """The axes in the order ``axis``."""
    def pin_memory(self) -> Tensor:
        """The tensor itself: all memory is host memory."""
    def polygamma(self, input: Tensor) -> Tensor:
        """The derivative of order ``n`` of `digamma`."""
    def positive(self) -> Tensor:
        """``x`` itself."""
    def pow(self, exponent: Any) -> Tensor:
        """``input ** exponent``."""
    def pow_(self, exponent: Any) -> Tensor:
        """``self **= exponent``."""
    def prod(self, axis: Any = None, keepdims: Any = False, dtype: Any = None, **options: Any) -> Tensor:
        """Product over ``axis`` (default: all). Bool and integers are multiplied as int64."""
    def ptp(self, axis: Any = None, keepdims: Any = False) -> Tensor:
        """The maximum minus the minimum over ``axis``."""
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """Elements at flat positions become (with ``accumulate``: grow by) those of ``source``."""
    def qr(self, some: Any = True) -> tuple[Tensor, Tensor]:
        """Orthogonal and triangular factor; ``some=False`` for the complete one. A mode as `ops.qr` takes it works, too."""
    def quantile(self, q: Any, axis: builtins.int | None = None, keepdims: builtins.bool = False, ignore_nan: builtins.bool = False) -> Tensor:
        """The quantiles ``q`` along ``axis`` by linear interpolation; a vector ``q`` gives a new first axis."""
    def rad2deg(self) -> Tensor:
        """Radians as degrees."""
    def random_(self, from_: builtins.int = 0, to: builtins.int | None = None, *, generator: Any = None) -> Tensor:
        """Every element is an integer drawn evenly from ``from_`` to ``to - 1``; ``random_(to)`` starts at 0."""
    def random_categorical(self, num_sample: builtins.int, seed: builtins.int = 0, dtype: Any = ...) -> Tensor:
        """Indices drawn from the softmax of ``logits``."""
    def ravel(self) -> Tensor:
        """All elements in one dimension."""
    def real(self) -> Tensor:
        """Real part."""
    def reciprocal(self) -> Tensor:
        """``1 / x``."""
    def reciprocal_(self) -> Tensor:
        """`reciprocal` in place."""
    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Calls ``hook(gradient)`` when the gradient of this tensor is computed; what it returns replaces the gradient."""
    def relu_(self) -> Tensor:
        """`relu` in place."""
    def remainder(self, other: Any) -> Tensor:
        """Remainder with the sign of ``other``."""
    def remainder_(self, other: Any) -> Tensor:
        """``self %= other``."""
    def renorm(self, p: Any, axis: builtins.int, maxnorm: builtins.float) -> Tensor:
        """The slices along ``axis`` scaled down so that their p-norm is at most ``maxnorm``."""
    def repeat(self, *repeats: Any) -> Tensor:
        """As `tile`, with at least one entry per axis."""
    def repeat_interleave(self, repeats: Any, axis: builtins.int | None = None, dim: builtins.int | None = None) -> Tensor:
        """Every element along ``axis`` (default: of the flattened tensor) ``repeats`` times; one number, or one each."""
    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        """The tensor itself: gradients are asked for with ``grad``, and flow to whatever that names."""
    def reshape(self, *shape: Any) -> Tensor:
        """The elements in another shape; one extent may be -1. Shares storage where NumPy's does."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of ``other``."""
    def resize(self, *new_shape: Any) -> Tensor:
        """The elements in row-major order in a new shape: cut off, or followed by zeros."""
    def reverse(self, axis: Any) -> Tensor:
        """The elements in reverse order along the axes."""
    def reverse_sequence(self, seq_lengths: Tensor, seq_dim: builtins.int = 0, batch_dim: builtins.int = 0) -> Tensor:
        """The first ``seq_lengths[i]`` places along ``seq_dim`` reversed, for every ``i`` along ``batch_dim``."""
    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """Shifted cyclically by ``shifts`` places along ``dims`` (default: the flattened tensor)."""
    def rot90(self, k: builtins.int, dims: Any) -> Tensor:
        """Turned by 90 degrees ``k`` times in the plane of the two axes ``dims``."""
    def round(self, *, decimals: builtins.int = 0) -> Tensor:
        """Rounded to ``decimals`` places, halves to even."""
    def round_(self) -> Tensor:
        """`round` in place."""
    def rsqrt(self) -> Tensor:
        """``1 / sqrt(x)``."""
    def scatter(self, axis: builtins.int, index: Tensor, src: Any) -> Tensor:
        """``input`` with ``src`` put at one index along ``axis`` each."""
    def scatter_(self, dim: builtins.int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
        """``self[index[i][j]][j] = src[i][j]`` for ``dim`` 0; ``reduce`` is ``None``, ``'add'`` or ``'multiply'``."""
    def scatter_add(self, *args: Any, **options: Any) -> Tensor:
        """``x.scatter_add(dim, index, src)``: an index per element; ``x.scatter_add(indices, updates)``: in rows."""
    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """``self[index[i][j]][j] += src[i][j]`` for ``dim`` 0."""
    def scatter_div(self, indices: Tensor, updates: Tensor) -> Tensor:
        """A copy with ``updates`` combined (div) into the slices that rows of ``indices`` name."""
    def scatter_max(self, indices: Tensor, updates: Tensor) -> Tensor:
        """A copy with ``updates`` combined (max) into the slices that rows of ``indices`` name."""
    def scatter_min(self, indices: Tensor, updates: Tensor) -> Tensor:
        """A copy with ``updates`` combined (min) into the slices that rows of ``indices`` name."""
    def scatter_mul(self, indices: Tensor, updates: Tensor) -> Tensor:
        """A copy with ``updates`` combined (mul) into the slices that rows of ``indices`` name."""
    def scatter_sub(self, indices: Tensor, updates: Tensor) -> Tensor:
        """A copy with ``updates`` combined (sub) into the slices that rows of ``indices`` name."""
    def searchsorted(self, v: Any, side: str = 'left', sorter: Tensor | None = None) -> Tensor:
        """Where ``v`` would have to be inserted to keep this (ascending) tensor in order; int32."""
    def select(self, *args: Any, **options: Any) -> Tensor:
        """``x.select(dim, index)``: the slice at ``index`` along ``dim``, a view; ``x.select(condition, y)``: a choice."""
    def select_scatter(self, src: Tensor, axis: builtins.int, index: builtins.int) -> Tensor:
        """``input`` with the slice ``index`` along ``axis`` replaced by ``src``."""
    def set_(self, source: Tensor) -> Tensor:
        """Makes this tensor another handle on the storage of ``source``."""
    def set_const_arg(self, const_arg: builtins.bool = True) -> Tensor:
        """Marks the tensor as a constant for compiled functions."""
    def set_dtype(self, dtype: Any) -> Any:
        """Changes the dtype of this tensor, and returns it."""
    def sgn(self) -> Tensor:
        """-1, 0 or 1; ``x / |x|`` for complex numbers."""
    def short(self) -> Tensor:
        """The tensor in int16."""
    def sigmoid(self) -> Tensor:
        """``1 / (1 + exp(-x))``."""
    def sigmoid_(self) -> Tensor:
        """`sigmoid` in place."""
    def sign(self) -> Tensor:
        """-1, 0 or 1."""
    def sign_(self) -> Tensor:
        """`sign` in place."""
    def signbit(self) -> Tensor:
        """Whether the sign is minus, for -0.0 too."""
    def sin(self) -> Tensor:
        """Sine."""
    def sin_(self) -> Tensor:
        """`sin` in place."""
    def sinc(self) -> Tensor:
        """``sin(pi x) / (pi x)``, 1 at 0."""
    def sinh(self) -> Tensor:
        """Hyperbolic sine."""
    @property
    def size(self) -> builtins.int:
        """Number of elements."""
    def slice_scatter(self, src: Tensor, axis: builtins.int = 0, start: Any = None, end: Any = None, step: builtins.int = 1) -> Tensor:
        """``input`` with ``input[start:end:step]`` along ``axis`` replaced by ``src``."""
    def slogdet(self) -> tuple[Tensor, Tensor]:
        """Sign and logarithm of the absolute value of the determinant."""
    def soft_shrink(self, lambd: Any = 0.5) -> Tensor:
        """``x`` moved towards 0 by ``lambd``, 0 where it would cross."""
    def softmax(self, axis: builtins.int = -1, dtype: Any = None) -> Tensor:
        """``exp(self)`` divided by its sum along ``axis``."""
    def sort(self, axis: builtins.int = -1, descending: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The elements in order along ``axis``, and their int32 indices."""
    def split(self, split_size_or_sections: Any, axis: builtins.int = 0, *, dim: builtins.int | None = None) -> tuple[Tensor, ...]:
        """Views of the given size (the last may be smaller), or of the given sizes, along ``axis``."""
    def sqrt(self) -> Tensor:
        """Square root."""
    def sqrt_(self) -> Tensor:
        """`sqrt` in place."""
    def square(self) -> Tensor:
        """``x * x``."""
    def squeeze(self, axis: Any = None) -> Tensor:
        """Without the axes of size 1, or without those of ``axis`` that have size 1."""
    def std(self, axis: Any = None, ddof: Any = 0, keepdims: Any = False, *, correction: Any = None, **options: Any) -> Tensor:
        """Standard deviation, the square root of `var`."""
    def std_mean(self, axis: Any = None, ddof: builtins.int = 0, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Standard deviation and mean."""
    def storage_offset(self) -> builtins.int:
        """Elements between the start of the storage and this tensor."""
    def stride(self, dim: builtins.int | None = None) -> Any:
        """Elements to step along each axis, or along axis ``dim``."""
    @property
    def strides(self) -> tuple[builtins.int, ...]:
        """Bytes to step along each axis."""
    def sub(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """``self - alpha * other``."""
    def sub_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """``self -= alpha * other``."""
    def subtract(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """``input - alpha * other``."""
    def sum(self, axis: Any = None, dtype: Any = None, keepdims: Any = False, initial: Any = None, **options: Any) -> Tensor:
        """Sum over ``axis`` (default: all). Bool and integers are summed as int64."""
    def sum_to_size(self, *size: Any) -> Tensor:
        """Summed over the axes that broadcasting from ``size`` would have added."""
    def svd(self, full_matrices: builtins.bool = False, compute_uv: builtins.bool = True) -> Tensor:
        """Singular values, and with ``compute_uv`` the matrices: ``(s, u, v)``."""
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Two axes exchanged."""
    def swapdims(self, dim0: Any, dim1: Any) -> Tensor:
        """Two axes exchanged."""
    def t(self) -> Tensor:
        """The transpose of a matrix; vectors and 0-d tensors as they are."""
    def take(self, indices: Any, axis: builtins.int | None = None, mode: str = 'clip') -> Tensor:
        """Elements (slices along ``axis``) at ``indices``; ``mode`` for indices outside: clip, wrap or raise."""
    def tan(self) -> Tensor:
        """Tangent."""
    def tanh(self) -> Tensor:
        """Hyperbolic tangent."""
    def tanh_(self) -> Tensor:
        """`tanh` in place."""
    def tensor_split(self, indices_or_sections: Any, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """Views split into nearly equal parts (int), or at the given positions."""
    def tile(self, *repeats: Any, dims: Any = None, reps: Any = None) -> Tensor:
        """Repeated ``dims[i]`` times along axis ``i``."""
    def to(self, *target: Any, dtype: Any = None, device: Any = None, non_blocking: builtins.bool = False, copy: builtins.bool = False) -> Tensor:
        """The tensor in another dtype, or that of another tensor; devices other than CPU are refused."""
    def to_coo(self) -> Any:
        """The elements of a matrix that are not 0, each with row and column."""
    def to_csr(self) -> Any:
        """The elements of a matrix that are not 0, by rows."""
    def to_dlpack(self) -> Any:
        """A DLPack capsule that shares the memory of the tensor."""
    def tolist(self) -> Any:
        """The elements as Python numbers in nested lists."""
    def top_k(self, k: Any, sorted: Any = True) -> Any:
        """The ``k`` greatest elements along the last axis, and their places."""
    def topk(self, k: Any, dim: builtins.int | None = None, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """The ``k`` largest (or smallest) elements along ``dim`` in order, and their int32 indices."""
    def trace(self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, dtype: Any = None) -> Tensor:
        """The sum of the diagonal of the matrices in two axes."""
    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order, reversed by default; with two axes of a tensor with more: those two swapped."""
    def triangular_solve(self, A: Tensor, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """``X`` with ``A @ X = b`` for triangular ``A``, and ``A``."""
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """The lower triangles of the matrices in the last two axes."""
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """The upper triangles of the matrices in the last two axes."""
    def true_divide(self, divisor: Any) -> Tensor:
        """``dividend / divisor``."""
    def trunc(self) -> Tensor:
        """Rounded towards zero."""
    def type(self, dtype: Any = None) -> Tensor:
        """The name of the dtype; or the tensor in ``dtype``, if one is given."""
    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype of ``other``."""
    def unbind(self, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """The slices along ``dim``, without that axis."""
    def unfold(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        """Windows of (N, C, H, W) as columns (N, C * taps, positions)."""
    def uniform(self, from_: builtins.float = 0.0, to: builtins.float = 1.0, generator: Any = None) -> Tensor:
        """A tensor of this shape and dtype, drawn evenly from ``from_`` to ``to``."""
    def uniform_(self, from_: builtins.float = 0, to: builtins.float = 1, *, generator: Any = None) -> Tensor:
        """Every element is drawn evenly from ``from_`` to ``to``."""
    def unique(self, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Tensor:
        """The different elements, ascending; with the flags also where each element went, and how often each occurs."""
    def unique_consecutive(self, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Tensor:
        """Runs of equal elements made one; on demand the run of each element and the lengths."""
    def unique_with_pad(self, pad_num: Any) -> tuple[Tensor, Tensor]:
        """`unique`, filled up with ``pad_num`` to the size of ``x``."""
    def unsorted_segment_max(self, segment_ids: Any, num_segments: Any) -> Tensor:
        """The max of the elements of every segment."""
    def unsorted_segment_min(self, segment_ids: Any, num_segments: Any) -> Tensor:
        """The min of the elements of every segment."""
    def unsorted_segment_prod(self, segment_ids: Any, num_segments: Any) -> Tensor:
        """The prod of the elements of every segment."""
    def unsqueeze(self, dim: Any) -> Tensor:
        """With a new axis of size 1 at position ``dim``."""
    def value(self) -> Tensor:
        """The tensor itself."""
    def var(self, axis: Any = None, ddof: Any = 0, keepdims: Any = False, *, correction: Any = None, **options: Any) -> Tensor:
        """Variance over ``axis`` (default: all), divided by the number of elements minus ``ddof``."""
    def var_mean(self, axis: Any = None, ddof: builtins.int = 0, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Variance and mean."""
    def view(self, *shape: Any) -> Tensor:
        """As `reshape`; with a dtype: the same bytes read as another dtype."""
    def view_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of ``other``."""
    def vsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along the first axis."""
    def wait_pipeline(self, *_: Any) -> None:
        """Does nothing on CPU, where every result is there when the call returns."""
    def where(self, condition: Tensor, y: Any) -> Tensor:
        """``self`` where ``condition`` holds, ``y`` elsewhere."""
    def xdivy(self, y: Any) -> Tensor:
        """``x / y``, 0 where ``x`` is 0."""
    def xlogy(self, other: Any) -> Tensor:
        """``input * log(other)``, 0 where input is 0."""
    def zero_(self) -> Tensor:
        """Every element becomes 0."""
