"""Mixed precision: casting networks to half types, and scaling of losses.

Under ``O1`` the layers of the white list run in the half type; under ``O2`` everything but the normalisations does;
under ``O3`` everything. Parameters keep float32; they are cast where they are used (`Cell.to_float`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from duograph.base.tree import map_tree
from duograph.core import dtype as dt
from duograph.core.traits import Traits
from duograph.nn.cell import Cell
from duograph.nn.cell_settings import cast_floats
from duograph.nn.layer.basic import Dense
from duograph.nn.layer.conv import Conv1d, Conv1dTranspose, Conv2d, Conv2dTranspose, Conv3d, Conv3dTranspose
from duograph.nn.layer.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm
from duograph.nn.layer.synchronised import SyncBatchNorm
from duograph.nn.wrap import TrainOneStepCell, TrainOneStepWithLossScaleCell, WithLossCell
from duograph.nn.wrap.loss_scale import all_finite as _all_finite
from duograph.ops.arithmetic import add, div, maximum, minimum, mul
from duograph.ops.cast import cast
from duograph.ops.compare import equal
from duograph.ops.creation import constant_like, zeros_like
from duograph.ops.logical import logical_and
from duograph.ops.select import select
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__all__ = [
    "DynamicLossScaleManager", "DynamicLossScaler", "FixedLossScaleManager", "LossScaleManager", "LossScaler",
    "StaticLossScaler", "all_finite", "auto_mixed_precision", "build_train_network", "custom_mixed_precision",
    "get_black_list", "get_white_list",
]  # fmt: skip

__capture__ = Traits(
    rules=True,
    not_rules=(
        "auto_mixed_precision", "build_train_network", "custom_mixed_precision", "get_black_list", "get_white_list",
    ),
)  # fmt: skip

_WHITE: list[type] = [Dense, Conv1d, Conv2d, Conv3d, Conv1dTranspose, Conv2dTranspose, Conv3dTranspose]
_BLACK: list[type] = [BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm, SyncBatchNorm]
LEVELS = ("O0", "O1", "O2", "O3", "auto")


def get_white_list() -> list[type]:
    """Cells that run in the half type under ``O1``."""
    return list(_WHITE)


def get_black_list() -> list[type]:
    """Cells that keep float32 under ``O2``."""
    return list(_BLACK)


class _Precise(Cell):
    """A Cell that computes in float32 in the middle of a half-type network, and returns half types."""

    def __init__(self, network: Cell, dtype: dt.DType) -> None:
        super().__init__(auto_prefix=False)
        self.network = network.to_float(dt.float32)
        self.dtype = dtype

    def construct(self, *inputs):
        return cast_floats(self.network(*inputs), self.dtype)


def _to_half(cell: Cell, kinds: tuple[type, ...], dtype: dt.DType) -> None:
    """Sets the Cells of ``kinds`` below to ``dtype``; their outputs go on in float32, as the rest of the network."""
    for _, child in cell.cells_and_names():
        if isinstance(child, kinds):
            child.to_float(dtype)
            child.register_forward_hook(_back_to_float32)


def _back_to_float32(cell: Cell, inputs: Any, output: Any) -> Any:
    return cast_floats(output, dt.float32)


def _keep_precise(cell: Cell, kinds: tuple[Any, ...], dtype: dt.DType) -> None:
    for name, child in list(cell._cells.items()):
        if child is None:
            continue
        if isinstance(child, kinds):
            cell._cells[name] = _Precise(child, dtype)
        else:
            _keep_precise(child, kinds, dtype)
    if hasattr(cell, "cell_list"):
        cell.cell_list = tuple(cell._cells.values())


def _auto_black_list(network: Cell, black_list: Any, dtype: dt.DType = dt.float16) -> None:
    """All of a network in a half type but the Cells of ``black_list``; MindSpore's name, which others import."""
    network.to_float(dtype)
    _keep_precise(network, tuple(black_list), dtype)


def _auto_mixed_precision_rewrite(
    network: Cell, dtype: dt.DType, white_list: Any = None, black_list: Any = None
) -> Cell:
    """Casts the Cells of ``white_list``, or all but those of ``black_list``; MindSpore's name, which others import."""
    if (white_list is None) == (black_list is None):
        raise ValueError("For _auto_mixed_precision_rewrite, one of white_list and black_list must be provided.")
    if white_list is not None:
        _to_half(network, tuple(white_list), dtype)
    else:
        _auto_black_list(network, black_list, dtype)
        network.register_forward_hook(_back_to_float32)
    return network


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: dt.DType = dt.float16) -> Cell:
    """Makes a network compute in a half type.

    Args:
        network (Cell): the network; it is changed.
        amp_level (str): ``"O0"``: nothing; ``"O1"``, ``"auto"``: dense layers and convolutions; ``"O2"``: everything
            but normalisations; ``"O3"``: everything. Default ``"O0"``.
        dtype (dtype): float16 or bfloat16. Default float16.

    Returns:
        Cell.

    Raises:
        TypeError: ``network`` is not a Cell.
        ValueError: unknown level or dtype.

    Supported Platforms:
        ``CPU``
    """
    if not isinstance(network, Cell):
        raise TypeError("The network type should be Cell.")
    if dtype not in (dt.float16, dt.bfloat16):
        raise ValueError(f"The dtype should be one of (mstype.float16, mstype.bfloat16), but got {dtype}.")
    if amp_level not in LEVELS:
        raise ValueError(f"The amp level {amp_level} is not supported")
    if amp_level in ("O1", "auto"):
        _to_half(network, tuple(_WHITE), dtype)
    elif amp_level == "O2":
        _auto_black_list(network, _BLACK, dtype)
    elif amp_level == "O3":
        network.to_float(dtype)
    if amp_level in ("O2", "O3"):
        network.register_forward_hook(_back_to_float32)
    return network


def custom_mixed_precision(
    network: Cell,
    *,
    white_list: list[type] | None = None,
    black_list: list[type] | None = None,
    dtype: dt.DType = dt.float16,
) -> Cell:
    """Makes the Cells of a white list, or all but those of a black list, compute in a half type.

    Args:
        network (Cell): the network; it is changed.
        white_list (list[type]): Default ``None``.
        black_list (list[type]): Default ``None``.
        dtype (dtype): Default float16.

    Raises:
        ValueError: both lists are given, or none.
    """
    if not isinstance(network, Cell):
        raise TypeError("The network type should be Cell.")
    if (white_list is None) == (black_list is None):
        raise ValueError("For 'custom_mixed_precision', one of 'white_list' and 'black_list' must be given, not both.")
    if white_list is not None:
        _to_half(network, tuple(white_list), dtype)
    else:
        network.to_float(dtype)
        _keep_precise(network, tuple(black_list or ()), dtype)
        network.register_forward_hook(_back_to_float32)
    return network


def init_status() -> Tensor:
    """The ``status`` of `all_finite`, for programs of MindSpore 1.10 and 2.0."""
    return Tensor([0.0] * 8, dt.float32)


def all_finite(inputs: Any, status: Any = None) -> Tensor:
    """Whether no element of any tensor is infinite or NaN.

    Args:
        inputs (Union(tuple(Tensor), list(Tensor))): the tensors.
        status (Tensor): kept for old programs. Default ``None``.

    Returns:
        Tensor, 0-d bool.
    """
    return _all_finite([inputs] if isinstance(inputs, Tensor) else inputs)


def _scaled(inputs: Any, factor: Tensor) -> Any:
    return map_tree(lambda x: mul(x, cast(factor, dtype=x.dtype)) if isinstance(x, Tensor) else x, inputs)


class LossScaler(ABC):
    """Scales losses, unscales gradients, and adjusts the scale."""

    scale_value: Any

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """The loss (or losses) times the scale."""

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """The gradients divided by the scale."""

    @abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Changes the scale; ``grads_finite`` says whether the last gradients were finite."""


class StaticLossScaler(LossScaler):
    """A scale that never changes.

    Args:
        scale_value (Union(float, int)): the scale, at least 1.
    """

    def __init__(self, scale_value: float) -> None:
        if scale_value < 1:
            raise ValueError(f"The argument 'scale_value' must be > 1, but got {scale_value}")
        self.scale_value = Tensor(scale_value, dt.float32)

    def scale(self, inputs: Any) -> Any:
        return _scaled(inputs, self.scale_value)

    def unscale(self, inputs: Any) -> Any:
        return _scaled(inputs, div(constant_like(self.scale_value, 1), self.scale_value))

    def adjust(self, grads_finite: Any) -> bool:
        return False


class DynamicLossScaler(LossScaler):
    """A scale that falls after an overflow and rises after a window without.

    Args:
        scale_value (Union(float, int)): first scale, at least 1.
        scale_factor (int): factor of changes.
        scale_window (int): number of steps without overflow before the scale rises.
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        for name, value in (("scale_factor", scale_factor), ("scale_window", scale_window)):
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                raise ValueError(f"The argument '{name}' must be int and > 0, but got {value}.")
        if scale_value < 1:
            raise ValueError(f"The argument 'scale_value' must be > 1, but got {scale_value}")
        self.scale_value = Parameter(Tensor(scale_value, dt.float32), name="scale_value")
        self.counter = Parameter(Tensor(0, dt.int32), name="counter")
        self.scale_factor, self.scale_window = scale_factor, scale_window

    def scale(self, inputs: Any) -> Any:
        return _scaled(inputs, self.scale_value.value())

    def unscale(self, inputs: Any) -> Any:
        return _scaled(inputs, div(constant_like(self.scale_value, 1), self.scale_value))

    def adjust(self, grads_finite: Any) -> bool:
        finite = grads_finite if isinstance(grads_finite, Tensor) else Tensor(bool(grads_finite))
        scale, counter = self.scale_value, self.counter
        one, factor = constant_like(scale, 1), constant_like(scale, self.scale_factor)
        full_window = equal(counter, constant_like(counter, self.scale_window - 1))
        raised = minimum(mul(scale, factor), constant_like(scale, 3.0e38))
        grown = select(full_window, raised, scale)
        next_count = select(
            logical_and(finite, equal(full_window, constant_like(full_window, False))),
            add(counter, constant_like(counter, 1)),
            zeros_like(counter),
        )
        write(scale, select(finite, grown, maximum(one, div(scale, factor))))
        write(counter, next_count)
        return True


_config_level: dict[str, dict[str, Any]] = {
    level: {"keep_batchnorm_fp32": level == "O2", "cast_model_type": cast_to, "loss_scale_manager": None}
    for level, cast_to in {"O0": dt.float32, "O1": dt.float32, "O2": dt.float16, "O3": dt.float16}.items()
}
"""What MindSpore's levels mean; trainers of others read it, and call the two functions below."""


def _do_keep_batchnorm_fp32(network: Cell) -> None:
    _keep_precise(network, (BatchNorm1d, BatchNorm2d, BatchNorm3d), dt.float16)


def _add_loss_network(network: Cell, loss_fn: Cell, cast_model_type: dt.DType) -> Cell:
    if cast_model_type is dt.float16:
        network.register_forward_hook(_back_to_float32)
    return WithLossCell(network, loss_fn)


def _level_of(level: str, options: dict[str, Any]) -> str:
    """The level that casts as ``level`` with these options of `build_train_network`."""
    unknown = sorted(set(options) - {"cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager"})
    if unknown:
        raise ValueError(f"For 'build_train_network', the keyword arguments {unknown} are not recognized.")
    changes = {k: v for k, v in options.items() if k != "loss_scale_manager"}
    if not changes:
        return level
    if level not in ("O0", "O2", "O3"):
        raise ValueError(f"For 'build_train_network', {sorted(changes)} go with the levels O0, O2 and O3, not {level}.")
    chosen = _config_level[level] | changes
    cast_to, keep = chosen["cast_model_type"], chosen["keep_batchnorm_fp32"]
    if cast_to not in (dt.float16, dt.float32) or not isinstance(keep, bool):
        raise ValueError(
            "For 'build_train_network', 'cast_model_type' must be float16 or float32 and 'keep_batchnorm_fp32' a bool, "
            f"but got {cast_to} and {keep!r}."
        )
    return "O0" if cast_to is dt.float32 else "O2" if keep else "O3"


def build_train_network(
    network: Cell, optimizer: Any, loss_fn: Any = None, level: str = "O0", boost_level: str = "O0", **kwargs: Any
) -> Cell:
    """A Cell that does one training step of a network, in mixed precision if asked.

    Args:
        network (Cell): the network.
        optimizer (Optimizer): updates its weights.
        loss_fn (Cell): its loss; ``None`` if the network returns the loss. Default ``None``.
        level (str): see `auto_mixed_precision`. Default ``"O0"``.
        boost_level (str): kept for old programs. Default ``"O0"``.
        kwargs: ``cast_model_type`` (float16 or float32) and ``keep_batchnorm_fp32`` (bool) in the place of what
            ``level`` ``"O0"``, ``"O2"`` or ``"O3"`` says; ``loss_scale_manager``.

    Returns:
        Cell.

    Raises:
        TypeError: the optimizer is none, but its class, say.
        ValueError: unknown level or keyword, or a keyword that the level does not go with.
    """
    if not isinstance(optimizer, Cell):
        kind = type(optimizer).__name__
        raise TypeError(f"The type of 'optimizer' should be one of '['Optimizer']', but got type '{kind}'.")
    if level not in LEVELS:
        raise ValueError(f"The amp level {level} is not supported")
    auto_mixed_precision(network, _level_of(level, kwargs))
    manager = kwargs.get("loss_scale_manager")
    if manager is None and level in ("O2", "O3"):
        manager = DynamicLossScaleManager() if level == "O2" else None
    joined = network if loss_fn is None else WithLossCell(network, loss_fn)
    joined.set_train()
    if manager is None:
        return TrainOneStepCell(joined, optimizer).set_train()
    update = manager.get_update_cell()
    if update is None:
        return TrainOneStepCell(joined, optimizer, manager.get_loss_scale()).set_train()
    return TrainOneStepWithLossScaleCell(joined, optimizer, update).set_train()
