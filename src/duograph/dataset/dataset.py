"""`Dataset`: a node of a pipeline, and the methods that put nodes on top of it."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from duograph.base.absent import keyword_instead, says_instead
from duograph.context.settings import INT32_MAX
from duograph.core import dtype as dt

from .mindrecord import save_rows
from .run import DictIterator, Row, Run, TupleIterator
from .workers import Job

NODES: dict[str, Callable[..., Any]] = {}
"""What the methods of `Dataset` put on top of a data set, by method: the classes of ``nodes.py`` and ``batches.py``,
which derive from `Dataset` and enter themselves (``class Map(Dataset, node="map")``)."""


class BatchInfo:
    """The argument of a batch function: the number of the epoch, and of the batch within it."""

    def __init__(self, epoch: int, batch: int) -> None:
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self) -> int:
        """The number of the epoch, from 0."""
        return self._epoch

    def get_batch_num(self) -> int:
        """The number of the batch in the epoch, from 0."""
        return self._batch


def no_other_options(method: str, options: dict[str, Any], *known: str) -> None:
    """Raises for keywords that are not among those which tune how MindSpore runs a pipeline.

    Raises:
        TypeError: another keyword.
    """
    unknown = sorted(set(options) - set(known))
    if unknown:
        hint = keyword_instead(unknown[0], inspect.signature(getattr(Dataset, method)).parameters)
        raise TypeError(f"{method}() got an unexpected keyword argument '{unknown[0]}'{hint}")


@says_instead("Dataset")
class Dataset:
    """A node of a pipeline; subclasses define `rows`, `column_names` and `size`."""

    def __init_subclass__(cls, node: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if node:
            NODES[node] = cls

    workers = 1
    """How many threads or processes make its rows."""
    passes_on = False
    """Whether its rows are made of arrays of its child's rows, which it shows to nobody."""

    def __init__(self, *children: Dataset) -> None:
        self.children = list(children)
        self._first: Row | None = None

    # -- what subclasses say ---------------------------------------------------------------------------------------

    def rows(self, run: Run) -> Iterator[Row]:
        """The rows of one epoch."""
        raise NotImplementedError

    def job(self, run: Run, workers: int, processes: bool) -> Job | None:
        """The rows of one epoch as work for the workers of the node above, if it may be theirs."""
        return None

    def makes_arrays(self) -> bool:
        """Whether nobody but who asks for rows has their arrays."""
        return self.passes_on and self.children[0].makes_arrays()

    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self.children[0].column_names()

    def size(self) -> int:
        """The number of rows of one epoch."""
        return sum(1 for _ in self.rows(Run.of(self)))

    # -- questions ---------------------------------------------------------------------------------------------------

    def get_dataset_size(self) -> int:
        """The number of rows (batches) of an epoch."""
        return self.size()

    def __len__(self) -> int:
        return self.size()

    def get_col_names(self) -> list[str]:
        """The names of the columns."""
        return self.column_names()

    def get_batch_size(self) -> int:
        """The size of batches, 1 if there are none."""
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """How often the data is repeated."""
        return self.children[0].get_repeat_count() if self.children else 1

    def get_class_indexing(self) -> dict[str, Any]:
        """Numbers of classes by name."""
        return self.children[0].get_class_indexing() if self.children else {}

    def num_classes(self) -> int | None:
        """The number of classes."""
        return self.children[0].num_classes() if self.children else None

    def _example(self) -> Row:
        if self._first is None:
            row = next(self.rows(Run.of(self)), None)
            if row is None:
                raise RuntimeError("The data set has no rows.")
            self._first = row
        return self._first

    def output_shapes(self, estimate: bool = False) -> list[list[int]]:
        """The shapes of the columns."""
        return [list(x.shape) for x in self._example()]

    def output_types(self) -> list[Any]:
        """The NumPy dtypes of the columns."""
        return [x.dtype for x in self._example()]

    # -- iterators ---------------------------------------------------------------------------------------------------

    def create_tuple_iterator(
        self, columns: Any = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> TupleIterator:
        """An iterator over rows as lists.

        Args:
            columns (list[str]): which columns, in which order. Default ``None``: all.
            num_epochs (int): how often it can be gone through. Default ``-1``: without end.
            output_numpy (bool): arrays instead of Tensors. Default ``False``.
            do_copy (bool): kept for old programs. Default ``False``.
        """
        _check_epochs(num_epochs, output_numpy)
        return TupleIterator(self, [columns] if isinstance(columns, str) else columns, num_epochs, output_numpy)

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DictIterator:
        """An iterator over rows as dictionaries; see `create_tuple_iterator`."""
        _check_epochs(num_epochs, output_numpy)
        return DictIterator(self, num_epochs, output_numpy)

    def __iter__(self) -> Iterator[Any]:
        return self.create_tuple_iterator(num_epochs=1)

    # -- pipelines ---------------------------------------------------------------------------------------------------
    # What these methods give is a node on top of this one, of another class. Annotated as `Self`, it may go to the same
    # variable: `data = ImageFolderDataset(path)` and `data = data.map(decode)`, which type checkers refuse otherwise.

    def map(
        self,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """Applies operations to columns, one after another.

        Args:
            operations (Union[list, Callable]): functions of arrays (or of tensors operations of `transforms`).
            input_columns (Union[str, list]): their arguments. Default ``None``: the first column.
            output_columns (Union[str, list]): names of their results. Default ``None``: the same.
            num_parallel_workers (int): how many workers apply them. Rows, their order and random numbers are those of
                one worker. Default ``None``: what ``config.set_num_parallel_workers`` was given, else 1.
            kwargs: ``python_multiprocessing``: whether workers are processes, not threads (default ``False``);
                ``max_rowsize``, ``cache`` and ``offload`` have no effect.

        Raises:
            ValueError: an operation is not callable.
            TypeError: an unknown keyword.
        """
        no_other_options("map", kwargs, "python_multiprocessing", "max_rowsize", "cache", "offload")
        processes = bool(kwargs.get("python_multiprocessing"))
        return NODES["map"](self, operations, input_columns, output_columns, num_parallel_workers, processes)

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """Puts rows together.

        Args:
            batch_size (Union[int, Callable]): rows of a batch, or a function of `BatchInfo` that tells.
            drop_remainder (bool): leave out a last, smaller batch. Default ``False``.
            num_parallel_workers (int): how many threads put batches together. Default ``None``: see `map`.
            kwargs: ``per_batch_map``, a function of the columns (as lists) and a `BatchInfo`; ``input_columns`` and
                ``output_columns``; ``python_multiprocessing``: processes, not threads.

        Raises:
            ValueError: ``batch_size`` is not positive.
            TypeError: an argument has the wrong type.
        """
        return NODES["batch"](self, batch_size, drop_remainder, workers=num_parallel_workers, **kwargs)

    def padded_batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> Self:
        """Like `batch`; columns are padded to ``pad_info`` (name: (shape, value)), or to the largest row."""
        return NODES["batch"](self, batch_size, drop_remainder, pad_info=pad_info or {}, workers=num_parallel_workers)

    def bucket_batch_by_length(
        self,
        column_names: list[str],
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        element_length_function: Callable[..., int] | None = None,
        pad_info: dict[str, Any] | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> Self:
        """Batches of rows of like length.

        Args:
            column_names (list[str]): columns that tell the length.
            bucket_boundaries (list[int]): upper bounds of the buckets, rising.
            bucket_batch_sizes (list[int]): one more than bounds.
            element_length_function (Callable): length from the columns. Default ``None``: the first extent.
            pad_info (dict): see `padded_batch`. Default ``None``.
            pad_to_bucket_boundary (bool): pad to the bound minus 1. Default ``False``.
            drop_remainder (bool): Default ``False``.
        """
        return NODES["bucket_batch_by_length"](
            self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function, pad_info,
            pad_to_bucket_boundary, drop_remainder,
        )  # fmt: skip

    def shuffle(self, buffer_size: int) -> Self:
        """Mixes rows within a buffer of ``buffer_size`` rows.

        Raises:
            ValueError: ``buffer_size`` is below 2.
        """
        return NODES["shuffle"](self, buffer_size)

    def repeat(self, count: int | None = None) -> Self:
        """Repeats the data ``count`` times (-1 or ``None``: without end)."""
        return NODES["repeat"](self, -1 if count is None else count)

    def filter(
        self, predicate: Callable[..., Any], input_columns: Any = None, num_parallel_workers: int | None = None
    ) -> Self:
        """Keeps rows for which ``predicate`` of the columns holds."""
        return NODES["filter"](self, predicate, input_columns, num_parallel_workers)

    def project(self, columns: Any) -> Self:
        """Keeps the named columns, in this order."""
        return NODES["project"](self, [columns] if isinstance(columns, str) else list(columns))

    def rename(self, input_columns: Any, output_columns: Any) -> Self:
        """Gives columns other names.

        Raises:
            ValueError: the numbers of names differ.
        """
        return NODES["rename"](self, names_of(input_columns), names_of(output_columns))

    def zip(self, datasets: Any) -> Self:
        """Puts the columns of data sets side by side."""
        others = datasets if isinstance(datasets, tuple) else (datasets,)
        made: Any = zip((self, *others))
        return made

    def concat(self, datasets: Any) -> Self:
        """The rows of this data set, then those of others."""
        others = datasets if isinstance(datasets, list) else [datasets]
        for other in others:
            if not isinstance(other, Dataset):
                raise TypeError(f"Invalid datasets, expected Dataset object, but got {type(other)}!")
        return NODES["concat"](self, *others)

    def __add__(self, other: Dataset) -> Self:
        return self.concat([other])

    def take(self, count: int = -1) -> Self:
        """The first ``count`` rows."""
        if not (count == -1 or 0 < count <= INT32_MAX):
            raise ValueError(
                f"count should be either -1 or within the required interval of (0, {INT32_MAX}], got {count}."
            )
        return NODES["take"](self, count)

    def skip(self, count: int) -> Self:
        """All but the first ``count`` rows."""
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"Argument count with value {count} is not of type [<class 'int'>], but got {type(count)}.")
        if not 0 <= count <= INT32_MAX:
            raise ValueError(f"Input count is not within the required interval of [0, {INT32_MAX}].")
        return NODES["skip"](self, count)

    def split(self, sizes: list[Any], randomize: bool = True) -> tuple[Self, ...]:
        """Splits rows into parts.

        Args:
            sizes (Union[list[int], list[float]]): numbers of rows, or shares that sum to 1.
            randomize (bool): mix the rows first, the same way for all parts. Default ``True``.

        Raises:
            ValueError: the sizes do not sum to the number of rows.
        """
        return tuple(NODES["split"](self, start, stop, randomize) for start, stop in parts_of(sizes, self.size()))

    def apply(self, apply_func: Callable[[Self], Any]) -> Self:
        """``apply_func`` of this data set."""
        if not callable(apply_func):
            raise TypeError("apply_func must be a function.")
        made = apply_func(self)
        if not isinstance(made, Dataset):
            raise TypeError("apply_func must return a dataset.")
        return made  # type: ignore[return-value]  # another class of node, see above

    def flat_map(self, func: Callable[..., Dataset]) -> Self:
        """The rows of the data sets that ``func`` makes of each row."""
        return NODES["flat_map"](self, func)

    def reset(self) -> None:
        """Nothing is kept between iterators."""

    def sync_wait(self, condition_name: str, num_batch: int = 1, callback: Any = None) -> Self:
        """Rows are made when asked for: nothing waits. ``callback`` is called by `sync_update`."""
        self._callbacks = {**getattr(self, "_callbacks", {}), condition_name: callback}
        return self

    def sync_update(self, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
        """Calls the callback of `sync_wait`."""
        found = self._find_callback(condition_name)
        if found is not None:
            found(data)

    def _find_callback(self, name: str) -> Any:
        own = getattr(self, "_callbacks", {})
        if name in own:
            return own[name]
        return next((f for f in (c._find_callback(name) for c in self.children) if f is not None), None)

    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Writes the rows of one epoch to mindrecord files, which `MindDataset` reads.

        Args:
            file_name (str): the file; files that are there are replaced.
            num_files (int): how many of them. Default ``1``.
            file_type (str): only ``"mindrecord"``. Default ``"mindrecord"``.

        Raises:
            ValueError: another type of file, a column that records cannot hold, or one whose rows differ in more than
                their first size.
        """
        if file_type != "mindrecord":
            raise ValueError(f"{file_type} is not supported: 'file_type' must be 'mindrecord'.")
        names = self.get_col_names()
        rows = [dict(builtins.zip(names, row)) for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        save_rows(rows, names, file_name, num_files)


def zip(datasets: Sequence[Dataset]) -> Dataset:
    """Puts the columns of data sets side by side; the shortest one ends it.

    Args:
        datasets (tuple[Dataset]): at least two.

    Raises:
        ValueError: fewer, or a column name twice.
        TypeError: not data sets.
    """
    if len(datasets) <= 1:
        raise ValueError("Can't zip empty dataset or just one dataset!")
    for item in datasets:
        if not isinstance(item, Dataset):
            raise TypeError(f"Invalid dataset, expected Dataset object, but got {type(item)}!")
    return NODES["zip"](*datasets)


def names_of(columns: Any) -> list[str]:
    """Column names given as one, several or none."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else list(columns)


def places_of(names: list[str], columns: list[str]) -> list[int]:
    """The places of named columns.

    Raises:
        RuntimeError: a name is unknown.
    """
    for name in names:
        if name not in columns:
            raise RuntimeError(f"Invalid parameter, column name: {name} doesn't exist; there are {', '.join(columns)}.")
    return [columns.index(name) for name in names]


def parts_of(sizes: Any, total: int) -> list[tuple[int, int]]:
    """First and last row (excluded) of the parts of `Dataset.split`."""
    if not isinstance(sizes, list) or not sizes:
        raise ValueError("sizes must not be empty.")
    if all(isinstance(s, int) for s in sizes):
        if any(s <= 0 for s in sizes):
            raise ValueError("there should be no negative or zero numbers in sizes.")
        if sum(sizes) != total:
            raise ValueError("Sum of split sizes is not equal to dataset size.")
        counts = sizes
    elif all(isinstance(s, float) for s in sizes):
        if any(not 0 < s <= 1 for s in sizes):
            raise ValueError("there should be no numbers outside the range (0, 1].")
        if abs(sum(sizes) - 1.0) > 1e-6:
            raise ValueError("sizes is a list of float, but the percentages do not sum up to 1.")
        counts = [round(s * total) for s in sizes]
        counts[-1] += total - sum(counts)
    else:
        raise ValueError("sizes should be list of int or list of float.")
    stops = np.cumsum(counts).tolist()
    return [(stop - count, stop) for stop, count in builtins.zip(stops, counts, strict=True)]


def to_numpy(type_: Any) -> Any:
    """A framework dtype as a NumPy type; others unchanged."""
    return type_.numpy if isinstance(type_, dt.DType) else type_


def _check_epochs(num_epochs: Any, output_numpy: Any) -> None:
    if isinstance(num_epochs, bool) or not isinstance(num_epochs, int):
        raise TypeError(
            f"Argument num_epochs with value {num_epochs} is not of type [<class 'int'>], but got {type(num_epochs)}."
        )
    if num_epochs != -1 and not 0 < num_epochs <= INT32_MAX:
        raise ValueError(f"num_epochs should be either -1 or positive integer, range[1, INT32_MAX], got {num_epochs}.")
    if not isinstance(output_numpy, builtins.bool):
        raise TypeError(
            f"Argument output_numpy with value {output_numpy} is not of type [<class 'bool'>], but got "
            f"{type(output_numpy)}."
        )
