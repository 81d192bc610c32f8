# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.nn.probability import bijector as bijector
from duograph.nn.probability import distribution as distribution

_names: Any
__all__: Any
