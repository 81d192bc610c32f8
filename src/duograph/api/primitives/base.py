"""`Primitive`: an operator as an object that holds its attributes, and how tables become such classes.

Primitive
+-- PrimitiveWithInfer, PrimitiveWithCheck       bases of user classes
+-- TablePrimitive                               one class per row of a table (``declare``)
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

from duograph.autodiff.custom import custom_call
from duograph.base.absent import says_instead
from duograph.core.called import name_in_error
from duograph.core.docstrings import rows, with_constructor, with_operands, with_result
from duograph.core.op import Op

from ..functional.forms import only

REQUIRED: Any = ...
"""In a table of constructor parameters: has no default."""

custom_rules: dict[type, Callable[[Any], Any]] = {}
"""Gradient factories of classes that do not stand for one op (`bprop_registry`)."""


@says_instead("Primitive")
class Primitive:
    """An operator as an object: attributes are given once, operands with every call.

    Args:
        name: the operator's name.

    Returns:
        Any, what `forward` of a subclass returns.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> add = ops.Primitive("add")
        >>> add.name
        'add'
    """

    const_value: Any = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.attrs: dict[str, Any] = {}
        self.init_attrs: dict[str, Any] = {"name": name}
        self.instance_name = ""
        self.primitive_target = "CPU"

    # -- attributes ----------------------------------------------------------------------------------------------

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Sets an attribute; gives the primitive back."""
        self.__dict__[name] = value
        self.attrs[name] = value
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Removes an attribute; gives the primitive back."""
        self.__dict__.pop(name, None)
        self.attrs.pop(name, None)
        return self

    def init_prim_io_names(self, inputs: Any, outputs: Any) -> None:
        """Names the operands and results."""
        self.add_prim_attr("input_names", list(inputs))
        self.add_prim_attr("output_names", list(outputs))

    def set_prim_instance_name(self, name: str) -> Primitive:
        """Names this instance."""
        self.instance_name = name
        return self

    def get_attr_dict(self) -> dict[str, Any]:
        """All attributes."""
        return dict(self.attrs)

    # -- placement: accepted, and without effect on one CPU ----------------------------------------------------------

    def set_device(self, device_target: str) -> Primitive:
        """Names the device to run on."""
        self.primitive_target = device_target
        return self.add_prim_attr("primitive_target", device_target)

    def set_stage(self, stage: int) -> Primitive:
        """Names the pipeline stage."""
        return self.add_prim_attr("stage", stage)

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Primitive:
        """Describes how operands are cut for parallel execution; there is one device, so nothing is cut."""
        return self.add_prim_attr("in_strategy", in_strategy).add_prim_attr("out_strategy", out_strategy)

    def recompute(self, mode: bool = True) -> Primitive:
        """Asks for recomputation in the gradient.

        Raises:
            TypeError: ``mode`` is not a bool.
        """
        if mode is not True and mode is not False:
            raise TypeError("For 'Primitive', the attributes 'recompute' must be bool.")
        return self.add_prim_attr("recompute", mode)

    def place(self, role: str, rank_id: int) -> Primitive:
        """Names the process to run on."""
        return self.add_prim_attr("place", (role, rank_id))

    # -- calls ------------------------------------------------------------------------------------------------------

    def forward(self, *operands: Any) -> Any:
        """What the operator computes; subclasses define it."""
        raise NotImplementedError(f"The primitive '{self.name}' has no implementation.")

    def __call__(self, *operands: Any, **named: Any) -> Any:
        factory = custom_rules.get(type(self))
        try:
            if factory is None:
                return self.forward(*operands, **named)
            return custom_call(self.forward, factory(self), operands, named)
        except Exception:
            name_in_error(self.name, _operands)
            raise

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v}" for k, v in self.attrs.items() if k not in ("input_names", "output_names"))
        return f"Prim[{self.name}]<{shown}>" if shown else f"Prim[{self.name}]"


def _operands(frame: FrameType) -> dict[str, Any]:
    """Those of a call of a Primitive, in whose frame an error has come up."""
    given = frame.f_locals
    return {f"input{i}": value for i, value in enumerate(given["operands"], 1)} | given["named"]


class PrimitiveWithInfer(Primitive):
    """Base of user primitives that say shapes and dtypes themselves.

    Returns:
        Any, what `forward` of a subclass returns.

    Examples:
        >>> class Twice(ops.PrimitiveWithInfer):
        ...     def __init__(self):
        ...         super().__init__("Twice")
        ...     def infer_shape(self, x):
        ...         return x
        ...     def forward(self, x):
        ...         return x * 2
        >>> print(Twice()(Tensor([1.0, 2.0])), Twice().infer_shape([2]))
        [2. 4.] [2]
    """

    def infer_shape(self, *args: Any) -> Any:
        """The shape of the result; subclasses define it."""
        return None

    def infer_dtype(self, *args: Any) -> Any:
        """The dtype of the result; subclasses define it."""
        return None


class PrimitiveWithCheck(Primitive):
    """Base of user primitives that check shapes and dtypes themselves.

    Returns:
        Any, what `forward` of a subclass returns.

    Examples:
        >>> class Halves(ops.PrimitiveWithCheck):
        ...     def __init__(self):
        ...         super().__init__("Halves")
        ...     def forward(self, x):
        ...         return x / 2
        >>> print(Halves()(Tensor([1.0, 2.0])))
        [0.5 1. ]
    """


def prim_attr_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Decorator of ``__init__`` of a Primitive: its arguments become attributes.

    Args:
        fn: the ``__init__``.

    Returns:
        The ``__init__`` that registers.

    Examples:
        >>> class Scale(ops.Primitive):
        ...     @ops.prim_attr_register
        ...     def __init__(self, factor):
        ...         pass
        >>> print(Scale(2).factor)
        2
    """

    @functools.wraps(fn)
    def init(self: Primitive, *args: Any, **named: Any) -> None:
        Primitive.__init__(self, getattr(self, "name", type(self).__name__))
        bound = inspect.signature(fn).bind(self, *args, **named)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            self.add_prim_attr(name, value)
            self.init_attrs[name] = value
        fn(self, *args, **named)

    return init


prim_arg_register = prim_attr_register


class TablePrimitive(Primitive):
    """A primitive whose constructor and meaning come from a table.

    Attributes:
        parameters: constructor parameters with their defaults (`REQUIRED` if there is none).
        op: the op that a call runs, if it is exactly one; a registered gradient replaces that of the op.
    """

    parameters: dict[str, Any] = {}
    op: Op | None = None
    __signature__: inspect.Signature

    def __init__(self, *args: Any, **named: Any) -> None:
        cls = type(self)
        super().__init__(cls.__name__)
        if not args and not named and REQUIRED not in cls.parameters.values():
            values = cls.parameters
        else:
            if len(args) > len(cls.parameters):
                raise TypeError(f"{cls.__name__}() takes {len(cls.parameters)} arguments, but {len(args)} were given")
            bound = cls.__signature__.bind(*args, **named)
            bound.apply_defaults()
            values = bound.arguments
        for name, value in values.items():
            self.attrs[name] = self.__dict__[name] = value
            self.init_attrs[name] = value
        self.check()

    def check(self) -> None:
        """Raises for wrong attributes; tables may replace it."""


def declare(
    name: str,
    forward: Callable[..., Any],
    parameters: dict[str, Any] | None = None,
    op: Op | None = None,
    check: Callable[[Any], None] | None = None,
    only: dict[str, tuple[Any, ...]] | None = None,
    operands: tuple[str, ...] | None = None,
) -> type[TablePrimitive]:
    """The class of one row.

    Args:
        name: class name.
        forward: ``(self, *operands) -> result``; for rows without parameters also a plain function of the operands.
        parameters: constructor parameters with defaults.
        op: the op that ``forward`` runs, if it is exactly one with these operands.
        check: ``(self)``, raises for wrong attributes.
        only: parameters that have one meaning here, with the values that ask for it; others are refused.
        operands: names of the operands; ``None``: as ``forward`` calls them.
    """
    operands = _operand_names(forward, 1) if operands is None else operands
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [
            inspect.Parameter(p, kind, default=inspect.Parameter.empty if value is REQUIRED else value)
            for p, value in (parameters or {}).items()
        ]
    )
    members: dict[str, Any] = {
        "__doc__": _text(forward.__doc__ or f"The operator ``{name}``.", name, parameters or {}, operands),
        "__module__": "duograph.ops",
        "forward": forward, "parameters": parameters or {}, "op": op, "__signature__": signature,
    }  # fmt: skip
    if check is not None or only is not None:
        members["check"] = _check_of(check, only or {})
    return type(name, (TablePrimitive,), members)


@functools.cache
def _examples() -> dict[str, str]:
    """What the docstrings of classes show, by class; ``examples.txt`` has it, indented below the name."""
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\w)", Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").rstrip()):
        name, _, lines = block.partition("\n")
        found[name] = lines
    return found


@functools.cache
def _results() -> dict[str, str]:
    """What calls give, by class; ``results.txt`` has it, above the names."""
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", Path(__file__).with_name("results.txt").read_text(encoding="utf-8").rstrip()):
        text, _, names = block.partition("\n")
        found |= dict.fromkeys(names.split(), text)
    return found


_REFUSED = "TypeError: an argument or an operand has an unsupported type."


@functools.cache
def _meanings() -> dict[str, tuple[str, str]]:
    """What operands mean, by their names in this package; ``operands.txt`` has what the table of parameters has not."""
    return rows(Path(__file__).with_name("operands.txt").read_text(encoding="utf-8"))


def _operand_names(function: Callable[..., Any], first: int) -> tuple[str, ...]:
    """The operands that a function names behind its ``first`` parameters; what it binds by defaults is none."""
    if not isinstance(function, FunctionType) or function.__code__.co_flags & inspect.CO_VARARGS:
        return ()
    bound = sum(callable(value) for value in function.__defaults__ or ())
    return function.__code__.co_varnames[first : function.__code__.co_argcount - bound]


def _text(text: str, name: str, parameters: dict[str, Any], operands: tuple[str, ...]) -> str:
    """The docstring of a class: what the function says, the constructor's arguments, operands, results, an example."""
    text = with_operands(with_constructor(text, name, parameters, REQUIRED), name, operands, _meanings())
    returns = _results().get(name, "")
    text = with_result(text, returns, "" if returns.startswith("None") else _REFUSED)
    if name not in _examples() or "Examples:" in text:
        return text
    return f"{inspect.cleandoc(text)}\n\nExamples:\n{_examples()[name]}\n"


class Table(dict[str, type[TablePrimitive]]):
    """Class name to class."""

    def row(self, name: str, forward: Any, parameters: dict[str, Any] | None = None, **options: Any) -> None:
        """Adds the class that `declare` makes of these."""
        self[name] = declare(name, forward, parameters, **options)


def _check_of(check: Callable[[Any], None] | None, only_: dict[str, tuple[Any, ...]]) -> Callable[[Any], None]:
    def checked(self: Any) -> None:
        for parameter, allowed in only_.items():
            only(self.name, parameter, self.attrs[parameter], *allowed)
        if check is not None:
            check(self)

    return checked


def from_function(name: str, function: Callable[..., Any], op: Op | None = None) -> type[TablePrimitive]:
    """The class without parameters whose call is ``function``."""

    def forward(self: Any, *operands: Any, **named: Any) -> Any:
        return function(*operands, **named)

    forward.__doc__ = function.__doc__
    operands = () if "Args:" in (forward.__doc__ or "") else _operand_names(function, 0)
    return declare(name, forward, op=op, operands=operands)


class ReduceOp:
    """Names of reductions over ranks.

    Examples:
        >>> print(ops.AllReduce(ops.ReduceOp.MAX).op)
        max
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    AVG = "avg"
