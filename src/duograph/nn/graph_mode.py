"""GRAPH_MODE: calling a Cell compiles and runs it.

The outermost call of a Cell in dynamic state is compiled as a whole, hooks and custom gradients included; versions
live with the Cell and are looked up by guards like those of any compiled function.
"""

from __future__ import annotations

from typing import Any

from duograph import context
from duograph.base.config import config
from duograph.core.op import state
from duograph.jit.decorator import cell_function
from duograph.jit.function import JitFunction
from duograph.jit.options import JitOptions

from . import dispatch

_ATTRIBUTE = "_duograph_graph_mode"


class _Held:
    """The compiled form of a Cell; copies and pickles of the Cell start without it."""

    function: Any = None
    options: JitOptions | None = None
    config: Any = None  # this and the next two are what the options were made of
    shared: Any = None
    own: Any = None

    def __deepcopy__(self, memo: Any) -> _Held:
        return _Held()

    def __copy__(self) -> _Held:
        return _Held()

    def __reduce__(self) -> Any:
        return _Held, ()


def options_of(cell: Any) -> JitOptions:
    """Compile options of a Cell: its own `JitConfig`, else the context's."""
    settings = {**context.get_jit_config(), **{k: v for k, v in cell.jit_config_dict.items() if v not in ("", None)}}
    level = settings.get("jit_level") or "O1"
    syntax = settings.get("jit_syntax_level")
    strict = syntax == "STRICT" if syntax in ("STRICT", "LAX") else config().jit_syntax_level == context.STRICT
    return JitOptions(jit_level=level, strict=strict)


def compiled_cell(cell: Any) -> JitFunction:
    """The compiled form of ``cell`` for its present options."""
    held, present = cell.__dict__.get(_ATTRIBUTE), config()
    if held is not None and held.config is present and held.shared == context.jit_settings():
        if held.own == cell._jit_config_dict:
            return held.function  # type: ignore[no-any-return]
    options = options_of(cell)
    function = None if held is None or held.options != options else held.function

    def plain(*args: Any, **kwargs: Any) -> Any:
        return dispatch.run_plainly(cell, args, kwargs)

    held = cell.__dict__[_ATTRIBUTE] = _Held()
    held.function, held.options = function or cell_function(cell, options, plain), options
    held.config, held.shared, held.own = present, context.jit_settings(), dict(cell._jit_config_dict)
    return held.function


def call(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The meaning of ``cell(*args, **kwargs)`` in graph mode."""
    held = cell.__dict__.get(_ATTRIBUTE)
    if (
        held is not None and held.function is not None and held.function.is_small and state.tapes
    ):  # so it is for any options
        return dispatch.run_plainly(cell, args, kwargs)
    return compiled_cell(cell)(*args, **kwargs)


dispatch.graph_mode_caller.fill(call)
dispatch.cell_compiler.fill(compiled_cell)
