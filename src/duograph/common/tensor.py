"""`Tensor` where MindSpore programs look for it."""

from duograph.tensor.tensor import Tensor

__all__ = ["Tensor"]
