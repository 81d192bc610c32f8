# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType

from duograph import common as common
from duograph import context as context
from duograph import dataset as dataset
from duograph import debug as debug
from duograph import experimental as experimental
from duograph import log as log
from duograph import mint as mint
from duograph import nn as nn
from duograph import numpy as numpy
from duograph import ops as ops
from duograph import passes as passes
from duograph import scipy as scipy
from duograph import train as train
from duograph.api.functional.sparse import COOTensor as COOTensor
from duograph.api.functional.sparse import CSRTensor as CSRTensor
from duograph.api.functional.sparse import RowTensor as RowTensor
from duograph.api.tensor_python import from_dlpack as from_dlpack
from duograph.api.tensor_python import from_numpy as from_numpy
from duograph.api.tensor_python import frombuffer as frombuffer
from duograph.api.tensor_python import is_tensor as is_tensor
from duograph.api.tensor_python import tensor as tensor
from duograph.api.tensor_python import to_dlpack as to_dlpack
from duograph.autodiff.grads import get_grad as get_grad
from duograph.autodiff.grads import grad as grad
from duograph.autodiff.grads import value_and_grad as value_and_grad
from duograph.autodiff.jets import linearize as linearize
from duograph.autodiff.modes import no_grad as no_grad
from duograph.autodiff.transforms import jacfwd as jacfwd
from duograph.autodiff.transforms import jacrev as jacrev
from duograph.autodiff.transforms import jvp as jvp
from duograph.autodiff.transforms import vjp as vjp
from duograph.autodiff.vmap import vmap as vmap
from duograph.common.generator import get_rng_state as get_rng_state
from duograph.common.generator import get_seed as get_seed
from duograph.common.generator import initial_seed as initial_seed
from duograph.common.generator import seed as seed
from duograph.common.generator import set_rng_state as set_rng_state
from duograph.common.generator import set_seed as set_seed
from duograph.common.hooks import lazy_inline as lazy_inline
from duograph.common.hooks import no_inline as no_inline
from duograph.common.hooks import recompute as recompute
from duograph.common.mutable import mutable as mutable
from duograph.compat.alias import install_as_mindspore as install_as_mindspore
from duograph.compat.run_check import run_check as run_check
from duograph.context import get_context as get_context
from duograph.context import get_current_device as get_current_device
from duograph.context import jit_config as jit_config
from duograph.context import set_context as set_context
from duograph.context import set_deterministic as set_deterministic
from duograph.context import set_device as set_device
from duograph.context import set_recursion_limit as set_recursion_limit
from duograph.context.jit_config import JitConfig as JitConfig
from duograph.context.parallel import get_auto_parallel_context as get_auto_parallel_context
from duograph.context.parallel import get_ps_context as get_ps_context
from duograph.context.parallel import reset_auto_parallel_context as reset_auto_parallel_context
from duograph.context.parallel import reset_ps_context as reset_ps_context
from duograph.context.parallel import set_auto_parallel_context as set_auto_parallel_context
from duograph.context.parallel import set_ps_context as set_ps_context
from duograph.context.settings import ParallelMode as ParallelMode
from duograph.core import dtype as dtype
from duograph.core.dtype import BFloat as _BFloat
from duograph.core.dtype import Bool as _Bool
from duograph.core.dtype import Complex as _Complex
from duograph.core.dtype import Float as _Float
from duograph.core.dtype import Int as Int
from duograph.core.dtype import Int as _Int
from duograph.core.dtype import TensorType as TensorType
from duograph.core.dtype import TensorType as _TensorType
from duograph.core.dtype import Type as Type
from duograph.core.dtype import TypeClass as _TypeClass
from duograph.core.dtype import UInt as _UInt
from duograph.core.dtype import dtype_to_nptype as dtype_to_nptype
from duograph.core.dtype import dtype_to_pytype as dtype_to_pytype
from duograph.core.dtype import get_py_obj_dtype as get_py_obj_dtype
from duograph.core.dtype import pytype_to_dtype as pytype_to_dtype
from duograph.dataset import mindrecord as mindrecord
from duograph.device import communication as communication
from duograph.device import hal as hal
from duograph.device import hal as runtime
from duograph.device import parallel as parallel
from duograph.device.hal import Event as Event
from duograph.device.hal import Stream as Stream
from duograph.device.hal import StreamCtx as StreamCtx
from duograph.device.hal import communication_stream as communication_stream
from duograph.device.hal import current_stream as current_stream
from duograph.device.hal import default_stream as default_stream
from duograph.device.hal import dispatch_threads_num as dispatch_threads_num
from duograph.device.hal import empty_cache as empty_cache
from duograph.device.hal import launch_blocking as launch_blocking
from duograph.device.hal import set_cpu_affinity as set_cpu_affinity
from duograph.device.hal import set_cur_stream as set_cur_stream
from duograph.device.hal import synchronize as synchronize
from duograph.device.parallel import Layout as Layout
from duograph.device.parallel import get_algo_parameters as get_algo_parameters
from duograph.device.parallel import reset_algo_parameters as reset_algo_parameters
from duograph.device.parallel import set_algo_parameters as set_algo_parameters
from duograph.device.parallel import shard as shard
from duograph.device.profiler import Profiler as Profiler
from duograph.jit.decorator import jit as jit
from duograph.jit.decorator import jit as ms_function
from duograph.jit.extras import Symbol as Symbol
from duograph.jit.extras import constexpr as constexpr
from duograph.jit.extras import enable_dynamic as enable_dynamic
from duograph.jit.extras import jit_class as jit_class
from duograph.jit.extras import jit_class as ms_class
from duograph.jit.extras import mark_dynamic as mark_dynamic
from duograph.log import get_level as get_level
from duograph.log import get_log_config as get_log_config
from duograph.nn.summary import summary as summary
from duograph.profiling.recorder import profile as profile
from duograph.tensor.numerics import check_numerics as check_numerics
from duograph.tensor.parameter import Parameter as Parameter
from duograph.tensor.parameter import ParameterTuple as ParameterTuple
from duograph.tensor.random import Generator as Generator
from duograph.tensor.random import default_generator as default_generator
from duograph.tensor.random import manual_seed as manual_seed
from duograph.tensor.tensor import Tensor as Tensor
from duograph.train import amp as amp
from duograph.train import onnx as onnx
from duograph.train import profiling as profiler
from duograph.train.amp import build_train_network as build_train_network
from duograph.train.callback.base import Callback as Callback
from duograph.train.callback.base import LambdaCallback as LambdaCallback
from duograph.train.callback.base import RunContext as RunContext
from duograph.train.callback.checkpoint import CheckpointConfig as CheckpointConfig
from duograph.train.callback.checkpoint import ModelCheckpoint as ModelCheckpoint
from duograph.train.callback.monitors import EarlyStopping as EarlyStopping
from duograph.train.callback.monitors import History as History
from duograph.train.callback.monitors import LearningRateScheduler as LearningRateScheduler
from duograph.train.callback.monitors import LossMonitor as LossMonitor
from duograph.train.callback.monitors import ReduceLROnPlateau as ReduceLROnPlateau
from duograph.train.callback.monitors import TimeMonitor as TimeMonitor
from duograph.train.callback.records import OnRequestExit as OnRequestExit
from duograph.train.callback.records import SummaryCollector as SummaryCollector
from duograph.train.callback.records import SummaryRecord as SummaryRecord
from duograph.train.dataset_helper import DatasetHelper as DatasetHelper
from duograph.train.dataset_helper import connect_network_with_dataset as connect_network_with_dataset
from duograph.train.dataset_helper import data_sink as data_sink
from duograph.train.loss_scale_manager import DynamicLossScaleManager as DynamicLossScaleManager
from duograph.train.loss_scale_manager import FixedLossScaleManager as FixedLossScaleManager
from duograph.train.loss_scale_manager import LossScaleManager as LossScaleManager
from duograph.train.metrics import get_metric_fn as get_metric_fn
from duograph.train.metrics import names as names
from duograph.train.metrics.basic import Accuracy as Accuracy
from duograph.train.metrics.basic import Loss as Loss
from duograph.train.metrics.basic import MAE as MAE
from duograph.train.metrics.basic import MSE as MSE
from duograph.train.metrics.basic import Metric as Metric
from duograph.train.metrics.basic import Top1CategoricalAccuracy as Top1CategoricalAccuracy
from duograph.train.metrics.basic import Top5CategoricalAccuracy as Top5CategoricalAccuracy
from duograph.train.metrics.basic import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from duograph.train.metrics.confusion import ConfusionMatrix as ConfusionMatrix
from duograph.train.metrics.confusion import ConfusionMatrixMetric as ConfusionMatrixMetric
from duograph.train.metrics.confusion import ROC as ROC
from duograph.train.metrics.confusion import auc as auc
from duograph.train.metrics.distances import BleuScore as BleuScore
from duograph.train.metrics.distances import CosineSimilarity as CosineSimilarity
from duograph.train.metrics.distances import Dice as Dice
from duograph.train.metrics.scores import F1 as F1
from duograph.train.metrics.scores import Fbeta as Fbeta
from duograph.train.metrics.scores import Perplexity as Perplexity
from duograph.train.metrics.scores import Precision as Precision
from duograph.train.metrics.scores import Recall as Recall
from duograph.train.mindir import export as export
from duograph.train.mindir import load as load
from duograph.train.model import Model as Model
from duograph.train.serialization import async_ckpt_thread_status as async_ckpt_thread_status
from duograph.train.serialization import ckpt_to_safetensors as ckpt_to_safetensors
from duograph.train.serialization import load_checkpoint as load_checkpoint
from duograph.train.serialization import load_checkpoint_async as load_checkpoint_async
from duograph.train.serialization import load_param_into_net as load_param_into_net
from duograph.train.serialization import safetensors_to_ckpt as safetensors_to_ckpt
from duograph.train.serialization import save_checkpoint as save_checkpoint

__version__: builtins.str
bool: _Bool
float: _Float
int: _Int
bool_: _Bool
int8: _Int
int16: _Int
int32: _Int
int64: _Int
uint8: _UInt
uint16: _UInt
uint32: _UInt
uint64: _UInt
float16: _Float
bfloat16: _BFloat
float32: _Float
float64: _Float
complex64: _Complex
complex128: _Complex
float8_e4m3fn: _Float
float8_e5m2: _Float
byte: _Int
short: _Int
intc: _Int
long: _Int
intp: _Int
ubyte: _UInt
ushort: _UInt
uintc: _UInt
uintp: _UInt
half: _Float
single: _Float
double: _Float
cfloat: _Complex
cdouble: _Complex
number: _TypeClass
int_: _TypeClass
uint: _TypeClass
float_: _TypeClass
string: _TypeClass
list_: _TypeClass
tuple_: _TypeClass
type_none: _TypeClass
tensor_type: _TensorType
GRAPH_MODE: builtins.int
PYNATIVE_MODE: builtins.int
STRICT: builtins.int
COMPATIBLE: builtins.int
LAX: builtins.int
HOMES: Any
PATHS: Any
MODULES: Any
IN_FRONT: Any
LENT: Any
_package: Any
_homes: Any
_names: Any
__all__: Any
_mint_names: Any
_step: Any
_write_down: Any
