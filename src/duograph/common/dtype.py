"""Element types, where MindSpore programs look for them (``import mindspore.common.dtype as mstype``)."""

from duograph.core import dtype as _dtype
from duograph.core.dtype import *  # noqa: F403
from duograph.core.dtype import issubclass_ as _issubclass_

__all__ = [name for name in vars(_dtype) if not name.startswith("_")] + ["_issubclass_"]
