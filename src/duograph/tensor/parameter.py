"""`Parameter`: a named Tensor that training changes, and `ParameterTuple`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any, Self

import numpy as np

from duograph.base.absent import instead
from duograph.core.kernel import placed
from duograph.core.op import get_op, state

from .eager import replace
from .tensor import SymbolicValueError, Tensor, array_from

_numbers = count(2)  # MindSpore's first unnamed Parameter is Parameter#2: its random generator holds the two before

_FLAGS: dict[str, Any] = {
    "cache_enable": False, "cache_shape": [],
    "sliced": False, "is_init": False, "requires_aggr": True, "comm_fusion": 1, "key": -1, "inited_param": None,
    "parallel_optimizer_comm_recompute": False, "is_in_parallel": False, "pipeline_stage_list": (),
}  # fmt: skip


class Parameter(Tensor):
    """A Tensor with a name, which `nn.Cell` collects and optimizers update.

    Args:
        default_input: initial value: Tensor, number, list or NumPy array. It is copied.
        name: name; default: the attribute name once a Cell holds it.
        requires_grad: whether it is trained.
        layerwise_parallel: kept for compatibility.
        parallel_optimizer: whether an optimizer may leave its states to one of several processes
            (``enable_parallel_optimizer``).
        storage_format: kept for compatibility.
        device: kept for compatibility.

    Raises:
        TypeError: ``default_input`` or a flag has a wrong type.
        ValueError: ``name`` is not a string, or the value is a bool.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
        Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
    """

    __slots__ = ()

    is_parameter = True

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ) -> None:
        self._set_flag("layerwise_parallel", layerwise_parallel)
        self._set_flag("parallel_optimizer", parallel_optimizer)
        self.requires_grad = requires_grad
        self.name = name  # type: ignore[assignment]
        self._become(_placed(_initial(default_input)))

    def _set_flag(self, flag: str, value: Any) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"The argument `{flag}` must be bool type.")
        self.__dict__[flag] = value

    # -- attributes --------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, unique within a network."""
        return self.__dict__["name"]

    @name.setter
    def name(self, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError(f"The type of the Parameter's name should be 'string' or 'None', but got {type(name)}.")
        text = (name or "").strip()
        self.__dict__["has_default_name"] = not text
        self.__dict__["name"] = text or f"Parameter#{next(_numbers)}"

    @property
    def has_default_name(self) -> bool:
        """Whether the name was made up, so that a Cell may give the attribute's name."""
        return self.__dict__["has_default_name"]

    @property
    def requires_grad(self) -> bool:
        """Whether it is trained."""
        return self.__dict__["requires_grad"]

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError("The argument `requires_grad` must be bool type")
        self.__dict__["requires_grad"] = value

    @property
    def layerwise_parallel(self) -> bool:
        """Kept for compatibility."""
        return self.__dict__["layerwise_parallel"]

    @layerwise_parallel.setter
    def layerwise_parallel(self, value: bool) -> None:
        self._set_flag("layerwise_parallel", value)

    @property
    def parallel_optimizer(self) -> bool:
        """Whether one of several processes may keep its optimizer states for all."""
        return self.__dict__["parallel_optimizer"]

    @parallel_optimizer.setter
    def parallel_optimizer(self, value: bool) -> None:
        self._set_flag("parallel_optimizer", value)

    @property  # type: ignore[override]
    def unique(self) -> bool:
        """Kept for compatibility; hides `Tensor.unique`, as in MindSpore."""
        return self.__dict__.get("unique", False)

    @unique.setter
    def unique(self, value: bool) -> None:
        self.__dict__["unique"] = value

    @property
    def data(self) -> Any:
        """The contents as a Tensor that shares storage; assigning replaces them, as `set_data`."""
        return get_op("identity")(self)

    @data.setter
    def data(self, value: Any) -> None:
        self.set_data(value)

    def __getattr__(self, name: str) -> Any:
        """Defaults of flags that only distributed training sets."""
        if name in _FLAGS:
            return _FLAGS[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{instead('Tensor', name)}")

    def __repr__(self) -> str:
        return (
            f"Parameter (name={self.name}, shape={tuple(self.shape)}, dtype={self.dtype}, "
            f"requires_grad={self.requires_grad})"
        )

    __str__ = __repr__

    # -- contents ----------------------------------------------------------------------------------------------

    def value(self) -> Tensor:
        """The contents as a Tensor that shares storage."""
        return get_op("identity")(self)

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replaces the contents. The parameter gets other memory: views and arrays of the old contents keep those.

        Args:
            data: Tensor or number; cast to the dtype of the parameter.
            slice_shape: kept for compatibility; the shape may always change.

        Returns:
            Parameter, itself.

        Raises:
            TypeError: ``data`` is something else, or floating for an integer parameter.
        """
        if isinstance(data, int | float) and not isinstance(data, bool):
            data = Tensor(data, dtype=self.dtype)
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Parameter data must be [`Tensor`, `int`, `float`] or a kind of `Tensor` (like `Tensor`). "
                f"But with type {type(data)}."
            )
        data = get_op("cast")(data, dtype=self.dtype)
        if state.binder is not None:
            if tuple(data.shape) != tuple(self.shape):
                raise SymbolicValueError(
                    f"the shape of a Parameter cannot change inside a graph: {tuple(self.shape)} to {tuple(data.shape)}"
                )
        replace(self, data)
        return self

    def assign_value(self, value: Any) -> Parameter:
        """As `set_data`."""
        return self.set_data(value)

    def init_data(self, layout: Any = None, set_sliced: bool = False) -> Parameter:  # type: ignore[override]
        """The parameter itself: initializers run when it is made."""
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """A new Parameter of the same name and flags.

        Args:
            init: ``'same'`` copies the contents; a number fills with it; a Tensor, or the name of an initializer
                (``'zeros'``, ``'ones'``), gives new contents.
        """
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if isinstance(init, str) and init == "same":
            twin._become(_placed(_initial(self)))
        else:
            twin._become(_placed(_filled(init, self)))
        return twin

    def copy(self) -> Parameter:
        """As `clone`."""
        return self.clone()

    def requires_grad_(self, requires_grad: bool = True) -> Parameter:
        """Sets `requires_grad` and returns the parameter."""
        self.requires_grad = requires_grad
        return self

    def add_pipeline_stage(self, stage: int) -> None:
        """Kept for compatibility: records a pipeline stage."""
        if not isinstance(stage, int) or stage < 0:
            raise TypeError(f"`stage` must be a positive number of int type, but got {stage!r}.")
        self.__dict__["pipeline_stage_list"] = (*self.pipeline_stage_list, stage)


LARGE = 4096
"""Bytes from which on a parameter's memory begins at a cache line: it is read and written in every step of a training,
and NumPy's memory, which begins 16 bytes behind one, costs 10 % of the time."""


def _placed(data: Any) -> Any:
    """``data``, an array of it in better memory if the native engine is in use."""
    array = data._data if isinstance(data, Tensor) else data
    if type(array) is not np.ndarray or array.nbytes < LARGE:
        return data
    return placed.value(array)


def _initial(data: Any) -> Any:
    """The payload of a new parameter."""
    if isinstance(data, bool):
        raise ValueError("Parameter data can not be `bool`")
    if isinstance(data, Tensor):
        if state.binder is not None or data.is_symbolic:
            # A copy, and one that gradients do not pass: they end at a Parameter, whatever it was made of.
            return get_op("stop_gradient")(get_op("cast")(data, dtype=data.dtype))
        return np.array(data.array(), order="C")
    if isinstance(data, int):
        return array_from(data, "int32")
    if isinstance(data, float | list | np.ndarray) or data is None or isinstance(data, str):
        return array_from(data)
    raise TypeError(
        "The type of the argument 'default_input' must be in ['Tensor', 'int', 'float', 'numpy.ndarray', 'list']. "
        f"But got type {type(data)}."
    )


def _filled(init: Any, like: Parameter) -> Any:
    if isinstance(init, Tensor):
        return _initial(init)
    if isinstance(init, str) and init in ("zeros", "ones"):
        init = 0 if init == "zeros" else 1
    if isinstance(init, int | float):
        return get_op("full")(shape=tuple(like.shape), value=init, dtype=like.dtype)
    if hasattr(init, "materialize"):
        return init.materialize(tuple(like.shape), like.dtype)
    raise TypeError(
        f"For 'clone', the 'init' must be Tensor, initializer, 'zeros', 'ones' or number, but got {init!r}."
    )


class ParameterTuple(tuple):
    """A tuple of Parameters.

    Args:
        iterable: the Parameters.

    Raises:
        TypeError: an item is not a Parameter.
        ValueError: two Parameters have one name.
    """

    def __new__(cls, iterable: Iterable[Parameter]) -> Self:
        items = tuple(iterable)
        if not all(isinstance(p, Parameter) for p in items):
            raise TypeError(
                "For ParameterTuple initialization, ParameterTuple input should be 'Parameter' collection, "
                f"but got a {type(iterable)}. "
            )
        holders: dict[str, Parameter] = {}
        for p in items:
            if holders.setdefault(p.name, p) is not p:
                raise ValueError(
                    f"The value {p} , its name '{p.name}' already exists. Please set a unique name for the parameter. "
                    "Networks that are trained together are parts of one, or get names: update_parameters_name('a.')"
                )
        return super().__new__(cls, items)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Clones of all Parameters, named ``prefix.name``.

        Args:
            prefix: put in front of the names.
            init: as for `Parameter.clone`.
        """
        if not isinstance(prefix, str):
            raise TypeError(f"expected string or bytes-like object, got '{type(prefix).__name__}'")
        twins = []
        for parameter in self:
            twin = parameter.clone(init)
            twin.name = f"{prefix}.{parameter.name}"
            twins.append(twin)
        return ParameterTuple(twins)


def as_contents(param: Parameter | None, value: Any) -> Any:
    """What is assigned to the attribute of a Cell that is ``param``: a number for a 0-d one as a tensor of its dtype.

    MindSpore takes numbers there in graph mode; counters of training steps rely on it.
    """
    if param is None or param.shape or not isinstance(value, int | float):
        return value
    is_exact = param.dtype.is_floating or (type(value) is int and param.dtype.is_integer)
    return Tensor(value, dtype=param.dtype) if is_exact else value
