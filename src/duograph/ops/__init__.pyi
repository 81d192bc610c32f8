# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.api.functional.activation import gelu as gelu
from duograph.api.functional.activation import hardtanh as hardtanh
from duograph.api.functional.activation import log_softmax as log_softmax
from duograph.api.functional.activation import prelu as prelu
from duograph.api.functional.activation import relu as relu
from duograph.api.functional.activation import softmax as softmax
from duograph.api.functional.activation import softmin as softmin
from duograph.api.functional.activation import softplus as softplus
from duograph.api.functional.activation import swiglu as swiglu
from duograph.api.functional.activation import threshold as threshold
from duograph.api.functional.array import adjoint as adjoint
from duograph.api.functional.array import broadcast_to as broadcast_to
from duograph.api.functional.array import expand_as as expand_as
from duograph.api.functional.array import expand_dims as expand_dims
from duograph.api.functional.array import flatten as flatten
from duograph.api.functional.array import flip as flip
from duograph.api.functional.array import moveaxis as moveaxis
from duograph.api.functional.array import narrow as narrow
from duograph.api.functional.array import permute as permute
from duograph.api.functional.array import ravel as ravel
from duograph.api.functional.array import repeat_elements as repeat_elements
from duograph.api.functional.array import repeat_interleave as repeat_interleave
from duograph.api.functional.array import reshape as reshape
from duograph.api.functional.array import reverse_sequence as reverse_sequence
from duograph.api.functional.array import roll as roll
from duograph.api.functional.array import rot90 as rot90
from duograph.api.functional.array import select_scatter as select_scatter
from duograph.api.functional.array import slice as slice
from duograph.api.functional.array import slice_scatter as slice_scatter
from duograph.api.functional.array import squeeze as squeeze
from duograph.api.functional.array import strided_slice as strided_slice
from duograph.api.functional.array import swapaxes as swapaxes
from duograph.api.functional.array import t as t
from duograph.api.functional.array import tile as tile
from duograph.api.functional.array import transpose as transpose
from duograph.api.functional.array import view_as as view_as
from duograph.api.functional.attention import flash_attention_score as flash_attention_score
from duograph.api.functional.attention import rotary_position_embedding as rotary_position_embedding
from duograph.api.functional.attention import scaled_dot_product_attention as scaled_dot_product_attention
from duograph.api.functional.blocks import batch_to_space_nd as batch_to_space_nd
from duograph.api.functional.blocks import block_diag as block_diag
from duograph.api.functional.blocks import diag as diag
from duograph.api.functional.blocks import diag_embed as diag_embed
from duograph.api.functional.blocks import diagflat as diagflat
from duograph.api.functional.blocks import diagonal as diagonal
from duograph.api.functional.blocks import diagonal_scatter as diagonal_scatter
from duograph.api.functional.blocks import space_to_batch_nd as space_to_batch_nd
from duograph.api.functional.blocks import tril as tril
from duograph.api.functional.blocks import triu as triu
from duograph.api.functional.boxes import bounding_box_decode as bounding_box_decode
from duograph.api.functional.boxes import bounding_box_encode as bounding_box_encode
from duograph.api.functional.boxes import check_valid as check_valid
from duograph.api.functional.boxes import crop_and_resize as crop_and_resize
from duograph.api.functional.boxes import iou as iou
from duograph.api.functional.compare import approximate_equal as approximate_equal
from duograph.api.functional.compare import is_complex as is_complex
from duograph.api.functional.compare import is_floating_point as is_floating_point
from duograph.api.functional.compare import is_nonzero as is_nonzero
from duograph.api.functional.compare import is_tensor as is_tensor
from duograph.api.functional.compare import isclose as isclose
from duograph.api.functional.compare import isneginf as isneginf
from duograph.api.functional.compare import isposinf as isposinf
from duograph.api.functional.compare import isreal as isreal
from duograph.api.functional.creation import arange as arange
from duograph.api.functional.creation import cartesian_prod as cartesian_prod
from duograph.api.functional.creation import empty as empty
from duograph.api.functional.creation import empty_like as empty_like
from duograph.api.functional.creation import eps as eps
from duograph.api.functional.creation import eye as eye
from duograph.api.functional.creation import fill as fill
from duograph.api.functional.creation import fills as fills
from duograph.api.functional.creation import full as full
from duograph.api.functional.creation import full_like as full_like
from duograph.api.functional.creation import hamming_window as hamming_window
from duograph.api.functional.creation import kaiser_window as kaiser_window
from duograph.api.functional.creation import linspace as linspace
from duograph.api.functional.creation import logspace as logspace
from duograph.api.functional.creation import one_hot as one_hot
from duograph.api.functional.creation import ones as ones
from duograph.api.functional.creation import ones_like as ones_like
from duograph.api.functional.creation import range as range
from duograph.api.functional.creation import scalar_to_tensor as scalar_to_tensor
from duograph.api.functional.creation import tril_indices as tril_indices
from duograph.api.functional.creation import triu_indices as triu_indices
from duograph.api.functional.creation import tuple_to_array as tuple_to_array
from duograph.api.functional.creation import zeros as zeros
from duograph.api.functional.creation import zeros_like as zeros_like
from duograph.api.functional.ctc import ctc_greedy_decoder as ctc_greedy_decoder
from duograph.api.functional.ctc import ctc_loss as ctc_loss
from duograph.api.functional.image import affine_grid as affine_grid
from duograph.api.functional.image import channel_shuffle as channel_shuffle
from duograph.api.functional.image import col2im as col2im
from duograph.api.functional.image import fold as fold
from duograph.api.functional.image import grid_sample as grid_sample
from duograph.api.functional.image import interpolate as interpolate
from duograph.api.functional.image import pixel_shuffle as pixel_shuffle
from duograph.api.functional.image import pixel_unshuffle as pixel_unshuffle
from duograph.api.functional.image import unfold as unfold
from duograph.api.functional.index import clamp as clamp
from duograph.api.functional.index import clip_by_value as clip_by_value
from duograph.api.functional.index import embedding as embedding
from duograph.api.functional.index import gather as gather
from duograph.api.functional.index import gather_elements as gather_elements
from duograph.api.functional.index import gather_nd as gather_nd
from duograph.api.functional.index import index_add as index_add
from duograph.api.functional.index import index_fill as index_fill
from duograph.api.functional.index import index_select as index_select
from duograph.api.functional.index import masked_fill as masked_fill
from duograph.api.functional.index import masked_scatter as masked_scatter
from duograph.api.functional.index import masked_select as masked_select
from duograph.api.functional.index import nan_to_num as nan_to_num
from duograph.api.functional.index import nonzero as nonzero
from duograph.api.functional.index import scatter as scatter
from duograph.api.functional.index import scatter_nd as scatter_nd
from duograph.api.functional.index import select as select
from duograph.api.functional.index import sequence_mask as sequence_mask
from duograph.api.functional.index import take as take
from duograph.api.functional.index import take_along_dim as take_along_dim
from duograph.api.functional.index import tensor_scatter_elements as tensor_scatter_elements
from duograph.api.functional.index import where as where
from duograph.api.functional.inplace import erfinv_ as erfinv_
from duograph.api.functional.inplace import inplace_index_add as inplace_index_add
from duograph.api.functional.inplace import relu_ as relu_
from duograph.api.functional.inplace import stop_gradient_ as stop_gradient_
from duograph.api.functional.inplace import threshold_ as threshold_
from duograph.api.functional.joining import chunk as chunk
from duograph.api.functional.joining import column_stack as column_stack
from duograph.api.functional.joining import concat as concat
from duograph.api.functional.joining import dstack as dstack
from duograph.api.functional.joining import hstack as hstack
from duograph.api.functional.joining import meshgrid as meshgrid
from duograph.api.functional.joining import split as split
from duograph.api.functional.joining import stack as stack
from duograph.api.functional.joining import tensor_split as tensor_split
from duograph.api.functional.joining import unstack as unstack
from duograph.api.functional.joining import vstack as vstack
from duograph.api.functional.linalg import cdist as cdist
from duograph.api.functional.linalg import cholesky as cholesky
from duograph.api.functional.linalg import cholesky_inverse as cholesky_inverse
from duograph.api.functional.linalg import cholesky_solve as cholesky_solve
from duograph.api.functional.linalg import cond as cond
from duograph.api.functional.linalg import det as det
from duograph.api.functional.linalg import dist as dist
from duograph.api.functional.linalg import inverse as inverse
from duograph.api.functional.linalg import logdet as logdet
from duograph.api.functional.linalg import matrix_exp as matrix_exp
from duograph.api.functional.linalg import matrix_norm as matrix_norm
from duograph.api.functional.linalg import matrix_power as matrix_power
from duograph.api.functional.linalg import matrix_solve as matrix_solve
from duograph.api.functional.linalg import norm as norm
from duograph.api.functional.linalg import pdist as pdist
from duograph.api.functional.linalg import pinv as pinv
from duograph.api.functional.linalg import qr as qr
from duograph.api.functional.linalg import renorm as renorm
from duograph.api.functional.linalg import slogdet as slogdet
from duograph.api.functional.linalg import svd as svd
from duograph.api.functional.linalg import tensor_exp as tensor_exp
from duograph.api.functional.linalg import trace as trace
from duograph.api.functional.linalg import triangular_solve as triangular_solve
from duograph.api.functional.linalg import vander as vander
from duograph.api.functional.linalg import vector_norm as vector_norm
from duograph.api.functional.loops import ForiLoop as ForiLoop
from duograph.api.functional.loops import Scan as Scan
from duograph.api.functional.loops import WhileLoop as WhileLoop
from duograph.api.functional.loss import binary_cross_entropy as binary_cross_entropy
from duograph.api.functional.loss import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from duograph.api.functional.loss import cosine_embedding_loss as cosine_embedding_loss
from duograph.api.functional.loss import cosine_similarity as cosine_similarity
from duograph.api.functional.loss import cross_entropy as cross_entropy
from duograph.api.functional.loss import gaussian_nll_loss as gaussian_nll_loss
from duograph.api.functional.loss import hinge_embedding_loss as hinge_embedding_loss
from duograph.api.functional.loss import huber_loss as huber_loss
from duograph.api.functional.loss import kl_div as kl_div
from duograph.api.functional.loss import l2_loss as l2_loss
from duograph.api.functional.loss import margin_ranking_loss as margin_ranking_loss
from duograph.api.functional.loss import multi_margin_loss as multi_margin_loss
from duograph.api.functional.loss import multilabel_margin_loss as multilabel_margin_loss
from duograph.api.functional.loss import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from duograph.api.functional.loss import nll_loss as nll_loss
from duograph.api.functional.loss import poisson_nll_loss as poisson_nll_loss
from duograph.api.functional.loss import smooth_l1_loss as smooth_l1_loss
from duograph.api.functional.loss import soft_margin_loss as soft_margin_loss
from duograph.api.functional.loss import triplet_margin_loss as triplet_margin_loss
from duograph.api.functional.math import addcdiv as addcdiv
from duograph.api.functional.math import addcmul as addcmul
from duograph.api.functional.math import addn as addn
from duograph.api.functional.math import copysign as copysign
from duograph.api.functional.math import div as div
from duograph.api.functional.math import heaviside as heaviside
from duograph.api.functional.math import ldexp as ldexp
from duograph.api.functional.math import lerp as lerp
from duograph.api.functional.math import polar as polar
from duograph.api.functional.math import subtract as subtract
from duograph.api.functional.math import tensor_muls as tensor_muls
from duograph.api.functional.math import true_divide as true_divide
from duograph.api.functional.matrices import bidense as bidense
from duograph.api.functional.matrices import eig as eig
from duograph.api.functional.matrices import eigvals as eigvals
from duograph.api.functional.matrices import geqrf as geqrf
from duograph.api.functional.matrices import lstsq as lstsq
from duograph.api.functional.matrices import lu_solve as lu_solve
from duograph.api.functional.matrices import lu_unpack as lu_unpack
from duograph.api.functional.matrices import matrix_band_part as matrix_band_part
from duograph.api.functional.matrices import matrix_diag as matrix_diag
from duograph.api.functional.matrices import matrix_diag_part as matrix_diag_part
from duograph.api.functional.matrices import matrix_set_diag as matrix_set_diag
from duograph.api.functional.matrices import mirror_pad as mirror_pad
from duograph.api.functional.matrices import orgqr as orgqr
from duograph.api.functional.matrices import ormqr as ormqr
from duograph.api.functional.nn import add_layer_norm as add_layer_norm
from duograph.api.functional.nn import add_rms_norm as add_rms_norm
from duograph.api.functional.nn import batch_norm as batch_norm
from duograph.api.functional.nn import bias_add as bias_add
from duograph.api.functional.nn import clip_by_norm as clip_by_norm
from duograph.api.functional.nn import conv_transpose2d as conv_transpose2d
from duograph.api.functional.nn import dropout as dropout
from duograph.api.functional.nn import group_norm as group_norm
from duograph.api.functional.nn import l2_normalize as l2_normalize
from duograph.api.functional.nn import layer_norm as layer_norm
from duograph.api.functional.nn import lrn as lrn
from duograph.api.functional.nn import normalize as normalize
from duograph.api.functional.nn import padding as padding
from duograph.api.functional.nn import rms_norm as rms_norm
from duograph.api.functional.padding import pad as pad
from duograph.api.functional.pool import avg_pool1d as avg_pool1d
from duograph.api.functional.pool import max_pool2d as max_pool2d
from duograph.api.functional.pool import max_pool3d as max_pool3d
from duograph.api.functional.products import addbmm as addbmm
from duograph.api.functional.products import addmm as addmm
from duograph.api.functional.products import addmv as addmv
from duograph.api.functional.products import addr as addr
from duograph.api.functional.products import baddbmm as baddbmm
from duograph.api.functional.products import batch_dot as batch_dot
from duograph.api.functional.products import bmm as bmm
from duograph.api.functional.products import cross as cross
from duograph.api.functional.products import dense as dense
from duograph.api.functional.products import dot as dot
from duograph.api.functional.products import einsum as einsum
from duograph.api.functional.products import inner as inner
from duograph.api.functional.products import kron as kron
from duograph.api.functional.products import matmul as matmul
from duograph.api.functional.products import mm as mm
from duograph.api.functional.products import mv as mv
from duograph.api.functional.products import outer as outer
from duograph.api.functional.products import tensor_dot as tensor_dot
from duograph.api.functional.products import vecdot as vecdot
from duograph.api.functional.properties import cast as cast
from duograph.api.functional.properties import dtype as dtype
from duograph.api.functional.properties import dyn_shape as dyn_shape
from duograph.api.functional.properties import identity as identity
from duograph.api.functional.properties import move_to as move_to
from duograph.api.functional.properties import rank as rank
from duograph.api.functional.properties import shape as shape
from duograph.api.functional.properties import size as numel
from duograph.api.functional.properties import size as size
from duograph.api.functional.properties import stop_gradient as stop_gradient
from duograph.api.functional.properties import type_as as type_as
from duograph.api.functional.random import bernoulli as bernoulli
from duograph.api.functional.random import bernoulli_ext as bernoulli_ext
from duograph.api.functional.random import choice_with_mask as choice_with_mask
from duograph.api.functional.random import gamma as gamma
from duograph.api.functional.random import gumbel_softmax as gumbel_softmax
from duograph.api.functional.random import laplace as laplace
from duograph.api.functional.random import multinomial as multinomial
from duograph.api.functional.random import multinomial_with_replacement as multinomial_with_replacement
from duograph.api.functional.random import normal as normal
from duograph.api.functional.random import poisson as poisson
from duograph.api.functional.random import rand as rand
from duograph.api.functional.random import rand_like as rand_like
from duograph.api.functional.random import randint as randint
from duograph.api.functional.random import randint_like as randint_like
from duograph.api.functional.random import randn as randn
from duograph.api.functional.random import randn_like as randn_like
from duograph.api.functional.random import random_categorical as random_categorical
from duograph.api.functional.random import random_gamma as random_gamma
from duograph.api.functional.random import random_poisson as random_poisson
from duograph.api.functional.random import randperm as randperm
from duograph.api.functional.random import rrelu as rrelu
from duograph.api.functional.random import shuffle as shuffle
from duograph.api.functional.random import standard_laplace as standard_laplace
from duograph.api.functional.random import standard_normal as standard_normal
from duograph.api.functional.random import uniform as uniform
from duograph.api.functional.random import uniform_candidate_sampler as uniform_candidate_sampler
from duograph.api.functional.reduce import aminmax as aminmax
from duograph.api.functional.reduce import argmax as argmax
from duograph.api.functional.reduce import argmin as argmin
from duograph.api.functional.reduce import count_nonzero as count_nonzero
from duograph.api.functional.reduce import cummax as cummax
from duograph.api.functional.reduce import cummin as cummin
from duograph.api.functional.reduce import cumprod as cumprod
from duograph.api.functional.reduce import cumsum as cumsum
from duograph.api.functional.reduce import logcumsumexp as logcumsumexp
from duograph.api.functional.reduce import logsumexp as logsumexp
from duograph.api.functional.reduce import mean as mean
from duograph.api.functional.reduce import nanmean as nanmean
from duograph.api.functional.reduce import nansum as nansum
from duograph.api.functional.reduce import prod as prod
from duograph.api.functional.reduce import std as std
from duograph.api.functional.reduce import std_mean as std_mean
from duograph.api.functional.reduce import sum as sum
from duograph.api.functional.reduce import var as var
from duograph.api.functional.reduce import var_mean as var_mean
from duograph.api.functional.sorting import argsort as argsort
from duograph.api.functional.sorting import bincount as bincount
from duograph.api.functional.sorting import bucketize as bucketize
from duograph.api.functional.sorting import histc as histc
from duograph.api.functional.sorting import intopk as intopk
from duograph.api.functional.sorting import median as median
from duograph.api.functional.sorting import msort as msort
from duograph.api.functional.sorting import searchsorted as searchsorted
from duograph.api.functional.sorting import sort as sort
from duograph.api.functional.sorting import topk as topk
from duograph.api.functional.sorting import unique as unique
from duograph.api.functional.sorting import unique_consecutive as unique_consecutive
from duograph.api.functional.sorting import unique_with_pad as unique_with_pad
from duograph.api.functional.sparse import dense_to_sparse_coo as dense_to_sparse_coo
from duograph.api.functional.sparse import dense_to_sparse_csr as dense_to_sparse_csr
from duograph.api.functional.special import population_count as population_count
from duograph.api.functional.spectral import hfft as hfft
from duograph.api.functional.spectral import ihfft as ihfft
from duograph.api.functional.spectral import stft as stft
from duograph.api.functional.spectral import view_as_real as view_as_real
from duograph.api.functional.statistics import allclose as allclose
from duograph.api.functional.statistics import combinations as combinations
from duograph.api.functional.statistics import cov as cov
from duograph.api.functional.statistics import diff as diff
from duograph.api.functional.statistics import kthvalue as kthvalue
from duograph.api.functional.statistics import nanmedian as nanmedian
from duograph.api.functional.statistics import nanquantile as nanquantile
from duograph.api.functional.statistics import quantile as quantile
from duograph.api.functional.statistics import sparse_segment_mean as sparse_segment_mean
from duograph.api.functional.statistics import trapz as trapz
from duograph.api.functional.structure import HyperMap as HyperMap
from duograph.api.functional.structure import Map as Map
from duograph.api.functional.structure import MultitypeFuncGraph as MultitypeFuncGraph
from duograph.api.functional.structure import assign as assign
from duograph.api.functional.structure import assign_add as assign_add
from duograph.api.functional.structure import assign_sub as assign_sub
from duograph.api.functional.structure import clip_by_global_norm as clip_by_global_norm
from duograph.api.functional.structure import depend as depend
from duograph.api.functional.structure import inplace_add as inplace_add
from duograph.api.functional.structure import inplace_sub as inplace_sub
from duograph.api.functional.structure import inplace_update as inplace_update
from duograph.api.functional.structure import partial as partial
from duograph.api.functional.structure import print_ as print_
from duograph.api.functional.structure import scalar_cast as scalar_cast
from duograph.api.functional.structure import typeof as typeof
from duograph.api.functional.unary import logit as logit
from duograph.api.functional.unary import mvlgamma as mvlgamma
from duograph.api.functional.unary import polygamma as polygamma
from duograph.api.functional.unary import round as round
from duograph.api.functional.unary import signbit as signbit
from duograph.api.functional.unary import sinc as sinc
from duograph.api.hybrid import kernel as kernel
from duograph.api.primitives.base import Primitive as Primitive
from duograph.api.primitives.base import Primitive as _Primitive
from duograph.api.primitives.base import PrimitiveWithCheck as PrimitiveWithCheck
from duograph.api.primitives.base import PrimitiveWithInfer as PrimitiveWithInfer
from duograph.api.primitives.base import ReduceOp as ReduceOp
from duograph.api.primitives.base import prim_attr_register as prim_arg_register
from duograph.api.primitives.base import prim_attr_register as prim_attr_register
from duograph.api.primitives.custom import Custom as Custom
from duograph.api.primitives.summaries import HistogramSummary as HistogramSummary
from duograph.api.primitives.summaries import ImageSummary as ImageSummary
from duograph.api.primitives.summaries import ScalarSummary as ScalarSummary
from duograph.api.primitives.summaries import TensorSummary as TensorSummary
from duograph.api.public_ops import constexpr as constexpr
from duograph.autodiff.backward_hooks import HookBackward as HookBackward
from duograph.autodiff.backward_hooks import InsertGradientOf as InsertGradientOf
from duograph.autodiff.grads import GradOperation as GradOperation
from duograph.autodiff.grads import get_grad as get_grad
from duograph.autodiff.grads import grad as grad
from duograph.autodiff.grads import value_and_grad as value_and_grad
from duograph.autodiff.jets import derivative as derivative
from duograph.autodiff.jets import jet as jet
from duograph.autodiff.jets import linearize as linearize
from duograph.autodiff.transforms import jacfwd as jacfwd
from duograph.autodiff.transforms import jacrev as jacrev
from duograph.autodiff.transforms import jvp as jvp
from duograph.autodiff.transforms import vjp as vjp
from duograph.autodiff.vmap import vmap as vmap

class ACos(_Primitive):
    """Inverse cosine."""
    def __init__(self) -> None: ...
class Abs(_Primitive):
    """``|x|``; real for complex numbers."""
    def __init__(self) -> None: ...
class AccumulateNV2(_Primitive):
    """The sum of a list of tensors of one shape."""
    def __init__(self) -> None: ...
class Acosh(_Primitive):
    """Inverse hyperbolic cosine."""
    def __init__(self) -> None: ...
class Adam(_Primitive):
    """Adaptive moment estimation. Without ``var``: what would be subtracted from it."""
    def __init__(self, use_locking: Any = False, use_nesterov: Any = False) -> None: ...
class AdamNoUpdateParam(_Primitive):
    """What Adam would add to the variable; only the moments are written."""
    def __init__(self, use_locking: Any = False, use_nesterov: Any = False) -> None: ...
class AdamWeightDecay(_Primitive):
    """Adam without bias correction, with decay of the variable."""
    def __init__(self, use_locking: Any = False) -> None: ...
class AdaptiveAvgPool2D(_Primitive):
    """The operator ``AdaptiveAvgPool2D``."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveAvgPool3D(_Primitive):
    """The operator ``AdaptiveAvgPool3D``."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveMaxPool2D(_Primitive):
    """The operator ``AdaptiveMaxPool2D``."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveMaxPool3D(_Primitive):
    """The operator ``AdaptiveMaxPool3D``."""
    def __init__(self) -> None: ...
class Add(_Primitive):
    """``input + other``."""
    def __init__(self) -> None: ...
class AddN(_Primitive):
    """The sum of a list of tensors of one shape."""
    def __init__(self) -> None: ...
class Addcdiv(_Primitive):
    """``input + value * tensor1 / tensor2``."""
    def __init__(self) -> None: ...
class Addcmul(_Primitive):
    """``input + value * tensor1 * tensor2``."""
    def __init__(self) -> None: ...
class AdjustHue(_Primitive):
    """The hue turned by ``delta``."""
    def __init__(self) -> None: ...
class AdjustSaturation(_Primitive):
    """The saturation times ``scale``, at most 1."""
    def __init__(self) -> None: ...
class AffineGrid(_Primitive):
    """The operator ``AffineGrid``."""
    def __init__(self, align_corners: Any = False) -> None: ...
class AllGather(_Primitive):
    """The tensors of all ranks, one after the other along the first axis."""
    def __init__(self, group: Any = 'mccl_world_group') -> None: ...
class AllGatherV(_Primitive):
    """The elements of all ranks, of which each has as many as ``output_split_sizes`` says, one after the other."""
    def __init__(self, group: Any = 'mccl_world_group') -> None: ...
class AllReduce(_Primitive):
    """The tensors of all ranks, reduced in the order of the ranks."""
    def __init__(self, op: Any = 'sum', group: Any = 'mccl_world_group') -> None: ...
class AlltoAll(_Primitive):
    """Cuts along ``split_dim``, deals the parts to the ranks, and joins what comes along ``concat_dim``."""
    def __init__(self, split_count: Any, split_dim: Any, concat_dim: Any, group: Any = 'mccl_world_group') -> None: ...
class AlltoAllV(_Primitive):
    """``send_numel_list[r] * block_size`` elements go to rank ``r``; what ``recv_numel_list`` says comes from it."""
    def __init__(self, group: Any = 'mccl_world_group', block_size: Any = 1) -> None: ...
class AlltoAllVC(_Primitive):
    """``send_count_matrix[i * size + j] * block_size`` elements go from rank ``i`` to rank ``j``."""
    def __init__(self, group: Any = 'mccl_world_group', block_size: Any = 1, transpose: Any = False) -> None: ...
class Angle(_Primitive):
    """Argument of a complex number."""
    def __init__(self) -> None: ...
class ApplyAdaMax(_Primitive):
    """Adam with the infinity norm. ``eps`` is added to it, or (``eps_in_norm``) to what it is the maximum of."""
    def __init__(self) -> None: ...
class ApplyAdadelta(_Primitive):
    """Steps in proportion to the root of past steps over the root of past gradients."""
    def __init__(self) -> None: ...
class ApplyAdagrad(_Primitive):
    """``accum += grad**2``; ``var -= lr * grad / (sqrt(accum) + eps)``."""
    def __init__(self, update_slots: Any = True) -> None: ...
class ApplyAdagradDA(_Primitive):
    """Dual averaging: ``var`` follows from the sums of all gradients and of their squares."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ApplyAdagradV2(_Primitive):
    """``accum += grad**2``; ``var -= lr * grad / (sqrt(accum) + eps)``."""
    def __init__(self, epsilon: Any, update_slots: Any = True) -> None: ...
class ApplyAdamWithAmsgrad(_Primitive):
    """Adaptive moment estimation. Without ``var``: what would be subtracted from it."""
    def __init__(self, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-08, use_locking: Any = False) -> None: ...
class ApplyAdamWithAmsgradV2(_Primitive):
    """Adaptive moment estimation. Without ``var``: what would be subtracted from it."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ApplyAddSign(_Primitive):
    """`signed`, by a sum."""
    def __init__(self) -> None: ...
class ApplyCenteredRMSProp(_Primitive):
    """Steps divided by the root of the running mean of squares; with ``mean``, of the variance."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ApplyFtrl(_Primitive):
    """Follow the regularised leader."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ApplyGradientDescent(_Primitive):
    """``var -= lr * grad``."""
    def __init__(self) -> None: ...
class ApplyKerasMomentum(_Primitive):
    """``accum = mu * accum - lr * grad``; ``var += accum`` (Nesterov: ``mu * accum - lr * grad``)."""
    def __init__(self, use_locking: Any = False, use_nesterov: Any = False) -> None: ...
class ApplyMomentum(_Primitive):
    """``accum = mu * accum + (1 - dampening) * grad``; ``var -= lr * accum`` (Nesterov: ``lr * (grad + mu * accum)``)."""
    def __init__(self, use_nesterov: Any = False, use_locking: Any = False, gradient_scale: Any = 1.0) -> None: ...
class ApplyPowerSign(_Primitive):
    """`signed`, by a power."""
    def __init__(self) -> None: ...
class ApplyProximalAdagrad(_Primitive):
    """Adagrad, then shrinking."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ApplyProximalGradientDescent(_Primitive):
    """Descent, then shrinking."""
    def __init__(self) -> None: ...
class ApplyRMSProp(_Primitive):
    """Steps divided by the root of the running mean of squares; with ``mean``, of the variance."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ApproximateEqual(_Primitive):
    """The operator ``ApproximateEqual``."""
    def __init__(self, tolerance: Any = 1e-05) -> None: ...
class ArgMaxWithValue(_Primitive):
    """The operator ``ArgMaxWithValue``."""
    def __init__(self, axis: Any = 0, keep_dims: Any = False) -> None: ...
class ArgMinWithValue(_Primitive):
    """The operator ``ArgMinWithValue``."""
    def __init__(self, axis: Any = 0, keep_dims: Any = False) -> None: ...
class Argmax(_Primitive):
    """The operator ``Argmax``."""
    def __init__(self, axis: Any = -1, output_type: Any = ...) -> None: ...
class Argmin(_Primitive):
    """The operator ``Argmin``."""
    def __init__(self, axis: Any = -1, output_type: Any = ...) -> None: ...
class Asin(_Primitive):
    """Inverse sine."""
    def __init__(self) -> None: ...
class Asinh(_Primitive):
    """Inverse hyperbolic sine."""
    def __init__(self) -> None: ...
class Assign(_Primitive):
    """Writes ``value`` into ``variable`` in place."""
    def __init__(self) -> None: ...
class AssignAdd(_Primitive):
    """Adds ``value`` to ``variable`` in place and gives its contents."""
    def __init__(self) -> None: ...
class AssignSub(_Primitive):
    """Subtracts ``value`` from ``variable`` in place and gives its contents."""
    def __init__(self) -> None: ...
class Atan(_Primitive):
    """Inverse tangent."""
    def __init__(self) -> None: ...
class Atan2(_Primitive):
    """Angle of the point (other, input)."""
    def __init__(self) -> None: ...
class Atanh(_Primitive):
    """Inverse hyperbolic tangent."""
    def __init__(self) -> None: ...
class AvgPool(_Primitive):
    """The operator ``AvgPool``."""
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: Any = 'VALID', data_format: Any = 'NCHW') -> None: ...
class AvgPool3D(_Primitive):
    """The operator ``AvgPool3D``."""
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: Any = 'valid', pad: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override: Any = 0, data_format: Any = 'NCDHW') -> None: ...
class BCEWithLogitsLoss(_Primitive):
    """The operator ``BCEWithLogitsLoss``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class Barrier(_Primitive):
    """Waits until all ranks of the group are here."""
    def __init__(self, group: Any = 'mccl_world_group') -> None: ...
class BartlettWindow(_Primitive):
    """The operator ``BartlettWindow``."""
    def __init__(self, periodic: Any = True, dtype: Any = ...) -> None: ...
class BatchMatMul(_Primitive):
    """The operator ``BatchMatMul``."""
    def __init__(self, transpose_a: Any = False, transpose_b: Any = False) -> None: ...
class BatchNorm(_Primitive):
    """Normalised values and the statistics: of the batch while training (which move the given ones), else the given."""
    def __init__(self, is_training: Any = False, epsilon: Any = 1e-05, momentum: Any = 0.1, data_format: Any = 'NCHW') -> None: ...
class BatchToSpace(_Primitive):
    """The operator ``BatchToSpace``."""
    def __init__(self, block_size: Any, crops: Any) -> None: ...
class BatchToSpaceND(_Primitive):
    """The operator ``BatchToSpaceND``."""
    def __init__(self, block_shape: Any, crops: Any) -> None: ...
class Bernoulli(_Primitive):
    """The operator ``Bernoulli``."""
    def __init__(self, seed: Any = -1, offset: Any = 0) -> None: ...
class BesselI0(_Primitive):
    """Modified Bessel function of order 0."""
    def __init__(self) -> None: ...
class BesselI0e(_Primitive):
    """``exp(-|x|) bessel_i0(x)``."""
    def __init__(self) -> None: ...
class BesselI1(_Primitive):
    """Modified Bessel function, order 1."""
    def __init__(self) -> None: ...
class BesselI1e(_Primitive):
    """``exp(-|x|) bessel_i1(x)``."""
    def __init__(self) -> None: ...
class BesselJ0(_Primitive):
    """Bessel function of order 0."""
    def __init__(self) -> None: ...
class BesselJ1(_Primitive):
    """Bessel function of order 1."""
    def __init__(self) -> None: ...
class BesselK0(_Primitive):
    """Modified, second kind."""
    def __init__(self) -> None: ...
class BesselK0e(_Primitive):
    """``exp(x) bessel_k0(x)``."""
    def __init__(self) -> None: ...
class BesselK1(_Primitive):
    """Second kind, order 1."""
    def __init__(self) -> None: ...
class BesselK1e(_Primitive):
    """``exp(x) bessel_k1(x)``."""
    def __init__(self) -> None: ...
class BesselY0(_Primitive):
    """Neumann function of order 0."""
    def __init__(self) -> None: ...
class BesselY1(_Primitive):
    """Neumann function of order 1."""
    def __init__(self) -> None: ...
class Betainc(_Primitive):
    """The regularised incomplete beta function of three tensors of one shape; differentiable in ``x`` alone."""
    def __init__(self) -> None: ...
class BiasAdd(_Primitive):
    """``bias`` along the channels: the last axis in ``NHWC``."""
    def __init__(self, data_format: Any = 'NCHW') -> None: ...
class BinaryCrossEntropy(_Primitive):
    """The operator ``BinaryCrossEntropy``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class Bincount(_Primitive):
    """The sums of ``weights`` at each of 0 ... size-1."""
    def __init__(self) -> None: ...
class BitwiseAnd(_Primitive):
    """``input & other``."""
    def __init__(self) -> None: ...
class BitwiseOr(_Primitive):
    """``input | other``."""
    def __init__(self) -> None: ...
class BitwiseXor(_Primitive):
    """``input ^ other``."""
    def __init__(self) -> None: ...
class BlackmanWindow(_Primitive):
    """The operator ``BlackmanWindow``."""
    def __init__(self, periodic: Any = True, dtype: Any = ...) -> None: ...
class BoundingBoxDecode(_Primitive):
    """The operator ``BoundingBoxDecode``."""
    def __init__(self, max_shape: Any, means: Any = ..., stds: Any = ..., wh_ratio_clip: Any = 0.016) -> None: ...
class BoundingBoxEncode(_Primitive):
    """The operator ``BoundingBoxEncode``."""
    def __init__(self, means: Any = ..., stds: Any = ...) -> None: ...
class Broadcast(_Primitive):
    """The tensors of rank ``root_rank``: a tuple, as it is given."""
    def __init__(self, root_rank: Any, group: Any = 'mccl_world_group') -> None: ...
class BroadcastTo(_Primitive):
    """The operator ``BroadcastTo``."""
    def __init__(self, shape: Any) -> None: ...
class Bucketize(_Primitive):
    """The operator ``Bucketize``."""
    def __init__(self, boundaries: Any) -> None: ...
class CTCGreedyDecoder(_Primitive):
    """The operator ``CTCGreedyDecoder``."""
    def __init__(self, merge_repeated: Any = True) -> None: ...
class CTCLoss(_Primitive):
    """The CTC loss of logits (T, N, C) whose last class is the blank, and its gradient in the logits."""
    def __init__(self, preprocess_collapse_repeated: Any = False, ctc_merge_repeated: Any = True, ignore_longer_outputs_than_inputs: Any = False) -> None: ...
class CTCLossV2(_Primitive):
    """The operator ``CTCLossV2``."""
    def __init__(self, blank: Any = 0, reduction: Any = 'none', zero_infinity: Any = False) -> None: ...
class Cast(_Primitive):
    """``input`` (tensor or number) in ``dtype``."""
    def __init__(self) -> None: ...
class Cdist(_Primitive):
    """The operator ``Cdist``."""
    def __init__(self, p: Any = 2.0) -> None: ...
class CeLU(_Primitive):
    """The operator ``CeLU``."""
    def __init__(self, alpha: Any = 1.0) -> None: ...
class Ceil(_Primitive):
    """Rounded up."""
    def __init__(self) -> None: ...
class ChannelShuffle(_Primitive):
    """The operator ``ChannelShuffle``."""
    def __init__(self, group: Any) -> None: ...
class CheckValid(_Primitive):
    """The operator ``CheckValid``."""
    def __init__(self) -> None: ...
class Cholesky(_Primitive):
    """The operator ``Cholesky``."""
    def __init__(self, upper: Any = False) -> None: ...
class CholeskyInverse(_Primitive):
    """The operator ``CholeskyInverse``."""
    def __init__(self, upper: Any = False) -> None: ...
class CholeskySolve(_Primitive):
    """The operator ``CholeskySolve``."""
    def __init__(self, upper: Any = False) -> None: ...
class Col2Im(_Primitive):
    """The operator ``Col2Im``."""
    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None: ...
class CollectiveGather(_Primitive):
    """The tensors of all ranks, one after the other, for rank ``dest_rank``; other ranks get zeros of shape (1,)."""
    def __init__(self, dest_rank: Any, group: Any = 'mccl_world_group') -> None: ...
class CollectiveScatter(_Primitive):
    """This rank's part, along the first axis, of the tensor of rank ``src_rank``; all give one of its shape."""
    def __init__(self, src_rank: Any = 0, group: Any = 'mccl_world_group') -> None: ...
class CompareAndBitpack(_Primitive):
    """Eight comparisons with ``threshold`` as the bits of one uint8, the first one highest."""
    def __init__(self) -> None: ...
class Complex(_Primitive):
    """``real + 1j * imag``."""
    def __init__(self) -> None: ...
class ComplexAbs(_Primitive):
    """``|x|``; real for complex numbers."""
    def __init__(self) -> None: ...
class Concat(_Primitive):
    """The operator ``Concat``."""
    def __init__(self, axis: Any = 0) -> None: ...
class ConfusionMatrix(_Primitive):
    """How often each class (row) was predicted as each class (column)."""
    def __init__(self, num_classes: Any, dtype: Any = 'int32') -> None: ...
class Conj(_Primitive):
    """Complex conjugate."""
    def __init__(self) -> None: ...
class ConjugateTranspose(_Primitive):
    """The operator ``ConjugateTranspose``."""
    def __init__(self) -> None: ...
class Conv2D(_Primitive):
    """The operator ``Conv2D``."""
    def __init__(self, out_channel: Any, kernel_size: Any, mode: Any = 1, pad_mode: Any = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCHW') -> None: ...
class Conv2DBackpropInput(_Primitive):
    """The input of a convolution that gave ``dout``: its adjoint, on an input of shape ``size``."""
    def __init__(self, out_channel: Any, kernel_size: Any, pad_mode: Any = 'valid', pad: Any = 0, pad_list: Any = None, mode: Any = 1, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCHW') -> None: ...
class Conv2DTranspose(_Primitive):
    """The input of a convolution that gave ``dout``: its adjoint, on an input of shape ``size``."""
    def __init__(self, out_channel: Any, kernel_size: Any, pad_mode: Any = 'valid', pad: Any = 0, pad_list: Any = None, mode: Any = 1, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCHW') -> None: ...
class Conv3D(_Primitive):
    """The operator ``Conv3D``."""
    def __init__(self, out_channel: Any, kernel_size: Any, mode: Any = 1, pad_mode: Any = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCDHW') -> None: ...
class Cos(_Primitive):
    """Cosine."""
    def __init__(self) -> None: ...
class Cosh(_Primitive):
    """Hyperbolic cosine."""
    def __init__(self) -> None: ...
class CountNonZero(_Primitive):
    """The operator ``CountNonZero``."""
    def __init__(self, dims: Any = None) -> None: ...
class CropAndResize(_Primitive):
    """The operator ``CropAndResize``."""
    def __init__(self, method: Any = 'bilinear', extrapolation_value: Any = 0.0) -> None: ...
class Cross(_Primitive):
    """The operator ``Cross``."""
    def __init__(self, dim: Any = -65530) -> None: ...
class CumProd(_Primitive):
    """The operator ``CumProd``."""
    def __init__(self, exclusive: Any = False, reverse: Any = False) -> None: ...
class CumSum(_Primitive):
    """The operator ``CumSum``."""
    def __init__(self, exclusive: Any = False, reverse: Any = False) -> None: ...
class Cummax(_Primitive):
    """The operator ``Cummax``."""
    def __init__(self, axis: Any) -> None: ...
class Cummin(_Primitive):
    """The operator ``Cummin``."""
    def __init__(self, axis: Any) -> None: ...
class CumulativeLogsumexp(_Primitive):
    """The logarithm of the running sum of exponentials along ``axis``."""
    def __init__(self, exclusive: Any = False, reverse: Any = False) -> None: ...
class DType(_Primitive):
    """The element type."""
    def __init__(self) -> None: ...
class DataFormatDimMap(_Primitive):
    """Axes of one data format as those of another."""
    def __init__(self, src_format: Any = 'NHWC', dst_format: Any = 'NCHW') -> None: ...
class DataFormatVecPermute(_Primitive):
    """The operator ``DataFormatVecPermute``."""
    def __init__(self, src_format: Any = 'NHWC', dst_format: Any = 'NCHW') -> None: ...
class Dense(_Primitive):
    """``input @ weight.T + bias``."""
    def __init__(self) -> None: ...
class Depend(_Primitive):
    """``value``, after ``expr`` was computed; programs run in order, so this is ``value``."""
    def __init__(self) -> None: ...
class DepthToSpace(_Primitive):
    """The operator ``DepthToSpace``."""
    def __init__(self, block_size: Any) -> None: ...
class Diag(_Primitive):
    """A tensor with ``input`` on its diagonal, of shape ``input.shape + input.shape``."""
    def __init__(self) -> None: ...
class DiagPart(_Primitive):
    """The inverse of ``Diag``."""
    def __init__(self) -> None: ...
class Digamma(_Primitive):
    """Derivative of ``lgamma``."""
    def __init__(self) -> None: ...
class Div(_Primitive):
    """``x / y``."""
    def __init__(self) -> None: ...
class DivNoNan(_Primitive):
    """``x / y``, 0 where ``y`` is 0."""
    def __init__(self) -> None: ...
class Dropout(_Primitive):
    """What is kept, divided by ``keep_prob``, and the mask as numbers."""
    def __init__(self, keep_prob: Any = 0.5, Seed0: Any = 0, Seed1: Any = 0) -> None: ...
class Dropout2D(_Primitive):
    """The operator ``Dropout2D``."""
    def __init__(self, keep_prob: Any = 0.5) -> None: ...
class Dropout3D(_Primitive):
    """The operator ``Dropout3D``."""
    def __init__(self, keep_prob: Any = 0.5) -> None: ...
class EditDistance(_Primitive):
    """Levenshtein's distance of the sequences of two sparse tensors, over the truth's length if ``normalize``."""
    def __init__(self, normalize: Any = True) -> None: ...
class Eig(_Primitive):
    """Eigenvalues, and with ``compute_v`` eigenvectors (else an empty tensor)."""
    def __init__(self, compute_v: Any = False) -> None: ...
class Einsum(_Primitive):
    """The operator ``Einsum``."""
    def __init__(self, equation: Any) -> None: ...
class Elu(_Primitive):
    """The operator ``Elu``."""
    def __init__(self, alpha: Any = 1.0) -> None: ...
class EmbeddingLookup(_Primitive):
    """The operator ``EmbeddingLookup``."""
    def __init__(self) -> None: ...
class Eps(_Primitive):
    """The smallest number that makes a difference when added to 1, in the shape of ``x``."""
    def __init__(self) -> None: ...
class Equal(_Primitive):
    """Whether equal; NaN equals nothing."""
    def __init__(self) -> None: ...
class EqualCount(_Primitive):
    """The number of equal elements, int32 of shape (1,)."""
    def __init__(self) -> None: ...
class Erf(_Primitive):
    """Error function."""
    def __init__(self) -> None: ...
class Erfc(_Primitive):
    """``1 - erf(x)``."""
    def __init__(self) -> None: ...
class Erfinv(_Primitive):
    """Inverse of the error function; infinite at -1 and 1, NaN beyond."""
    def __init__(self) -> None: ...
class EuclideanNorm(_Primitive):
    """The operator ``EuclideanNorm``."""
    def __init__(self, keep_dims: Any = False) -> None: ...
class Exp(_Primitive):
    """``e**x``."""
    def __init__(self) -> None: ...
class Expand(_Primitive):
    """Repeated along new axes and axes of size 1 up to ``size``; -1 keeps an extent."""
    def __init__(self) -> None: ...
class ExpandDims(_Primitive):
    """With a new axis of size 1 at position ``axis``."""
    def __init__(self) -> None: ...
class Expm1(_Primitive):
    """``e**x - 1``, accurate near 0."""
    def __init__(self) -> None: ...
class Eye(_Primitive):
    """The operator ``Eye``."""
    def __init__(self) -> None: ...
class FFTWithSize(_Primitive):
    """A transform over the last ``signal_ndim`` axes: complex, to a (half) spectrum, or back from it."""
    def __init__(self, signal_ndim: Any, inverse: Any, real: Any, norm: Any = 'backward', onesided: Any = True, signal_sizes: Any = ...) -> None: ...
class FastGeLU(_Primitive):
    """``x * sigmoid(1.702 * x)``."""
    def __init__(self) -> None: ...
class FastGelu(_Primitive):
    """``x * sigmoid(1.702 * x)``."""
    def __init__(self) -> None: ...
class Fill(_Primitive):
    """``value`` everywhere in ``shape``, in the dtype ``type``."""
    def __init__(self) -> None: ...
class FillV2(_Primitive):
    """``value`` in ``shape``."""
    def __init__(self) -> None: ...
class Fills(_Primitive):
    """``value`` in the shape and dtype of ``x``."""
    def __init__(self) -> None: ...
class Flatten(_Primitive):
    """All axes but the first as one."""
    def __init__(self) -> None: ...
class FloatStatus(_Primitive):
    """1.0 in a tensor of shape (1,) if any element is not finite, else 0.0."""
    def __init__(self) -> None: ...
class Floor(_Primitive):
    """Rounded down."""
    def __init__(self) -> None: ...
class FloorDiv(_Primitive):
    """``floor(x / y)``."""
    def __init__(self) -> None: ...
class FloorMod(_Primitive):
    """Remainder with the sign of ``y``."""
    def __init__(self) -> None: ...
class Fmax(_Primitive):
    """The larger of both; the other one if one is NaN."""
    def __init__(self) -> None: ...
class Fmin(_Primitive):
    """The smaller of both; the other one if one is NaN."""
    def __init__(self) -> None: ...
class FractionalMaxPool3DWithFixedKsize(_Primitive):
    """The operator ``FractionalMaxPool3DWithFixedKsize``."""
    def __init__(self, ksize: Any, output_shape: Any, data_format: Any = 'NCDHW') -> None: ...
class FractionalMaxPoolWithFixedKsize(_Primitive):
    """The operator ``FractionalMaxPoolWithFixedKsize``."""
    def __init__(self, ksize: Any, output_shape: Any, data_format: Any = 'NCHW') -> None: ...
class FusedSparseAdam(_Primitive):
    """Adaptive moment estimation. Without ``var``: what would be subtracted from it."""
    def __init__(self, use_locking: Any = False, use_nesterov: Any = False) -> None: ...
class FusedSparseFtrl(_Primitive):
    """Follow the regularised leader."""
    def __init__(self, lr: Any, l1: Any, l2: Any, lr_power: Any, use_locking: Any = False) -> None: ...
class FusedSparseLazyAdam(_Primitive):
    """Adaptive moment estimation. Without ``var``: what would be subtracted from it."""
    def __init__(self, use_locking: Any = False, use_nesterov: Any = False) -> None: ...
class FusedSparseProximalAdagrad(_Primitive):
    """Adagrad, then shrinking."""
    def __init__(self, use_locking: Any = False) -> None: ...
class GLU(_Primitive):
    """The operator ``GLU``."""
    def __init__(self, axis: Any = -1) -> None: ...
class Gamma(_Primitive):
    """The operator ``Gamma``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
class Gather(_Primitive):
    """The operator ``Gather``."""
    def __init__(self, batch_dims: Any = 0) -> None: ...
class GatherD(_Primitive):
    """One index along ``dim`` per result element."""
    def __init__(self) -> None: ...
class GatherNd(_Primitive):
    """The slices that the rows of ``indices`` name."""
    def __init__(self) -> None: ...
class GatherV2(_Primitive):
    """The operator ``GatherV2``."""
    def __init__(self) -> None: ...
class Gcd(_Primitive):
    """Greatest common divisor."""
    def __init__(self) -> None: ...
class GeLU(_Primitive):
    """``x`` times the normal distribution function of ``x``, approximated with tanh as MindSpore's primitive."""
    def __init__(self) -> None: ...
class Gelu(_Primitive):
    """``x`` times the normal distribution function of ``x``, approximated with tanh as MindSpore's primitive."""
    def __init__(self) -> None: ...
class Geqrf(_Primitive):
    """The QR factorisation in LAPACK's packed form."""
    def __init__(self) -> None: ...
class Ger(_Primitive):
    """Products of every element of one vector with every element of another."""
    def __init__(self) -> None: ...
class Greater(_Primitive):
    """``input > other``."""
    def __init__(self) -> None: ...
class GreaterEqual(_Primitive):
    """``input >= other``."""
    def __init__(self) -> None: ...
class GridSampler2D(_Primitive):
    """The operator ``GridSampler2D``."""
    def __init__(self, interpolation_mode: Any = 'bilinear', padding_mode: Any = 'zeros', align_corners: Any = False) -> None: ...
class GridSampler3D(_Primitive):
    """The operator ``GridSampler3D``."""
    def __init__(self, interpolation_mode: Any = 'bilinear', padding_mode: Any = 'zeros', align_corners: Any = False) -> None: ...
class HSVToRGB(_Primitive):
    """The operator ``HSVToRGB``."""
    def __init__(self) -> None: ...
class HShrink(_Primitive):
    """The operator ``HShrink``."""
    def __init__(self, lambd: Any = 0.5) -> None: ...
class HSigmoid(_Primitive):
    """``(x + 3) / 6`` limited to the interval from 0 to 1; flat at its ends."""
    def __init__(self) -> None: ...
class HSwish(_Primitive):
    """``x * hardsigmoid(x)``, with the slopes of the inner part at -3 and 3."""
    def __init__(self) -> None: ...
class HammingWindow(_Primitive):
    """The operator ``HammingWindow``."""
    def __init__(self, periodic: Any = True, alpha: Any = 0.54, beta: Any = 0.46, dtype: Any = ...) -> None: ...
class Heaviside(_Primitive):
    """0 where ``input`` is below 0, 1 above, ``values`` where it is 0."""
    def __init__(self) -> None: ...
class Histogram(_Primitive):
    """The operator ``Histogram``."""
    def __init__(self, bins: Any = 100, min: Any = 0.0, max: Any = 0.0) -> None: ...
class HistogramFixedWidth(_Primitive):
    """How many elements fall into ``nbins`` bins of one width; those outside count in the first or last bin."""
    def __init__(self, nbins: Any, dtype: Any = 'int32') -> None: ...
class Hypot(_Primitive):
    """``sqrt(input**2 + other**2)``."""
    def __init__(self) -> None: ...
class IOU(_Primitive):
    """The operator ``IOU``."""
    def __init__(self, mode: Any = 'iou') -> None: ...
class Identity(_Primitive):
    """``x`` itself."""
    def __init__(self) -> None: ...
class IdentityN(_Primitive):
    """The same tensors."""
    def __init__(self) -> None: ...
class Igamma(_Primitive):
    """The regularised lower incomplete gamma function."""
    def __init__(self) -> None: ...
class Igammac(_Primitive):
    """The regularised upper incomplete gamma function."""
    def __init__(self) -> None: ...
class Im2Col(_Primitive):
    """The operator ``Im2Col``."""
    def __init__(self, ksizes: Any, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> None: ...
class Imag(_Primitive):
    """Imaginary part."""
    def __init__(self) -> None: ...
class InTopK(_Primitive):
    """The operator ``InTopK``."""
    def __init__(self, k: Any) -> None: ...
class IndexAdd(_Primitive):
    """The operator ``IndexAdd``."""
    def __init__(self, axis: Any, use_lock: Any = True, check_index_bound: Any = True) -> None: ...
class IndexFill(_Primitive):
    """``x`` with ``value`` at the slices ``index`` along ``axis``."""
    def __init__(self) -> None: ...
class IndexPut(_Primitive):
    """``x`` with ``values`` written or added at the places that index tensors name together."""
    def __init__(self, accumulate: Any = 0) -> None: ...
class InplaceAdd(_Primitive):
    """The operator ``InplaceAdd``."""
    def __init__(self, indices: Any) -> None: ...
class InplaceIndexAdd(_Primitive):
    """The operator ``InplaceIndexAdd``."""
    def __init__(self, axis: Any) -> None: ...
class InplaceSub(_Primitive):
    """The operator ``InplaceSub``."""
    def __init__(self, indices: Any) -> None: ...
class InplaceUpdate(_Primitive):
    """The operator ``InplaceUpdate``."""
    def __init__(self, indices: Any) -> None: ...
class InplaceUpdateV2(_Primitive):
    """``x`` with the rows ``indices`` replaced by ``v``."""
    def __init__(self) -> None: ...
class Inv(_Primitive):
    """``1 / x``."""
    def __init__(self) -> None: ...
class Invert(_Primitive):
    """``~x`` on integers."""
    def __init__(self) -> None: ...
class InvertPermutation(_Primitive):
    """The inverse of a permutation given as a tuple."""
    def __init__(self) -> None: ...
class IsClose(_Primitive):
    """The operator ``IsClose``."""
    def __init__(self, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> None: ...
class IsFinite(_Primitive):
    """Whether neither infinite nor NaN."""
    def __init__(self) -> None: ...
class IsInf(_Primitive):
    """Whether infinite."""
    def __init__(self) -> None: ...
class IsNan(_Primitive):
    """Whether NaN."""
    def __init__(self) -> None: ...
class KLDivLoss(_Primitive):
    """The operator ``KLDivLoss``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class L2Loss(_Primitive):
    """Half the sum of squares."""
    def __init__(self) -> None: ...
class L2Normalize(_Primitive):
    """The operator ``L2Normalize``."""
    def __init__(self, axis: Any = 0, epsilon: Any = 0.0001) -> None: ...
class LARSUpdate(_Primitive):
    """The gradient scaled by the ratio of the norms of weight and gradient (given as sums of squares)."""
    def __init__(self, epsilon: Any = 1e-05, hyperpara: Any = 0.001, use_clip: Any = False) -> None: ...
class LRN(_Primitive):
    """The operator ``LRN``."""
    def __init__(self, depth_radius: Any = 5, bias: Any = 1.0, alpha: Any = 1.0, beta: Any = 0.5, norm_region: Any = 'ACROSS_CHANNELS') -> None: ...
class LSTM(_Primitive):
    """LSTM layers over (steps, batch, features); all weights one after the other in ``weights``."""
    def __init__(self, input_size: Any, hidden_size: Any, num_layers: Any, has_bias: Any, bidirectional: Any, dropout: Any, proj_size: Any = 0) -> None: ...
class LayerNorm(_Primitive):
    """Normalised values, mean and variance over the axes from ``begin_norm_axis`` on."""
    def __init__(self, begin_norm_axis: Any = 1, begin_params_axis: Any = 1, epsilon: Any = 1e-07) -> None: ...
class Lcm(_Primitive):
    """Least common multiple."""
    def __init__(self) -> None: ...
class LeftShift(_Primitive):
    """``input << other``."""
    def __init__(self) -> None: ...
class Lerp(_Primitive):
    """``input + weight * (end - input)``."""
    def __init__(self) -> None: ...
class Less(_Primitive):
    """``input < other``."""
    def __init__(self) -> None: ...
class LessEqual(_Primitive):
    """``input <= other``."""
    def __init__(self) -> None: ...
class Lgamma(_Primitive):
    """Logarithm of the absolute gamma function."""
    def __init__(self) -> None: ...
class LinSpace(_Primitive):
    """``steps`` evenly spaced numbers from ``start`` to ``end``, both included; float32 for numbers."""
    def __init__(self) -> None: ...
class ListDiff(_Primitive):
    """The operator ``ListDiff``."""
    def __init__(self, out_idx: Any = ...) -> None: ...
class Log(_Primitive):
    """Natural logarithm."""
    def __init__(self) -> None: ...
class Log1p(_Primitive):
    """``log(1 + x)``, accurate near 0."""
    def __init__(self) -> None: ...
class LogAddExp(_Primitive):
    """``log(exp(input) + exp(other))``."""
    def __init__(self) -> None: ...
class LogAddExp2(_Primitive):
    """``log2(2**input + 2**other)``."""
    def __init__(self) -> None: ...
class LogMatrixDeterminant(_Primitive):
    """Sign and logarithm of the absolute value of the determinant."""
    def __init__(self) -> None: ...
class LogSoftmax(_Primitive):
    """The operator ``LogSoftmax``."""
    def __init__(self, axis: Any = -1) -> None: ...
class LogSpace(_Primitive):
    """``base`` to evenly spaced powers."""
    def __init__(self, steps: Any = 10, base: Any = 10, dtype: Any = ...) -> None: ...
class LogicalAnd(_Primitive):
    """``input and other``, elementwise."""
    def __init__(self) -> None: ...
class LogicalNot(_Primitive):
    """``not x``, elementwise."""
    def __init__(self) -> None: ...
class LogicalOr(_Primitive):
    """``input or other``, elementwise."""
    def __init__(self) -> None: ...
class LogicalXor(_Primitive):
    """Exactly one of both, elementwise."""
    def __init__(self) -> None: ...
class Logit(_Primitive):
    """The operator ``Logit``."""
    def __init__(self, eps: Any = -1.0) -> None: ...
class LowerBound(_Primitive):
    """The operator ``LowerBound``."""
    def __init__(self, out_type: Any = ...) -> None: ...
class LpNorm(_Primitive):
    """The p-norm over ``axis``, at least ``epsilon``."""
    def __init__(self, axis: Any, p: Any = 2, keep_dims: Any = False, epsilon: Any = 1e-12) -> None: ...
class Lstsq(_Primitive):
    """The operator ``Lstsq``."""
    def __init__(self, fast: Any = True, l2_regularizer: Any = 0.0) -> None: ...
class LuSolve(_Primitive):
    """``X`` with ``A @ X = b``, given the LU factorisation of ``A``."""
    def __init__(self) -> None: ...
class LuUnpack(_Primitive):
    """The operator ``LuUnpack``."""
    def __init__(self, unpack_data: Any = True, unpack_pivots: Any = True) -> None: ...
class MaskedFill(_Primitive):
    """``input_x`` with ``value`` where ``mask`` (bool) holds."""
    def __init__(self) -> None: ...
class MaskedScatter(_Primitive):
    """``input`` with the places where ``mask`` holds taken from ``tensor`` in order."""
    def __init__(self) -> None: ...
class MaskedSelect(_Primitive):
    """The elements of ``input`` where ``mask`` holds, in one dimension."""
    def __init__(self) -> None: ...
class MatMul(_Primitive):
    """The operator ``MatMul``."""
    def __init__(self, transpose_a: Any = False, transpose_b: Any = False) -> None: ...
class MatrixBandPart(_Primitive):
    """The operator ``MatrixBandPart``."""
    def __init__(self) -> None: ...
class MatrixDeterminant(_Primitive):
    """The determinant of every matrix."""
    def __init__(self) -> None: ...
class MatrixDiagPartV3(_Primitive):
    """The operator ``MatrixDiagPartV3``."""
    def __init__(self, align: Any = 'RIGHT_LEFT') -> None: ...
class MatrixDiagV3(_Primitive):
    """The operator ``MatrixDiagV3``."""
    def __init__(self, align: Any = 'RIGHT_LEFT') -> None: ...
class MatrixExp(_Primitive):
    """The matrix exponential: Taylor's series of the matrix divided by ``2**16``, squared back."""
    def __init__(self) -> None: ...
class MatrixInverse(_Primitive):
    """The operator ``MatrixInverse``."""
    def __init__(self, adjoint: Any = False) -> None: ...
class MatrixLogarithm(_Primitive):
    """The operator ``MatrixLogarithm``."""
    def __init__(self) -> None: ...
class MatrixPower(_Primitive):
    """The operator ``MatrixPower``."""
    def __init__(self, n: Any) -> None: ...
class MatrixSetDiagV3(_Primitive):
    """The operator ``MatrixSetDiagV3``."""
    def __init__(self, align: Any = 'RIGHT_LEFT') -> None: ...
class MatrixSolve(_Primitive):
    """The operator ``MatrixSolve``."""
    def __init__(self, adjoint: Any = False) -> None: ...
class MatrixSolveLs(_Primitive):
    """Least squares with the penalty ``l2``, by the normal equations; not ``fast``: by QR, without penalty."""
    def __init__(self, fast: Any = True) -> None: ...
class MatrixTriangularSolve(_Primitive):
    """The solution with one triangle of ``matrix``, or its adjoint."""
    def __init__(self, lower: Any = True, adjoint: Any = False) -> None: ...
class MaxPool(_Primitive):
    """The operator ``MaxPool``."""
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: Any = 'valid', data_format: Any = 'NCHW') -> None: ...
class MaxPool3D(_Primitive):
    """The operator ``MaxPool3D``."""
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: Any = 'VALID', pad_list: Any = 0, ceil_mode: Any = None, data_format: Any = 'NCDHW') -> None: ...
class MaxPool3DWithArgmax(_Primitive):
    """Maxima and their places, these in ``argmax_type``."""
    def __init__(self, ksize: Any, strides: Any, pads: Any, dilation: Any = ..., ceil_mode: Any = False, data_format: Any = 'NCDHW', argmax_type: Any = ...) -> None: ...
class MaxPoolWithArgmax(_Primitive):
    """The operator ``MaxPoolWithArgmax``."""
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: Any = 'valid', data_format: Any = 'NCHW') -> None: ...
class MaxPoolWithArgmaxV2(_Primitive):
    """Maxima and their places, these in ``argmax_type``."""
    def __init__(self, kernel_size: Any, strides: Any = None, pads: Any = 0, dilation: Any = ..., ceil_mode: Any = False, argmax_type: Any = ...) -> None: ...
class Maximum(_Primitive):
    """The larger of both; NaN if one is NaN."""
    def __init__(self) -> None: ...
class Median(_Primitive):
    """The operator ``Median``."""
    def __init__(self, global_median: Any = False, axis: Any = 0, keep_dims: Any = False, ignore_nan: Any = False) -> None: ...
class Meshgrid(_Primitive):
    """The operator ``Meshgrid``."""
    def __init__(self, indexing: Any = 'xy') -> None: ...
class Minimum(_Primitive):
    """The smaller of both; NaN if one is NaN."""
    def __init__(self) -> None: ...
class MirrorPad(_Primitive):
    """The operator ``MirrorPad``."""
    def __init__(self, mode: Any = 'REFLECT') -> None: ...
class Mish(_Primitive):
    """``x * tanh(softplus(x))``."""
    def __init__(self) -> None: ...
class Mod(_Primitive):
    """Remainder with the sign of ``input``."""
    def __init__(self) -> None: ...
class Mul(_Primitive):
    """``input * other``."""
    def __init__(self) -> None: ...
class MulNoNan(_Primitive):
    """``x * y``, 0 where ``y`` is 0."""
    def __init__(self) -> None: ...
class MultiMarginLoss(_Primitive):
    """The operator ``MultiMarginLoss``."""
    def __init__(self, p: Any = 1, margin: Any = 1.0, reduction: Any = 'mean') -> None: ...
class MultilabelMarginLoss(_Primitive):
    """The operator ``MultilabelMarginLoss``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class Multinomial(_Primitive):
    """The operator ``Multinomial``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0, dtype: Any = ...) -> None: ...
class MultinomialWithReplacement(_Primitive):
    """The operator ``MultinomialWithReplacement``."""
    def __init__(self, numsamples: Any, replacement: Any = False) -> None: ...
class Mvlgamma(_Primitive):
    """The operator ``Mvlgamma``."""
    def __init__(self, p: Any) -> None: ...
class NLLLoss(_Primitive):
    """The loss and the sum of the weights of the labels."""
    def __init__(self, reduction: Any = 'mean', ignore_index: Any = -100) -> None: ...
class NMSWithMask(_Primitive):
    """The operator ``NMSWithMask``."""
    def __init__(self, iou_threshold: Any = 0.5) -> None: ...
class NanToNum(_Primitive):
    """The operator ``NanToNum``."""
    def __init__(self, nan: Any = None, posinf: Any = None, neginf: Any = None) -> None: ...
class Neg(_Primitive):
    """``-x``."""
    def __init__(self) -> None: ...
class NeighborExchange(_Primitive):
    """Sends tensor ``k`` to rank ``send_rank_ids[k]``; gives what comes from ``recv_rank_ids``, in that order."""
    def __init__(self, send_rank_ids: Any, recv_rank_ids: Any, recv_shapes: Any, send_shapes: Any, recv_type: Any, group: Any = 'mccl_world_group') -> None: ...
class NextAfter(_Primitive):
    """The next number towards other."""
    def __init__(self) -> None: ...
class NoRepeatNGram(_Primitive):
    """The operator ``NoRepeatNGram``."""
    def __init__(self, ngram_size: Any = 1) -> None: ...
class NonMaxSuppressionV3(_Primitive):
    """The operator ``NonMaxSuppressionV3``."""
    def __init__(self) -> None: ...
class NonMaxSuppressionWithOverlaps(_Primitive):
    """The operator ``NonMaxSuppressionWithOverlaps``."""
    def __init__(self) -> None: ...
class NonZero(_Primitive):
    """Coordinates (N, rank) of the elements that are not 0; with ``as_tuple`` one vector per axis."""
    def __init__(self) -> None: ...
class NotEqual(_Primitive):
    """Whether different."""
    def __init__(self) -> None: ...
class NthElement(_Primitive):
    """The element at place ``n`` of the order of the last axis."""
    def __init__(self, reverse: Any = False) -> None: ...
class NuclearNorm(_Primitive):
    """The sum of the singular values of the matrices in two axes."""
    def __init__(self, dim: Any = None, keepdim: Any = False) -> None: ...
class OneHot(_Primitive):
    """The operator ``OneHot``."""
    def __init__(self, axis: Any = -1) -> None: ...
class Ones(_Primitive):
    """Ones; float32 by default."""
    def __init__(self) -> None: ...
class OnesLike(_Primitive):
    """Ones of the shape (and dtype) of ``input``."""
    def __init__(self) -> None: ...
class Orgqr(_Primitive):
    """The first columns of the product of Householder reflectors, as `geqrf` gives them."""
    def __init__(self) -> None: ...
class Ormqr(_Primitive):
    """The operator ``Ormqr``."""
    def __init__(self, left: Any = True, transpose: Any = False) -> None: ...
class PReLU(_Primitive):
    """``input`` above 0, ``weight * input`` below."""
    def __init__(self) -> None: ...
class Pack(_Primitive):
    """The operator ``Pack``."""
    def __init__(self, axis: Any = 0) -> None: ...
class Pad(_Primitive):
    """The operator ``Pad``."""
    def __init__(self, paddings: Any) -> None: ...
class PadV3(_Primitive):
    """The operator ``PadV3``."""
    def __init__(self, mode: Any = 'constant', paddings_contiguous: Any = True) -> None: ...
class Padding(_Primitive):
    """The operator ``Padding``."""
    def __init__(self, pad_dim_size: Any = 8) -> None: ...
class ParallelConcat(_Primitive):
    """The operator ``ParallelConcat``."""
    def __init__(self) -> None: ...
class Partial(_Primitive):
    """``func`` with its first arguments given."""
    def __init__(self) -> None: ...
class Pdist(_Primitive):
    """The operator ``Pdist``."""
    def __init__(self, p: Any = 2.0) -> None: ...
class Poisson(_Primitive):
    """The operator ``Poisson``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
class Polar(_Primitive):
    """The complex number of the given magnitude and argument."""
    def __init__(self) -> None: ...
class Polygamma(_Primitive):
    """The derivative of order ``n`` of `digamma`."""
    def __init__(self) -> None: ...
class PopulationCount(_Primitive):
    """The number of ones in the binary form of every element, as uint8."""
    def __init__(self) -> None: ...
class Pow(_Primitive):
    """``input ** exponent``."""
    def __init__(self) -> None: ...
class Print(_Primitive):
    """Prints every argument on a line of its own; tensors as their ``repr``."""
    def __init__(self) -> None: ...
class Qr(_Primitive):
    """The operator ``Qr``."""
    def __init__(self, full_matrices: Any = False) -> None: ...
class Quantile(_Primitive):
    """The operator ``Quantile``."""
    def __init__(self, dim: Any = None, keep_dims: Any = False, ignore_nan: Any = False) -> None: ...
class RGBToHSV(_Primitive):
    """The operator ``RGBToHSV``."""
    def __init__(self) -> None: ...
class ROIAlign(_Primitive):
    """The operator ``ROIAlign``."""
    def __init__(self, pooled_height: Any, pooled_width: Any, spatial_scale: Any, sample_num: Any = 2, roi_end_mode: Any = 1) -> None: ...
class RandomCategorical(_Primitive):
    """The operator ``RandomCategorical``."""
    def __init__(self, dtype: Any = ...) -> None: ...
class RandomChoiceWithMask(_Primitive):
    """The operator ``RandomChoiceWithMask``."""
    def __init__(self, count: Any = 256, seed: Any = 0, seed2: Any = 0) -> None: ...
class RandomGamma(_Primitive):
    """The operator ``RandomGamma``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
class RandomPoisson(_Primitive):
    """The operator ``RandomPoisson``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0, dtype: Any = ...) -> None: ...
class RandomShuffle(_Primitive):
    """The operator ``RandomShuffle``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
class Randperm(_Primitive):
    """A permutation of 0 ... n-1, filled up with ``pad`` to ``max_length``."""
    def __init__(self, max_length: Any = 1, pad: Any = -1, dtype: Any = ...) -> None: ...
class RandpermV2(_Primitive):
    """The operator ``RandpermV2``."""
    def __init__(self, seed: Any = 0, offset: Any = 0, dtype: Any = ...) -> None: ...
class Range(_Primitive):
    """The operator ``Range``."""
    def __init__(self, maxlen: Any = 1000000) -> None: ...
class Rank(_Primitive):
    """The number of dimensions."""
    def __init__(self) -> None: ...
class ReLU(_Primitive):
    """``max(input, 0)``; with ``inplace`` the tensor itself is written and returned."""
    def __init__(self) -> None: ...
class ReLU6(_Primitive):
    """``min(max(x, 0), 6)``; the slope at 6 is 1."""
    def __init__(self) -> None: ...
class Real(_Primitive):
    """Real part."""
    def __init__(self) -> None: ...
class RealDiv(_Primitive):
    """``x / y``."""
    def __init__(self) -> None: ...
class Receive(_Primitive):
    """A message of rank ``src_rank``, of the shape and dtype that the constructor was given."""
    def __init__(self, sr_tag: Any, src_rank: Any, shape: Any, dtype: Any, group: Any = 'mccl_world_group', group_back: Any = 'mccl_world_group') -> None: ...
class Reciprocal(_Primitive):
    """``1 / x``."""
    def __init__(self) -> None: ...
class Reduce(_Primitive):
    """The tensors of all ranks, reduced, for rank ``dest_rank``; other ranks get their own."""
    def __init__(self, dest_rank: Any, op: Any = 'sum', group: Any = 'mccl_world_group') -> None: ...
class ReduceAll(_Primitive):
    """The operator ``ReduceAll``."""
    def __init__(self, keep_dims: Any = False) -> None: ...
class ReduceAny(_Primitive):
    """The operator ``ReduceAny``."""
    def __init__(self, keep_dims: Any = False) -> None: ...
class ReduceMax(_Primitive):
    """The operator ``ReduceMax``."""
    def __init__(self, keep_dims: Any = False) -> None: ...
class ReduceMean(_Primitive):
    """The operator ``ReduceMean``."""
    def __init__(self, keep_dims: Any = False) -> None: ...
class ReduceMin(_Primitive):
    """The operator ``ReduceMin``."""
    def __init__(self, keep_dims: Any = False) -> None: ...
class ReduceProd(_Primitive):
    """The operator ``ReduceProd``."""
    def __init__(self, keep_dims: Any = False) -> None: ...
class ReduceScatter(_Primitive):
    """This rank's part, along the first axis, of the tensors of all ranks, reduced."""
    def __init__(self, op: Any = 'sum', group: Any = 'mccl_world_group') -> None: ...
class ReduceScatterV(_Primitive):
    """This rank's elements, as many as ``input_split_sizes`` says, of the tensors of all ranks, reduced."""
    def __init__(self, op: Any = 'sum', group: Any = 'mccl_world_group') -> None: ...
class ReduceStd(_Primitive):
    """The operator ``ReduceStd``."""
    def __init__(self, axis: Any = ..., unbiased: Any = True, keep_dims: Any = False) -> None: ...
class ReduceSum(_Primitive):
    """The sum over ``axis``; with ``skip_mode`` no axes mean none, not all."""
    def __init__(self, keep_dims: Any = False, skip_mode: Any = False) -> None: ...
class Renorm(_Primitive):
    """The operator ``Renorm``."""
    def __init__(self, p: Any, dim: Any, maxnorm: Any) -> None: ...
class Reshape(_Primitive):
    """``input`` with the same elements in another ``shape``; one extent may be -1."""
    def __init__(self) -> None: ...
class ResizeBilinearV2(_Primitive):
    """Linear interpolation; without ``half_pixel_centers`` places are the upper left corners of pixels."""
    def __init__(self, align_corners: Any = False, half_pixel_centers: Any = False) -> None: ...
class ResizeLinear1D(_Primitive):
    """The last axis resized linearly."""
    def __init__(self, coordinate_transformation_mode: Any = 'align_corners') -> None: ...
class ResizeNearestNeighbor(_Primitive):
    """The operator ``ResizeNearestNeighbor``."""
    def __init__(self, size: Any, align_corners: Any = False, half_pixel_centers: Any = False) -> None: ...
class ResizeNearestNeighborV2(_Primitive):
    """The nearest element; with ``half_pixel_centers`` places are the middles of pixels."""
    def __init__(self, align_corners: Any = False, half_pixel_centers: Any = False) -> None: ...
class ReverseSequence(_Primitive):
    """The operator ``ReverseSequence``."""
    def __init__(self, seq_dim: Any, batch_dim: Any = 0) -> None: ...
class ReverseV2(_Primitive):
    """The operator ``ReverseV2``."""
    def __init__(self, axis: Any) -> None: ...
class RightShift(_Primitive):
    """``input >> other``."""
    def __init__(self) -> None: ...
class Rint(_Primitive):
    """Rounded to the nearest integer, halves to even."""
    def __init__(self) -> None: ...
class RmsNorm(_Primitive):
    """The operator ``RmsNorm``."""
    def __init__(self, epsilon: Any = 1e-06) -> None: ...
class Roll(_Primitive):
    """The operator ``Roll``."""
    def __init__(self, shifts: Any, dims: Any = None) -> None: ...
class Round(_Primitive):
    """Rounded to ``decimals`` places, halves to even."""
    def __init__(self) -> None: ...
class Rsqrt(_Primitive):
    """``1 / sqrt(x)``."""
    def __init__(self) -> None: ...
class SGD(_Primitive):
    """``accum = mu * accum + (1 - dampening) * grad``; ``var -= lr * accum`` (Nesterov: ``lr * (grad + mu * accum)``)."""
    def __init__(self, dampening: Any = 0.0, weight_decay: Any = 0.0, nesterov: Any = False) -> None: ...
class STFT(_Primitive):
    """The spectra of the frames of ``x``, weighted by a window of ``win_length``."""
    def __init__(self, n_fft: Any, hop_length: Any, win_length: Any, normalized: Any, onesided: Any, return_complex: Any) -> None: ...
class ScalarCast(_Primitive):
    """A number as Python's number of the kind of ``input_y``."""
    def __init__(self) -> None: ...
class ScalarToArray(_Primitive):
    """``x`` (tensor, number, list, tuple, ndarray) as a tensor, of ``dtype`` if given."""
    def __init__(self) -> None: ...
class ScalarToTensor(_Primitive):
    """A number as a 0-d tensor."""
    def __init__(self) -> None: ...
class ScatterAdd(_Primitive):
    """The operator ``ScatterAdd``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterAddWithAxis(_Primitive):
    """The operator ``ScatterAddWithAxis``."""
    def __init__(self, axis: Any = 0) -> None: ...
class ScatterDiv(_Primitive):
    """The operator ``ScatterDiv``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterMax(_Primitive):
    """The operator ``ScatterMax``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterMin(_Primitive):
    """The operator ``ScatterMin``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterMul(_Primitive):
    """The operator ``ScatterMul``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterNd(_Primitive):
    """Zeros of ``shape`` with ``updates`` added at the coordinates ``indices``."""
    def __init__(self) -> None: ...
class ScatterNdAdd(_Primitive):
    """The operator ``ScatterNdAdd``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterNdDiv(_Primitive):
    """The operator ``ScatterNdDiv``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterNdMax(_Primitive):
    """The operator ``ScatterNdMax``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterNdMin(_Primitive):
    """The operator ``ScatterNdMin``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterNdMul(_Primitive):
    """The operator ``ScatterNdMul``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterNdSub(_Primitive):
    """The operator ``ScatterNdSub``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterNdUpdate(_Primitive):
    """The operator ``ScatterNdUpdate``."""
    def __init__(self, use_locking: Any = True) -> None: ...
class ScatterSub(_Primitive):
    """The operator ``ScatterSub``."""
    def __init__(self, use_locking: Any = False) -> None: ...
class ScatterUpdate(_Primitive):
    """The operator ``ScatterUpdate``."""
    def __init__(self, use_locking: Any = True) -> None: ...
class SeLU(_Primitive):
    """The self-normalising ``scale * elu(input_x, alpha)`` with its two constants."""
    def __init__(self) -> None: ...
class SearchSorted(_Primitive):
    """The operator ``SearchSorted``."""
    def __init__(self, dtype: Any = ..., right: Any = False) -> None: ...
class SegmentMax(_Primitive):
    """The max of every run of equal ``ids``; these must be known when a graph is built."""
    def __init__(self) -> None: ...
class SegmentMean(_Primitive):
    """The mean of every run of equal ``ids``; these must be known when a graph is built."""
    def __init__(self) -> None: ...
class SegmentMin(_Primitive):
    """The min of every run of equal ``ids``; these must be known when a graph is built."""
    def __init__(self) -> None: ...
class SegmentProd(_Primitive):
    """The prod of every run of equal ``ids``; these must be known when a graph is built."""
    def __init__(self) -> None: ...
class SegmentSum(_Primitive):
    """The sum of every run of equal ``ids``; these must be known when a graph is built."""
    def __init__(self) -> None: ...
class Select(_Primitive):
    """As `where`; at least one of ``input`` and ``other`` is a tensor."""
    def __init__(self) -> None: ...
class Send(_Primitive):
    """A message for rank ``dest_rank``; gives the tensor back."""
    def __init__(self, sr_tag: Any, dest_rank: Any, group: Any = 'mccl_world_group', group_back: Any = 'mccl_world_group') -> None: ...
class Shape(_Primitive):
    """The shape, a tuple."""
    def __init__(self) -> None: ...
class SiLU(_Primitive):
    """``x * sigmoid(x)``."""
    def __init__(self) -> None: ...
class Sigmoid(_Primitive):
    """``1 / (1 + exp(-x))``."""
    def __init__(self) -> None: ...
class SigmoidCrossEntropyWithLogits(_Primitive):
    """Elementwise binary cross entropy of the sigmoid of ``logits`` (``ops.SigmoidCrossEntropyWithLogits``)."""
    def __init__(self) -> None: ...
class Sign(_Primitive):
    """-1, 0 or 1."""
    def __init__(self) -> None: ...
class Sin(_Primitive):
    """Sine."""
    def __init__(self) -> None: ...
class Sinc(_Primitive):
    """``sin(pi x) / (pi x)``, 1 at 0."""
    def __init__(self) -> None: ...
class Sinh(_Primitive):
    """Hyperbolic sine."""
    def __init__(self) -> None: ...
class Size(_Primitive):
    """The number of elements."""
    def __init__(self) -> None: ...
class Slice(_Primitive):
    """The block of ``size`` elements from ``begin``; -1 in ``size`` means up to the end."""
    def __init__(self) -> None: ...
class SmoothL1Loss(_Primitive):
    """The operator ``SmoothL1Loss``."""
    def __init__(self, beta: Any = 1.0, reduction: Any = 'none') -> None: ...
class SoftMarginLoss(_Primitive):
    """The operator ``SoftMarginLoss``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class SoftShrink(_Primitive):
    """The operator ``SoftShrink``."""
    def __init__(self, lambd: Any = 0.5) -> None: ...
class Softmax(_Primitive):
    """The operator ``Softmax``."""
    def __init__(self, axis: Any = -1) -> None: ...
class SoftmaxCrossEntropyWithLogits(_Primitive):
    """Cross entropy of every row, and its gradient with respect to the logits."""
    def __init__(self) -> None: ...
class Softplus(_Primitive):
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself above the threshold."""
    def __init__(self) -> None: ...
class Softsign(_Primitive):
    """``x / (1 + |x|)``."""
    def __init__(self) -> None: ...
class Sort(_Primitive):
    """The operator ``Sort``."""
    def __init__(self, axis: Any = -1, descending: Any = False) -> None: ...
class SpaceToBatch(_Primitive):
    """The operator ``SpaceToBatch``."""
    def __init__(self, block_size: Any, paddings: Any) -> None: ...
class SpaceToBatchND(_Primitive):
    """The operator ``SpaceToBatchND``."""
    def __init__(self, block_shape: Any, paddings: Any) -> None: ...
class SpaceToDepth(_Primitive):
    """The operator ``SpaceToDepth``."""
    def __init__(self, block_size: Any) -> None: ...
class SparseApplyAdadelta(_Primitive):
    """Steps in proportion to the root of past steps over the root of past gradients."""
    def __init__(self, epsilon: Any, use_locking: Any = False) -> None: ...
class SparseApplyAdagrad(_Primitive):
    """``accum += grad**2``; ``var -= lr * grad / (sqrt(accum) + eps)``."""
    def __init__(self, lr: Any, update_slots: Any = True, use_locking: Any = False) -> None: ...
class SparseApplyAdagradV2(_Primitive):
    """``accum += grad**2``; ``var -= lr * grad / (sqrt(accum) + eps)``."""
    def __init__(self, lr: Any, epsilon: Any, use_locking: Any = False, update_slots: Any = True) -> None: ...
class SparseApplyFtrl(_Primitive):
    """Follow the regularised leader."""
    def __init__(self, lr: Any, l1: Any, l2: Any, lr_power: Any, use_locking: Any = False) -> None: ...
class SparseApplyFtrlV2(_Primitive):
    """Follow the regularised leader."""
    def __init__(self, lr: Any, l1: Any, l2: Any, l2_shrinkage: Any, lr_power: Any, use_locking: Any = False) -> None: ...
class SparseApplyProximalAdagrad(_Primitive):
    """Adagrad, then shrinking."""
    def __init__(self, use_locking: Any = False) -> None: ...
class SparseApplyRMSProp(_Primitive):
    """Steps divided by the root of the running mean of squares; with ``mean``, of the variance."""
    def __init__(self, decay: Any, momentum: Any, epsilon: Any, use_locking: Any = False) -> None: ...
class SparseGatherV2(_Primitive):
    """The operator ``SparseGatherV2``."""
    def __init__(self) -> None: ...
class SparseSoftmaxCrossEntropyWithLogits(_Primitive):
    """Mean cross entropy with classes; with ``is_grad`` its gradient with respect to the logits."""
    def __init__(self, is_grad: Any = False) -> None: ...
class SparseToDense(_Primitive):
    """The operator ``SparseToDense``."""
    def __init__(self) -> None: ...
class Split(_Primitive):
    """The operator ``Split``."""
    def __init__(self, axis: Any = 0, output_num: Any = 1) -> None: ...
class SplitV(_Primitive):
    """The operator ``SplitV``."""
    def __init__(self, size_splits: Any, split_dim: Any, num_split: Any) -> None: ...
class Sqrt(_Primitive):
    """Square root."""
    def __init__(self) -> None: ...
class Square(_Primitive):
    """``x * x``."""
    def __init__(self) -> None: ...
class SquareSumAll(_Primitive):
    """Sums of squares of both tensors."""
    def __init__(self) -> None: ...
class SquaredDifference(_Primitive):
    """``(x - y)**2``."""
    def __init__(self) -> None: ...
class Squeeze(_Primitive):
    """The operator ``Squeeze``."""
    def __init__(self, axis: Any = ...) -> None: ...
class Stack(_Primitive):
    """The operator ``Stack``."""
    def __init__(self, axis: Any = 0) -> None: ...
class StandardLaplace(_Primitive):
    """The operator ``StandardLaplace``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
class StandardNormal(_Primitive):
    """The operator ``StandardNormal``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
class StopGradient(_Primitive):
    """``value`` as something that gradients do not flow through."""
    def __init__(self) -> None: ...
class StridedSlice(_Primitive):
    """The operator ``StridedSlice``."""
    def __init__(self, begin_mask: Any = 0, end_mask: Any = 0, ellipsis_mask: Any = 0, new_axis_mask: Any = 0, shrink_axis_mask: Any = 0) -> None: ...
class Sub(_Primitive):
    """``input - other``."""
    def __init__(self) -> None: ...
class Svd(_Primitive):
    """The operator ``Svd``."""
    def __init__(self, full_matrices: Any = False, compute_uv: Any = True) -> None: ...
class Tan(_Primitive):
    """Tangent."""
    def __init__(self) -> None: ...
class Tanh(_Primitive):
    """Hyperbolic tangent."""
    def __init__(self) -> None: ...
class TensorAdd(_Primitive):
    """``input + other``."""
    def __init__(self) -> None: ...
class TensorScatterAdd(_Primitive):
    """``input_x`` with ``updates`` combined (add) into the slices that ``indices`` name."""
    def __init__(self) -> None: ...
class TensorScatterDiv(_Primitive):
    """``input_x`` with ``updates`` combined (div) into the slices that ``indices`` name."""
    def __init__(self) -> None: ...
class TensorScatterElements(_Primitive):
    """The operator ``TensorScatterElements``."""
    def __init__(self, axis: Any = 0, reduction: Any = 'none') -> None: ...
class TensorScatterMax(_Primitive):
    """``input_x`` with ``updates`` combined (max) into the slices that ``indices`` name."""
    def __init__(self) -> None: ...
class TensorScatterMin(_Primitive):
    """``input_x`` with ``updates`` combined (min) into the slices that ``indices`` name."""
    def __init__(self) -> None: ...
class TensorScatterMul(_Primitive):
    """``input_x`` with ``updates`` combined (mul) into the slices that ``indices`` name."""
    def __init__(self) -> None: ...
class TensorScatterSub(_Primitive):
    """``input_x`` with ``updates`` combined (sub) into the slices that ``indices`` name."""
    def __init__(self) -> None: ...
class TensorScatterUpdate(_Primitive):
    """``input_x`` with ``updates`` combined (none) into the slices that ``indices`` name."""
    def __init__(self) -> None: ...
class TensorShape(_Primitive):
    """The shape as an int64 tensor."""
    def __init__(self) -> None: ...
class Tile(_Primitive):
    """Repeated ``dims[i]`` times along axis ``i``; ``multiples`` is its older name."""
    def __init__(self) -> None: ...
class TopK(_Primitive):
    """The operator ``TopK``."""
    def __init__(self, sorted: Any = True) -> None: ...
class Trace(_Primitive):
    """The sum of the main diagonal of a matrix."""
    def __init__(self) -> None: ...
class Transpose(_Primitive):
    """The axes in the order ``dims``; ``input_perm`` is its older name."""
    def __init__(self) -> None: ...
class TransposeView(_Primitive):
    """The axes in the order ``dims``; ``input_perm`` is its older name."""
    def __init__(self) -> None: ...
class TridiagonalMatMul(_Primitive):
    """The product of the matrix with three diagonals (..., 1, M) and ``x`` (..., M, N)."""
    def __init__(self) -> None: ...
class Tril(_Primitive):
    """The operator ``Tril``."""
    def __init__(self, diagonal: Any = 0) -> None: ...
class TrilIndices(_Primitive):
    """The operator ``TrilIndices``."""
    def __init__(self, row: Any, col: Any, offset: Any = 0, dtype: Any = ...) -> None: ...
class TripletMarginLoss(_Primitive):
    """The operator ``TripletMarginLoss``."""
    def __init__(self, p: Any = 2, swap: Any = False, eps: Any = 1e-06, reduction: Any = 'mean') -> None: ...
class Triu(_Primitive):
    """The operator ``Triu``."""
    def __init__(self, diagonal: Any = 0) -> None: ...
class TriuIndices(_Primitive):
    """The operator ``TriuIndices``."""
    def __init__(self, row: Any, col: Any, offset: Any = 0, dtype: Any = ...) -> None: ...
class Trunc(_Primitive):
    """Rounded towards zero."""
    def __init__(self) -> None: ...
class TruncateDiv(_Primitive):
    """Quotient rounded towards zero; keeps the dtype."""
    def __init__(self) -> None: ...
class TruncateMod(_Primitive):
    """Remainder with the sign of ``x``."""
    def __init__(self) -> None: ...
class TruncatedNormal(_Primitive):
    """The operator ``TruncatedNormal``."""
    def __init__(self, dtype: Any = ..., seed: Any = 0, seed2: Any = 0) -> None: ...
class TupleToArray(_Primitive):
    """A tuple of numbers as a tensor."""
    def __init__(self) -> None: ...
class UniformCandidateSampler(_Primitive):
    """The operator ``UniformCandidateSampler``."""
    def __init__(self, num_true: Any, num_sampled: Any, unique: Any, range_max: Any, seed: Any = 0, remove_accidental_hits: Any = False) -> None: ...
class UniformInt(_Primitive):
    """The operator ``UniformInt``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
class UniformReal(_Primitive):
    """The operator ``UniformReal``."""
    def __init__(self, seed: Any = 0, seed2: Any = 0) -> None: ...
class Unique(_Primitive):
    """The different elements in order of appearance, and for every element which one it is: int32, of int64 int64."""
    def __init__(self) -> None: ...
class UniqueConsecutive(_Primitive):
    """The operator ``UniqueConsecutive``."""
    def __init__(self, return_inverse: Any = False, return_counts: Any = False, dim: Any = None) -> None: ...
class Unpack(_Primitive):
    """The operator ``Unpack``."""
    def __init__(self, axis: Any = 0) -> None: ...
class UnravelIndex(_Primitive):
    """Coordinates of flat positions, one row per axis."""
    def __init__(self) -> None: ...
class UnsortedSegmentMax(_Primitive):
    """The max of the elements of every segment."""
    def __init__(self) -> None: ...
class UnsortedSegmentMin(_Primitive):
    """The min of the elements of every segment."""
    def __init__(self) -> None: ...
class UnsortedSegmentProd(_Primitive):
    """The prod of the elements of every segment."""
    def __init__(self) -> None: ...
class UnsortedSegmentSum(_Primitive):
    """The sum of the elements of every segment."""
    def __init__(self) -> None: ...
class Unstack(_Primitive):
    """The slices along ``axis``; ``num`` says how many there must be."""
    def __init__(self, axis: Any = 0, num: Any = None) -> None: ...
class UpperBound(_Primitive):
    """The operator ``UpperBound``."""
    def __init__(self, out_type: Any = ...) -> None: ...
class UpsampleNearest1D(_Primitive):
    """The operator ``UpsampleNearest1D``."""
    def __init__(self) -> None: ...
class UpsampleNearest2D(_Primitive):
    """The operator ``UpsampleNearest2D``."""
    def __init__(self) -> None: ...
class UpsampleNearest3D(_Primitive):
    """The operator ``UpsampleNearest3D``."""
    def __init__(self) -> None: ...
class UpsampleTrilinear3D(_Primitive):
    """The operator ``UpsampleTrilinear3D``."""
    def __init__(self, align_corners: Any = False) -> None: ...
class Xdivy(_Primitive):
    """``x / y``, 0 where ``x`` is 0."""
    def __init__(self) -> None: ...
class Xlogy(_Primitive):
    """``input * log(other)``, 0 where input is 0."""
    def __init__(self) -> None: ...
class Zeros(_Primitive):
    """Zeros; float32 by default."""
    def __init__(self) -> None: ...
class ZerosLike(_Primitive):
    """Zeros of the shape (and dtype) of ``input``."""
    def __init__(self) -> None: ...
class Zeta(_Primitive):
    """The Hurwitz zeta function ``sum over n >= 0 of (q + n)**-s``."""
    def __init__(self) -> None: ...
def abs(input: Any) -> Tensor:
    """``|x|``; real for complex numbers."""
def absolute(input: Any) -> Tensor:
    """As `abs`."""
def accumulate_n(x: Any) -> Tensor:
    """The sum of a list of tensors of one shape."""
def acos(input: Any) -> Tensor:
    """Inverse cosine."""
def acosh(input: Any) -> Tensor:
    """Inverse hyperbolic cosine."""
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean over nearly equal windows, ``output_size`` of them along the last axis."""
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean over nearly equal windows, ``output_size`` of them along each of the last 2 axes."""
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean over nearly equal windows, ``output_size`` of them along each of the last 3 axes."""
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The maximum over nearly equal windows, ``output_size`` of them along the last axis."""
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Tensor:
    """The maximum over nearly equal windows, ``output_size`` of them along each of the last 2 axes."""
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Tensor:
    """The maximum over nearly equal windows, ``output_size`` of them along each of the last 3 axes."""
def add(input: Any, other: Any) -> Tensor:
    """``input + other``."""
def all(input: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Whether all of ``input`` (bool) over ``axis`` hold."""
def amax(input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """Maximum over ``axis``; NaN propagates. Equal maxima share the gradient evenly."""
def amin(input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """Minimum over ``axis``; NaN propagates. Equal minima share the gradient evenly."""
def angle(input: Any) -> Tensor:
    """Argument of a complex number."""
def any(input: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Whether any of ``input`` (bool) over ``axis`` holds."""
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
def argwhere(input: Tensor, *, as_tuple: bool = False) -> Tensor:
    """Coordinates (N, rank) of the elements that are not 0; with ``as_tuple`` one vector per axis."""
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
def atleast_1d(inputs: Any) -> Tensor:
    """With at least 1 axis; a sequence gives a tuple."""
def atleast_2d(inputs: Any) -> Tensor:
    """With at least 2 axes; a sequence gives a tuple."""
def atleast_3d(inputs: Any) -> Tensor:
    """With at least 3 axes; a sequence gives a tuple."""
def avg_pool2d(input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int = 0) -> Tensor:
    """The mean of each window over 2 axes."""
def avg_pool3d(input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int = 0) -> Tensor:
    """The mean of each window over 3 axes."""
def bartlett_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """The Bartlett window; one place more, cut off, if it is ``periodic``."""
def bernoulli_(input: Tensor, *args: Any, generator: Any = None, **options: Any) -> Tensor:
    """Fills ``input`` in place. 1 with probability ``p`` (0.5), else 0."""
def bessel_i0(x: Any) -> Tensor:
    """Modified Bessel function of order 0."""
def bessel_i0e(x: Any) -> Tensor:
    """``exp(-|x|) bessel_i0(x)``."""
def bessel_i1(x: Any) -> Tensor:
    """Modified Bessel function, order 1."""
def bessel_i1e(x: Any) -> Tensor:
    """``exp(-|x|) bessel_i1(x)``."""
def bessel_j0(x: Any) -> Tensor:
    """Bessel function of order 0."""
def bessel_j1(x: Any) -> Tensor:
    """Bessel function of order 1."""
def bessel_k0(x: Any) -> Tensor:
    """Modified, second kind."""
def bessel_k0e(x: Any) -> Tensor:
    """``exp(x) bessel_k0(x)``."""
def bessel_k1(x: Any) -> Tensor:
    """Second kind, order 1."""
def bessel_k1e(x: Any) -> Tensor:
    """``exp(x) bessel_k1(x)``."""
def bessel_y0(x: Any) -> Tensor:
    """Neumann function of order 0."""
def bessel_y1(x: Any) -> Tensor:
    """Neumann function of order 1."""
def bitwise_and(input: Any, other: Any) -> Tensor:
    """``input & other``."""
def bitwise_left_shift(input: Any, other: Any) -> Tensor:
    """``input << other``."""
def bitwise_not(input: Any) -> Tensor:
    """``~x`` on integers and bool."""
def bitwise_or(input: Any, other: Any) -> Tensor:
    """``input | other``."""
def bitwise_right_shift(input: Any, other: Any) -> Tensor:
    """``input >> other``."""
def bitwise_xor(input: Any, other: Any) -> Tensor:
    """``input ^ other``."""
def blackman_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """The Blackman window; one place more, cut off, if it is ``periodic``."""
def bool_and(x: Any, y: Any) -> Any:
    """``x and y``, of Python values."""
def bool_eq(x: Any, y: Any) -> Any:
    """``x == y``, of Python values."""
def bool_not(x: Any) -> Any:
    """``not x``, of Python values."""
def bool_or(x: Any, y: Any) -> Any:
    """``x or y``, of Python values."""
def cat(tensors: Any, axis: Any = 0) -> Tensor:
    """The tensors one after the other along ``axis``; mixed dtypes are promoted."""
def ceil(input: Any) -> Tensor:
    """Rounded up."""
def celu(x: Any, alpha: Any = 1.0) -> Tensor:
    """``x`` above 0, ``alpha * (exp(x / alpha) - 1)`` below."""
def clip(input: Any, min: Any = None, max: Any = None) -> Any:
    """Every element limited to ``min`` .. ``max``; tensors, or a list or tuple of them."""
def conj(input: Any) -> Tensor:
    """Complex conjugate."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, pad_mode: str = 'valid', padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolution over 1 axes: input (N, C, *size), weight (O, C / groups, *kernel)."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, pad_mode: str = 'valid', padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolution over 2 axes: input (N, C, *size), weight (O, C / groups, *kernel)."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, pad_mode: str = 'valid', padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolution over 3 axes: input (N, C, *size), weight (O, C / groups, *kernel)."""
def cos(input: Any) -> Tensor:
    """Cosine."""
def cosh(input: Any) -> Tensor:
    """Hyperbolic cosine."""
def deepcopy(input_x: Any) -> Tensor:
    """A copy with a storage of its own."""
def deg2rad(x: Any) -> Tensor:
    """Degrees as radians."""
def dict_getitem(x: Any, y: Any) -> Any:
    """``x[y]``, of Python values."""
def diff_ext(input: Any, n: Any = 1, dim: Any = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """As `diff`."""
def digamma(input: Any) -> Tensor:
    """Derivative of ``lgamma``."""
def div_no_nan(x: Any, y: Any) -> Tensor:
    """``x / y``, 0 where ``y`` is 0."""
def divide(input: Any, other: Any, *, rounding_mode: Any = None) -> Tensor:
    """``input / other``; integers give float32."""
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Whole channels set to 0 with probability ``p``."""
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Whole channels set to 0 with probability ``p``."""
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Whole channels set to 0 with probability ``p``."""
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` along the third axis."""
def elu(input_x: Any, alpha: Any = 1.0) -> Tensor:
    """``x`` above 0, ``alpha * (exp(x) - 1)`` below."""
def eq(input: Any, other: Any) -> Tensor:
    """As `equal`."""
def equal(input: Any, other: Any) -> Tensor:
    """Whether equal; NaN equals nothing."""
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
def expand(input_x: Any, size: Any) -> Tensor:
    """Repeated along new axes and axes of size 1 up to ``size``; -1 keeps an extent."""
def expm1(input: Any) -> Tensor:
    """``e**x - 1``, accurate near 0."""
def exponential_(input: Tensor, *args: Any, generator: Any = None, **options: Any) -> Tensor:
    """Fills ``input`` in place. Exponential, of rate ``lambd`` (1)."""
def fast_gelu(x: Any) -> Tensor:
    """``x * sigmoid(1.702 * x)``."""
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform along one axis, cut or padded to ``n``."""
def fft2(input: Tensor, s: Any = None, dim: Any = ..., norm: str | None = None) -> Tensor:
    """The transform over several axes."""
def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """The frequencies of the places of a spectrum, as `fft` gives it."""
def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The transform over several axes."""
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The spectrum with frequency 0 in the middle."""
def fliplr(input: Any) -> Tensor:
    """``input`` with its columns in reverse order."""
def flipud(input: Any) -> Tensor:
    """``input`` with its rows in reverse order."""
def float_power(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent`` in float64."""
def floor(input: Any) -> Tensor:
    """Rounded down."""
def floor_div(x: Any, y: Any) -> Tensor:
    """``floor(x / y)``."""
def floor_divide(input: Any, other: Any) -> Tensor:
    """As `floor_div`."""
def floor_mod(x: Any, y: Any) -> Tensor:
    """Remainder with the sign of ``y``."""
def floordiv(input: Any, other: Any) -> Tensor:
    """As `floor_div`."""
def floormod(x: Any, y: Any) -> Tensor:
    """As `floor_mod`."""
def fmax(input: Any, other: Any) -> Tensor:
    """The larger of both; the other one if one is NaN."""
def fmin(input: Any, other: Any) -> Tensor:
    """The smaller of both; the other one if one is NaN."""
def fmod(input: Any, other: Any) -> Tensor:
    """Remainder with the sign of ``input``."""
def frac(x: Any) -> Tensor:
    """The part after the point."""
def fractional_max_pool2d(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False, _random_samples: Tensor | None = None) -> Tensor:
    """The maximum over windows at pseudo-random places, one window per result place."""
def fractional_max_pool3d(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False, _random_samples: Tensor | None = None) -> Tensor:
    """The maximum over windows at pseudo-random places, one window per result place."""
def gather_d(x: Any, dim: Any, index: Any) -> Tensor:
    """One index along ``dim`` per result element."""
def gcd(input: Any, other: Any) -> Tensor:
    """Greatest common divisor."""
def ge(input: Any, other: Any) -> Tensor:
    """As `greater_equal`."""
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Products of every element of one vector with every element of another."""
def glu(x: Any, axis: Any = -1) -> Tensor:
    """The first half along ``axis`` times the sigmoid of the second half."""
def greater(input: Any, other: Any) -> Tensor:
    """``input > other``."""
def greater_equal(input: Any, other: Any) -> Tensor:
    """``input >= other``."""
def gt(input: Any, other: Any) -> Tensor:
    """As `greater`."""
def hann_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """The Hann window; one place more, cut off, if it is ``periodic``."""
def hardshrink(input: Any, lambd: Any = 0.5) -> Tensor:
    """0 in the interval from ``-lambd`` to ``lambd``, ``x`` outside."""
def hardsigmoid(input: Any) -> Tensor:
    """``(x + 3) / 6`` limited to the interval from 0 to 1; flat at its ends."""
def hardswish(input: Any) -> Tensor:
    """``x * hardsigmoid(x)``, with the slopes of the inner part at -3 and 3."""
def hfft2(input: Tensor, s: Any = None, dim: Any = ..., norm: str | None = None) -> Tensor:
    """As NumPy's hfftn over the axes ``dim``."""
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """As NumPy's hfftn over the axes ``dim``."""
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` along the second axis, of vectors along the first."""
def hypot(input: Any, other: Any) -> Tensor:
    """``sqrt(input**2 + other**2)``."""
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`."""
def ifft2(input: Tensor, s: Any = None, dim: Any = ..., norm: str | None = None) -> Tensor:
    """The inverse transform over several axes."""
def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse transform over several axes."""
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
def igamma(input: Any, other: Any) -> Tensor:
    """The regularised lower incomplete gamma function."""
def igammac(input: Any, other: Any) -> Tensor:
    """The regularised upper incomplete gamma function."""
def ihfft2(input: Tensor, s: Any = None, dim: Any = ..., norm: str | None = None) -> Tensor:
    """As NumPy's ihfftn over the axes ``dim``."""
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """As NumPy's ihfftn over the axes ``dim``."""
def imag(input: Any) -> Tensor:
    """Imaginary part."""
def in_dict(x: Any, y: Any) -> Any:
    """``x in y``, of Python values."""
def inv(x: Any) -> Tensor:
    """``1 / x``."""
def invert(x: Any) -> Tensor:
    """``~x`` on integers."""
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real signal of ``n`` (default: even) places whose spectrum begins with ``x``."""
def irfft2(input: Tensor, s: Any = None, dim: Any = ..., norm: str | None = None) -> Tensor:
    """As NumPy's irfftn over the axes ``dim``."""
def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """As NumPy's irfftn over the axes ``dim``."""
def is_(x: Any, y: Any) -> Any:
    """``x is y``, of Python values."""
def is_not(x: Any, y: Any) -> Any:
    """``x is not y``, of Python values."""
def isfinite(input: Any) -> Tensor:
    """Whether neither infinite nor NaN."""
def isinf(input: Any) -> Tensor:
    """Whether infinite."""
def isnan(input: Any) -> Tensor:
    """Whether NaN."""
def isnan_ext(input: Any) -> Tensor:
    """Whether NaN."""
def l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """Absolute difference."""
def lcm(input: Any, other: Any) -> Tensor:
    """Least common multiple."""
def le(input: Any, other: Any) -> Tensor:
    """As `less_equal`."""
def leaky_relu(input: Any, alpha: Any = 0.2) -> Tensor:
    """``x`` above 0, ``alpha * x`` below."""
def less(input: Any, other: Any) -> Tensor:
    """``input < other``."""
def less_equal(input: Any, other: Any) -> Tensor:
    """``input <= other``."""
def lgamma(input: Any) -> Tensor:
    """Logarithm of the absolute gamma function."""
def list_getitem(x: Any, y: Any) -> Any:
    """``x[y]``, of Python values."""
list_len: Any
def log(input: Any) -> Tensor:
    """Natural logarithm."""
def log10(input: Any) -> Tensor:
    """Base 10."""
def log1p(input: Any) -> Tensor:
    """``log(1 + x)``, accurate near 0."""
def log2(input: Any) -> Tensor:
    """Base 2."""
def log_matrix_determinant(input: Tensor) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the absolute value of the determinant."""
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
def logsigmoid(x: Any) -> Tensor:
    """``log(sigmoid(x))`` without overflow."""
def lp_pool1d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window."""
def lp_pool2d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window."""
def lt(input: Any, other: Any) -> Tensor:
    """As `less`."""
def make_list(*args: Any) -> Any:
    """The arguments as a list, of Python values."""
make_range: builtins.type
make_slice: builtins.type
def make_tuple(*args: Any) -> Any:
    """The arguments as a tuple, of Python values."""
def matrix_determinant(input: Tensor) -> Tensor:
    """The determinant of every matrix."""
def max(input: Tensor, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> tuple[Tensor, Tensor]:
    """The maximum along ``axis`` and its index: a pair of tensors."""
def max_unpool1d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back at the flat positions that maximum pooling gave."""
def max_unpool2d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back at the flat positions that maximum pooling gave."""
def max_unpool3d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back at the flat positions that maximum pooling gave."""
def maximum(input: Any, other: Any) -> Tensor:
    """The larger of both; NaN if one is NaN."""
def min(input: Tensor, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> tuple[Tensor, Tensor]:
    """The minimum along ``axis`` and its index: a pair of tensors."""
def minimum(input: Any, other: Any) -> Tensor:
    """The smaller of both; NaN if one is NaN."""
def mish(x: Any) -> Tensor:
    """``x * tanh(softplus(x))``."""
def mod(x: Any, y: Any) -> Tensor:
    """As `floor_mod`."""
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """The axes ``source`` at the places ``destination``."""
def mse_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """Squared difference."""
def mse_loss_ext(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """Squared difference."""
def mul(input: Any, other: Any) -> Tensor:
    """``input * other``."""
def mul_no_nan(x: Any, y: Any) -> Tensor:
    """``x * y``, 0 where ``y`` is 0."""
def multiply(input: Any, other: Any) -> Tensor:
    """As `mul`."""
def ne(input: Any, other: Any) -> Tensor:
    """As `not_equal`."""
def neg(input: Any) -> Tensor:
    """``-x``."""
def negative(input: Any) -> Tensor:
    """``-x``."""
def nextafter(input: Any, other: Any) -> Tensor:
    """The next number towards other."""
def normal_(input: Tensor, *args: Any, generator: Any = None, **options: Any) -> Tensor:
    """Fills ``input`` in place. Normal, with ``mean`` (0) and ``std`` (1)."""
def not_equal(input: Any, other: Any) -> Tensor:
    """Whether different."""
def not_in_dict(x: Any, y: Any) -> Any:
    """``x not in y``, of Python values."""
def positive(input: Any) -> Tensor:
    """``x`` itself."""
def pow(input: Any, exponent: Any) -> Tensor:
    """``input ** exponent``."""
def pows(input: Any, exponent: Any) -> Tensor:
    """As `pow`."""
def rad2deg(x: Any) -> Tensor:
    """Radians as degrees."""
def random_(input: Tensor, *args: Any, generator: Any = None, **options: Any) -> Tensor:
    """Fills ``input`` in place. Integers drawn evenly from ``from_`` (0) to below ``to`` (all that the dtype holds exactly)."""
def real(input: Any) -> Tensor:
    """Real part."""
def reciprocal(input: Any) -> Tensor:
    """``1 / x``."""
def reduce_max(x: Tensor, axis: Any = ...) -> Tensor:
    """Maximum over ``axis``; NaN propagates. Equal maxima share the gradient evenly."""
def reduce_mean(x: Tensor, axis: Any = ...) -> Tensor:
    """The mean over ``axis`` (default: all axes); integers stay, truncated."""
def reduce_min(x: Tensor, axis: Any = ...) -> Tensor:
    """Minimum over ``axis``; NaN propagates. Equal minima share the gradient evenly."""
def reduce_sum(x: Tensor, axis: Any = ...) -> Tensor:
    """The sum over ``axis``; keeps the dtype (``ops.ReduceSum``)."""
def relu6(x: Any) -> Tensor:
    """``min(max(x, 0), 6)``; the slope at 6 is 1."""
def remainder(input: Any, other: Any) -> Tensor:
    """Remainder with the sign of ``other``."""
def reverse(x: Any, axis: Any) -> Tensor:
    """Reversed along ``axis``."""
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first half of the spectrum of real ``x`` along ``axis``."""
def rfft2(input: Tensor, s: Any = None, dim: Any = ..., norm: str | None = None) -> Tensor:
    """As NumPy's rfftn over the axes ``dim``."""
def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """The frequencies of the places of a spectrum, as `rfft` gives it."""
def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """As NumPy's rfftn over the axes ``dim``."""
def rint(input: Any) -> Tensor:
    """Rounded to the nearest integer, halves to even."""
def row_stack(tensors: Any) -> Tensor:
    """Joined along the first axis; vectors become rows."""
def rsqrt(input: Any) -> Tensor:
    """``1 / sqrt(x)``."""
def scalar_add(x: Any, y: Any) -> Any:
    """``x + y``, of Python values."""
def scalar_div(x: Any, y: Any) -> Any:
    """``x / y``, of Python values."""
def scalar_eq(x: Any, y: Any) -> Any:
    """``x == y``, of Python values."""
def scalar_floordiv(x: Any, y: Any) -> Any:
    """``x // y``, of Python values."""
def scalar_ge(x: Any, y: Any) -> Any:
    """``x >= y``, of Python values."""
def scalar_gt(x: Any, y: Any) -> Any:
    """``x > y``, of Python values."""
def scalar_le(x: Any, y: Any) -> Any:
    """``x <= y``, of Python values."""
scalar_log: Any
def scalar_lt(x: Any, y: Any) -> Any:
    """``x < y``, of Python values."""
def scalar_max(x: Any, y: Any) -> Any:
    """The larger one, of Python values."""
def scalar_min(x: Any, y: Any) -> Any:
    """The smaller one, of Python values."""
def scalar_mod(x: Any, y: Any) -> Any:
    """``x % y``, of Python values."""
def scalar_mul(x: Any, y: Any) -> Any:
    """``x * y``, of Python values."""
def scalar_ne(x: Any, y: Any) -> Any:
    """``x != y``, of Python values."""
def scalar_pow(x: Any, y: Any) -> Any:
    """``x ** y``, of Python values."""
def scalar_sub(x: Any, y: Any) -> Any:
    """``x - y``, of Python values."""
def scalar_to_array(x: Any, dtype: _DType | None = None, op: str = 'as_tensor') -> Tensor:
    """``x`` (tensor, number, list, tuple, ndarray) as a tensor, of ``dtype`` if given."""
def scalar_uadd(x: Any) -> Any:
    """``+x``, of Python values."""
def scalar_usub(x: Any) -> Any:
    """``-x``, of Python values."""
def scatter_add(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (add) into ``input_x`` in place and gives its contents."""
def scatter_div(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (div) into ``input_x`` in place and gives its contents."""
def scatter_max(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (max) into ``input_x`` in place and gives its contents."""
def scatter_min(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (min) into ``input_x`` in place and gives its contents."""
def scatter_mul(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (mul) into ``input_x`` in place and gives its contents."""
def scatter_nd_add(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (add) into ``input_x`` in place and gives its contents."""
def scatter_nd_div(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (div) into ``input_x`` in place and gives its contents."""
def scatter_nd_max(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (max) into ``input_x`` in place and gives its contents."""
def scatter_nd_min(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (min) into ``input_x`` in place and gives its contents."""
def scatter_nd_mul(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (mul) into ``input_x`` in place and gives its contents."""
def scatter_nd_sub(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (sub) into ``input_x`` in place and gives its contents."""
def scatter_nd_update(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (update) into ``input_x`` in place and gives its contents."""
def scatter_sub(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (sub) into ``input_x`` in place and gives its contents."""
def scatter_update(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
    """Writes ``updates`` (update) into ``input_x`` in place and gives its contents."""
def selu(input_x: Any) -> Tensor:
    """The self-normalising ``scale * elu(input_x, alpha)`` with its two constants."""
def sgn(input: Any) -> Tensor:
    """-1, 0 or 1; ``x / |x|`` for complex numbers."""
def shape_(input_x: Tensor) -> tuple[Any, ...]:
    """The shape, a tuple."""
def sigmoid(input: Any) -> Tensor:
    """``1 / (1 + exp(-x))``."""
def sign(input: Any) -> Tensor:
    """-1, 0 or 1."""
def silu(input: Any) -> Tensor:
    """``x * sigmoid(x)``."""
def sin(input: Any) -> Tensor:
    """Sine."""
def sinh(input: Any) -> Tensor:
    """Hyperbolic sine."""
def soft_shrink(input: Any, lambd: Any = 0.5) -> Tensor:
    """``x`` moved towards 0 by ``lambd``, 0 where it would cross."""
def softshrink(input: Any, lambd: Any = 0.5) -> Tensor:
    """``x`` moved towards 0 by ``lambd``, 0 where it would cross."""
def softsign(x: Any) -> Tensor:
    """``x / (1 + |x|)``."""
def sqrt(x: Any) -> Tensor:
    """Square root."""
def square(input: Any) -> Tensor:
    """``x * x``."""
def squared_difference(x: Any, y: Any) -> Tensor:
    """``(x - y)**2``."""
def string_concat(x: Any, y: Any) -> Any:
    """``x + y``, of Python values."""
def string_eq(x: Any, y: Any) -> Any:
    """``x == y``, of Python values."""
def sub(input: Any, other: Any) -> Tensor:
    """``input - other``."""
def swapdims(input: Any, dim0: Any, dim1: Any) -> Tensor:
    """Two axes exchanged."""
def tail(x: Any) -> Any:
    """All items but the first, of Python values."""
def tan(input: Any) -> Tensor:
    """Tangent."""
def tanh(input: Any) -> Tensor:
    """Hyperbolic tangent."""
def tanhshrink(input: Any) -> Tensor:
    """``x - tanh(x)``."""
def tensor_add(input: Any, other: Any) -> Tensor:
    """As `add`."""
def tensor_div(x: Any, y: Any) -> Tensor:
    """``x / y``."""
def tensor_floordiv(input: Any, other: Any) -> Tensor:
    """As `floor_div`."""
def tensor_ge(input: Any, other: Any) -> Tensor:
    """As `greater_equal`."""
def tensor_gt(input: Any, other: Any) -> Tensor:
    """As `greater`."""
def tensor_le(input: Any, other: Any) -> Tensor:
    """As `less_equal`."""
def tensor_lt(input: Any, other: Any) -> Tensor:
    """As `less`."""
def tensor_mod(x: Any, y: Any) -> Tensor:
    """As `floor_mod`."""
def tensor_mul(input: Any, other: Any) -> Tensor:
    """As `mul`."""
def tensor_pow(input: Any, exponent: Any) -> Tensor:
    """As `pow`."""
def tensor_range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """As `arange`; at most ``maxlen`` numbers."""
def tensor_scatter_add(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` combined (add) into the slices that ``indices`` name."""
def tensor_scatter_div(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` combined (div) into the slices that ``indices`` name."""
def tensor_scatter_max(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` combined (max) into the slices that ``indices`` name."""
def tensor_scatter_min(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` combined (min) into the slices that ``indices`` name."""
def tensor_scatter_mul(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` combined (mul) into the slices that ``indices`` name."""
def tensor_scatter_sub(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` combined (sub) into the slices that ``indices`` name."""
def tensor_scatter_update(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """``input_x`` with ``updates`` combined (none) into the slices that ``indices`` name."""
def tensor_slice(input_x: Tensor, begin: Any, size: Any) -> Tensor:
    """The block of ``size`` elements from ``begin``; -1 in ``size`` means up to the end."""
def tensor_sub(input: Any, other: Any) -> Tensor:
    """As `sub`."""
def top_k(input_x: Any, k: Any, sorted: Any = True) -> Any:
    """The ``k`` greatest elements along the last axis, and their places."""
def trunc(input: Any) -> Tensor:
    """Rounded towards zero."""
def truncate_div(x: Any, y: Any) -> Tensor:
    """Quotient rounded towards zero; keeps the dtype."""
def truncate_mod(x: Any, y: Any) -> Tensor:
    """Remainder with the sign of ``x``."""
def tuple_getitem(x: Any, y: Any) -> Any:
    """``x[y]``, of Python values."""
tuple_len: Any
def tuple_reversed(x: Any) -> Any:
    """The items in reverse order, of Python values."""
def unbind(input: Any, dim: Any = 0) -> Any:
    """The slices along ``dim``, without that axis."""
def uniform_(input: Tensor, *args: Any, generator: Any = None, **options: Any) -> Tensor:
    """Fills ``input`` in place. Drawn evenly from ``from_`` (0) to ``to`` (1)."""
def unsorted_segment_max(x: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """The max of the elements of every segment."""
def unsorted_segment_min(x: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """The min of the elements of every segment."""
def unsorted_segment_prod(x: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    """The prod of the elements of every segment."""
def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """The sum of the elements of every segment."""
def unsqueeze(input: Any, dim: Any) -> Tensor:
    """With a new axis of size 1 at position ``dim``."""
def upsample(input: Any, size: Any = None, scale_factor: Any = None, mode: Any = 'nearest', align_corners: Any = None, recompute_scale_factor: Any = None) -> Tensor:
    """``input`` (N, C, *extents) resized to ``size``, or by ``scale_factor``."""
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` along the first axis."""
def xdivy(x: Any, y: Any) -> Tensor:
    """``x / y``, 0 where ``x`` is 0."""
def xlogy(input: Any, other: Any) -> Tensor:
    """``input * log(other)``, 0 where input is 0."""
def zeta(input: Any, other: Any) -> Tensor:
    """The Hurwitz zeta function ``sum over n >= 0 of (q + n)**-s``."""
IN_FRONT: Any
_OWN: Any
public_tables: Any
_PublicModules: Any
