# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.train import amp as amp
from duograph.train import callback as callback
from duograph.train import metrics as metrics
from duograph.train import model as model
from duograph.train import serialization as serialization
from duograph.train.amp import build_train_network as build_train_network
from duograph.train.callback.base import Callback as Callback
from duograph.train.callback.base import LambdaCallback as LambdaCallback
from duograph.train.callback.base import RunContext as RunContext
from duograph.train.callback.checkpoint import CheckpointConfig as CheckpointConfig
from duograph.train.callback.checkpoint import ModelCheckpoint as ModelCheckpoint
from duograph.train.callback.events import read_events as read_events
from duograph.train.callback.monitors import EarlyStopping as EarlyStopping
from duograph.train.callback.monitors import History as History
from duograph.train.callback.monitors import LearningRateScheduler as LearningRateScheduler
from duograph.train.callback.monitors import LossMonitor as LossMonitor
from duograph.train.callback.monitors import ReduceLROnPlateau as ReduceLROnPlateau
from duograph.train.callback.monitors import TimeMonitor as TimeMonitor
from duograph.train.callback.progress import ProgressBar as ProgressBar
from duograph.train.callback.records import OnRequestExit as OnRequestExit
from duograph.train.callback.records import SummaryCollector as SummaryCollector
from duograph.train.callback.records import SummaryRecord as SummaryRecord
from duograph.train.dataset_helper import DatasetHelper as DatasetHelper
from duograph.train.dataset_helper import connect_network_with_dataset as connect_network_with_dataset
from duograph.train.dataset_helper import data_sink as data_sink
from duograph.train.foreign import LoadReport as LoadReport
from duograph.train.foreign import load_torch as load_torch
from duograph.train.foreign import load_torch_into_net as load_torch_into_net
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
from duograph.train.metrics.confusion import rearrange_inputs as rearrange_inputs
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

HOMES: Any
_names: Any
__all__: Any
