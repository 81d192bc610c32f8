"""`jit`: the decorator, in all its forms."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from duograph.base.lookup import raw_hasattr

from .bound import BoundJit
from .explain import Explanation
from .frames import FrameReader, is_left
from .function import JitFunction
from .options import JitOptions, parse
from .signature import framework_call

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")


class Compiled(Protocol[P, R_co]):
    """What type checkers know of a compiled callable: the signature of the plain one stays."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def __get__(self, obj: Any, cls: Any = None) -> Any: ...
    def explain(self) -> Explanation: ...


@overload
def jit(function: type[T], **options: Any) -> type[T]: ...
@overload
def jit(function: Callable[P, R_co], **options: Any) -> Compiled[P, R_co]: ...
@overload
def jit(
    function: None = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str | Callable[..., Any] = "",
    fn: Any = None,
    mode: str | None = None,
    input_signature: Any = None,
    hash_args: Any = None,
    jit_config: Any = None,
    compile_once: bool = False,
    **options: Any,
) -> Callable[[Callable[P, R_co]], Compiled[P, R_co]]: ...
def jit(
    function: Any = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str | Callable[..., Any] = "",
    fn: Any = None,
    mode: str | None = None,
    input_signature: Any = None,
    hash_args: Any = None,
    jit_config: Any = None,
    compile_once: bool = False,
    check_numerics: bool = False,
    debug: bool = False,
    **options: Any,
) -> Any:
    """Compiles a function, a method, a Cell or the ``construct`` of a Cell class.

    The compiled function computes what the plain one does, to the bit: values, types, exceptions, printed text and
    effects. A statement that cannot be compiled runs as plain Python, between compiled segments; ``f.explain()`` lists
    these breaks, with their reasons.

    Args:
        function (Callable, optional): what to compile; without it, ``jit`` returns a decorator.
        capture_mode (str): ``"ast"`` captures from the source, or from bytecode where there is no source that the
            function was made from; ``"bytecode"`` from the bytecode, or from the source where bytecode was not
            understood; ``"trace"`` records single runs: decisions on tensors, and numbers that Python needs of them,
            are those of the call that is captured, and a call that decides otherwise is recorded in addition.
            ``f.explain()`` says what was used. Default: ``"ast"``.
        jit_level (str): ``"O0"`` (ops as written), ``"O1"`` (all exact optimisations: the bits of eager) or ``"O2"``
            (also fuses ``a * b + c`` into one rounding; last bits may differ from eager). Default: ``""``, what the
            context says when a version is compiled, else ``"O1"``.
        dynamic (int): 1: prefer one graph for many shapes. Default: ``0``.
        fullgraph (bool): whether a statement that cannot be compiled is an error, instead of a graph break. Default:
            ``False``.
        backend (Union[str, Callable]): ``""``, ``"native"`` or ``"interpreter"``, or a function that gets each
            optimised graph with the values of its first call, and gives the function that runs it
            (docs/extending.md). Default: ``""``.
        fn (Callable, optional): older name of ``function``.
        mode (str, optional): older form: ``"PSJit"`` is ``"ast"``, ``"PIJit"`` is ``"bytecode"`` (see
            ``capture_mode``).
        input_signature (Union[tuple, Tensor], optional): older form: types that the arguments must have.
        hash_args (Any, optional): accepted; what a function captures is always guarded here.
        jit_config (Union[JitConfig, dict], optional): more settings. ``print_after_all`` prints what was captured, or
            why it was not; ``loop_unrolling`` unrolls every loop whose end is known, however long; of MindSpore's
            others that change how it compiles a warning says once that they have no effect.
        compile_once (bool): accepted; versions are shared by code here: a function that is defined and compiled anew
            with each call of another one, or a Cell of the same class, finds those that were made before.
        check_numerics (bool): whether calls run plainly, with an error for the first operator that makes a NaN or an
            infinity out of finite numbers, forward or backward: `duograph.check_numerics`. Default: ``False``.
        debug (bool): whether calls run under Python's debugger, node by node, at the lines of the program:
            `duograph.debug.step`. Default: ``False``.
        options: further options of MindSpore (``exec_order``, ``disable_format_transform``, ...); a warning says once
            that they have no effect.

    Returns:
        The compiled callable, or a decorator.

    Raises:
        TypeError: ``function`` is a class that is not a Cell, or not callable; ``fullgraph``, ``check_numerics`` or
            ``debug`` is not a bool.
        ValueError: an option has a value that does not exist.
        RuntimeError: the backend does not exist.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> @ms.jit
        ... def double(x):
        ...     return x + x
        >>> print(double(ms.Tensor([1.0, 2.0])))
        [2. 4.]
    """
    made = parse(
        capture_mode, jit_level, dynamic, fullgraph, backend, mode, input_signature, jit_config, options,
        check_numerics, debug,
    )  # fmt: skip
    target = function if function is not None else fn
    if target is None:
        return lambda f: compiled(f, made)
    return compiled(target, made)


def compiled(target: Any, options: JitOptions) -> Any:
    """``target`` as a compiled callable."""
    if isinstance(target, JitFunction | BoundJit):
        return target
    if isinstance(target, type):
        return _class(target, options)
    if isinstance(target, types.FunctionType | types.MethodType):
        return FrameReader(target, options) if is_left(target, options) else JitFunction(target, options)
    if is_cell(target):
        if framework_call(target) is target:
            return cell_function(target, options)
        return compiled(type(target).__call__.__get__(target), options)  # which calls the Cell
    if isinstance(target, staticmethod | classmethod):
        return type(target)(compiled(target.__func__, options))
    if not callable(target):
        raise TypeError(f"For 'jit', the function must be callable, but got {type(target).__name__}.")
    return JitFunction(type(target).__call__.__get__(target), options, target=target, plain=target)


def is_cell(obj: Any) -> bool:
    """Whether ``obj`` is a Cell (known here by its protocol: Cells live above this layer)."""
    return raw_hasattr(obj, "construct") and raw_hasattr(obj, "run") and callable(obj)


def cell_function(cell: Any, options: JitOptions, plain: Callable[..., Any] | None = None) -> JitFunction:
    """A compiled callable of a Cell; its call includes hooks and a custom ``bprop``."""
    construct = cell.construct
    if isinstance(construct, BoundJit):
        construct = types.MethodType(construct.function.fn, cell)
    return JitFunction(construct, options, target=cell, plain=plain or cell)


def _class(cls: type, options: JitOptions) -> type:
    if not (hasattr(cls, "construct") and hasattr(cls, "run")):
        raise TypeError(
            f"For 'jit', a decorated class must be a Cell, but {cls.__name__!r} is not; decorate its methods."
        )
    cls.construct = compiled(vars(cls).get("construct", cls.construct), options)  # type: ignore[attr-defined]
    return cls
