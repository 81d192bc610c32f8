"""`Cell`: the building block of networks. Attributes, calling, printing; the rest is mixed in from ``cell_*.py``.

Parameters, child Cells and buffers live in the dictionaries ``_params``, ``_cells`` and ``_buffers`` and are read like
attributes; everything else is a plain attribute. Reading never has side effects.

Calling a Cell runs hooks around ``construct``. Three things may change what ``construct`` itself means: graph mode
(`dispatch`), capture (the frontend interprets it, `autodiff.hooks.call_user`), and a ``bprop`` method, which makes the
Cell one step with a gradient of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duograph import context
from duograph.autodiff.backward_hooks import cell_backward_hooks
from duograph.autodiff.custom import custom_call
from duograph.autodiff.hooks import call_user
from duograph.base.absent import instead, nearest
from duograph.base.html import folded, text_line
from duograph.core.op import state
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter, ParameterTuple, as_contents
from duograph.tensor.tensor import Tensor

from . import dispatch
from .cell_hooks import CellHooks, HookTable
from .cell_settings import CellSettings, cast_floats
from .cell_state import CellState
from .cell_tree import CellTree
from .mistakes import explain_mistake
from .settings import Setting, keep

__all__ = ["Cell"]


class Cell(CellTree, CellHooks, CellState, CellSettings):
    """Base class of networks and layers.

    A subclass makes its layers and parameters in ``__init__`` and computes in ``construct``.

    Args:
        auto_prefix (bool): whether parameters of children are named by their path. Default ``True``.
        flags (dict): see `add_flags`. Default ``None``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> class Net(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.fc = nn.Dense(4, 2)
        ...     def construct(self, x):
        ...         return self.fc(x)
        >>> [p.name for p in Net().get_parameters()]
        ['fc.weight', 'fc.bias']
    """

    _runs_code_of_user = False
    """Whether `construct` runs a program of the user though the class is of this package."""

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        own = self.__dict__
        own["_params"] = OrderedDict()
        own["_cells"] = OrderedDict()
        own["_buffers"] = OrderedDict()
        own["_transient_buffers"] = set()
        own["_auto_prefix"] = auto_prefix
        own["_param_prefix"] = ""
        own["_flags"] = {}
        own["_mixed_dtype"] = None
        own["_jit_config_dict"] = {}
        own["_dynamic_shape_inputs"] = None
        own["_phase"] = "train"
        own["_scope"] = None
        own["_state_hooks"] = {
            kind: HookTable() for kind in ("state_dict_pre", "state_dict", "load_state_dict_pre", "load_state_dict")
        }
        own["training"] = False
        own["requires_grad"] = False
        own["cell_type"] = None
        self._init_hooks()
        if flags is not None and not isinstance(flags, dict):  # what ``nn.ReLU(1, 2)`` means, nobody knows
            raise TypeError(f"For '{type(self).__name__}', the 'flags' must be a dict, but got {type(flags).__name__}.")
        if flags:
            self.add_flags(**flags)

    def _take_settings(self, given: dict[str, Any], settings: dict[str, Setting]) -> None:
        """The constructor of layers with rows of settings (`settings.with_settings`)."""
        Cell.__init__(self)
        keep(self, given, settings)
        self._settings_taken(given)

    def _settings_taken(self, given: dict[str, Any]) -> None:
        """What remains for the constructor to do; ``given`` holds the checked settings."""

    # -- calling -------------------------------------------------------------------------------------------------

    if TYPE_CHECKING:  # a subclass has parameters of its own, and may compile it
        construct: Any
    else:

        def construct(self, *args: Any, **kwargs: Any) -> Any:
            """The computation; every subclass defines it."""
            raise self._lacks_construct()

    def _lacks_construct(self) -> AttributeError:
        kind = type(self)
        own = [name for name, value in vars(kind).items() if callable(value)]
        name = "forward" if hasattr(kind, "forward") else nearest("construct", own)
        way = f"; rename its method {name!r} to 'construct'" if name else ""
        return AttributeError(
            f"For 'Cell', the method 'construct' is not defined. (in the class '{kind.__name__}'{way})"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.binder is None and context.is_graph_mode() and not dispatch.runs_plainly():
            return dispatch.graph_mode_call(self, args, kwargs)
        return self.run(args, kwargs)

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls this Cell in the present state: dynamically, or as part of the graph that is being captured."""
        if self._mixed_dtype is not None:
            args, kwargs = cast_floats(args, self._mixed_dtype), cast_floats(kwargs, self._mixed_dtype)
        if not self._has_hooks():
            return self._compute(args, kwargs)
        args, kwargs = self._run_pre_hooks(args, kwargs)
        try:
            output = self._with_backward_hooks(args, kwargs)
        except Exception:
            self._run_hooks_after_error(args, kwargs)
            raise
        return self._run_forward_hooks(args, kwargs, output)

    def _compute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bprop = getattr(type(self), "bprop", None)
        if bprop is not None:
            return custom_call(self.construct, self.bprop, args, kwargs)
        try:
            if state.binder is None:
                return dispatch.construct_of(self)(*args, **kwargs)
            return call_user(self.construct, args, kwargs)
        except Exception as error:
            explain_mistake(self, args, error)
            raise

    def _with_backward_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._backward_hooks and not self._backward_pre_hooks:
            return self._compute(args, kwargs)
        return cell_backward_hooks(
            self,
            lambda *inputs: self._compute(inputs, kwargs),
            args,
            [hook for hook, _, _ in self._backward_pre_hooks.values()],
            [hook for hook, _, _ in self._backward_hooks.values()],
        )

    def run_instead(self, construct: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`run` with ``construct(self, ...)`` in place of the Cell's own."""
        with dispatch.constructing(self, construct):
            return self.run(args, kwargs)

    def call_instead(self, construct: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A call of this Cell, with ``construct(self, ...)`` in place of its own where it runs dynamically."""
        if context.is_graph_mode() and not dispatch.runs_plainly():
            return self(*args, **kwargs)
        return self.run_instead(construct, args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compiles this Cell for arguments like these, so that the first call in graph mode need not."""
        dispatch.compiled_cell(self).prepare(*args, **kwargs)

    def compile_and_run(self, *args: Any, **kwargs: Any) -> Any:
        """Compiles this Cell for these arguments and calls it."""
        return dispatch.graph_mode_call(self, args, kwargs)

    def explain(self) -> Any:
        """What graph mode has compiled of this Cell, what it has not, and why.

        Returns:
            Explanation, what ``explain()`` of a function under `jit` gives: ``versions``, ``breaks``, ``fallbacks``.

        Examples:
            >>> import duograph as ms
            >>> net = ms.nn.ReLU()
            >>> ms.set_context(mode=ms.GRAPH_MODE)
            >>> print(net(ms.Tensor([-1.0, 2.0])), len(net.explain().versions))
            [0. 2.] 1
            >>> ms.set_context(mode=ms.PYNATIVE_MODE)
        """
        return dispatch.compiled_cell(self).explain()

    # -- attributes ----------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for table in ("_params", "_cells", "_buffers"):
            found = own.get(table)
            if found is not None and name in found:
                return found[name]
        hint = instead("Cell", name)
        said = f"The '{type(self).__name__}' object has no attribute '{name}'{hint or '.'}"
        raise AttributeError(said, name=name, obj=None if hint else self)  # else Python shows the nearest name with it

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        params = own.get("_params")
        if params is None:
            if isinstance(value, Cell | Parameter):
                raise AttributeError(
                    f"For 'Cell', please call Cell.__init__() of '{type(self).__name__}' before assigning '{name}'."
                )
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self._forget(name, params)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, Cell):
            self._forget(name, own["_cells"])
            if self._auto_prefix:
                value.update_parameters_name(name + ".")
            own["_cells"][name] = value
        elif name in params:
            self._set_param(name, value)
        elif name in own["_cells"]:
            if value is not None:
                raise TypeError(
                    f"Sub cell '{name}' already exists in network, can not assign this type: '{type(value)}' as a cell."
                )
            own["_cells"][name] = None
        elif name in own["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{type(value)}' as buffer '{name}' (mindspore.Tensor or None expected)")
            own["_buffers"][name] = value
        else:
            if isinstance(value, ParameterTuple):
                for param in value:
                    if param.name not in params:
                        self.insert_param_to_cell(param.name, param, check_name_contain_dot=False)
            if name == "construct" and hasattr(type(value), "as_construct_of"):  # of compiled functions
                value = value.as_construct_of(self)
            object.__setattr__(self, name, value)

    def _forget(self, name: str, kept: OrderedDict[str, Any]) -> None:
        """Removes what ``name`` means now, except in the table ``kept`` (whose order is the order of insertion)."""
        self.__dict__.pop(name, None)
        for table in (self._params, self._cells, self._buffers):
            if table is not kept:
                table.pop(name, None)

    def _set_param(self, name: str, value: Any) -> None:
        param = self._params[name]
        value = as_contents(param, value)
        if value is None:
            self._params[name] = None
        elif not isinstance(value, Tensor):
            raise TypeError(
                f"Parameter '{name}' already exists in network, can not assign this type: '{type(value)}' "
                "as a parameter."
            )
        elif param is None:
            self._params[name] = Parameter(value, name=name)
        elif tuple(param.shape) == tuple(value.shape) and param.dtype is value.dtype:
            write(param, value)
        else:
            param.set_data(value, slice_shape=True)

    def __delattr__(self, name: str) -> None:
        for table in (self._params, self._cells, self._buffers):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._params, *self._cells, *self._buffers})

    # -- printing ------------------------------------------------------------------------------------------------

    @property
    def cls_name(self) -> str:
        """Name of the class."""
        return type(self).__name__

    def extend_repr(self) -> str:
        """What `repr` shows in the brackets; layers override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extend_repr()
        children = [f"  ({name}): {_indented(repr(cell))}" for name, cell in self._cells.items()]
        if not children:
            return f"{type(self).__name__}({extra})"
        head = f"{type(self).__name__}(\n" + (f"  {extra}\n" if extra else "")
        return head + "\n".join(children) + "\n)"

    def _repr_html_(self) -> str:
        return _html(self, "", True)


def _html(cell: Cell, name: str, is_open: bool) -> str:
    """A layer for notebooks: its parameters, and the layers in it, which open and close."""
    parameters = [
        text_line(n, f"{p.dtype.name.lower()}{list(p.shape)}" + ("" if p.requires_grad else ", not trained"))
        for n, p in cell._params.items()
        if p is not None
    ]
    inside = [_html(inner, n, False) for n, inner in cell._cells.items() if inner is not None]
    size = sum(p.size for _, p in cell.parameters_and_names())
    title = f"{name}: {cell.cls_name}" if name else cell.cls_name
    note = f"({cell.extend_repr()})" if cell.extend_repr() else ""
    return folded(title, f"{note} {size:,} parameters".strip(), [*parameters, *inside], is_open)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
