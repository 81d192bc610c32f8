"""Operators: one declaration per primitive, and the one place where a call of an operator is decided.

A primitive is declared once, with every rule that any part of the system needs::

    @primitive
    class reduce_sum:
        '''Sum over ``axis``.'''

        def infer(x, *, axis, keep_dims):                 # operands are positional, attributes keyword-only
            return TensorType(x.dtype, reduced_shape(x.shape, axis, keep_dims))

        def reference(x, *, axis, keep_dims):             # NumPy in, NumPy out: the meaning
            return np.sum(x, axis=axis, keepdims=keep_dims)

        def bprop(ins, out, dout, *, axis, keep_dims):    # written in ops; serves the tape and the graph
            (x,) = ins
            return (broadcast_to(restore_axes(dout, ...), shape=x.shape),)

The signature of ``infer`` *is* the schema. ``bprop`` returns one entry per operand: a value, ``None`` (no
gradient) or a function of no arguments that is called only if this gradient is needed.

`Op.__call__` asks the current *binder* what a call means: the eager binder computes (``tensor/eager.py``), a graph
binder emits a node (``ir/builder.py``). Gradient tapes listen to both through one hook, so that eager and graph
gradients are the same walk over the same rules (design, section 6).
"""

from __future__ import annotations

import inspect
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Protocol

import numpy as np

from duograph.base.slot import Listeners, Slot

from .assumptions import Assumed, overheard, tell
from .attrs import checked_type, plain_attrs
from .borders import symbols_in
from .memory import check_memory
from .types import TensorType, Type


class _Missing:
    """A rule that an op does not have; `reason` says why (a test lists them)."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"<{self.reason}>"


NOT_DIFFERENTIABLE = _Missing("not differentiable")
NO_RULE = _Missing("no rule")


class Binder(Protocol):
    """What calling an op means: compute it, or emit a node."""

    def bind(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any: ...


class _DispatchState(threading.local):
    """Per-thread dispatch state. ``binder`` is ``None`` for eager; ``tapes`` are the active gradient tapes."""

    def __init__(self) -> None:
        self.binder: Binder | None = None
        self.tapes: list[Any] = []
        self.aside: tuple[Any, ...] = ()  # tapes around a branch that is being captured: one ``cond`` for them
        self.detached = 0  # > 0 inside `no_grad`: results are constants for gradients taken later, too
        self.enclosed = 0  # > 0 while a closed sub-graph is made that may run later, never, or often (a backward graph)
        self.quiet = 0  # > 0 while gradient rules run: what they call raises only if the forward pass has raised
        self.observer: Any = self.observer_everywhere  # what is notified of every operator (`tensor.observer`)

    observer_everywhere: Any = None  # for threads that begin


state = _DispatchState()

stepping: Slot[Any] = Slot("core.op.stepping")
"""The context in which compiled functions are stepped through: ``with stepping.value(): ...``."""

eager_binder: Slot[Binder] = Slot("core.op.eager_binder")
"""What a call means where no graph is being built; the tensor layer computes it, and this one is free of arrays."""


class binding:
    """Within the block, op calls of this thread go to ``binder`` (``None``: eager).

    No generator: if Ctrl-C came at its entry, it would end, and bring back ``previous``, when the traceback is dropped.
    """

    __slots__ = ("binder", "previous")

    def __init__(self, binder: Binder | None) -> None:
        self.binder = binder

    def __enter__(self) -> None:
        self.previous = state.binder
        state.binder = self.binder

    def __exit__(self, *_: object) -> None:
        state.binder = self.previous


@contextmanager
def no_recording() -> Iterator[None]:
    """Within the block, no gradient tape of this thread records."""
    previous, mine = state.tapes, []  # type: ignore[var-annotated]
    state.tapes = mine
    try:
        yield
    finally:
        if state.tapes is mine:  # else this runs too late: see `restoring`
            state.tapes = previous
            if state.aside:
                drop_aside()


def drop_aside() -> None:
    """A block has ended: its tapes record again, but for those that a decision within it has put aside. (In place: the
    list is that of a block around, which looks for it when it ends. Where none is aside this is not called: Ctrl-C may
    come when a function begins.)"""
    state.tapes[:] = [t for t in state.tapes if t not in state.aside]


def restoring(fn: Callable[..., Any]) -> Callable[..., Any]:
    """``fn``, after which the binder and the tapes of this thread are what they were before, whatever happens.

    For what users call. Ctrl-C may come at the entry of an ``__exit__`` inside, which then does nothing, or between the
    ``__enter__`` of a generator and its block; the generator then ends when the traceback is dropped, much too late.
    """

    @wraps(fn)
    def restored(*args: Any, **kwargs: Any) -> Any:
        before = state.binder, state.tapes, state.quiet, state.enclosed, state.detached
        try:
            return fn(*args, **kwargs)
        finally:
            state.binder, state.tapes, state.quiet, state.enclosed, state.detached = before
            if state.aside:
                drop_aside()

    return restored


class Op:
    """A primitive operator. Made by `primitive`; called like a function.

    Attributes:
        name: unique name, the one MindIR prints.
        module: the module that declares it.
        infer: ``(*operand types, **attrs) -> Type``; raises the error that eager users see.
        reference: ``(*arrays, **attrs) -> array or tuple of arrays``; the meaning that tests compare against.
        bprop: ``(ins, out, dout, **attrs) -> gradients``, or `NOT_DIFFERENTIABLE`.
        batch: vmap rule, or `NO_RULE`.
        lower: code generation rule, or `NO_RULE`.
        view: whether the eager result may share memory with the first operand.
        write_view: for views: ``(base, value, **attrs) -> base with the viewed part replaced``, in ops.
        strides: for views: ``(shape, strides, **attrs) -> strides of the result``, in elements; `None` for `reshape`,
            whose result is a view or a copy (``ops/layout.py``).
        effects: ordered effects (``"io"``, ``"ranks"``); such an op takes a token first and returns one.
            ``"early"``: it begins as soon as its operands are there.
        layout: ``"contiguous"`` if `reference` must see C-contiguous arrays so that its bits depend on shape and
            dtype alone (reductions, products, transcendental functions), else ``"any"``.
        structured: control operators: ``bprop`` has the signature of `autodiff.control`.
        of_graphs: among its attributes are graphs, whose types decide: what `result_type` remembered would keep them.
        data_dependent: ``infer`` gives fresh symbolic dimensions (their sizes depend on values), a new one per call.
        size_from: ``(*ins, **attrs) -> what decides such a size``, if that is not all of them.
        infinite: numbers of results in which infinities are values like others (logarithms of probabilities of 0),
            which `tensor.numerics` does not look at.
        raises: whether `reference` may raise for operands whose types `infer` accepts: ``True``, ``False``, or
            ``(*operand nodes, **attrs) -> bool``. What may raise is an effect: it is computed although nobody reads
            the result (``passes/anchors.py``).
    """

    def __init__(self, name: str, rules: dict[str, Any], module: str) -> None:
        self.name, self.module = name, module
        self.doc = rules.get("__doc__") or ""
        self.infer: Callable[..., Type] = rules["infer"]
        self.reference: Callable[..., Any] = rules.get("reference", NO_RULE)
        self.builtin_bprop: Any = rules.get("bprop", NOT_DIFFERENTIABLE)
        self.bprop: Any = self.builtin_bprop
        self.batch: Any = rules.get("batch", NO_RULE)
        self.lower: Any = rules.get("lower", NO_RULE)
        self.view: bool = rules.get("view", False)
        self.write_view: Callable[..., Any] | None = rules.get("write_view")
        self.strides: Callable[..., Any] | None = rules.get("strides")
        self.effects: tuple[str, ...] = tuple(rules.get("effects", ()))
        self.layout: str = rules.get("layout", "contiguous")
        self.structured: bool = rules.get("structured", False)
        self.of_graphs: bool = rules.get("of_graphs", False)
        self.data_dependent: bool = rules.get("data_dependent", False)
        self.size_from: Any = rules.get("size_from")
        self.raises: bool | Callable[..., bool] = rules.get("raises", False)
        self.infinite: tuple[int, ...] = rules.get("infinite", ())
        self.operand_names: list[str] = []
        self.variadic = False
        self.attr_defaults: dict[str, Any] = {}
        for p in inspect.signature(self.infer).parameters.values():
            if p.kind is p.VAR_POSITIONAL:
                self.variadic = True
            elif p.kind is p.KEYWORD_ONLY:
                self.attr_defaults[p.name] = p.default
            else:
                self.operand_names.append(p.name)
        self._types: dict[Any, tuple[Type, Assumed]] = {}  # and what it assumes of sizes
        self.__doc__ = self.doc

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return get_op, (self.name,)

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        if len(attrs) != len(self.attr_defaults):
            attrs = self.complete_attrs(attrs)
        if len(operands) != len(self.operand_names) and not self.variadic:
            raise TypeError(f"{self.name} takes {len(self.operand_names)} operands, got {len(operands)}")
        if self.structured and state.tapes:
            return state.tapes[-1].bind_structured(self, operands, attrs)
        binder = state.binder or eager_binder.value
        out = binder.bind(self, operands, attrs)
        for tape in state.tapes:
            tape.record(self, operands, attrs, out)
        return out

    def may_raise(self, operands: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
        """Whether a call with these operand nodes may raise, though their types fit."""
        return self.raises if isinstance(self.raises, bool) else self.raises(*operands, **attrs)

    def complete_attrs(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Attributes in declared order with defaults filled in; `TypeError` for unknown or missing ones."""
        full = {}
        for name, default in self.attr_defaults.items():
            value = attrs.get(name, default)
            if value is inspect.Parameter.empty:
                raise TypeError(f"{self.name} needs the attribute {name!r}")
            full[name] = value
        if unknown := attrs.keys() - full.keys():
            raise TypeError(f"{self.name} has no attribute {min(unknown)!r}")
        return full

    def result_type(self, operand_types: tuple[Type, ...], attrs: dict[str, Any]) -> Type:
        """`infer`, remembered per operand types and attributes (the hot path of eager dispatch).

        Attributes are in their plain form afterwards (`plain_attrs`).
        """
        if self.data_dependent or self.of_graphs:
            plain_attrs(self.name, operand_types, attrs)
            return self._inferred(operand_types, attrs)
        key = (operand_types, attrs_key(attrs))
        known = self._types.get(key)
        if known is not None:
            found, assumed = known
            if assumed:  # by another program, of the same symbols
                tell(assumed)
            return found
        plain_attrs(self.name, operand_types, attrs)
        key = (operand_types, attrs_key(attrs))
        with overheard() as assumed:
            found = self._inferred(operand_types, attrs)
        if self.structured and not symbols_in(found) <= symbols_in(operand_types):
            return found  # names of sizes that only the result tells: others the next time
        if len(self._types) > 4096:  # shapes without end (variable batch sizes) must not leak
            self._types.clear()
        self._types[key] = found, assumed
        return found

    def _inferred(self, operand_types: tuple[Type, ...], attrs: dict[str, Any]) -> Type:
        try:
            found = checked_type(self.name, self.infer(*operand_types, **attrs))
            if not self.view:  # a view needs no memory of its own
                check_memory(self.name, found)
            return found
        except IndexError as error:
            x = operand_types[0] if operand_types else None
            if isinstance(x, TensorType) and not x.shape:  # `plain_attrs` lets axis 0 of single numbers pass
                message = f"For '{self.name}', the input must have at least 1 dimension, but got shape ()."
                raise ValueError(message) from error
            raise


_OPS: dict[str, Op] = {}

rules_version = [0]
"""Bumped whenever a rule is replaced; compiled entries are valid for one version only."""

when_rules_change = Listeners("core.op.when_rules_change")
"""Called after a rule was replaced, by `override_bprop`."""


def primitive(cls: type) -> Op:
    """Class decorator: declares the op named like the class (a trailing underscore is dropped)."""
    return define(cls.__name__.rstrip("_"), **{k: v for k, v in vars(cls).items() if not _is_class_noise(k)})


def _is_class_noise(name: str) -> bool:
    return name in ("__module__", "__qualname__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__")


def define(name: str, **rules: Any) -> Op:
    """Declares a primitive from keyword rules; for uniform families that are one line per op."""
    if name in _OPS:
        raise ValueError(f"op {name!r} is declared twice")
    if unknown := rules.keys() - _RULE_NAMES:
        raise ValueError(f"op {name!r}: unknown rules {sorted(unknown)}")
    _OPS[name] = op = Op(name, rules, _module_being_loaded())
    return op


def _module_being_loaded() -> str:
    """The name of the module whose text is running: families are declared by functions of other modules."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


_RULE_NAMES = {
    "__doc__", "infer", "reference", "bprop", "batch", "lower", "view", "write_view", "strides", "effects", "layout",
    "structured", "of_graphs", "data_dependent", "size_from", "raises", "infinite",
}  # fmt: skip


def get_op(name: str) -> Op:
    return _OPS[name]


def is_declared(name: str) -> bool:
    """Whether there is an operator of this name."""
    return name in _OPS


def all_ops() -> dict[str, Op]:
    """Every declared primitive by name."""
    return dict(_OPS)


def override_bprop(op: Op, bprop: Any | None) -> None:
    """Replaces the gradient rule of ``op`` (``None``: the built-in one again) and invalidates compiled code."""
    op.bprop = op.builtin_bprop if bprop is None else bprop
    rules_version[0] += 1
    when_rules_change.tell()


def attrs_key(attrs: dict[str, Any]) -> tuple[Any, ...]:
    """A hashable key that tells ``1``, ``1.0``, ``True``, ``0.0`` and ``-0.0`` apart, as eager does."""
    return tuple([value_key(v) for v in attrs.values()])


def value_key(value: Any) -> Any:
    kind = type(value)
    if kind is int or kind is str:
        return value
    if kind is float:
        return ("f", struct.pack("<d", value))
    if kind is tuple:
        return ("t", *[value_key(v) for v in value])
    if kind is bool:
        return ("b", value)
    if kind is complex:
        return ("c", struct.pack("<2d", value.real, value.imag))
    if kind is range or kind is slice:
        return (kind, *[value_key(v) for v in (value.start, value.stop, value.step)])
    if isinstance(value, np.generic):  # equal to Python's numbers, and not the same
        return (kind, value.dtype, value.tobytes())
    return value
