# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.nn.optim.adam import AdaMax as AdaMax
from duograph.nn.optim.adam import Adam as Adam
from duograph.nn.optim.adam import AdamOffload as AdamOffload
from duograph.nn.optim.adam import AdamWeightDecay as AdamWeightDecay
from duograph.nn.optim.adam import Lamb as Lamb
from duograph.nn.optim.adam import LazyAdam as LazyAdam
from duograph.nn.optim.adaptive import Adadelta as Adadelta
from duograph.nn.optim.adaptive import Adagrad as Adagrad
from duograph.nn.optim.adaptive import FTRL as FTRL
from duograph.nn.optim.adaptive import ProximalAdagrad as ProximalAdagrad
from duograph.nn.optim.adaptive import RMSProp as RMSProp
from duograph.nn.optim.momentum import Momentum as Momentum
from duograph.nn.optim.momentum import SGD as SGD
from duograph.nn.optim.optimizer import Optimizer as Optimizer
from duograph.nn.optim.other import ASGD as ASGD
from duograph.nn.optim.other import LARS as LARS
from duograph.nn.optim.other import Rprop as Rprop

_home: Any
__all__: Any
