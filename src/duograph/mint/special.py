"""``mint.special``."""

from duograph.api.public_ops import functions

from .nn.functional import log_softmax

erfc, exp2, expm1, log1p, sinc, round = (
    functions()[name] for name in ("erfc", "exp2", "expm1", "log1p", "sinc", "round")
)

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]
