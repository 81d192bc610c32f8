# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.core.dtype import Bool as _Bool
from duograph.core.dtype import Float as _Float
from duograph.core.dtype import Int as _Int
from duograph.core.dtype import UInt as _UInt
from duograph.numpy import fft as fft
from duograph.numpy.axes import apply_along_axis as apply_along_axis
from duograph.numpy.axes import apply_over_axes as apply_over_axes
from duograph.numpy.axes import array_equiv as array_equiv
from duograph.numpy.axes import array_str as array_str
from duograph.numpy.axes import divmod as divmod
from duograph.numpy.axes import geomspace as geomspace
from duograph.numpy.axes import rollaxis as rollaxis
from duograph.numpy.creation import arange as arange
from duograph.numpy.creation import array as array
from duograph.numpy.creation import asarray as asarray
from duograph.numpy.creation import asfarray as asfarray
from duograph.numpy.creation import copy as copy
from duograph.numpy.creation import diag as diag
from duograph.numpy.creation import diagflat as diagflat
from duograph.numpy.creation import diagonal as diagonal
from duograph.numpy.creation import empty_like as empty_like
from duograph.numpy.creation import eye as eye
from duograph.numpy.creation import full as full
from duograph.numpy.creation import full_like as full_like
from duograph.numpy.creation import identity as identity
from duograph.numpy.creation import ones as ones
from duograph.numpy.creation import ones_like as ones_like
from duograph.numpy.creation import rand as rand
from duograph.numpy.creation import randint as randint
from duograph.numpy.creation import randn as randn
from duograph.numpy.creation import trace as trace
from duograph.numpy.creation import tri as tri
from duograph.numpy.creation import tril as tril
from duograph.numpy.creation import triu as triu
from duograph.numpy.creation import zeros as zeros
from duograph.numpy.creation import zeros_like as zeros_like
from duograph.numpy.elementwise import copysign as copysign
from duograph.numpy.elementwise import float_power as float_power
from duograph.numpy.elementwise import inner as inner
from duograph.numpy.functions import all as all
from duograph.numpy.functions import amax as amax
from duograph.numpy.functions import amin as amin
from duograph.numpy.functions import any as any
from duograph.numpy.functions import argmax as argmax
from duograph.numpy.functions import argmin as argmin
from duograph.numpy.functions import argwhere as argwhere
from duograph.numpy.functions import around as around
from duograph.numpy.functions import array_equal as array_equal
from duograph.numpy.functions import average as average
from duograph.numpy.functions import bincount as bincount
from duograph.numpy.functions import clip as clip
from duograph.numpy.functions import count_nonzero as count_nonzero
from duograph.numpy.functions import cumprod as cumprod
from duograph.numpy.functions import cumsum as cumsum
from duograph.numpy.functions import diff as diff
from duograph.numpy.functions import isclose as isclose
from duograph.numpy.functions import isscalar as isscalar
from duograph.numpy.functions import mean as mean
from duograph.numpy.functions import prod as prod
from duograph.numpy.functions import ptp as ptp
from duograph.numpy.functions import searchsorted as searchsorted
from duograph.numpy.functions import size as size
from duograph.numpy.functions import std as std
from duograph.numpy.functions import sum as sum
from duograph.numpy.functions import take as take
from duograph.numpy.functions import take_along_axis as take_along_axis
from duograph.numpy.functions import trapz as trapz
from duograph.numpy.functions import unique as unique
from duograph.numpy.functions import var as var
from duograph.numpy.functions import where as where
from duograph.numpy.histograms import histogram as histogram
from duograph.numpy.histograms import histogram2d as histogram2d
from duograph.numpy.histograms import histogram_bin_edges as histogram_bin_edges
from duograph.numpy.histograms import histogramdd as histogramdd
from duograph.numpy.nans import nancumsum as nancumsum
from duograph.numpy.nans import nanmax as nanmax
from duograph.numpy.nans import nanmean as nanmean
from duograph.numpy.nans import nanmin as nanmin
from duograph.numpy.nans import nanstd as nanstd
from duograph.numpy.nans import nansum as nansum
from duograph.numpy.nans import nanvar as nanvar
from duograph.numpy.places import _Grid as __Grid
from duograph.numpy.places import diag_indices as diag_indices
from duograph.numpy.places import indices as indices
from duograph.numpy.places import ravel_multi_index as ravel_multi_index
from duograph.numpy.places import tril_indices as tril_indices
from duograph.numpy.places import tril_indices_from as tril_indices_from
from duograph.numpy.places import triu_indices as triu_indices
from duograph.numpy.places import triu_indices_from as triu_indices_from
from duograph.numpy.places import unravel_index as unravel_index
from duograph.numpy.polynomials import polyadd as polyadd
from duograph.numpy.polynomials import polyder as polyder
from duograph.numpy.polynomials import polyint as polyint
from duograph.numpy.polynomials import polymul as polymul
from duograph.numpy.polynomials import polysub as polysub
from duograph.numpy.polynomials import polyval as polyval
from duograph.numpy.sets import ediff1d as ediff1d
from duograph.numpy.sets import in1d as in1d
from duograph.numpy.sets import intersect1d as intersect1d
from duograph.numpy.sets import setdiff1d as setdiff1d
from duograph.numpy.shapes import append as append
from duograph.numpy.shapes import array_split as array_split
from duograph.numpy.shapes import atleast_1d as atleast_1d
from duograph.numpy.shapes import atleast_2d as atleast_2d
from duograph.numpy.shapes import atleast_3d as atleast_3d
from duograph.numpy.shapes import broadcast_arrays as broadcast_arrays
from duograph.numpy.shapes import broadcast_to as broadcast_to
from duograph.numpy.shapes import column_stack as column_stack
from duograph.numpy.shapes import concatenate as concatenate
from duograph.numpy.shapes import dstack as dstack
from duograph.numpy.shapes import expand_dims as expand_dims
from duograph.numpy.shapes import flip as flip
from duograph.numpy.shapes import fliplr as fliplr
from duograph.numpy.shapes import flipud as flipud
from duograph.numpy.shapes import hstack as hstack
from duograph.numpy.shapes import moveaxis as moveaxis
from duograph.numpy.shapes import ravel as ravel
from duograph.numpy.shapes import repeat as repeat
from duograph.numpy.shapes import reshape as reshape
from duograph.numpy.shapes import roll as roll
from duograph.numpy.shapes import rot90 as rot90
from duograph.numpy.shapes import split as split
from duograph.numpy.shapes import squeeze as squeeze
from duograph.numpy.shapes import stack as stack
from duograph.numpy.shapes import swapaxes as swapaxes
from duograph.numpy.shapes import tile as tile
from duograph.numpy.shapes import transpose as transpose
from duograph.numpy.shapes import vstack as vstack

def abs(x: Any, dtype: Any = None) -> Tensor:
    """``|x|``; real for complex numbers."""
def absolute(x: Any, dtype: Any = None) -> Tensor:
    """``|x|``; real for complex numbers."""
def arccos(input: Any, dtype: Any = None) -> Tensor:
    """Inverse cosine."""
def arccosh(x: Any, dtype: Any = None) -> Tensor:
    """Inverse hyperbolic cosine."""
def arcsin(x: Any, dtype: Any = None) -> Tensor:
    """Inverse sine."""
def arcsinh(x: Any, dtype: Any = None) -> Tensor:
    """Inverse hyperbolic sine."""
def arctan(x: Any, dtype: Any = None) -> Tensor:
    """Inverse tangent."""
def arctanh(x: Any, dtype: Any = None) -> Tensor:
    """Inverse hyperbolic tangent."""
def ceil(x: Any, dtype: Any = None) -> Tensor:
    """Rounded up."""
def cos(x: Any, dtype: Any = None) -> Tensor:
    """Cosine."""
def cosh(x: Any, dtype: Any = None) -> Tensor:
    """Hyperbolic cosine."""
def deg2rad(x: Any, dtype: Any = None) -> Tensor:
    """Degrees as radians."""
def exp(x: Any, dtype: Any = None) -> Tensor:
    """``e**x``."""
def exp2(x: Any, dtype: Any = None) -> Tensor:
    """``2**x``."""
def expm1(x: Any, dtype: Any = None) -> Tensor:
    """``e**x - 1``, accurate near 0."""
def floor(x: Any, dtype: Any = None) -> Tensor:
    """Rounded down."""
def isfinite(x: Any, dtype: Any = None) -> Tensor:
    """Whether neither infinite nor NaN."""
def isinf(x: Any, dtype: Any = None) -> Tensor:
    """Whether infinite."""
def isnan(x: Any, dtype: Any = None) -> Tensor:
    """Whether NaN."""
def isneginf(x: Any, dtype: Any = None) -> Tensor:
    """Whether negative infinity."""
def isposinf(x: Any, dtype: Any = None) -> Tensor:
    """Whether positive infinity."""
def log(x: Any, dtype: Any = None) -> Tensor:
    """Natural logarithm."""
def log10(x: Any, dtype: Any = None) -> Tensor:
    """Base 10."""
def log1p(x: Any, dtype: Any = None) -> Tensor:
    """``log(1 + x)``, accurate near 0."""
def log2(x: Any, dtype: Any = None) -> Tensor:
    """Base 2."""
def logical_not(a: Any, dtype: Any = None) -> Tensor:
    """``not x``, elementwise."""
def negative(a: Any, dtype: Any = None) -> Tensor:
    """``-x``."""
def positive(a: Any, dtype: Any = None) -> Tensor:
    """``x`` itself."""
def rad2deg(x: Any, dtype: Any = None) -> Tensor:
    """Radians as degrees."""
def reciprocal(x: Any, dtype: Any = None) -> Tensor:
    """``1 / x``."""
def rint(x: Any, dtype: Any = None) -> Tensor:
    """Rounded to the nearest integer, halves to even."""
def sign(x: Any, dtype: Any = None) -> Tensor:
    """-1, 0 or 1."""
def signbit(x: Any, dtype: Any = None) -> Tensor:
    """Whether the sign is minus, for -0.0 too."""
def sin(x: Any, dtype: Any = None) -> Tensor:
    """Sine."""
def sinh(x: Any, dtype: Any = None) -> Tensor:
    """Hyperbolic sine."""
def sqrt(x: Any, dtype: Any = None) -> Tensor:
    """Square root."""
def square(x: Any, dtype: Any = None) -> Tensor:
    """``x * x``."""
def tan(x: Any, dtype: Any = None) -> Tensor:
    """Tangent."""
def tanh(x: Any, dtype: Any = None) -> Tensor:
    """Hyperbolic tangent."""
def trunc(x: Any, dtype: Any = None) -> Tensor:
    """Rounded towards zero."""
def bitwise_not(x: Any, dtype: Any = None) -> Tensor:
    """``~x`` on integers and bool."""
def fabs(x: Any, dtype: Any = None) -> Tensor:
    """``|x|``; real for complex numbers."""
def invert(x: Any, dtype: Any = None) -> Tensor:
    """``~x`` on integers and bool."""
def radians(x: Any, dtype: Any = None) -> Tensor:
    """Degrees as radians."""
def fix(x: Any, dtype: Any = None) -> Tensor:
    """Rounded towards zero."""
def cbrt(x: Any, dtype: Any = None) -> Tensor:
    """The real cube root."""
def add(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 + x2``."""
def arctan2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Angle of the point (x2, x1)."""
def bitwise_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 & x2``."""
def bitwise_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 | x2``."""
def bitwise_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 ^ x2``."""
def divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 / x2``; integers give float32."""
def equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Whether equal; NaN equals nothing."""
def floor_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``floor(x / y)``."""
def fmod(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Remainder with the sign of ``x1``."""
def gcd(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Greatest common x2."""
def greater(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 > x2``."""
def greater_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 >= x2``."""
def heaviside(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """0 where ``x1`` is below 0, 1 above, ``x2`` where it is 0."""
def hypot(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``sqrt(x1**2 + x2**2)``."""
def lcm(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Least common multiple."""
def less(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 < x2``."""
def less_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 <= x2``."""
def logaddexp(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``log(exp(x1) + exp(x2))``."""
def logaddexp2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``log2(2**x1 + 2**x2)``."""
def logical_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 and x2``, elementwise."""
def logical_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 or x2``, elementwise."""
def logical_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Exactly one of both, elementwise."""
def matmul(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 @ x2``: matrices in the last two axes, the others broadcast; vectors as in NumPy."""
def maximum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The larger of both; NaN if one is NaN."""
def minimum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The smaller of both; NaN if one is NaN."""
def multiply(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 * x2``."""
def not_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Whether different."""
def remainder(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Remainder with the sign of ``x2``."""
def subtract(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 - x2``."""
def true_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 / x2``."""
def power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 ** x2``."""
def mod(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Remainder with the sign of ``x2``."""
def empty(shape: Any, dtype: Any = ...) -> Tensor:
    """Zeros."""
def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0) -> Tensor:
    """``num`` evenly spaced numbers, with or without the last; of tensors, along the new axis ``axis``."""
def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None, axis: int = 0) -> Tensor:
    """``base`` to evenly spaced powers; of tensors, along the new axis ``axis``."""
def meshgrid(*xi: Any, sparse: bool = False, indexing: str = 'xy') -> list[Tensor]:
    """Coordinate grids; with ``sparse`` each only along its own axis."""
def pad(arr: Any, pad_width: Any, mode: Any = 'constant', stat_length: Any = None, constant_values: Any = 0, end_values: Any = 0, reflect_type: str = 'even', **kwargs: Any) -> Tensor:
    """With elements more on both sides of every axis."""
def dot(a: Any, b: Any) -> Tensor:
    """The dot product."""
def outer(a: Any, b: Any) -> Tensor:
    """Products of all pairs."""
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Sum of products over pairs of axes."""
def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product."""
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """The vector product of vectors of 2 or 3 components; of two plane vectors its one component that is not 0."""
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """A vector or matrix norm."""
def multi_dot(arrays: Any) -> Tensor:
    """The product of several matrices, from left to right."""
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None, aweights: Any = None, dtype: Any = None) -> Tensor:
    """The covariance matrix of variables (rows, or columns with ``rowvar=False``); of one variable a number."""
def matrix_power(a: Any, n: int) -> Tensor:
    """The product of ``n`` factors ``a``."""
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of ``x`` as columns, falling by default."""
def round(a: Any, decimals: int = 0) -> Tensor:
    """Rounded, halves to even."""
def max(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The maximum over ``axis`` of the elements where ``where`` holds, and of ``initial``."""
def min(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The minimum over ``axis`` of the elements where ``where`` holds, and of ``initial``."""
def sometrue(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any holds."""
def hsplit(x: Any, indices_or_sections: Any) -> Any:
    """`split` along the axis 1."""
def vsplit(x: Any, indices_or_sections: Any) -> Any:
    """`split` along the axis 0."""
def dsplit(x: Any, indices_or_sections: Any) -> Any:
    """`split` along the axis 2."""
mgrid: __Grid
ogrid: __Grid
bool_: _Bool
e: builtins.float
euler_gamma: builtins.float
float16: _Float
float32: _Float
float64: _Float
inf: builtins.float
int8: _Int
int16: _Int
int32: _Int
int64: _Int
nan: builtins.float
newaxis: Any
pi: builtins.float
uint8: _UInt
uint16: _UInt
uint32: _UInt
uint64: _UInt
PI: Any
__capture__: Any
int_: Any
uint: Any
float_: Any
_MORE: Any
_table: Any
_home: Any
__all__: Any
