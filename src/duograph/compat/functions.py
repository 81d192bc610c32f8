"""Functions of MindSpore's inner modules that model-zoo files use."""

from __future__ import annotations

import enum
import functools
import inspect
import math
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from duograph import log, ops
from duograph.core.dtype import DType
from duograph.core.shapes import broadcast_shapes
from duograph.core.traits import Traits
from duograph.dataset.transforms import Transform
from duograph.ops.rnn import rnn_cell
from duograph.tensor.tensor import Tensor
from duograph.train.callback import Callback

__capture__ = Traits(program=True)  # networks call them in construct

__all__ = [
    "AmpLevel", "ImageTensorOperation", "Implementation", "MSContext", "PyTensorOperation", "TensorToScalar",
    "TextTensorOperation", "_StepSync",
    "_deconv_output_length", "_function_forbid_reuse", "_get_cache_prim",
    "_get_graph_seed", "_grad_overflow", "_interploate_ext_make_tuple",
    "_LogActionOnce", "_interpolate_ext_scale_factor_convert_size", "_make_directory", "_rnn_relu_cell",
    "_transfer_tensor_to_tuple", "add_flags",
    "arg_handler", "cell_attr_register", "check_value_type", "deprecated", "get_broadcast_shape", "hwc_to_chw",
    "is_dim_unknown", "is_numpy", "is_shape_unknown", "issubclass_", "opt_init_args_register", "raise_index_error",
    "raise_type_error", "raise_unimplemented_error", "raise_value_error", "tensor_operator_registry",
]  # fmt: skip


def add_flags(fn: Callable[..., Any] | None = None, **flags: Any) -> Any:
    """Notes ``flags`` for the compiler in ``fn._func_graph_flags``; with flags alone, a decorator that does so.

    Args:
        fn (Callable, optional): the function.
        flags: names and values.

    Returns:
        The function itself.
    """

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        held = {**getattr(function, "_func_graph_flags", {}), **flags}
        function._func_graph_flags = held  # type: ignore[attr-defined]
        return function

    return noted if fn is None else noted(fn)


def _get_cache_prim(cls: type) -> type:
    """What makes a Primitive: the class itself. (MindSpore keeps the objects, which are dear there.)"""
    return cls


def _get_graph_seed(op_seed: int | None, kernel_name: str) -> tuple[int, int]:
    """The two seeds of a random Primitive; ``(0, 0)``: it draws from the generator, which `set_seed` has set.

    Args:
        op_seed (int): the seed of this operator.
        kernel_name (str): its name, for the message.
    """
    if op_seed is not None and (isinstance(op_seed, bool) or not isinstance(op_seed, int) or op_seed < 0):
        raise ValueError(f"For '{kernel_name}', the seed must be an int of at least 0, but got {op_seed!r}.")
    return 0, op_seed or 0


class AmpLevel(enum.Enum):
    """Levels of mixed precision in MindSpore's compiler."""

    AmpO0, AmpO1, AmpO2, AmpO3, AmpAuto = range(5)


class Implementation(enum.Enum):
    """Whether a transform of MindSpore's data pipeline is C++ or Python; all are Python here."""

    C, PY = "c", "py"


class PyTensorOperation(Transform):
    """A transform in Python; programs derive from it, beside `TextTensorOperation` or `ImageTensorOperation`."""


class TextTensorOperation(Transform):
    """A transform of texts."""


class ImageTensorOperation(Transform):
    """A transform of images."""


class _StepSync(Callback):
    """Waits for the device after each step; nothing is late here."""


class _LogActionOnce:
    """A decorator: what ``logger`` warns of while the function runs is said in the first call alone.

    Args:
        logger (logging.Logger): whose warnings they are.
        key (str): what the first call is remembered by.
        no_warning (bool): whether nothing is said at all. Default: ``False``.
    """

    is_logged: dict[str, bool] = {}

    def __init__(self, logger: Any, key: str, no_warning: bool = False) -> None:
        self.logger, self.key, self.no_warning = logger, key, no_warning

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            warn = getattr(self.logger, "warning", None)
            is_silent = self.no_warning or self.key in self.is_logged
            self.is_logged[self.key] = True
            if warn is None or not is_silent:
                return function(*args, **kwargs)
            self.logger.warning = lambda *_, **__: None
            try:
                return function(*args, **kwargs)
            finally:
                self.logger.warning = warn

        return wrapper


class MSContext:
    """The settings behind ``set_context``, as far as programs ask which Ascend processor there is."""

    _instance: MSContext | None = None

    @classmethod
    def get_instance(cls) -> MSContext:
        """The only one."""
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    def get_ascend_soc_version(self) -> str:
        """The name of the processor; there is none."""
        return ""


class TensorToScalar(ops.Primitive):
    """The number in a tensor of one element.

    Inputs:
        - **input_x** (Tensor) - the tensor.
    """

    def __init__(self) -> None:
        super().__init__("TensorToScalar")

    def forward(self, input_x: Any) -> Any:
        return input_x.item()


def _rnn_relu_cell(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """One step of a recurrent layer: ``relu(x @ w_ih^T + b_ih + h @ w_hh^T + b_hh)``."""
    return rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh, activation="relu")


def _transfer_tensor_to_tuple(inputs: Any) -> Any:
    """One Tensor as the tuple of it."""
    return (inputs,) if isinstance(inputs, Tensor) else inputs


def is_numpy(img: Any) -> bool:
    """Whether an image is an array of NumPy."""
    return isinstance(img, np.ndarray)


def hwc_to_chw(img: Any) -> Any:
    """The array with its channels first; anything else as it is."""
    return img.transpose(2, 0, 1).copy() if is_numpy(img) else img


def _deconv_output_length(
    is_valid: bool,
    is_same: bool,
    is_pad: bool,
    input_length: int,
    filter_size: int,
    stride_size: int,
    dilation_size: int,
    padding: int,
) -> int:
    """The length of one axis after a transposed convolution."""
    covered = filter_size + (filter_size - 1) * (dilation_size - 1) - stride_size
    beyond = max(covered, 0) if is_valid else covered - padding if is_pad else 0
    return input_length * stride_size + beyond if is_valid or is_same or is_pad else 0


def _function_forbid_reuse(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that draws random numbers; calls are never merged here."""
    return fn


def _grad_overflow(grad: Tensor) -> Tensor:
    """1 if a gradient has overflowed, else 0."""
    return ops.FloatStatus()(grad)


def _interploate_ext_make_tuple(input: Tensor, value: Any) -> tuple[Any, ...]:
    """``value`` for each spatial axis (the name is misspelt in MindSpore)."""
    return tuple(value) if isinstance(value, tuple | list) else (value,) * (input.ndim - 2)


def _interpolate_ext_scale_factor_convert_size(input: Tensor, scale_factor: Any) -> list[int]:
    """The sizes of the spatial axes of ``input``, scaled and rounded down."""
    return [math.floor(float(n) * s) for n, s in zip(input.shape[2:], scale_factor, strict=True)]


def _raising(kind: type[Exception], name: str) -> Callable[[str], Any]:
    def raising(msg: str) -> Any:
        raise kind(msg)

    raising.__name__ = raising.__qualname__ = name
    raising.__doc__ = f"Raises {kind.__name__} with the text ``msg``."
    return raising


raise_value_error = _raising(ValueError, "raise_value_error")
raise_type_error = _raising(TypeError, "raise_type_error")
raise_index_error = _raising(IndexError, "raise_index_error")
raise_unimplemented_error = _raising(NotImplementedError, "raise_unimplemented_error")


class _TensorOperatorRegistry:
    """``get(name)``: the function of ops, or the method of Tensor, of that name."""

    def get(self, obj_str: str) -> Any:
        """The function.

        Raises:
            AttributeError: there is none.
        """
        return getattr(ops, obj_str) if hasattr(ops, obj_str) else getattr(Tensor, obj_str)


tensor_operator_registry = _TensorOperatorRegistry()


def _make_directory(path: str, arg_name: str = "path") -> str:
    """The real path of a folder, made if it is missing."""
    if not isinstance(path, str) or not path.strip():
        raise TypeError(f"{arg_name!r} must be a text that names a folder, but got {path!r}.")
    real = os.path.realpath(path)
    os.makedirs(real, exist_ok=True)
    return real


def get_broadcast_shape(x_shape: Any, y_shape: Any, prim_name: str, shape_type: str = "") -> list[Any]:
    """The shape to which two shapes are broadcast.

    Raises:
        ValueError: they do not fit.
    """
    names = (f"{shape_type} x_shape".strip(), f"{shape_type} y_shape".strip())
    return list(broadcast_shapes(tuple(x_shape), tuple(y_shape), op=prim_name, names=names))


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any) -> None:
    """Checks the type of an argument; a bool is not an int.

    Raises:
        TypeError: it is of none of the types.
    """
    types = tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)
    if not isinstance(arg_value, types) or (isinstance(arg_value, bool) and bool not in types):
        raise TypeError(
            f"For `{arg_name}` the type should be a valid type of {[t.__name__ for t in types]}, but got "
            f"{type(arg_value).__name__}."
        )


def is_shape_unknown(shape: Any) -> bool:
    """Whether a shape has a size that is not known (-1), or is not known at all (-2)."""
    return any(size < 0 for size in shape)


def is_dim_unknown(shape: Any) -> bool:
    """Whether nothing of a shape is known."""
    return tuple(shape) == (-2,)


def arg_handler(arg: Any) -> Any:
    """The argument itself: dtypes are what operators take."""
    return arg


def issubclass_(type_: Any, dtype: Any) -> bool:
    """Whether a dtype is of the kind of another: ``issubclass_(float32, float_)``."""
    if not isinstance(type_, DType):
        return False
    kinds = {"int_": type_.is_integer, "uint": type_.is_integer and type_.name.startswith("U"),
             "float_": type_.is_floating, "number": True, "bool_": type_.is_bool}  # fmt: skip
    return type_ is dtype or kinds.get(str(dtype), False)


def deprecated(version: str, substitute: str, use_substitute_name: bool = False) -> Callable[[Any], Any]:
    """Decorator: calls of the function warn that it is deprecated.

    Args:
        version (str): since when.
        substitute (str): what to use instead.
        use_substitute_name (bool): whether ``__name__`` of a class becomes that of the substitute. Default ``False``.
    """

    def decorate(func: Any) -> Any:
        @functools.wraps(func)
        def warned(*args: Any, **kwargs: Any) -> Any:
            log.warning(
                "'%s' is deprecated from version %s and will be removed in a future version, use '%s' instead.",
                func.__name__, version, substitute,
            )  # fmt: skip
            return func(*args, **kwargs)

        if use_substitute_name:
            warned.__name__ = substitute
        return warned

    return decorate


def cell_attr_register(fn: Any = None, attrs: Any = None) -> Any:
    """Decorator of ``__init__``: notes the arguments in ``self.cell_init_args``.

    Args:
        fn (function): the ``__init__``.
        attrs (Union[str, list[str]]): which arguments; ``None``: all.
    """
    wanted = [attrs] if isinstance(attrs, str) else attrs

    def note(cell: Any, arguments: dict[str, Any]) -> None:
        kept = {name: value for name, value in arguments.items() if wanted is None or name in wanted}
        cell.cell_init_args = f"{type(cell).__name__}{kept}"

    return _noting(fn, note) if fn is not None else lambda function: _noting(function, note)


def opt_init_args_register(fn: Any) -> Any:
    """Decorator of an optimizer's ``__init__``: notes the arguments in ``self.init_params``."""

    def note(optimizer: Any, arguments: dict[str, Any]) -> None:
        optimizer.init_params = arguments
        optimizer.init_learning_rate = arguments.get("learning_rate")

    return _noting(fn, note)


def _noting(fn: Any, note: Callable[[Any, dict[str, Any]], None]) -> Any:
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        fn(self, *args, **kwargs)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        note(self, dict(list(bound.arguments.items())[1:]))

    return __init__
