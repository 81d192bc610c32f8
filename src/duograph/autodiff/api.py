"""Everything of this folder that the public API shows, under its public names."""

from .backward_hooks import HookBackward, InsertGradientOf
from .grads import GradOperation, get_grad, grad, value_and_grad
from .jets import derivative, jet, linearize
from .modes import is_grad_enabled, no_grad
from .transforms import jacfwd, jacrev, jvp, vjp
from .vmap import vmap

__all__ = [
    "GradOperation", "HookBackward", "InsertGradientOf", "derivative", "get_grad", "grad", "is_grad_enabled", "jacfwd",
    "jacrev", "jet", "jvp", "linearize", "no_grad", "value_and_grad", "vjp", "vmap",
]  # fmt: skip
