"""``mindspore.scipy``: a part of SciPy's linear algebra on tensors, with gradients and in graphs."""

import duograph.scipy.linalg as linalg

__all__ = ["linalg"]
