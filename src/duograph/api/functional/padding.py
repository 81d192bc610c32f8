"""Padding of tensors at the ends of their axes."""

from __future__ import annotations

from typing import Any

from duograph.ops import movement, slices
from duograph.ops.scalar import fitted
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from ..promote import to_dtype
from .forms import need_tensor, not_public, public_functions, static_int


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """With elements more on both sides of the last axes.

    Args:
        input_x: the tensor.
        padding: pairs (before, after), the last axis first; negative ones cut off.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        value: for ``"constant"``; default 0.

    Returns:
        Tensor, of the dtype of ``input_x``.

    Raises:
        ValueError: odd number of entries, unknown mode, ``value`` with another mode.

    Examples:
        >>> print(ops.pad(Tensor([1, 2]), (1, 2)))
        [0 1 2 0 0]
    """
    need_tensor("pad", input=input_x)
    if isinstance(padding, Tensor):
        padding = hooks.value_of(padding, "the padding of 'pad'").reshape(-1).tolist()
    entries = [static_int(p, "pad", "padding") for p in (padding if isinstance(padding, list | tuple) else (padding,))]
    if isinstance(padding, int):
        entries = entries * 2
    if len(entries) % 2 or len(entries) > 2 * input_x.ndim:
        raise ValueError(
            f"For 'pad', the length of 'padding' must be even and at most {2 * input_x.ndim}, but got {padding}."
        )
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise ValueError(
            f"For 'pad', the 'mode' must be in ['constant', 'reflect', 'replicate', 'circular'], but got {mode}."
        )
    if mode != "constant" and value is not None:
        raise ValueError(f"For 'pad', when mode is {mode}, 'value' must be None, but got {value}.")
    pairs = [(0, 0)] * (input_x.ndim - len(entries) // 2)
    pairs += [(entries[i], entries[i + 1]) for i in range(len(entries) - 2, -1, -2)]
    return pad_pairs(input_x, pairs, mode, 0 if value is None else value)


@not_public
def pad_pairs(x: Tensor, pairs: Any, mode: str = "constant", value: Any = 0) -> Tensor:
    """`pad` with one (before, after) pair per axis, the first axis first."""
    if any(p < 0 for pair in pairs for p in pair):
        cuts = tuple((max(-b, 0), n - max(-a, 0), 1) for n, (b, a) in zip(x.shape, pairs, strict=True))
        x = slices.strided_slice(x, slices=cuts)
        pairs = [(max(b, 0), max(a, 0)) for b, a in pairs]
    if isinstance(value, Tensor):
        return slices.slice_update(
            movement.broadcast_to(
                to_dtype(value, x.dtype), shape=tuple(n + b + a for n, (b, a) in zip(x.shape, pairs, strict=True))
            ), x, slices=tuple((b, b + n, 1) for n, (b, _) in zip(x.shape, pairs, strict=True)),
        )  # fmt: skip
    return slices.pad(x, padding=tuple(tuple(p) for p in pairs), mode=mode, value=fitted(value, x.dtype))


FUNCTIONS = public_functions(globals())
