"""The tree that Cells form: children, parameters, their names, and walks over them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from duograph.tensor.parameter import Parameter

from . import _OF_CELLS as __capture__  # noqa: F401 (read by capture)

if TYPE_CHECKING:
    from .cell import Cell


class CellTree:
    """Children and parameters of a Cell; mixed into `Cell`, which keeps them in ``_cells`` and ``_params``."""

    _cells: OrderedDict[str, Any]
    _params: OrderedDict[str, Any]
    _buffers: OrderedDict[str, Any]
    _auto_prefix: bool
    _param_prefix: str

    # -- insertion ----------------------------------------------------------------------------------------------

    def insert_child_to_cell(self, child_name: str, child_cell: Cell | None) -> None:
        """Adds a child.

        Args:
            child_name (str): attribute name of the child.
            child_cell (Cell): the child.

        Raises:
            KeyError: the name is taken by something that is not a Cell.
            TypeError: the name is not a string or the child no Cell.
        """
        if not isinstance(child_name, str):
            raise TypeError(
                "For 'insert_child_to_cell', the type of parameter 'child_name' must be str, "
                f"but got {type(child_name)}."
            )
        if not child_name or "." in child_name:
            raise KeyError(
                "For 'insert_child_to_cell', the parameter 'child_name' can not be None and can not contain '.'"
            )
        if child_name not in self._cells and hasattr(self, child_name):
            raise KeyError(
                f"For 'insert_child_to_cell', the {child_name} child cell already exists in the network."
                "Cannot insert another child cell with the same name."
            )
        if child_cell is not None and not isinstance(child_cell, CellTree):
            raise TypeError(
                "For 'insert_child_to_cell', the argument 'child_cell' must be 'Cell' if not None, "
                f"but got type {type(child_cell)}."
            )
        self._cells[child_name] = child_cell

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Adds a parameter; one without a name takes ``param_name``.

        Args:
            param_name (str): attribute name of the parameter.
            param (Parameter): the parameter.
            check_name_contain_dot (bool): whether a dot in the name is an error. Default ``True``.

        Raises:
            KeyError: the name is empty, taken, or contains a dot.
            TypeError: ``param`` is not a Parameter.
        """
        if not isinstance(param_name, str):
            raise TypeError(f"For 'insert_param_to_cell', 'param_name' must be str, but got {type(param_name)}.")
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', the argument 'param_name' should not be None.")
        if check_name_contain_dot and "." in param_name:
            raise KeyError("For 'insert_param_to_cell', the argument 'param_name' should not contain'.' ")
        if "_params" not in self.__dict__:
            raise AttributeError("For 'insert_param_to_cell', please call Cell.__init__() firstly.")
        if param_name in self.__dict__ and param_name not in self._params:
            raise KeyError(
                f"For 'insert_param_to_cell', the {param_name} parameter already exists in the network."
                "Cannot insert another parameter with the same name."
            )
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                "For 'insert_param_to_cell', the argument 'param' must be 'Parameter' if not None, "
                f"but got {type(param)}."
            )
        if isinstance(param, Parameter) and is_unnamed(param):
            param.name = param_name
        self._params[param_name] = param

    # -- walks --------------------------------------------------------------------------------------------------

    def cells(self) -> Any:
        """The direct children."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """Direct children by name; one that has several names appears once."""
        seen: set[Cell] = set()
        found: OrderedDict[str, Cell] = OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and cell not in seen:
                seen.add(cell)
                found[name] = cell
        return found

    def cells_and_names(self, cells: set[Any] | None = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """This Cell and all below it, with their paths.

        Args:
            cells (set): Cells that were met already. Default ``None``.
            name_prefix (str): path of this Cell. Default ``""``.
        """
        cells = cells if cells is not None else set()
        if self in cells:
            return
        cells.add(self)
        yield name_prefix, self  # type: ignore[misc]
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(cells, f"{name_prefix}.{name}" if name_prefix else name)

    def get_sub_cell(self, target: str) -> Cell:
        """The Cell at a path such as ``"backbone.0"``.

        Raises:
            AttributeError: there is nothing at the path, or no Cell.
        """
        found: Any = self
        for name in target.split(".") if target else []:
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, CellTree):
                raise AttributeError(f"`{name}` is not an nn.Cell")
        return found

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their paths, each once.

        Args:
            name_prefix (str): put before the paths. Default ``""``.
            expand (bool): whether parameters of children follow. Default ``True``.
        """
        walk = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        seen: set[Parameter] = set()
        for path, cell in walk:
            for name, param in cell._params.items():
                if param is not None and param not in seen:
                    seen.add(param)
                    yield (f"{path}.{name}" if path else name), param

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """The parameters of this Cell and (with ``expand``) of all below it."""
        for _, param in self.parameters_and_names(expand=expand):
            yield param

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters with ``requires_grad=True``."""
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters with ``requires_grad=False``."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """Parameters by their own names."""
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter] | None:
        """Parameters that are broadcast between processes; ``None`` if there are none."""
        found = OrderedDict(
            (p.name, p) for p in self.get_parameters(expand=recurse) if getattr(p, "layerwise_parallel", False) is False
        )
        return found or None

    # -- names --------------------------------------------------------------------------------------------------

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Names every parameter by ``prefix`` and its path.

        Args:
            prefix (str): for example ``"backbone."``. Default ``""``.
            recurse (bool): whether parameters of children are named too. Default ``True``.
        """
        if not isinstance(prefix, str):
            raise TypeError(f"For 'update_parameters_name', the type of 'prefix' must be str, but got {type(prefix)}.")
        for name, param in list(self.parameters_and_names(expand=recurse)):
            param.name = prefix + name

    def update_cell_prefix(self) -> None:
        """Sets `param_prefix` of all Cells below to their paths."""
        for name, cell in self.cells_and_names():
            cell._param_prefix = name

    @property
    def param_prefix(self) -> str:
        """Path of this Cell, as set by `update_cell_prefix`: what the names of its parameters begin with."""
        return self._param_prefix

    def check_names(self) -> None:
        """Raises `ValueError` if two parameters have the same name."""
        names: set[str] = set()
        for param in self.get_parameters():
            if param.name in names:
                raise ValueError(
                    f"The value of {param} is {param.name!r}, its name '{param.name}' already exists. "
                    "Please set a unique name for the parameter."
                )
            names.add(param.name)

    def check_names_and_refresh_name(self) -> None:
        """Names unnamed parameters by their paths and checks that names are unique."""
        for name, param in self.parameters_and_names():
            if is_unnamed(param):
                param.name = name
        self.check_names()

    def apply(self, fn: Any) -> Self:
        """Calls ``fn`` on every Cell below, then on this one.

        Args:
            fn (function): takes a Cell.

        Returns:
            Cell, this one.
        """
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self


def is_unnamed(param: Parameter) -> bool:
    """Whether a parameter still has the name that it was given for want of a better one."""
    return bool(getattr(param, "has_default_name", False)) or not param.name
