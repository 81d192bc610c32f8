# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType

from duograph.common import initializer as initializer
from duograph.common import mutable as mutable
from duograph.common.generator import get_rng_state as get_rng_state
from duograph.common.generator import get_seed as get_seed
from duograph.common.generator import initial_seed as initial_seed
from duograph.common.generator import seed as seed
from duograph.common.generator import set_rng_state as set_rng_state
from duograph.common.generator import set_seed as set_seed
from duograph.common.initializer import Initializer as Initializer
from duograph.context.jit_config import JitConfig as JitConfig
from duograph.core import dtype as dtype
from duograph.jit.decorator import jit as jit
from duograph.jit.decorator import jit as ms_function
from duograph.jit.extras import jit_class as jit_class
from duograph.tensor.parameter import Parameter as Parameter
from duograph.tensor.parameter import ParameterTuple as ParameterTuple
from duograph.tensor.random import Generator as Generator
from duograph.tensor.random import default_generator as default_generator
from duograph.tensor.random import manual_seed as manual_seed
from duograph.tensor.tensor import Tensor as Tensor

HOMES: Any
_names: Any
__all__: Any
__capture__: Any
