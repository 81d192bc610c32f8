"""Cells that hold Cells: `SequentialCell`, `CellList`, `CellDict`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from duograph.nn.cell import Cell
from duograph.tensor.tensor import Tensor


def _check_cell(cell: Any, owner: str) -> None:
    if not isinstance(cell, Cell):
        raise TypeError(f"For '{owner}', each cell must be subclass of Cell, but got {type(cell).__name__}.")


class _Numbered(Cell):
    """Children named by their positions."""

    def _position(self, index: Any) -> int:
        if isinstance(index, Tensor) and index.dtype.is_integer:
            index = int(index)
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"For '{self.cls_name}', the type of 'index' must be int, but got {type(index).__name__}.")
        size = len(self._cells)
        if not -size <= index < size:
            raise IndexError(
                f"For '{self.cls_name}', the value of 'index' must be a number in range [{-size}, {size}), but got "
                f"{index}."
            )
        return index % size

    def _renumber(self, cells: Iterable[Cell]) -> None:
        """Makes ``cells`` the children, named 0, 1, 2 ..., and names their parameters accordingly."""
        named = OrderedDict((str(i), cell) for i, cell in enumerate(cells))
        self.__dict__["_cells"] = named
        if self._auto_prefix:
            for name, cell in named.items():
                cell.update_parameters_name(name + ".")

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def __getitem__(self, index: Any) -> Any:
        cells = list(self._cells.values())
        if isinstance(index, slice):
            return self._of(cells[index])
        return cells[self._position(index)]

    def _of(self, cells: list[Cell]) -> Any:
        raise NotImplementedError

    def __delitem__(self, index: Any) -> None:
        cells = list(self._cells.values())
        if isinstance(index, slice):
            del cells[index]
        else:
            del cells[self._position(index)]
        self._renumber(cells)

    def append(self, cell: Cell) -> Any:
        """Adds a Cell at the end."""
        _check_cell(cell, self.cls_name)
        if self._auto_prefix:
            cell.update_parameters_name(f"{len(self)}.")
        self._cells[str(len(self))] = cell
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Adds a Cell before position ``index``."""
        _check_cell(cell, self.cls_name)
        cells = list(self._cells.values())
        cells.insert(index if index == len(cells) else self._position(index), cell)
        self._renumber(cells)

    def set_grad(self, flag: bool = True) -> Any:
        self.requires_grad = flag
        for cell in self._cells.values():
            cell.set_grad(flag)
        return self


class SequentialCell(_Numbered):
    """Cells called one after the other.

    Args:
        args (Union[Cell, list, OrderedDict]): the Cells, a list of them, or a dictionary from names to them.

    Raises:
        TypeError: something else.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> from duograph import nn
        >>> net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
        >>> [p.name for p in net.get_parameters()]
        ['0.weight', '0.bias', '2.weight', '2.bias']
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named: Any = enumerate(args)
        if len(args) == 1:
            (only,) = args
            if isinstance(only, OrderedDict | dict):
                named = only.items()
            elif isinstance(only, list | tuple | CellList):
                named = enumerate(only)
            elif not isinstance(only, Cell):
                raise TypeError(
                    f"For '{self.cls_name}', the 'args[0]' must be Cell, list or orderedDict, "
                    f"but got {type(only).__name__}"
                )
        for name, cell in named:
            self.insert_child_to_cell(str(name), cell)
            cell.update_parameters_name(f"{name}.")
        self.cell_list = tuple(self._cells.values())

    def _of(self, cells: list[Cell]) -> SequentialCell:
        return type(self)(*cells)

    def _renumber(self, cells: Iterable[Cell]) -> None:
        super()._renumber(cells)
        self.cell_list = tuple(self._cells.values())

    def __setitem__(self, index: int, cell: Cell) -> None:
        _check_cell(cell, self.cls_name)
        name = list(self._cells)[self._position(index)]
        cell.update_parameters_name(name + ".")
        self._cells[name] = cell
        self.cell_list = tuple(self._cells.values())

    def append(self, cell: Cell) -> SequentialCell:
        super().append(cell)
        self.cell_list = tuple(self._cells.values())
        return self

    def construct(self, input_data):
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_Numbered):
    """A list of Cells that are children.

    Args:
        args (list): one list of Cells. Default: none.
        auto_prefix (bool): whether parameters are named by position. Default ``True``.

    Raises:
        TypeError: something else.

    Examples:
        >>> layers = nn.CellList([nn.ReLU(), nn.Flatten()])
        >>> _ = layers.append(nn.Softmax())
        >>> print(len(layers), type(layers[0]).__name__)
        3 ReLU
    """

    def __init__(self, *args: Any, auto_prefix: bool = True) -> None:
        super().__init__(auto_prefix=auto_prefix)
        if len(args) == 1:
            self.extend(args[0])

    def ensemble(self) -> list[Cell]:
        """The Cells of which `vmap` calls each with one element of the batch."""
        return list(self)

    def _of(self, cells: list[Cell]) -> CellList:
        return type(self)(cells)

    def __setitem__(self, index: int, cell: Cell) -> None:
        _check_cell(cell, self.cls_name)
        name = str(self._position(index))
        if self._auto_prefix:
            cell.update_parameters_name(name + ".")
        self._cells[name] = cell

    def __iadd__(self, cells: Any) -> CellList:
        return self.extend(cells)

    def __add__(self, other: Any) -> CellList:
        return type(self)([*self, *other])

    def extend(self, cells: Any) -> CellList:
        """Adds the Cells of a list at the end.

        Raises:
            TypeError: it is not a list, or not of Cells.
        """
        if not isinstance(cells, list | tuple | CellList | Iterator):
            raise TypeError(
                f"For '{self.cls_name}', the new cells wanted to append should be instance of list, "
                f"but got {type(cells).__name__}."
            )
        for cell in list(cells):
            self.append(cell)
        return self

    def construct(self, *inputs):
        raise NotImplementedError


class CellDict(Cell):
    """A dictionary of Cells that are children.

    Args:
        args (Union[dict, iterable]): a dictionary, or pairs of names and Cells.

    Examples:
        >>> layers = nn.CellDict({"act": nn.ReLU()})
        >>> layers["flat"] = nn.Flatten()
        >>> print(list(layers.keys()), layers["act"](Tensor([-1.0, 2.0])))
        ['act', 'flat'] [0. 2.]
    """

    def __init__(self, *args: Any, auto_prefix: bool = True) -> None:
        super().__init__(auto_prefix=auto_prefix)
        if args:
            self.update(*args)

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise TypeError(f"For '{self.cls_name}', the type of 'key' must be str, but got {type(key).__name__}.")
        if not key or "." in key:
            raise KeyError(
                f"For '{self.cls_name}', the 'key' can not be empty and can not contain '.', but got {key!r}."
            )
        if key not in self._cells and hasattr(self, key):
            raise KeyError(f"For '{self.cls_name}', the key '{key}' is an attribute of the CellDict already.")
        _check_cell(cell, self.cls_name)
        if self._auto_prefix:
            cell.update_parameters_name(key + ".")
        self._cells[key] = cell

    def __delitem__(self, key: str) -> None:
        del self._cells[key]

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._cells))

    def __contains__(self, key: object) -> bool:
        return key in self._cells

    def clear(self) -> None:
        """Removes all."""
        self._cells.clear()

    def pop(self, key: str) -> Cell:
        """Removes the Cell of this name and returns it."""
        return self._cells.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._cells.keys()

    def values(self) -> Any:
        """The Cells."""
        return self._cells.values()

    def items(self) -> Any:
        """Pairs of names and Cells."""
        return self._cells.items()

    def update(self, cells: Any) -> None:
        """Adds or replaces Cells.

        Args:
            cells (Union[dict, iterable]): a dictionary, or pairs of names and Cells.

        Raises:
            TypeError: it is not iterable, or not of pairs.
        """
        if not isinstance(cells, Iterable):
            raise TypeError(f"For '{self.cls_name}', the 'cells' must be iterable, but got {type(cells).__name__}.")
        pairs = cells.items() if isinstance(cells, dict | CellDict) else cells
        for pair in pairs:
            if len(pair) != 2:
                raise ValueError(f"For '{self.cls_name}', each element of 'cells' must be a pair, but got {pair!r}.")
            self[pair[0]] = pair[1]

    def construct(self, *inputs):
        raise NotImplementedError
