"""Nodes that change rows one by one, their order or their number."""

from __future__ import annotations

import builtins
import copy
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from duograph.context.settings import INT32_MAX
from duograph.tensor.give import COUNTS_TELL
from duograph.tensor.tensor import Tensor

from . import config
from .dataset import Dataset, names_of, places_of
from .run import Row, Run
from .workers import Job, ordered, workers_of


def array_of(value: Any) -> np.ndarray:
    """A column's value as an array."""
    if type(value) is np.ndarray:
        return value
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


def copy_of(value: Any) -> np.ndarray:
    """A value of the user's code as an array of our own: it may write to its memory for the next row, and what follows
    may write to ours."""
    array = array_of(value)
    return array.copy() if array is value or isinstance(value, Tensor) else array


def _take(values: list[Any]) -> None:
    """Makes ``values`` arrays whose memory nobody else has."""
    for i in range(len(values)):
        value = values[i]
        array = array_of(value)
        if array is not value:
            values[i] = array.copy() if isinstance(value, Tensor) else array
            continue
        del value
        held, base = sys.getrefcount(array) - 3, array.base  # the list, the variable, the argument
        if type(base) is np.ndarray and base.base is None:  # a view of what nobody else may have, too
            held, base = held + sys.getrefcount(base) - 3, None  # the view, the variable, the argument
        if not COUNTS_TELL or held or base is not None:
            values[i] = array.copy()


def lines_of(path: Path) -> list[str]:
    """The lines of a file in UTF-8: only what ends lines of files ends one, not all that `str.splitlines` takes."""
    with path.open(encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\r\n") for line in file]


def failed(what: str, error: Exception) -> RuntimeError:
    """The error of a pipeline whose user code raised."""
    return RuntimeError(
        f"Exception thrown from user defined Python function in dataset. {what} failed: {type(error).__name__}: {error}"
    )


JOINED: dict[type, Callable[[list[Any]], tuple[Any, int]]] = {}
"""Operations that can do the work of those before them, by class: what does the work of both (or ``None``) and how many
it takes the place of."""


class Map(Dataset, node="map"):
    """`Dataset.map`."""

    def __init__(
        self, child: Dataset, operations: Any, inputs: Any, outputs: Any, workers: Any = None, processes: bool = False
    ) -> None:
        super().__init__(child)
        self.workers, self._processes = workers_of(workers), processes
        steps = list(operations) if isinstance(operations, list | tuple) else [operations]
        for step in steps:
            if not callable(step):
                raise ValueError(
                    "Parameter operations's element of method map should be a python function or class method which "
                    f"should be callable, but got: {step}. It doesn't need parentheses for python function or class "
                    "method."
                )
        self._steps, self._inputs, self._outputs = steps, names_of(inputs), names_of(outputs)

    def _names(self) -> tuple[list[str], list[int], list[str]]:
        columns = self.children[0].column_names()
        inputs = self._inputs or columns[:1]
        return columns, places_of(inputs, columns), self._outputs or inputs

    def column_names(self):
        columns, places, outputs = self._names()
        if len(places) == len(outputs):
            return [outputs[places.index(i)] if i in places else name for i, name in enumerate(columns)]
        return [*outputs, *(name for i, name in enumerate(columns) if i not in places)]

    def size(self):
        return self.children[0].size()

    def rows(self, run: Run) -> Iterator[Row]:
        mode = config.get_error_samples_mode()
        last: Row | None = None
        owed = 0
        for row in self._all(run).rows():
            if row is not None:
                last = row
                for _ in range(owed + 1):
                    yield row
                owed = 0
            elif mode is config.ErrorSamplesMode.REPLACE and last is not None:
                yield last
            elif mode is config.ErrorSamplesMode.REPLACE:
                owed += 1  # until there is a row

    def job(self, run: Run, workers: int, processes: bool) -> Job | None:
        """Its own work, with the workers that it was given: what is above may go along."""
        if self._several() == 1 or config.get_error_samples_mode() is not config.ErrorSamplesMode.RETURN:
            return None
        return self._all(run)

    def _all(self, run: Run) -> Job:
        """Rows, or ``None`` for what raised."""
        _, places, outputs = self._names()
        mode, own = config.get_error_samples_mode(), _OfEachThread(_joined(self._steps))
        several = self._several()
        below = self.children[0].job(run, several, self._processes) if several > 1 else None
        if isinstance(self.children[0], Map) and below is not None and below.processes != self._processes:
            below = None  # a function of the user runs where that was said
        read, items = (lambda row: row, self.children[0].rows(run)) if below is None else below[:2]
        number, known = (several, None) if below is None else (max(several, below.workers), below.known)

        def make(item: tuple[int, Any]) -> Row | None:
            row = read(item[1])
            try:
                return self._made(own.steps, item[0], row, run, places, outputs)
            except Exception:
                if mode is config.ErrorSamplesMode.RETURN:
                    raise
                return None

        return Job(make, enumerate(items), number, self._processes, known, run.seed(self))

    def _several(self) -> int:
        """How many workers may run its operations at once."""
        return 1 if any(getattr(s, "keeps_rows", False) for s in self._steps) else self.workers

    def _made(self, steps: list[Any], number: int, row: Row, run: Run, places: list[int], outputs: list[str]) -> Row:
        values = [row[i] for i in places]
        for place, step in enumerate(steps):
            if step is None:
                continue
            if hasattr(step, "reseed"):
                step.reseed(run.rng(self, number * len(steps) + place + 1))
            try:
                made = step(*values)
            except Exception as error:
                raise failed("map operation", error) from error
            values = list(made) if isinstance(made, tuple) else [made]
            del made
        _take(values)
        if len(values) != len(outputs):
            raise RuntimeError(
                f"Invalid columns, the number of columns returned in 'map' operations should match the number of "
                f"'output_columns', but got the number of columns returned in 'map' operations: {len(values)}, the "
                f"number of 'output_columns': {len(outputs)}."
            )
        if len(places) != len(values):
            return (*values, *(x for i, x in enumerate(row) if i not in places))
        new = list(row)
        for i, value in builtins.zip(places, values, strict=True):
            new[i] = value
        return tuple(new)


def _joined(steps: list[Any]) -> list[Any]:
    """Operations, of which some do the work of others that they follow: in whose places there is ``None``."""
    made = list(steps)
    for place, step in enumerate(steps):
        together, count = JOINED[type(step)](steps[:place]) if type(step) in JOINED else (None, 0)
        if together is not None:
            made[place - count : place + 1] = [*[None] * count, together]
    return made


class _OfEachThread(threading.local):
    """Operations; each thread has its own copies of those with random numbers."""

    def __init__(self, steps: list[Any]) -> None:
        self.steps = [copy.deepcopy(s) if hasattr(s, "reseed") else s for s in steps]


class Filter(Dataset, node="filter"):
    """`Dataset.filter`."""

    def __init__(self, child: Dataset, predicate: Callable[..., Any], inputs: Any, workers: Any = None) -> None:
        super().__init__(child)
        self.workers = workers_of(workers)
        if not callable(predicate):
            raise TypeError("Predicate should be a Python function or a callable Python object.")
        self._predicate, self._inputs = predicate, names_of(inputs)

    def rows(self, run: Run) -> Iterator[Row]:
        columns = self.column_names()
        places = places_of(self._inputs or columns, columns)

        def kept(row: Row) -> Row | None:
            try:
                return row if self._predicate(*(row[i] for i in places)) else None
            except Exception as error:
                raise failed("filter predicate", error) from error

        for row in ordered(kept, self.children[0].rows(run), self.workers):
            if row is not None:
                yield row


class Project(Dataset, node="project"):
    """`Dataset.project`."""

    passes_on = True

    def __init__(self, child: Dataset, columns: list[str]) -> None:
        super().__init__(child)
        self._columns = columns

    def column_names(self):
        return list(self._columns)

    def size(self):
        return self.children[0].size()

    def rows(self, run: Run) -> Iterator[Row]:
        places = places_of(self._columns, self.children[0].column_names())
        for row in self.children[0].rows(run):
            yield tuple(row[i] for i in places)


class Rename(Dataset, node="rename"):
    """`Dataset.rename`."""

    passes_on = True

    def __init__(self, child: Dataset, old: list[str], new: list[str]) -> None:
        super().__init__(child)
        if len(old) != len(new):
            raise ValueError("Number of column in input_columns and output_columns is not equal.")
        self._table = dict(builtins.zip(old, new, strict=True))

    def column_names(self):
        columns = self.children[0].column_names()
        places_of(list(self._table), columns)
        return [self._table.get(name, name) for name in columns]

    def size(self):
        return self.children[0].size()

    def rows(self, run: Run) -> Iterator[Row]:
        self.column_names()
        return self.children[0].rows(run)


class ShuffleRows(Dataset, node="shuffle"):
    """`Dataset.shuffle`."""

    passes_on = True

    def __init__(self, child: Dataset, buffer_size: int) -> None:
        super().__init__(child)
        if isinstance(buffer_size, bool) or not isinstance(buffer_size, int):
            raise TypeError(
                f"Argument buffer_size with value {buffer_size} is not of type [<class 'int'>], but got "
                f"{type(buffer_size)}."
            )
        if not 2 <= buffer_size <= INT32_MAX:
            raise ValueError(f"Input buffer_size is not within the required interval of [2, {INT32_MAX}].")
        self._buffer = buffer_size

    def size(self):
        return self.children[0].size()

    def rows(self, run: Run) -> Iterator[Row]:
        rng = run.rng(self)
        buffer: list[Row] = []
        for row in self.children[0].rows(run):
            if len(buffer) < self._buffer:
                buffer.append(row)
                continue
            place = int(rng.integers(len(buffer)))
            buffer[place], row = row, buffer[place]
            yield row
        rng.shuffle(buffer)
        yield from buffer


class Repeat(Dataset, node="repeat"):
    """`Dataset.repeat`."""

    passes_on = True

    def __init__(self, child: Dataset, count: int) -> None:
        super().__init__(child)
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"Argument count with value {count} is not of type [<class 'int'>], but got {type(count)}.")
        if count != -1 and not 0 < count <= INT32_MAX:
            raise ValueError("count should be either -1 or positive integer, range[1, INT32_MAX].")
        self._count = count

    def get_repeat_count(self):
        return self._count * self.children[0].get_repeat_count()

    def size(self):
        return self.children[0].size() * max(self._count, 1)

    def rows(self, run: Run) -> Iterator[Row]:
        times = 0
        while times != self._count:
            epoch = run.epoch * self._count + times if self._count > 0 else times
            yield from self.children[0].rows(run.at(epoch))
            times += 1


class Take(Dataset, node="take"):
    """`Dataset.take`."""

    passes_on = True

    def __init__(self, child: Dataset, count: int) -> None:
        super().__init__(child)
        self._count = count

    def size(self):
        size = self.children[0].size()
        return size if self._count == -1 else min(size, self._count)

    def rows(self, run: Run) -> Iterator[Row]:
        return islice(self.children[0].rows(run), None if self._count == -1 else self._count)


class Skip(Dataset, node="skip"):
    """`Dataset.skip`."""

    passes_on = True

    def __init__(self, child: Dataset, count: int) -> None:
        super().__init__(child)
        self._count = count

    def size(self):
        return max(self.children[0].size() - self._count, 0)

    def rows(self, run: Run) -> Iterator[Row]:
        return islice(self.children[0].rows(run), self._count, None)


class Part(Dataset, node="split"):
    """A part of `Dataset.split`."""

    def __init__(self, child: Dataset, start: int, stop: int, mixed: bool) -> None:
        super().__init__(child)
        self._range, self._mixed = (start, stop), mixed

    def size(self):
        return self._range[1] - self._range[0]

    def rows(self, run: Run) -> Iterator[Row]:
        if not self._mixed:
            yield from islice(self.children[0].rows(run), *self._range)
            return
        # All parts must see one order: neither the part nor the epoch may enter it.
        rows = list(self.children[0].rows(Run.fixed(self.children[0])))
        order = np.random.default_rng([config.get_seed(), len(rows)]).permutation(len(rows))
        for i in order[slice(*self._range)]:
            yield rows[i]


class Concat(Dataset, node="concat"):
    """`Dataset.concat`."""

    def size(self):
        return sum(child.size() for child in self.children)

    def rows(self, run: Run) -> Iterator[Row]:
        names = self.column_names()
        for child in self.children:
            if len(child.column_names()) != len(names):
                raise RuntimeError(
                    "Invalid columns, the data sets that are concatenated have different columns: "
                    f"{names} and {child.column_names()}."
                )
            yield from child.rows(run)


class Zip(Dataset, node="zip"):
    """`zip`."""

    def __init__(self, *children: Dataset) -> None:
        super().__init__(*children)

    def column_names(self):
        names = [name for child in self.children for name in child.column_names()]
        if twice := {name for name in names if names.count(name) > 1}:
            raise RuntimeError(f"Invalid columns, duplicate column name: {', '.join(sorted(twice))} in zip.")
        return names

    def size(self):
        return min(child.size() for child in self.children)

    def rows(self, run: Run) -> Iterator[Row]:
        self.column_names()
        for parts in builtins.zip(*(child.rows(run) for child in self.children), strict=False):
            yield tuple(x for part in parts for x in part)


class FlatMap(Dataset, node="flat_map"):
    """`Dataset.flat_map`."""

    def __init__(self, child: Dataset, function: Callable[..., Dataset]) -> None:
        super().__init__(child)
        self._function = function

    def _made(self, run: Run) -> Iterator[Dataset]:
        for row in self.children[0].rows(run):
            made = self._function(*row)
            if not isinstance(made, Dataset):
                raise TypeError("flat_map must return a Dataset object.")
            yield made

    def column_names(self):
        return next(self._made(Run.of(self))).column_names()

    def rows(self, run: Run) -> Iterator[Row]:
        for made in self._made(run):
            yield from made.rows(Run.of(made))
