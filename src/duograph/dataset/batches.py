"""Nodes that put rows together."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from duograph.context.settings import INT32_MAX

from .dataset import BatchInfo, Dataset, names_of, no_other_options, places_of
from .nodes import array_of, failed
from .run import Row, Run
from .workers import Job, ordered, workers_of


def stacked(values: list[np.ndarray], name: str) -> np.ndarray:
    """Values of one column as one array.

    Raises:
        RuntimeError: their shapes differ.
    """
    shapes = {v.shape for v in values}
    if len(shapes) > 1:
        first, *rest = [list(v.shape) for v in values if v.shape != values[0].shape or v is values[0]]
        raise RuntimeError(
            "Inconsistent batch shapes, batch operation expects same shape for each data row, but got inconsistent "
            f"shape in column '{name}', expected shape for this column is:{first}, got shape:{rest[0]}."
        )
    if values[0].dtype == object:
        return np.stack(values)
    return np.array(values)  # which is twice as fast


def _collected(rows: Iterator[Row], count: int, names: list[str], place: Any) -> Row:
    """Rows that are made one by one as a batch; each is put to its place as soon as it is there.

    Args:
        rows: the rows.
        count: how many.
        names: of the columns.
        place: gives an array for a shape and a dtype.
    """
    columns: list[list[np.ndarray]] = []
    targets: list[tuple[Any, Any, Any]] = []
    for number, row in enumerate(rows):
        if not targets:
            columns = [[] for _ in row]
            targets = [_target(x, count, place) for x in row]
        for i, (column, x) in enumerate(builtins.zip(columns, row, strict=True)):
            target, shape, dtype = targets[i]
            if target is not None and x.shape == shape and x.dtype == dtype:
                target[number] = x
                continue
            if target is not None:  # it is not an array of rows that are alike
                column += [target[k] for k in range(number)]
                targets[i] = (None, shape, dtype)
            column.append(x)
    return tuple(
        stacked(column, name) if target is None else target
        for (target, _, _), column, name in builtins.zip(targets, columns, names, strict=True)
    )


def _target(x: np.ndarray, count: int, place: Any) -> tuple[Any, Any, Any]:
    plain = x.dtype.kind in "biufc" and x.dtype.isnative
    return place((count, *x.shape), x.dtype) if plain else None, x.shape, x.dtype


def padded(values: list[np.ndarray], name: str, shape: Any, fill: Any) -> np.ndarray:
    """Values of one column, padded to ``shape`` (``None``: the largest of each axis) with ``fill``, as one array."""
    rank = values[0].ndim
    if shape is not None and len(shape) != rank:
        raise RuntimeError(f"Invalid pad shape {list(shape)}: column '{name}' has {rank} axes.")
    most = [max(v.shape[axis] for v in values) for axis in range(rank)]
    target = most if shape is None else [m if s is None else s for s, m in builtins.zip(shape, most, strict=True)]
    out: np.ndarray = np.full((len(values), *target), 0 if fill is None else fill, values[0].dtype)
    for place, value in enumerate(values):
        part: Any = tuple(slice(0, min(a, b)) for a, b in builtins.zip(value.shape, target, strict=True))
        out[(place, *part)] = value[part]
    return out


class Batch(Dataset, node="batch"):
    """`Dataset.batch` and `Dataset.padded_batch`."""

    def __init__(
        self,
        child: Dataset,
        batch_size: Any,
        drop_remainder: bool,
        per_batch_map: Callable[..., Any] | None = None,
        input_columns: Any = None,
        output_columns: Any = None,
        pad_info: dict[str, Any] | None = None,
        workers: Any = None,
        python_multiprocessing: bool = False,
        **others: Any,
    ) -> None:
        super().__init__(child)
        no_other_options("batch", others, "max_rowsize")
        self.workers, self._processes = workers_of(workers), python_multiprocessing
        if isinstance(batch_size, bool) or not (isinstance(batch_size, int) or callable(batch_size)):
            raise TypeError("batch_size should either be an int or a callable.")
        if isinstance(batch_size, int) and not 1 <= batch_size <= INT32_MAX:
            raise ValueError(f"Input batch_size is not within the required interval of [1, {INT32_MAX}].")
        if not isinstance(drop_remainder, bool):
            raise TypeError(
                f"Argument drop_remainder with value {drop_remainder} is not of type [<class 'bool'>], but got "
                f"{type(drop_remainder)}."
            )
        if per_batch_map is not None and not callable(per_batch_map):
            raise TypeError("per_batch_map should be a callable.")
        self._batch, self._drop, self._map = batch_size, drop_remainder, per_batch_map
        self._inputs, self._outputs, self._pad = names_of(input_columns), names_of(output_columns), pad_info

    def makes_arrays(self):
        return True

    def get_batch_size(self):
        return self._batch if isinstance(self._batch, int) else -1

    def size(self):
        if not isinstance(self._batch, int):
            return super().size()
        size = self.children[0].size()
        return size // self._batch if self._drop else -(-size // self._batch)

    def _names(self) -> tuple[list[str], list[int], list[str]]:
        columns = self.children[0].column_names()
        inputs = self._inputs or columns
        return columns, places_of(inputs, columns), self._outputs or inputs

    def column_names(self):
        columns, places, outputs = self._names()
        if self._map is None or len(places) == len(outputs):
            renamed = dict(builtins.zip(places, outputs, strict=True)) if self._map is not None else {}
            return [renamed.get(i, name) for i, name in enumerate(columns)]
        return [*outputs, *(name for i, name in enumerate(columns) if i not in places)]

    def rows(self, run: Run) -> Iterator[Row]:
        child = self.children[0]
        below = child.job(run, self.workers, self._processes)
        if below is None or not self._goes_along(below):
            groups = self._groups(child.rows(run), run)
            return Job(
                lambda g: self._joined(*g[:2]), groups, self.workers, self._processes, None, run.seed(self)
            ).rows()
        function = below.function

        def make(group: tuple[list[Any], BatchInfo, bool], place: Any = np.empty) -> Row | None:
            items, info, is_whole = group
            rows = builtins.map(function, items)
            if is_whole and self._map is None and self._pad is None:
                return _collected(rows, len(items), self.column_names(), place)
            made = list(rows)
            return self._joined(made, info) if is_whole else None

        workers = max(self.workers, below.workers)
        groups = self._groups(below.items, run, True)
        made = ordered(make, groups, workers, below.processes, 2 * workers, True, run.seed(self))
        return (row for row in made if row is not None)

    def _goes_along(self, below: Job) -> bool:
        """Whether the workers of the node below also put batches together: a function of the user stays where it is,
        and each worker should have several batches."""
        if self._map is not None and (self.workers == 1 or self._processes != below.processes):
            return False
        return isinstance(self._batch, int) and (below.known or 0) >= 2 * below.workers * self._batch

    def _groups(
        self, items: Iterable[Any], run: Run, with_rest: bool = False
    ) -> Iterator[tuple[list[Any], BatchInfo, bool]]:
        """The rows, or what they are made of, of each batch; those that make no batch ``with_rest``."""
        rows: list[Any] = []
        number, limit = 0, self._limit(run, 0)
        for row in items:
            rows.append(row)
            if len(rows) == limit:
                yield rows, BatchInfo(run.epoch, number), True
                rows, number = [], number + 1
                limit = self._limit(run, number)
        if rows and (with_rest or not self._drop):
            yield rows, BatchInfo(run.epoch, number), not self._drop

    def _limit(self, run: Run, number: int) -> int:
        if isinstance(self._batch, int):
            return self._batch
        limit = self._batch(BatchInfo(run.epoch, number))
        if isinstance(limit, bool) or not isinstance(limit, int) or limit <= 0:
            raise RuntimeError(f"Invalid batch size function, it must return an int above 0, but got {limit!r}.")
        return limit

    def _joined(self, rows: list[Row], info: BatchInfo) -> Row:
        columns, places, outputs = self._names()
        parts: list[Any] = [list(column) for column in builtins.zip(*rows, strict=True)]
        names = list(columns)
        if self._map is not None:
            parts, names = self._mapped(parts, columns, places, outputs, info)
        if self._pad is None:
            return tuple(stacked([array_of(v) for v in p], n) for p, n in builtins.zip(parts, names, strict=True))
        return tuple(
            padded(part, name, *self._pad.get(name, (None, None))) if name in self._pad or not self._pad
            else stacked(part, name)
            for part, name in builtins.zip(parts, names, strict=True)
        )  # fmt: skip

    def _mapped(self, parts, columns, places, outputs, info):
        try:
            made = self._map(*(parts[i] for i in places), info)
        except Exception as error:
            raise failed("per_batch_map", error) from error
        made = made if isinstance(made, tuple) else (made,)
        if len(made) != len(outputs):
            raise RuntimeError(
                f"Invalid per_batch_map, it should return {len(outputs)} columns ({', '.join(outputs)}), but returned "
                f"{len(made)}."
            )
        if len(places) == len(made):
            new, names = list(parts), list(columns)
            for i, value, name in builtins.zip(places, made, outputs, strict=True):
                new[i], names[i] = value, name
            return new, names
        rest = [i for i in range(len(columns)) if i not in places]
        return [*made, *(parts[i] for i in rest)], [*outputs, *(columns[i] for i in rest)]


class Buckets(Dataset, node="bucket_batch_by_length"):
    """`Dataset.bucket_batch_by_length`."""

    def __init__(
        self, child: Dataset, columns: list[str], bounds: list[int], sizes: list[int], length: Any, pad_info: Any,
        to_bound: bool, drop: bool,
    ) -> None:  # fmt: skip
        super().__init__(child)
        if not bounds:
            raise ValueError("bucket_boundaries cannot be empty.")
        if len(sizes) != len(bounds) + 1:
            raise ValueError("bucket_batch_sizes must contain one element more than bucket_boundaries.")
        if any(b <= 0 for b in bounds) or any(a >= b for a, b in pairwise(bounds)):
            raise ValueError("bucket_boundaries must be positive and strictly increasing.")
        if length is None and len(columns) != 1:
            raise ValueError("If element_length_function is not specified, exactly one column name should be passed.")
        self._columns, self._bounds, self._sizes, self._length = columns, bounds, sizes, length
        self._pad, self._to_bound, self._drop = pad_info, to_bound, drop

    def makes_arrays(self):
        return True

    def rows(self, run: Run) -> Iterator[Row]:
        names = self.column_names()
        places = places_of(self._columns, names)
        buckets: list[list[Row]] = [[] for _ in self._sizes]
        for row in self.children[0].rows(run):
            values = [row[i] for i in places]
            long = int(self._length(*values)) if self._length else (values[0].shape[0] if values[0].ndim else 1)
            place = int(np.searchsorted(self._bounds, long, side="right"))
            buckets[place].append(row)
            if len(buckets[place]) == self._sizes[place]:
                yield self._joined(buckets[place], names, place)
                buckets[place] = []
        if not self._drop:
            for place, rows in enumerate(buckets):
                if rows:
                    yield self._joined(rows, names, place)

    def _joined(self, rows: list[Row], names: list[str], place: int) -> Row:
        out = []
        for column, name in builtins.zip(builtins.zip(*rows, strict=True), names, strict=True):
            values = list(column)
            if self._pad is None or name not in self._pad:
                out.append(stacked(values, name))
                continue
            shape, fill = self._pad[name]
            if self._to_bound and place < len(self._bounds) and shape is not None:
                shape = [self._bounds[place] - 1 if s is None else s for s in shape]
            out.append(padded(values, name, shape, fill))
        return tuple(out)
