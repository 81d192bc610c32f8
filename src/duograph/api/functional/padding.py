"""Padding of tensors at the ends of their axes."""

from __future__ import annotations

from typing import Any

from duograph.core.dim import Dim, definitely_le, dim_max, dim_min
from duograph.core.shapes import taken_at_most
from duograph.ops import movement, slices
from duograph.ops.scalar import fitted, integer_of
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
    if mode == "constant":  # the others are compared with sizes
        pairs = [(integer_of(b), integer_of(a)) for b, a in pairs]
    if any(_may_cut(p) for pair in pairs for p in pair):
        stops = [dim_min(n + a, n) for n, (_, a) in zip(x.shape, pairs, strict=True)]
        stops = [dim_max(n, 0) if isinstance(n, Dim) and taken_at_most(0, n) else n for n in stops]
        x = slices.strided_slice(
            x, slices=tuple((dim_max(-b, 0), n, 1) for n, (b, _) in zip(stops, pairs, strict=True))
        )
        pairs = [(dim_max(b, 0), dim_max(a, 0)) for b, a in pairs]
    if isinstance(value, Tensor):
        return slices.slice_update(
            movement.broadcast_to(
                to_dtype(value, x.dtype), shape=tuple(n + b + a for n, (b, a) in zip(x.shape, pairs, strict=True))
            ), x, slices=tuple((b, b + n, 1) for n, (b, _) in zip(x.shape, pairs, strict=True)),
        )  # fmt: skip
    return slices.pad(x, padding=tuple(tuple(p) for p in pairs), mode=mode, value=fitted(value, x.dtype))


def _may_cut(entry: Any) -> bool:
    return not definitely_le(0, entry) if isinstance(entry, Dim) else entry < 0


FUNCTIONS = public_functions(globals())
