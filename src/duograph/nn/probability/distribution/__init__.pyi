# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.nn.probability.distribution.base import Distribution as Distribution
from duograph.nn.probability.distribution.continuous import Beta as Beta
from duograph.nn.probability.distribution.continuous import Cauchy as Cauchy
from duograph.nn.probability.distribution.continuous import Exponential as Exponential
from duograph.nn.probability.distribution.continuous import Gamma as Gamma
from duograph.nn.probability.distribution.continuous import HalfNormal as HalfNormal
from duograph.nn.probability.distribution.continuous import Laplace as Laplace
from duograph.nn.probability.distribution.continuous import Logistic as Logistic
from duograph.nn.probability.distribution.continuous import Normal as Normal
from duograph.nn.probability.distribution.continuous import StudentT as StudentT
from duograph.nn.probability.distribution.continuous import Uniform as Uniform
from duograph.nn.probability.distribution.derived import Gumbel as Gumbel
from duograph.nn.probability.distribution.derived import LogNormal as LogNormal
from duograph.nn.probability.distribution.discrete import Bernoulli as Bernoulli
from duograph.nn.probability.distribution.discrete import Categorical as Categorical
from duograph.nn.probability.distribution.discrete import Geometric as Geometric
from duograph.nn.probability.distribution.discrete import Poisson as Poisson
from duograph.nn.probability.distribution.transformed import TransformedDistribution as TransformedDistribution

HOMES: Any
_names: Any
__all__: Any
