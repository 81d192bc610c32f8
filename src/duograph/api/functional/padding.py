"""Padding of tensors at the ends of their axes."""

from __future__ import annotations

from typing import Any

from duograph.core.dim import Dim, definitely_le
from duograph.ops import movement, slices
from duograph.ops.scalar import Scalar, extent_of, fitted
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
        pairs = [(_entry(b), _entry(a)) for b, a in pairs]
    if any(_is_cut(p) for pair in pairs for p in pair):
        cut = [(-b if _is_cut(b) else 0, -a if _is_cut(a) else 0) for b, a in pairs]
        x = slices.strided_slice(x, slices=tuple((b, n - a, 1) for n, (b, a) in zip(x.shape, cut, strict=True)))
        pairs = [(0 if _is_cut(b) else b, 0 if _is_cut(a) else a) for b, a in pairs]
    if isinstance(value, Tensor):
        return slices.slice_update(
            movement.broadcast_to(
                to_dtype(value, x.dtype), shape=tuple(n + b + a for n, (b, a) in zip(x.shape, pairs, strict=True))
            ), x, slices=tuple((b, b + n, 1) for n, (b, _) in zip(x.shape, pairs, strict=True)),
        )  # fmt: skip
    return slices.pad(x, padding=tuple(tuple(p) for p in pairs), mode=mode, value=fitted(value, x.dtype))


def _entry(number: Any) -> Any:
    """A run-time int that is made of sizes, and of which is known whether it pads or cuts, as an extent."""
    pads = extent_of(number)
    cuts = extent_of(-number) if isinstance(pads, Scalar) else number
    return pads if isinstance(cuts, Scalar) or not isinstance(pads, Scalar) else -cuts


def _is_cut(entry: Any) -> bool:
    return bool(definitely_le(entry, 0)) if isinstance(entry, Dim) else entry < 0


FUNCTIONS = public_functions(globals())
