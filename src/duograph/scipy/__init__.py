"""``mindspore.scipy``: a part of SciPy's linear algebra on tensors, with gradients and in graphs."""

import duograph.scipy.linalg as linalg
from duograph.core.traits import Traits as _Traits

__capture__ = _Traits(rules=True)
__all__ = ["linalg"]
