"""Switches of a Cell: training, gradients, flags, mixed precision, compilation; and what parallel training asks for."""

from __future__ import annotations

from typing import Any, Self

from duograph.context.jit_config import JitConfig
from duograph.core import dtype as dt
from duograph.tensor.tensor import Tensor

from . import _OF_CELLS as __capture__  # noqa: F401 (read by capture)


class CellSettings:
    """Settings of a Cell; mixed into `Cell`. Attributes are plain, so that capture can guard on them."""

    training: bool
    requires_grad: bool
    _flags: dict[str, Any]
    _mixed_dtype: dt.DType | None
    _phase: str
    _scope: str | None

    def set_train(self, mode: bool = True) -> Self:
        """Sets ``training`` of this Cell and all below: Dropout, BatchNorm and others behave differently.

        Args:
            mode (bool): Default ``True``.

        Returns:
            Cell, this one.
        """
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            cell.training = mode
            cell.add_flags(training=mode)
        self.phase = "train" if mode else "predict"
        return self

    def set_grad(self, requires_grad: bool = True) -> Self:
        """Says that a gradient of this Cell will be asked for; kept as ``requires_grad``, gradients need no notice."""
        self.requires_grad = requires_grad
        return self

    def add_flags(self, **flags: Any) -> Self:
        """Sets attributes that steer compilation."""
        self._flags.update(flags)
        for name, value in flags.items():
            object.__setattr__(self, name, value)
        return self

    def add_flags_recursive(self, **flags: Any) -> Self:
        """`add_flags` on this Cell and all below."""
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """What `add_flags` has set."""
        return self._flags

    # -- mixed precision -----------------------------------------------------------------------------------------

    def to_float(self, dst_type: dt.DType) -> Self:
        """This Cell and all below cast their floating-point inputs and weights to ``dst_type``.

        Args:
            dst_type (dtype): float16, bfloat16 or float32.

        Returns:
            Cell, this one.

        Raises:
            ValueError: another dtype.
        """
        if dst_type not in (dt.float16, dt.float32, dt.bfloat16):
            raise ValueError(
                "For 'to_float', the argument 'dst_type' must be mstype.float32, mstype.float16 or mstype.bfloat16, "
                f"but got type: {type(dst_type)} and value: {dst_type}."
            )
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            cell._mixed_dtype = dst_type
            cell.add_flags(fp16=dst_type is dt.float16, fp32=dst_type is dt.float32, bf16=dst_type is dt.bfloat16)
        return self

    def in_use(self, param: Any) -> Any:
        """``param`` (or ``None``) in the precision that `to_float` has set: layers compute with this."""
        return param if self._mixed_dtype is None else cast_floats(param, self._mixed_dtype)

    def cast_inputs(self, inputs: tuple[Any, ...], dst_type: dt.DType) -> tuple[Any, ...]:
        """``inputs`` with floating-point tensors cast to ``dst_type``."""
        return tuple(cast_floats(x, dst_type) for x in inputs)

    def get_mixed_precision_type(self) -> dt.DType | None:
        """The dtype set by `to_float`, ``None`` without."""
        return self._mixed_dtype

    # -- compilation ---------------------------------------------------------------------------------------------

    def set_jit_config(self, jit_config: JitConfig) -> None:
        """Compiles this Cell with these settings in graph mode.

        Args:
            jit_config (JitConfig): the settings.
        """
        if not isinstance(jit_config, JitConfig):
            raise TypeError(f"For 'set_jit_config', 'jit_config' must be JitConfig, but got {type(jit_config)}.")
        self._jit_config_dict = dict(jit_config.jit_config_dict)

    @property
    def jit_config_dict(self) -> dict[str, Any]:
        """What `set_jit_config` has set."""
        return self._jit_config_dict

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Declares the inputs with which this Cell is compiled; ``None`` in a shape is a dimension of any size.

        Args:
            inputs (tuple): tensors or other values, one per parameter of ``construct``.
            kwargs (dict): the same by name.
        """
        self._dynamic_shape_inputs = inputs or (kwargs or None)

    def get_inputs(self) -> Any:
        """What `set_inputs` has set, ``None`` without."""
        return self._dynamic_shape_inputs

    @property
    def phase(self) -> str:
        """``"train"`` or ``"predict"``."""
        return self._phase

    @phase.setter
    def phase(self, value: str) -> None:
        object.__setattr__(self, "_phase", value)

    def recompute(
        self, *, mp_comm_recompute: bool = True, parallel_optimizer_comm_recompute: bool = False,
        recompute_slice_activation: bool = False, output_recompute: bool = False,
    ) -> None:  # fmt: skip
        """Marks this Cell, as MindSpore does; its activations are kept all the same, and memory is not saved.

        Args:
            mp_comm_recompute (bool): communication of model parallelism, too. Default ``True``.
            parallel_optimizer_comm_recompute (bool): communication of the optimizer, too. Default ``False``.
            recompute_slice_activation (bool): slices of what pipelines keep. Default ``False``.
            output_recompute (bool): the result, too. Default ``False``.
        """
        self.add_flags_recursive(
            mp_comm_recompute=mp_comm_recompute, parallel_optimizer_comm_recompute=parallel_optimizer_comm_recompute,
            recompute_slice_activation=recompute_slice_activation, output_recompute=output_recompute, recompute=True,
        )  # fmt: skip

    def generate_scope(self) -> None:
        """Sets the scope names of all Cells to their paths; they appear in dumps of graphs."""
        for name, cell in self.cells_and_names():  # type: ignore[attr-defined]
            cell._scope = f"{name}-{type(cell).__name__}" if name else None

    def get_scope(self) -> str | None:
        """Scope name of this Cell."""
        return self._scope

    def set_boost(self, boost_type: str) -> Self:
        """Selects an algorithmic speed-up; only the names are checked, results must not depend on it.

        Raises:
            ValueError: unknown name.
        """
        if boost_type not in ("less_bn", "grad_freeze", "adasum"):
            raise ValueError(
                "For 'set_boost', the argument 'boost_type' must be 'less_bn' or 'grad_freeze' or 'adasum', "
                f"but got {boost_type}."
            )
        return self.add_flags(boost_type=boost_type)

    # -- parallel training: one process, nothing to arrange -------------------------------------------------------

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Self:
        """Sets ``comm_fusion`` of the parameters; nothing is communicated in one process."""
        for param in self.get_parameters(expand=recurse):  # type: ignore[attr-defined]
            param.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Puts parameters on a parameter server; there is none in one process."""

    def set_broadcast_flag(self, mode: bool = True) -> Self:
        """Keeps the flag; nothing is broadcast in one process."""
        return self.add_flags_recursive(broadcast_flag=mode)

    def set_data_parallel(self) -> Self:
        """Keeps the flag; there is one device."""
        return self.add_flags_recursive(data_parallel=True)

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None, **kwargs: Any) -> Any:
        """Distributes the Cell by a strategy: on one device the Cell itself."""
        return self

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Any, Any]:
        """Initialises parameters whose values are still to be drawn.

        Returns:
            dict, from each old Parameter to the one that holds data now.
        """
        return {p: p.init_data() for p in self.get_parameters()}  # type: ignore[attr-defined]

    def update_cell_type(self, cell_type: str) -> None:
        """Sets a free text that names the kind of the Cell."""
        self.cell_type = cell_type

    @property
    def pipeline_stage(self) -> int:
        """Stage of pipeline parallelism; kept only."""
        return self._flags.get("pipeline_stage", -1)

    @pipeline_stage.setter
    def pipeline_stage(self, value: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(
                "For 'context.set_auto_parallel_context', the argument 'pipeline_stage' must be int type, but got "
                f"type : {type(value)}"
            )
        if value < 0:
            raise ValueError(f"The argument 'pipeline_stage' cannot be less than 0, but got {value}.")
        self._flags["pipeline_stage"] = value


def cast_floats(value: Any, dtype: dt.DType) -> Any:
    """``value`` with the floating-point tensors in it (also in tuples, lists, dicts) cast to ``dtype``."""
    if isinstance(value, Tensor):
        return value.astype(dtype) if value.dtype.is_floating and value.dtype is not dtype else value
    if isinstance(value, tuple | list):
        return type(value)(cast_floats(x, dtype) for x in value)
    if isinstance(value, dict):
        return {k: cast_floats(x, dtype) for k, x in value.items()}
    return value
