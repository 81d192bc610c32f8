# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.api.functional.array import broadcast_to as broadcast_to
from duograph.api.functional.array import ravel as ravel
from duograph.api.functional.array import repeat_interleave as repeat_interleave
from duograph.api.functional.array import reshape as reshape
from duograph.api.functional.array import roll as roll
from duograph.api.functional.array import swapaxes as swapaxes
from duograph.api.functional.array import t as t
from duograph.api.functional.array import tile as tile
from duograph.api.functional.blocks import diag_embed as diag_embed
from duograph.api.functional.blocks import tril as tril
from duograph.api.functional.blocks import triu as triu
from duograph.api.functional.compare import isclose as isclose
from duograph.api.functional.compare import isneginf as isneginf
from duograph.api.functional.creation import eye as eye
from duograph.api.functional.creation import full_like as full_like
from duograph.api.functional.creation import ones_like as ones_like
from duograph.api.functional.creation import zeros_like as zeros_like
from duograph.api.functional.index import clamp as clamp
from duograph.api.functional.index import masked_select as masked_select
from duograph.api.functional.index import nan_to_num as nan_to_num
from duograph.api.functional.index import nonzero as nonzero
from duograph.api.functional.index import take as take
from duograph.api.functional.index import where as where
from duograph.api.functional.joining import hstack as hstack
from duograph.api.functional.linalg import inverse as inverse
from duograph.api.functional.linalg import trace as trace
from duograph.api.functional.math import addcmul as addcmul
from duograph.api.functional.math import lerp as lerp
from duograph.api.functional.math import polar as polar
from duograph.api.functional.products import addbmm as addbmm
from duograph.api.functional.products import addmm as addmm
from duograph.api.functional.products import addmv as addmv
from duograph.api.functional.products import cross as cross
from duograph.api.functional.products import dot as dot
from duograph.api.functional.products import einsum as einsum
from duograph.api.functional.products import matmul as matmul
from duograph.api.functional.products import outer as outer
from duograph.api.functional.reduce import logsumexp as logsumexp
from duograph.api.functional.reduce import sum as sum
from duograph.api.functional.sorting import bincount as bincount
from duograph.api.functional.sorting import histc as histc
from duograph.api.functional.sorting import searchsorted as searchsorted
from duograph.api.functional.sorting import unique_consecutive as unique_consecutive
from duograph.api.functional.statistics import kthvalue as kthvalue
from duograph.api.functional.unary import round as round
from duograph.api.functional.unary import sinc as sinc
from duograph.mint import distributed as distributed
from duograph.mint import linalg as linalg
from duograph.mint import nn as nn
from duograph.mint import optim as optim
from duograph.mint import special as special
from duograph.mint.creation import bernoulli as bernoulli
from duograph.mint.creation import clone as clone
from duograph.mint.creation import empty as empty
from duograph.mint.creation import empty_like as empty_like
from duograph.mint.creation import full as full
from duograph.mint.creation import linspace as linspace
from duograph.mint.creation import meshgrid as meshgrid
from duograph.mint.creation import multinomial as multinomial
from duograph.mint.creation import normal as normal
from duograph.mint.creation import ones as ones
from duograph.mint.creation import rand as rand
from duograph.mint.creation import rand_like as rand_like
from duograph.mint.creation import randint as randint
from duograph.mint.creation import randint_like as randint_like
from duograph.mint.creation import randn as randn
from duograph.mint.creation import randn_like as randn_like
from duograph.mint.creation import randperm as randperm
from duograph.mint.creation import zeros as zeros
from duograph.mint.functions import add as add
from duograph.mint.functions import addcdiv as addcdiv
from duograph.mint.functions import allclose as allclose
from duograph.mint.functions import amax as amax
from duograph.mint.functions import amin as amin
from duograph.mint.functions import argmin as argmin
from duograph.mint.functions import baddbmm as baddbmm
from duograph.mint.functions import cdist as cdist
from duograph.mint.functions import count_nonzero as count_nonzero
from duograph.mint.functions import cumsum as cumsum
from duograph.mint.functions import diag as diag
from duograph.mint.functions import eq as eq
from duograph.mint.functions import equal as equal
from duograph.mint.functions import flatten as flatten
from duograph.mint.functions import index_add as index_add
from duograph.mint.functions import item as item
from duograph.mint.functions import mean as mean
from duograph.mint.functions import mm as mm
from duograph.mint.functions import norm as norm
from duograph.mint.functions import prod as prod
from duograph.mint.functions import scatter_add as scatter_add
from duograph.mint.functions import select as select
from duograph.mint.functions import softmax as softmax
from duograph.mint.functions import squeeze as squeeze
from duograph.mint.order import argsort as argsort
from duograph.mint.order import median as median
from duograph.mint.order import sort as sort
from duograph.mint.order import topk as topk
from duograph.mint.order import unique as unique

def abs(input: Any) -> Tensor:
    """``|x|``; real for complex numbers."""
def acos(input: Any) -> Tensor:
    """Inverse cosine."""
def acosh(input: Any) -> Tensor:
    """Inverse hyperbolic cosine."""
def arccos(input: Any) -> Tensor:
    """Inverse cosine."""
def arccosh(input: Any) -> Tensor:
    """Inverse hyperbolic cosine."""
def arcsin(x: Any) -> Tensor:
    """Inverse sine."""
def arcsinh(input: Any) -> Tensor:
    """Inverse hyperbolic sine."""
def arctan(input: Any) -> Tensor:
    """Inverse tangent."""
def arctan2(input: Any, other: Any) -> Tensor:
    """As `atan2`."""
def arctanh(input: Any) -> Tensor:
    """Inverse hyperbolic tangent."""
def asin(input: Any) -> Tensor:
    """Inverse sine."""
def asinh(input: Any) -> Tensor:
    """Inverse hyperbolic sine."""
def atan(input: Any) -> Tensor:
    """Inverse tangent."""
def atan2(input: Any, other: Any) -> Tensor:
    """Angle of the point (other, input)."""
def atanh(input: Any) -> Tensor:
    """Inverse hyperbolic tangent."""
def bitwise_and(input: Any, other: Any) -> Tensor:
    """``input & other``."""
def bitwise_not(input: Any) -> Tensor:
    """``~x`` on integers and bool."""
def bitwise_or(input: Any, other: Any) -> Tensor:
    """``input | other``."""
def bitwise_xor(input: Any, other: Any) -> Tensor:
    """``input ^ other``."""
def ceil(input: Any) -> Tensor:
    """Rounded up."""
def clip(input: Any, min: Any = None, max: Any = None) -> Any:
    """Every element limited to ``min`` .. ``max``; tensors, or a list or tuple of them."""
def cos(input: Any) -> Tensor:
    """Cosine."""
def cosh(input: Any) -> Tensor:
    """Hyperbolic cosine."""
def erf(input: Any) -> Tensor:
    """Error function."""
def erfc(input: Any) -> Tensor:
    """``1 - erf(x)``."""
def erfinv(input: Any) -> Tensor:
    """Inverse of the error function; infinite at -1 and 1, NaN beyond."""
def exp(input: Any) -> Tensor:
    """``e**x``."""
def exp2(input: Any) -> Tensor:
    """``2**x``."""
def expm1(input: Any) -> Tensor:
    """``e**x - 1``, accurate near 0."""
def floor(input: Any) -> Tensor:
    """Rounded down."""
def fmod(input: Any, other: Any) -> Tensor:
    """Remainder with the sign of ``input``."""
def gcd(input: Any, other: Any) -> Tensor:
    """Greatest common divisor."""
def ge(input: Any, other: Any) -> Tensor:
    """As `greater_equal`."""
def greater(input: Any, other: Any) -> Tensor:
    """``input > other``."""
def greater_equal(input: Any, other: Any) -> Tensor:
    """``input >= other``."""
def gt(input: Any, other: Any) -> Tensor:
    """As `greater`."""
def isfinite(input: Any) -> Tensor:
    """Whether neither infinite nor NaN."""
def isinf(input: Any) -> Tensor:
    """Whether infinite."""
def le(input: Any, other: Any) -> Tensor:
    """As `less_equal`."""
def less(input: Any, other: Any) -> Tensor:
    """``input < other``."""
def less_equal(input: Any, other: Any) -> Tensor:
    """``input <= other``."""
def log(input: Any) -> Tensor:
    """Natural logarithm."""
def log10(input: Any) -> Tensor:
    """Base 10."""
def log1p(input: Any) -> Tensor:
    """``log(1 + x)``, accurate near 0."""
def log2(input: Any) -> Tensor:
    """Base 2."""
def logaddexp(input: Any, other: Any) -> Tensor:
    """``log(exp(input) + exp(other))``."""
def logaddexp2(input: Any, other: Any) -> Tensor:
    """``log2(2**input + 2**other)``."""
def logical_and(input: Any, other: Any) -> Tensor:
    """``input and other``, elementwise."""
def logical_not(input: Any) -> Tensor:
    """``not x``, elementwise."""
def logical_or(input: Any, other: Any) -> Tensor:
    """``input or other``, elementwise."""
def logical_xor(input: Any, other: Any) -> Tensor:
    """Exactly one of both, elementwise."""
def lt(input: Any, other: Any) -> Tensor:
    """As `less`."""
def maximum(input: Any, other: Any) -> Tensor:
    """The larger of both; NaN if one is NaN."""
def minimum(input: Any, other: Any) -> Tensor:
    """The smaller of both; NaN if one is NaN."""
def mul(input: Any, other: Any) -> Tensor:
    """``input * other``."""
def ne(input: Any, other: Any) -> Tensor:
    """As `not_equal`."""
def neg(input: Any) -> Tensor:
    """``-x``."""
def negative(input: Any) -> Tensor:
    """``-x``."""
def not_equal(input: Any, other: Any) -> Tensor:
    """Whether different."""
def pow(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent``."""
def real(input: Any) -> Tensor:
    """Real part."""
def imag(input: Any) -> Tensor:
    """Imaginary part."""
def reciprocal(input: Any) -> Tensor:
    """``1 / x``."""
def remainder(input: Any, other: Any) -> Tensor:
    """Remainder with the sign of ``other``."""
def rsqrt(input: Any) -> Tensor:
    """``1 / sqrt(x)``."""
def sigmoid(input: Any) -> Tensor:
    """``1 / (1 + exp(-x))``."""
def sign(input: Any) -> Tensor:
    """-1, 0 or 1."""
def sin(input: Any) -> Tensor:
    """Sine."""
def sinh(input: Any) -> Tensor:
    """Hyperbolic sine."""
def square(input: Any) -> Tensor:
    """``x * x``."""
def tan(input: Any) -> Tensor:
    """Tangent."""
def tanh(input: Any) -> Tensor:
    """Hyperbolic tangent."""
def trunc(input: Any) -> Tensor:
    """Rounded towards zero."""
def unbind(input: Any, dim: Any = 0) -> Any:
    """The slices along ``dim``, without that axis."""
def unsqueeze(input: Any, dim: Any) -> Tensor:
    """With a new axis of size 1 at position ``dim``."""
def xlogy(input: Any, other: Any) -> Tensor:
    """``input * log(other)``, 0 where input is 0."""
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Tensor:
    """Of all elements; with ``dim`` values and indices; with a tensor the elementwise one."""
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Tensor:
    """Of all elements; with ``dim`` values and indices; with a tensor the elementwise one."""
def std(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """The standard deviation over ``dim``; divides by the count minus ``correction``."""
def var(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """The variance over ``dim``; divides by the count minus ``correction``."""
def std_mean(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """The standard deviation over ``dim`` and the mean; divides by the count minus ``correction``."""
def var_mean(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """The variance over ``dim`` and the mean; divides by the count minus ``correction``."""
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input - alpha * other``."""
def div(input: Any, other: Any, *, rounding_mode: Any = None) -> Tensor:
    """``input / other``; integers give float32."""
def all(input: Any, dim: Any = None, keepdim: Any = False) -> Tensor:
    """Whether all of ``input`` (bool) over ``dim`` hold."""
def any(input: Any, dim: Any = None, keepdim: Any = False) -> Tensor:
    """Whether any of ``input`` (bool) over ``dim`` holds."""
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """``start``, ``start + step``, ... below ``end``; int64 if all arguments are ints, else float32."""
def argmax(input: Any, dim: Any = None, keepdim: Any = False) -> Tensor:
    """Index (int64) of the first maximum along ``dim``, or in the flattened tensor."""
def cat(tensors: Any, dim: Any = 0) -> Tensor:
    """The tensors one after the other along ``dim``; mixed dtypes are promoted."""
def stack(tensors: Any, dim: Any = 0) -> Tensor:
    """The tensors, of one shape and dtype, along a new axis."""
def chunk(input: Any, chunks: Any, dim: Any = 0) -> Any:
    """At most ``chunks`` views of equal size along ``dim``."""
def split(tensor: Any, split_size_or_sections: Any, dim: Any = 0) -> Any:
    """Views of the given size (the last may be smaller), or of the given sizes, along ``dim``."""
def cummax(input: Any, dim: Any) -> Any:
    """Running maximum along ``dim`` and its index."""
def cummin(input: Any, dim: Any) -> Any:
    """Running minimum along ``dim`` and its index."""
def cumprod(input: Any, dim: Any, dtype: Any = None) -> Tensor:
    """Running product along ``dim``."""
def diff(input: Any, n: Any = 1, dim: Any = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along ``dim``, ``n`` times."""
def dstack(tensors: Any) -> Tensor:
    """Joined along the third axis."""
def flip(input: Any, dims: Any) -> Tensor:
    """Reversed along ``dims``."""
def gather(input: Any, dim: Any, index: Any) -> Tensor:
    """One index along ``dim`` per result element."""
def index_select(input: Any, dim: Any, index: Any) -> Tensor:
    """The slices along ``dim`` at the vector ``index``."""
def nansum(input: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None) -> Tensor:
    """The sum of what is not NaN."""
def narrow(input: Any, dim: Any, start: Any, length: Any) -> Tensor:
    """The ``length`` elements from ``start`` along ``dim``."""
def permute(input: Any, dims: Any) -> Tensor:
    """The axes in the order ``dims``."""
def scatter(input: Any, dim: Any, index: Any, src: Any) -> Tensor:
    """``input`` with ``src`` put at one index along ``dim`` each."""
def transpose(input: Any, dim0: Any, dim1: Any) -> Tensor:
    """Two axes exchanged."""
def float_power(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent`` in float64."""
def sqrt(input: Any) -> Tensor:
    """Square root."""
def frac(input: Any) -> Tensor:
    """The part after the point."""
def bmm(input: Any, mat2: Any) -> Tensor:
    """Products of matrices, one per leading index; leading shapes must agree."""
def mv(input: Any, vec: Any) -> Tensor:
    """Matrix times vector."""
def isnan(tensor: Any) -> Tensor:
    """Whether NaN."""
def concat(tensors: Any, dim: Any = 0) -> Tensor:
    """The tensors one after the other along ``dim``; mixed dtypes are promoted."""
def divide(input: Any, other: Any, *, rounding_mode: Any = None) -> Tensor:
    """``input / other``; integers give float32."""
def floor_divide(input: Any, other: Any) -> Tensor:
    """As `floor_div`."""
def fix(input: Any) -> Tensor:
    """Rounded towards zero."""
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Sum over the last axis of ``input`` and the last but one of ``other``."""
_SAME: Any
SAME: Any
_names: Any
_OPS: Any
__all__: Any
__capture__: Any
