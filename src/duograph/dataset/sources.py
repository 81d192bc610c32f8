"""Data sets from Python objects: `GeneratorDataset`, `NumpySlicesDataset`, `PaddedDataset`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .dataset import Dataset, names_of, to_numpy
from .nodes import copy_of, failed
from .run import Row, Run
from .samplers import PKSampler, Sampler, sampler_of
from .workers import Job, workers_of


class Indexed(Dataset):
    """A data set whose rows can be asked for by number; a sampler says which."""

    processes = False
    """Whether workers that make rows are processes."""
    where: Any = None
    """The files or the folder that rows come from: it is an error if there are none."""

    def __init__(self, sampler: Sampler, workers: Any = None) -> None:
        super().__init__()
        self.sampler, self.workers = sampler, workers_of(workers)

    def length(self) -> int:
        """The number of rows there are."""
        raise NotImplementedError

    def row(self, index: int) -> Row:
        """One row."""
        raise NotImplementedError

    def labels(self) -> Any:
        """The class of every row, if known."""
        return None

    def use_sampler(self, new_sampler: Any) -> None:
        """Replaces the sampler."""
        self.sampler = sampler_of(new_sampler, None, None, None, None)

    add_sampler = use_sampler

    def size(self):
        self._tell_labels()
        return self.sampler.count(self._there())

    def rows(self, run: Run) -> Iterator[Row]:
        yield from self._all(run).rows()

    def job(self, run: Run, workers: int, processes: bool) -> Job | None:
        return self._all(run) if workers > 1 and processes in self.elsewhere() else None

    def elsewhere(self) -> tuple[bool, ...]:
        """Whether rows may be made by threads (``False``) and processes that somebody else asked for: by default they
        are parts of files, and nobody sees who reads them."""
        return False, True

    def _all(self, run: Run) -> Job:
        self._tell_labels()
        indices = self.sampler.indices(self._there(), run.rng(self), run.epoch)
        return Job(self.row, indices, self.workers, self.processes, len(indices), run.seed(self))

    def _there(self) -> int:
        count = self.length()
        if count == 0 and self.where is not None:
            places = ", ".join(map(str, self.where)) if isinstance(self.where, list) else self.where
            raise RuntimeError(f"Invalid data, there are no rows for '{type(self).__name__}' in {places}.")
        return count

    def _tell_labels(self) -> None:
        if isinstance(self.sampler, PKSampler):
            self.sampler.labels = self.labels()


class VisionBaseDataset:
    """Base class of image data sets, for ``isinstance``."""


class TextBaseDataset:
    """Base class of text data sets, for ``isinstance``."""


class NumpySlicesDataset(Indexed):
    """The slices of arrays along their first axis.

    Args:
        data (Union[list, tuple, dict, numpy.ndarray]): one column, a tuple of columns, or columns by name.
        column_names (Union[str, list]): Default ``None``: the keys, or ``column_0``, ``column_1``...
        num_samples (int): at most this many rows. Default ``None``.
        num_parallel_workers (int): how many threads read rows. Default ``1``.
        shuffle (bool): Default ``None``: yes.
        sampler (Union[Sampler, Iterable]): which rows. Default ``None``.
        num_shards (int): number of processes that share the rows. Default ``None``.
        shard_id (int): which of them this is. Default ``None``.

    Raises:
        ValueError: columns of different lengths; wrong shards.
        RuntimeError: a sampler together with ``shuffle`` or shards.
        TypeError: an argument has the wrong type.

    Examples:
        >>> import duograph.dataset as ds
        >>> for (x,) in ds.NumpySlicesDataset([1, 2], shuffle=False):
        ...     print(x)
        1
        2
    """

    def __init__(
        self,
        data: Any,
        column_names: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        if not isinstance(data, list | tuple | dict | np.ndarray):
            raise TypeError(
                f"Argument data with value {data} is not of type [<class 'list'>, <class 'tuple'>, <class 'dict'>, "
                f"<class 'numpy.ndarray'>], but got {type(data)}."
            )
        if len(data) == 0:
            raise ValueError("Argument data cannot be empty")
        super().__init__(sampler_of(sampler, shuffle, num_samples, num_shards, shard_id), num_parallel_workers)
        parts = list(data.values()) if isinstance(data, dict) else list(data) if isinstance(data, tuple) else [data]
        self._columns = [_column(part) for part in parts]
        if len({len(column) for column in self._columns}) > 1:
            raise ValueError("Data length in each column is not equal.")
        given = names_of(column_names) or (list(data) if isinstance(data, dict) else [])
        self._names = given or [f"column_{i}" for i in range(len(parts))]
        if len(self._names) != len(parts):
            raise ValueError(f"Num of input column names is {len(self._names)}, but required is {len(parts)} as data.")

    def column_names(self):
        return list(self._names)

    def length(self):
        return len(self._columns[0])

    def row(self, index):
        return tuple(np.array(column[index]) for column in self._columns)


def _column(part: Any) -> Any:
    """An array; of rows with different shapes, a list."""
    try:
        return np.asarray(part)
    except ValueError:
        return [np.asarray(row) for row in part]


class PaddedDataset(Indexed):
    """Rows given as dictionaries, to pad a data set to a number that processes can share evenly.

    Args:
        padded_samples (list[dict]): the rows.
    """

    def __init__(self, padded_samples: list[dict[str, Any]]) -> None:
        if not isinstance(padded_samples, list) or not padded_samples:
            raise ValueError("padded_samples must be a list of dictionaries that is not empty.")
        super().__init__(sampler_of(None, False, None, None, None))
        self._samples = padded_samples

    def elsewhere(self):
        return (False,)

    def column_names(self):
        return list(self._samples[0])

    def length(self):
        return len(self._samples)

    def row(self, index):
        return tuple(copy_of(value) for value in self._samples[index].values())


class GeneratorDataset(Indexed):
    """Rows from a Python object: a function that returns an iterator, an iterable, or an object with ``__getitem__``.

    Args:
        source (Union[Callable, Iterable, Random Accessible]): where rows come from.
        column_names (Union[str, list[str]]): names of the columns.
        column_types (list[mindspore.dtype]): types that columns are checked against. Default ``None``.
        schema (Union[str, Schema]): only ``None``. Default ``None``.
        num_samples (int): at most this many rows. Default ``None``.
        num_parallel_workers (int): how many workers read rows of a source with ``__getitem__``. Default ``1``.
        shuffle (bool): for sources with ``__getitem__``. Default ``None``: yes.
        sampler (Union[Sampler, Iterable]): for sources with ``__getitem__``. Default ``None``.
        num_shards (int): number of processes that share the rows. Default ``None``.
        shard_id (int): which of them this is. Default ``None``.
        python_multiprocessing (bool): whether these are processes, not threads. Default ``True``.
        max_rowsize (int): kept for old programs. Default ``None``.
        batch_sampler (Iterable): lists of row numbers, each a batch. Default ``None``.
        collate_fn (Callable): makes a batch of a list of rows. Default ``None``.

    Raises:
        TypeError: ``source`` gives no rows.
        ValueError: no column names; ``shuffle``, a sampler or shards for a source without ``__getitem__``.

    Examples:
        >>> import duograph.dataset as ds
        >>> def rows():
        ...     for i in range(2):
        ...         yield i, i * 10
        >>> for x, y in ds.GeneratorDataset(rows, ["x", "y"]):
        ...     print(x, y)
        0 0
        1 10
    """

    def __init__(
        self,
        source: Any,
        column_names: Any = None,
        column_types: Any = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: Any = None,
        batch_sampler: Any = None,
        collate_fn: Callable[..., Any] | None = None,
    ) -> None:
        kinds = ("__getitem__", "__next__", "__iter__")
        if not callable(source) and not any(hasattr(source, kind) for kind in kinds):
            raise TypeError(
                "Input `source` function of GeneratorDataset should be callable, iterable or random accessible, "
                "commonly it should implement one of the method like yield, __getitem__ or __next__(__iter__)."
            )
        if schema is not None:
            raise ValueError("For 'GeneratorDataset', the 'schema' must be None: name columns with 'column_names'.")
        self._names = names_of(column_names)
        if not self._names:
            raise ValueError("Neither columns_names nor schema are provided.")
        self._by_number = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not self._by_number:
            for name, value in (("sampler", sampler), ("num_shards", num_shards), ("shard_id", shard_id)):
                if value is not None:
                    raise ValueError(f"'{name}' needs a 'source' with __getitem__ and __len__ (random accessible).")
        self._source, self._types = source, [to_numpy(t) for t in column_types or []]
        self._num_samples, self._batches, self._collate = num_samples, batch_sampler, collate_fn
        mixed = shuffle if self._by_number else False
        super().__init__(sampler_of(sampler, mixed, num_samples, num_shards, shard_id), num_parallel_workers)
        self.processes = python_multiprocessing

    def column_names(self):
        return list(self._names)

    def length(self):
        return len(self._source)

    def elsewhere(self):  # the user's code runs only where it was told to
        return (self.processes,) if self.workers > 1 else ()

    def job(self, run: Run, workers: int, processes: bool) -> Job | None:
        return super().job(run, workers, processes) if self._by_number and self._batches is None else None

    def row(self, index):
        try:
            value = self._source[index]
        except Exception as error:
            raise failed("'source' of 'GeneratorDataset'", error) from error
        return self._checked(value)

    def size(self):
        if self._batches is not None:
            return len(self._batches)
        if self._by_number:
            return super().size()
        if hasattr(self._source, "__len__"):
            size = len(self._source)
            return min(size, self._num_samples) if self._num_samples else size
        return Dataset.size(self)

    def rows(self, run: Run) -> Iterator[Row]:
        if self._batches is not None:
            yield from self._in_batches()
        elif self._by_number:
            yield from super().rows(run)
        else:
            yield from self._in_order()

    def _in_order(self) -> Iterator[Row]:
        count = 0
        try:
            source = iter(self._source() if callable(self._source) else self._source)
        except Exception as error:
            raise failed("'source' of 'GeneratorDataset'", error) from error
        while not self._num_samples or count < self._num_samples:
            try:
                value = next(source)
            except StopIteration:
                return
            except Exception as error:
                raise failed("'source' of 'GeneratorDataset'", error) from error
            yield self._checked(value)
            count += 1

    def _in_batches(self) -> Iterator[Row]:
        for numbers in self._batches:
            rows = [self.row(int(i)) for i in numbers]
            if self._collate is not None:
                yield self._checked(self._collate(rows))
            else:
                yield tuple(np.stack(column) for column in zip(*rows, strict=True))

    def _checked(self, value: Any) -> Row:
        if isinstance(value, dict):
            raise TypeError(
                "Input data is expected to be int, float, str, bytes, numpy.ndarray, Tensor or list/tuple of them, "
                "but got dict."
            )
        parts = value if isinstance(value, tuple | list) else (value,)
        if len(parts) != len(self._names):
            raise RuntimeError(
                "Exception thrown from user defined Python function in dataset. Invalid Python function, the 'source' "
                "of 'GeneratorDataset' should return same number of NumPy arrays as specified in column_names, the "
                f"size of column_names is:{len(self._names)} and number of returned NumPy array is:{len(parts)}."
            )
        row = tuple([copy_of(part) for part in parts])
        for place, wanted in enumerate(self._types):
            if row[place].dtype != np.dtype(wanted):
                raise RuntimeError(
                    f"Invalid Python function, type of returned data in column '{self._names[place]}' should be "
                    f"{np.dtype(wanted)}, but got {row[place].dtype}."
                )
        return row
