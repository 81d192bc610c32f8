"""Everything of this folder that the public API shows, under its public names."""

from .grads import GradOperation, get_grad, grad, value_and_grad
from .modes import is_grad_enabled, no_grad

__all__ = ["GradOperation", "get_grad", "grad", "is_grad_enabled", "no_grad", "value_and_grad"]
